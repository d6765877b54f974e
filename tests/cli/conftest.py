"""Runs the real program in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.crash.small import written

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


@dataclass(frozen=True)
class Finished:
    """What the program left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON document on standard output."""
        assert self.out.count("\n") == 1
        return dict(json.loads(self.out))


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a plain, wide terminal without colours."""
    return {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8", **more}


Surefoot = Callable[..., Finished]


@pytest.fixture
def surefoot(tmp_path: Path) -> Surefoot:
    """Run ``surefoot ARGUMENTS`` in a directory that holds ``tasks.py``."""
    (tmp_path / "tasks.py").write_text(TASKS)

    def run(*arguments: str, **env: str) -> Finished:
        done = subprocess.run(
            [sys.executable, "-m", "surefoot", *arguments],
            capture_output=True,
            encoding="utf-8",
            cwd=tmp_path,
            env=environment(**env),
            timeout=60,
            check=False,
        )
        return Finished(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def campaign(surefoot: Surefoot, tmp_path: Path) -> Path:
    """A finished campaign in the directory where commands run."""
    written(tmp_path)
    surefoot("debug", "walk.jani", "--policy", "go.json", "--keep", "50", "-o", "out")
    return tmp_path / "out"
