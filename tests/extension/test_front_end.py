"""A front end from outside: named by suffix, by prefix or by file, with options of its own."""

import pytest

CORRIDOR = "S.o.G\n"
IN_FILE = "toy_front_end.py:FRONT_END:task.txt"


@pytest.fixture(autouse=True)
def corridor(surefoot, tmp_path):
    for name in ("task.corridor", "task.txt"):
        (tmp_path / "work" / name).write_text(CORRIDOR)


@pytest.mark.parametrize("task", ["task.corridor", "corridor:task.txt", IN_FILE])
def test_addresses(surefoot, task):
    for gust, outcomes in (("0", 5), ("1", 7)):
        done = surefoot("explore", task, "--task.gust", gust, "--json")
        assert done.code == 0, done.err
        assert done.document["outcomes"] == outcomes


@pytest.mark.parametrize("task", ["task.corridor", IN_FILE])
def test_answers_are_checked(surefoot, task):
    """The checker gets the task as JANI, which Surefoot writes."""
    done = surefoot("decide", task, "--task.gust=1", "--state", "at=1", "--json")
    assert done.code == 0, done.err
    assert done.document["states"][0]["verdict"] == "safe"
    done = surefoot("verify", task, "--policy", "first")
    assert done.code == 1, done.err
    assert "checked: the run was accepted" in done.out


def test_options_of_its_own(surefoot):
    done = surefoot("explore", "task.corridor", "--task.gusts", "1")
    assert done.code == 2
    assert 'did you mean "--task.gust"?' in done.err
    done = surefoot("explore", "task.corridor", "--task.gust", "strong")
    assert done.code == 2
    assert "--task.gust cannot be 'strong'" in done.err
    done = surefoot("explore", "task.corridor", "--const", "N=3")
    assert done.code == 2
    assert "constants (--const) is for JANI files" in done.err


def test_mistakes_in_files(surefoot, tmp_path):
    (tmp_path / "work" / "task.corridor").write_text("S..\n")
    done = surefoot("explore", "task.corridor")
    assert done.code == 2
    assert "task.corridor: a corridor has one S" in done.err


@pytest.mark.parametrize("task", ["task.corridor", "corridor:task.txt", IN_FILE])
def test_findings_do_not_run_code(surefoot, tmp_path, task):
    """Findings and certificates load no such front end on their own."""
    done = surefoot("verify", task, "--task.gust=1", "--policy", "first", "-o", "kept")
    assert done.code == 1, done.err
    (finding,) = (tmp_path / "work" / "kept").iterdir()
    for place in ("site", "work"):
        trap = tmp_path / place / "toy_front_end.py"
        trap.write_text(f"open('trap', 'a').close()\n{trap.read_text()}")
    done = surefoot("replay", f"kept/{finding.name}")
    assert done.code == 2
    assert "finding-runs-code" in done.err
    assert not (tmp_path / "work" / "trap").exists()
    done = surefoot("replay", f"kept/{finding.name}", task, "--task.gust=1")
    assert done.code == 1, done.err


def test_exceptions_name_the_file(surefoot, tmp_path):
    file = tmp_path / "work" / "toy_front_end.py"
    file.write_text(file.read_text().replace("cells.index", "cells.indexx"))
    done = surefoot("explore", IN_FILE)
    assert done.code == 2, done.err
    assert "python-error" in done.err and "toy_front_end.py:" in done.err
