"""``surefoot doctor``."""

from __future__ import annotations

from tests.cli.conftest import Surefoot

LINE = "domain:one-way-line?packages=3&locations=4"


def test_document(surefoot: Surefoot) -> None:
    done = surefoot("doctor", LINE, "--json")
    assert (done.code, done.err) == (0, "")
    assert done.document["command"] == "doctor"
    assert done.document["edges"] == 23
    assert done.document["findings"] == []
    assert [v["name"] for v in done.document["variables"]][-1] == "aux_vel"


def test_text(surefoot: Surefoot) -> None:
    done = surefoot("doctor", "tasks.py:leaves")
    assert done.code == 0
    assert "[no-goal]" in done.out
    assert "[model-out-of-range]" in done.out
    assert "z: int from 0 to 3, initially 0" in done.out


def test_built_in_policy(surefoot: Surefoot) -> None:
    done = surefoot("doctor", "tasks.py:lamp", "--policy", "first")
    assert done.code == 0
    assert "first: built in" in done.out


def test_memory_is_said_to_be_of_no_use(surefoot: Surefoot) -> None:
    assert "not needed here" in surefoot("doctor", "--help").out


def test_python_task(surefoot: Surefoot) -> None:
    document = surefoot("doctor", "tasks.py:Counter", "--json").document
    assert document["sampled"] == 4
    assert [f["code"] for f in document["findings"]] == ["dead-end"]
