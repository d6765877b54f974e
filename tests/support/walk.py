"""A campaign of several rounds that takes no time: a policy that always goes, on a walk with traps.

Going is fatal on even tracks at the second step, turning is on odd ones at the third. So the first
repair, which makes the policy turn, makes new faults.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from surefoot import Description
from surefoot.policies import Policy, as_policy
from surefoot.policies.models import Trees
from surefoot.policies.writing import write_policy
from surefoot.tasks.compiled_task import Task

TRACKS = 12


def walk(*, doomed: bool = False, names: tuple[str, str] = ("go", "turn")) -> Task:
    """Return the task; if it is ``doomed``, there is no way out on the first track."""
    d = Description("walk")
    track, step = d.int("track", 0, TRACKS - 1), d.int("step", 0, 3)
    odd, down = d.int("odd", 0, 1), d.int("down", 0, 1)
    go, turn = names
    trapped = (step == 1) & (odd == 0)
    d.edge(go, guard=(step < 3) & ~trapped, outcomes=[{step: step + 1}])
    d.edge(go, guard=trapped, outcomes=[{step: step + 1}, {down: 1}])
    slippery = (step == 2) & (odd == 1)
    d.edge(turn, guard=(step < 3) & ~slippery, outcomes=[{step: step + 1}])
    d.edge(turn, guard=slippery, outcomes=[{down: 1}])
    starts = [{"track": t, "step": 0, "odd": t % 2, "down": 0} for t in range(TRACKS)]
    d.start(*starts)
    d.goal(step == 3)
    d.fail((down == 1) | ((track == 0) & (step == 2)) if doomed else down == 1)
    return d.compile()


def always_go(task: Task) -> Policy:
    """Return trees of one leaf each: the first action is the best in every state."""
    outputs = len(task.actions)
    model = Trees(
        num_inputs=4,
        num_outputs=outputs,
        roots=np.arange(outputs, dtype=np.int32),
        features=np.full(outputs, -1, dtype=np.int32),
        thresholds=np.zeros(outputs),
        left=np.arange(outputs, dtype=np.int32),
        right=np.arange(outputs, dtype=np.int32),
        values=np.array([1.0] + [0.0] * (outputs - 1)),
        base=np.zeros(outputs),
        input_precision="float32",
        sum_precision="float32",
    )
    return as_policy(model, task)


def written(folder: Path) -> tuple[Path, Path]:
    """Return files with the task and the policy."""
    task = walk()
    task.write_jani(folder / "walk.jani")
    write_policy(always_go(task), folder / "go.json")
    return folder / "walk.jani", folder / "go.json"


def kept(directory: Path) -> dict[str, bytes]:
    """Return what must be the same however often a campaign was interrupted."""
    folders = ("policy", "policies", "findings", "faults", "certificates")
    files = [path for name in folders for path in sorted((directory / name).iterdir())]
    found: dict[str, Any] = {str(path.relative_to(directory)): path.read_bytes() for path in files}
    return found
