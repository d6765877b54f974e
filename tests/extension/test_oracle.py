"""Oracles from outside: their verdicts count only if the checker accepts their tables."""

import pytest

TASK = "domain:counter?goal=3"


@pytest.mark.parametrize("oracle", ["slow", "toy_oracles.py:SLOW"])
def test_certificates_are_checked(surefoot, oracle):
    done = surefoot("decide", TASK, "--oracle", oracle, "--state", "x=0", "--json")
    assert done.code == 0, done.err
    (row,) = done.document["states"]
    assert (row["verdict"], row["expanded"]) == ("safe", 5)
    done = surefoot("decide", TASK, "--oracle", oracle, "--state", "x=4")
    assert done.code == 1, done.err
    assert "1 unsafe" in done.out


def test_it_agrees_with_others(surefoot):
    names = "lazy_attractor,toy_oracles.py:SLOW"
    done = surefoot("decide", TASK, "--sample", "4", "--compare", names)
    assert done.code in (0, 1), done.err
    assert "2 oracles agree" in done.out


def test_its_word_is_no_proof(surefoot):
    done = surefoot("decide", TASK, "--oracle", "toy_oracles.py:HOPEFUL")
    assert done.code == 4, done.err
    assert "unchecked" in done.err
    assert "safe" not in done.out.partition("\n")[2].split()[0]


def test_wrong_tables_are_rejected(surefoot, tmp_path):
    file = tmp_path / "work" / "toy_oracles.py"
    file.write_text(
        file.read_text().replace("choices, expanded", "dict(list(choices.items())[:1]), expanded")
    )
    done = surefoot("decide", TASK, "--oracle", "toy_oracles.py:SLOW")
    assert done.code == 5, done.out
    assert "is wrong, or its table is" in done.err


def test_unknown_names(surefoot):
    done = surefoot("decide", TASK, "--oracle", "slwo")
    assert done.code == 2
    assert 'did you mean "slow"?' in done.err
    assert "lazy_attractor, ipi" in done.err


def test_things_that_are_no_oracles(surefoot):
    done = surefoot("decide", TASK, "--oracle", "toy_oracles.py:reachable")
    assert done.code == 2
    assert "is not an oracle" in done.err


def test_faults_need_another(surefoot):
    done = surefoot("faults", TASK, "--policy", "first", "--oracle", "slow")
    assert done.code == 2
    assert "answers single questions only" in done.err
