"""A family of tasks from outside: explored, verified and drawn like a built-in one."""

import pytest


def test_of_a_package(surefoot):
    done = surefoot("explore", "domain:counter?goal=4", "--json")
    assert done.code == 0, done.err
    assert done.document["states"] == 6
    assert "counter" in surefoot("domains").out


def test_of_a_file(surefoot):
    done = surefoot("explore", "domain:toy_family.py:FAMILY?size=small", "--json")
    assert done.code == 0, done.err
    assert done.document["states"] == 5
    assert surefoot("verify", "domain:toy_family.py:FAMILY", "--policy", "first").code == 0


def test_pictures(surefoot):
    done = surefoot("domains", "counter?goal=4", "--json")
    assert done.code == 0, done.err
    assert done.document["picture"]["text"] == "counter at 0"


def test_unknown_names(surefoot):
    done = surefoot("explore", "domain:countre")
    assert done.code == 2
    assert 'did you mean "counter"?' in done.err


@pytest.mark.parametrize("task", ["domain:toy_family.py:FAMILY", "domain:counter"])
def test_findings_do_not_run_code(surefoot, tmp_path, task):
    """A finding whose family is a file or of a package is refused: who wrote it is unknown."""
    (tmp_path / "work" / "two.py").write_text("def twice(state):\n    return 'two'\n")
    made = surefoot("verify", task, "--policy", "two.py:twice", "-o", "kept")
    assert made.code == 1, made.err
    (finding,) = (tmp_path / "work" / "kept").iterdir()
    done = surefoot("replay", f"kept/{finding.name}")
    assert done.code == 2
    assert "finding-runs-code" in done.err


def test_certificates_do_not_run_code(surefoot, tmp_path):
    """The family of an installed package is loaded for a certificate only if the user names it."""
    task = "domain:counter"
    made = surefoot("decide", task, "--initial", "--certificates", "kept")
    assert made.code == 0, made.err
    (file,) = (tmp_path / "work" / "kept").iterdir()
    trap = tmp_path / "site" / "toy_family.py"
    trap.write_text(f"open('trap', 'w').close()\n{trap.read_text()}")
    done = surefoot("check", f"kept/{file.name}")
    assert done.code == 2, done.err
    assert not (tmp_path / "work" / "trap").exists()
    done = surefoot("check", f"kept/{file.name}", task)
    assert done.code == 0, done.err
