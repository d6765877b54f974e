"""Runs commands in a directory that holds some tasks.

``surefoot`` runs a command in the process of the tests, ``program`` in one of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from surefoot.records.documents import check_document
from tests.support.documents import untold_members
from tests.support.program import Finished, environment, run_here, run_process
from tests.support.walk import written

__all__ = ["Finished", "Surefoot", "environment"]

TASKS = """
from surefoot import Description

lamp = Description("lamp")
x = lamp.int("x", 0, 3, initial=0)
lamp.edge("up", guard=x < 3, outcomes=[{x: x + 1}, {}])
lamp.edge("down", guard=x > 0, outcomes=[{x: x - 1}])
lamp.start(x <= 1)
lamp.goal(x == 2)
lamp.fail(x == 3)

evil = Description("evil\\x1b[2J[bold]")
y = evil.int("y\\x1b[31m", 0, 3, initial=0)
evil.edge("up\\x1b[0m[red]", guard=y < 3, outcomes=[{y: y + 1}])
evil.warn("odd \\x1b[1m name")

leaves = Description("leaves")
z = leaves.int("z", 0, 3, initial=0)
leaves.edge("up", outcomes=[{z: z + 1}])

class Counter:
    def start(self): return [(0,)]
    def actions(self, state): return ["up"] if state[0] < 3 else []
    def outcomes(self, state, action): return [(state[0] + 1,)]
    def is_goal(self, state): return False
    def is_fail(self, state): return False

class Talking(Counter):
    def actions(self, state):
        print("thinking about", state)
        return super().actions(state)

class Leaving(Counter):
    def outcomes(self, state, action): raise SystemExit(0)

class Slow(Counter):
    def actions(self, state):
        import time
        time.sleep(0.05)
        return ["up"]

class Broken(Counter):
    def outcomes(self, state, action): return 1 / 0
"""


Surefoot = Callable[..., Finished]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory that holds ``tasks.py``: commands run in it."""
    (tmp_path / "tasks.py").write_text(TASKS)
    return tmp_path


@pytest.fixture
def surefoot(folder: Path) -> Surefoot:
    """Run ``surefoot ARGUMENTS`` in this process; in one of its own if Python must start anew."""

    def run(*arguments: str, **env: str) -> Finished:
        starts_anew = any(name.startswith("PYTHON") for name in env)
        start = run_process if starts_anew else run_here
        done = start(arguments, folder=folder, env=environment(**env))
        if "--json" in arguments:
            _check_documents(done.out)
        return done

    return run


def _check_documents(text: str) -> None:
    """Whatever a test is about: what is printed has the shape that ``surefoot schema`` tells."""
    for line in text.splitlines():
        if line.startswith('{"surefoot": '):
            content = json.loads(line)
            check_document(content)
            assert not untold_members(content)


@pytest.fixture
def program(folder: Path) -> Surefoot:
    """Run ``surefoot ARGUMENTS`` in a process of its own."""

    def run(*arguments: str, **env: str) -> Finished:
        return run_process(arguments, folder=folder, env=environment(**env))

    return run


@pytest.fixture
def campaign(surefoot: Surefoot, tmp_path: Path) -> Path:
    """A finished campaign in the directory where commands run."""
    written(tmp_path)
    surefoot("debug", "walk.jani", "--policy", "go.json", "--keep", "50", "-o", "out")
    return tmp_path / "out"
