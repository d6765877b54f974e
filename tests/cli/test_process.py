"""Every command as a process of its own prints and returns what it does in the tests' process."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from surefoot.cli.app import app
from tests.cli.conftest import Surefoot

WALK = ("walk.jani", "--policy", "go.json")
LINE = "domain:one-way-line?packages=2&locations=6&variant=icy-park"
EXAMPLES = {
    "check": ("out/certificates/policy-safe.jsonl",),
    "compare": ("walk.jani", "go.json", "first", "--runs", "20"),
    "convert": ("go.json", "-o", "NEW.json"),
    "corpus": ("list", "--corpus", "NEW"),
    "debug": (*WALK, "--keep", "50", "-o", "NEW"),
    "decide": ("tasks.py:lamp",),
    "distill": (LINE, "--policy", "random", "--runs", "10", "-o", "NEW.json"),
    "doctor": ("tasks.py:lamp",),
    "domains": (),
    "evaluate": WALK,
    "explore": ("tasks.py:lamp",),
    "export": ("out", "--shield", "NEW"),
    "faults": (*WALK, "--json"),
    "fuzz": (*WALK, "-o", "NEW.json"),
    "minimise": ("out/findings/*.json", "-o", "NEW.json"),
    "repair": (*WALK, "--faults", "out", "-o", "NEW.json"),
    "replay": ("out/findings/*.json",),
    "report": ("out", "--format", "markdown"),
    "resume": ("out",),
    "schema": ("finding",),
    "show": ("out/findings/*.json",),
    "simulate": ("tasks.py:lamp", "--policy", "random", "--runs", "3"),
    "status": ("out",),
    "train": (LINE, "--steps", "500", "--runs", "10", "-o", "NEW.safetensors"),
    "verify": WALK,
}
ERRORS = {
    "bad option": ("explore", "tasks.py:lamp", "--max-states", "x"),
    "unknown command": ("explor",),
    "nothing": (),
    "version": ("--version",),
    "python leaves": ("explore", "tasks.py:Leaving"),
    "python fails": ("explore", "tasks.py:Broken", "--json"),
    "python talks": ("explore", "tasks.py:Talking"),
    "unsupported": ("verify", "tasks.py:Counter", "--policy", "first", "--method", "box"),
    "out of budget": ("explore", LINE, "--max-states", "3"),
}
TIMES = re.compile(r"[\d.,]+(?= (ms|s|MB|states/s|steps/s|a second)\b)|\d+\.\d+")
VARYING = {"seconds", "check_seconds", "peak_memory_mb", "states_per_second"}
NEEDS = {"distill": ("xgboost", "sklearn"), "train": ("torch",)}


def comparable(text: str) -> object:
    """Return an output without what differs from run to run."""
    if not text.startswith("{"):
        return re.sub(" +", " ", TIMES.sub("N", text))
    return json.loads(text, object_hook=lambda o: {k: o[k] for k in o if k not in VARYING})


def without_progress(text: str) -> object:
    """Return what stands in stderr without the lines that only slow machines print."""
    lines = str(comparable(text)).splitlines()
    return [line for line in lines if not line.endswith(", N s")]


def agree(surefoot: Surefoot, program: Surefoot, arguments: tuple[str, ...]) -> None:
    here, there = (
        start(*(a.replace("NEW", name) for a in arguments))
        for start, name in ((surefoot, "made-1"), (program, "made-2"))
    )
    assert here.code == there.code, there.err
    assert comparable(here.out) == comparable(there.out.replace("made-2", "made-1"))
    assert without_progress(here.err) == without_progress(there.err.replace("made-2", "made-1"))


def test_every_command_has_an_example() -> None:
    assert set(EXAMPLES) == {name for name in app if not name.startswith("-")}


@pytest.mark.parametrize("command", EXAMPLES)
def test_commands(surefoot: Surefoot, program: Surefoot, campaign: Path, command: str) -> None:
    for library in NEEDS.get(command, ()):
        pytest.importorskip(library)
    first = str(min((campaign / "findings").iterdir()).relative_to(campaign.parent))
    given = (a.replace("out/findings/*.json", first) for a in EXAMPLES[command])
    agree(surefoot, program, (command, *given))


@pytest.mark.parametrize("name", ERRORS)
def test_errors(surefoot: Surefoot, program: Surefoot, name: str) -> None:
    agree(surefoot, program, ERRORS[name])


def test_nothing_is_left_behind(surefoot: Surefoot) -> None:
    """Directory, environment, streams, arguments and modules are the tests' own again."""
    import os
    import sys

    def state() -> tuple[object, ...]:
        return (os.getcwd(), dict(os.environ), sys.argv, list(sys.path), sys.stdout, sys.stderr)

    before = state()
    assert surefoot("explore", "tasks.py:lamp", COLUMNS="30").code == 0
    assert surefoot("explore", "tasks.py:Leaving").code == 2
    assert state() == before
    assert "tasks" not in sys.modules
