"""Verification methods from outside: safe is proved only if the checker says so, too."""

TASK = "domain:counter?goal=3"


def test_certificates_are_checked(surefoot):
    done = surefoot("verify", TASK, "--policy", "first", "--method", "slow")
    assert done.code == 0, done.err
    assert "safe: no run of the policy fails" in done.out
    assert "checked: the certificate of 4 boxes was accepted" in done.out
    done = surefoot(
        "verify", TASK, "--policy", "first", "--method", "toy_methods.py:SLOW", "--json"
    )
    assert (done.code, done.document["checked"]) == (0, True)
    assert done.document["method"] == "toy_methods.py:SLOW"


def test_failing_runs_are_checked(surefoot, tmp_path):
    (tmp_path / "work" / "two.py").write_text("def policy(state):\n    return 'two'\n")
    done = surefoot("verify", TASK, "--policy", "two.py:policy", "--method", "slow")
    assert done.code == 1, done.err
    assert "unsafe: a run from a start state fails" in done.out
    assert "checked: the run was accepted" in done.out


def test_the_word_of_a_method_is_no_proof(surefoot):
    asked = ("verify", TASK, "--policy", "first", "--method", "toy_methods.py:HOPEFUL")
    done = surefoot(*asked)
    assert done.code == 4, done.err
    assert (
        "safe (unchecked): toy_methods.py:HOPEFUL says so, and nothing else confirms it" in done.out
    )
    result = surefoot(*asked, "--json").document
    assert (result["verdict"], result["reason"], result["checked"]) == ("safe", "unchecked", False)
    assert surefoot(*asked, "--trust-unchecked").code == 0


def test_wrong_certificates_are_rejected(surefoot, tmp_path):
    file = tmp_path / "work" / "toy_methods.py"
    file.write_text(file.read_text().replace("for state in runs]", "for state in list(runs)[1:]]"))
    done = surefoot("verify", TASK, "--policy", "first", "--method", "toy_methods.py:SLOW")
    assert done.code == 5, done.out
    assert 'the method "toy_methods.py:SLOW" is wrong' in done.err


def test_unknown_names(surefoot):
    done = surefoot("verify", TASK, "--policy", "first", "--method", "slwo")
    assert done.code == 2
    assert 'did you mean "slow"?' in done.err
    assert "verification methods are: auto, box, explicit, ic3, predicates, slow" in done.err
