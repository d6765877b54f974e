"""``surefoot explore``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Surefoot

LINE = "domain:one-way-line?packages=3&locations=4"
KEYS = """
    surefoot command task policy options seed seconds peak_memory_mb
    states pairs outcomes fail goal dead_ends depth complete states_per_second bytes_per_state
    starts expanded stopped
"""


def test_document(surefoot: Surefoot) -> None:
    done = surefoot("explore", LINE, "--json", "--seed", "7")
    document = done.document
    assert (done.code, done.err) == (0, "")
    assert set(document) >= set(KEYS.split())
    assert set(document["task"]) == {"name", "file", "sha256"}
    assert document["task"]["name"] == "one-way-line-3-4-det"
    assert re.fullmatch("compiled-1:[0-9a-f]{64}", document["task"]["sha256"])
    assert document["policy"] is None
    assert document["seed"] == 7
    assert document["options"]["max_states"] == 100_000_000
    assert document["states"] == 1170
    assert document["complete"] is True
    assert document["peak_memory_mb"] > 1


def test_table(surefoot: Surefoot) -> None:
    done = surefoot("explore", LINE)
    lines = [line.split() for line in done.out.splitlines()]
    assert ["states", "1,170"] in lines
    assert ["fail", "94"] in lines
    assert lines[-1][0] == "complete,"


def test_cut_says_what_to_give(surefoot: Surefoot) -> None:
    done = surefoot("explore", LINE, "--max-states", "100", "--json")
    assert done.code == 4
    assert done.document["complete"] is False
    assert done.document["stopped"] == "states"
    assert done.err == "cut: 100 states were not enough; raise --max-states\n"


def test_cut_among_the_start_states(surefoot: Surefoot) -> None:
    done = surefoot("explore", LINE, "--max-states", "10")
    assert done.code == 4
    assert "CUT" in done.out
    assert "the start condition alone holds in more than 10 states; give --states FILE" in done.err


def test_states_file(surefoot: Surefoot, tmp_path: Path) -> None:
    (tmp_path / "states.jsonl").write_text('{"x": 1}\n\n{"x": 0}\n')
    document = surefoot("explore", "tasks.py:lamp", "--states", "states.jsonl", "--json").document
    assert (document["starts"], document["states"]) == (2, 3)
    assert document["options"]["states"] == "states.jsonl"


def test_initial(surefoot: Surefoot) -> None:
    document = surefoot("explore", "tasks.py:lamp", "--initial", "--json").document
    assert (document["starts"], document["states"]) == (1, 3)


BAD_FILES = {
    "no JSON": ('{"x": 1}\n{"x": }\n', "states.jsonl:2: Expecting value"),
    "no object": ("[1]\n", "states.jsonl:1: not a JSON object"),
    "unknown variable": ('\n{"xx": 1}\n', 'states.jsonl:2: the task has no variable "xx"'),
    "missing variable": ("{}\n", 'states.jsonl:1: the state gives no value to "x"'),
    "out of range": ('{"x": 4}\n', "states.jsonl:1: 4 is not a value"),
    "wrong type": ('{"x": "a"}\n', "states.jsonl:1: 'a' is not a value"),
    "not a number": ('{"x": NaN}\n', "states.jsonl:1: nan is not a value"),
    "twice": ('{"x": 1, "x": 2}\n', 'states.jsonl:1: "x" is given twice'),
    "empty": ("\n\n", "states.jsonl: the file holds no state"),
    "deep": ("[" * 100_000 + "\n", "states.jsonl:1: "),
    "long number": ('{"x": ' + "1" * 10_000 + "}\n", "states.jsonl:1: "),
}


@pytest.mark.parametrize("content, text", BAD_FILES.values(), ids=BAD_FILES)
def test_bad_states_file(surefoot: Surefoot, tmp_path: Path, content: str, text: str) -> None:
    (tmp_path / "states.jsonl").write_text(content)
    done = surefoot("explore", "tasks.py:lamp", "--states", "states.jsonl")
    assert done.code == 2
    assert done.err.startswith(f"error: {text}")
    assert len(done.err) < 500


def test_states_file_that_cannot_be_read(surefoot: Surefoot, tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for name in ("nothing.jsonl", ".", "binary"):
        done = surefoot("explore", "tasks.py:lamp", "--states", name)
        assert done.code == 2
        assert done.err.startswith(f"error: {name}: ")


def test_missing_states_file_is_told_like_other_missing_files(surefoot: Surefoot) -> None:
    done = surefoot("explore", "tasks.py:lamp", "--states", "task.py")
    hint = 'hint: did you mean "tasks.py"?'
    assert done.err == f"error: task.py: there is no such file [file-not-found]\n  {hint}\n"


def test_states_and_initial_exclude_each_other(surefoot: Surefoot) -> None:
    assert surefoot("explore", "tasks.py:lamp", "--states", "a", "--initial").code == 2


def test_python_task(surefoot: Surefoot) -> None:
    done = surefoot("explore", "tasks.py:Counter", "--json")
    assert done.code == 0
    assert (done.document["states"], done.document["dead_ends"]) == (4, 1)
