"""A policy format from outside: its files are read like those of built-in ones."""

import pytest

TASK = "domain:counter?goal=3"
ONE, TWO = "0 1\n0 0\n", "0 0\n0 1\n"


def test_of_a_package(surefoot, tmp_path):
    for text, code in ((ONE, 0), (TWO, 1)):
        (tmp_path / "work" / "policy.weights").write_text(text)
        done = surefoot("verify", TASK, "--policy", "policy.weights")
        assert done.code == code, done.err


def test_repaired_and_resumed(surefoot, tmp_path):
    """A campaign keeps such a policy in a format of its own."""
    (tmp_path / "work" / "policy.weights").write_text(TWO)
    done = surefoot("debug", TASK, "--policy", "policy.weights", "-o", "kept", "--json")
    assert done.code == 0, done.err
    assert surefoot("status", "kept").code == 0


def test_bad_files(surefoot, tmp_path):
    (tmp_path / "work" / "policy.weights").write_text("no numbers\n")
    done = surefoot("verify", TASK, "--policy", "policy.weights")
    assert done.code == 2
    assert "this is not a table of numbers" in done.err


def test_unknown_suffixes(surefoot, tmp_path):
    (tmp_path / "work" / "policy.weihgts").write_text(ONE)
    done = surefoot("verify", TASK, "--policy", "policy.weihgts")
    assert done.code == 2
    assert 'did you mean ".weights"?' in done.err


@pytest.mark.slow
def test_of_a_file(surefoot, tmp_path):
    """The suffix does not matter then."""
    policy = "toy_format.py:FORMAT:policy.txt"
    file = tmp_path / "work" / "policy.txt"
    for text, code in ((ONE, 0), (TWO, 1)):
        file.write_text(text)
        assert surefoot("verify", TASK, "--policy", policy).code == code
    assert surefoot("doctor", TASK, "--policy", policy).code == 0
    done = surefoot("faults", TASK, "--policy", policy, "-o", "kept")
    assert done.code == 1, done.err
    (finding,) = (tmp_path / "work" / "kept").iterdir()
    done = surefoot("replay", f"kept/{finding.name}", TASK)
    assert done.code == 2
    assert "finding-runs-code" in done.err
    assert surefoot("replay", f"kept/{finding.name}", TASK, "--policy", policy).code == 1
    done = surefoot("debug", TASK, "--policy", policy, "-o", "debugged")
    assert done.code == 0, done.err
    file.unlink()
    assert surefoot("resume", "debugged", TASK).code == 0
    done = surefoot("verify", TASK, "--policy", policy)
    assert done.code == 2
    assert "file-not-found" in done.err
