"""Tree ensembles written down by hand, and a line with a driver that never crashes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from surefoot.policies import as_policy
from surefoot.policies.interface import Input, Interface
from surefoot.policies.models import Trees

Tree = Any
"""a number, or (variable, threshold, tree below it, tree from it on)"""

DRIVER = ("pick_up_truck_0", "drop_truck_0", "park_truck_0", "dec_truck_0", "acc_truck_0")
"""what the driver of a line would rather do, best first: one location at a time"""


class _Nodes:
    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.rows: list[tuple[int, float, int, int]] = []
        self.values: list[float] = []

    def add(self, tree: Tree, output: int) -> int:
        """Append the nodes of a tree; return the number of its root."""
        at = len(self.rows)
        if not isinstance(tree, tuple):
            self.rows.append((-1, 0.0, len(self.values), output))
            self.values.append(float(tree))
            return at
        variable, threshold, low, high = tree
        self.rows.append((0, 0.0, 0, 0))
        children = self.add(low, output), self.add(high, output)
        self.rows[at] = (self.names.index(variable), float(threshold), *children)
        return at


def hand_trees(
    task: Any,
    trees: Sequence[tuple[str, Tree]],
    *,
    precision: str = "float64",
    outputs: Sequence[str] | None = None,
    unfiltered: bool = False,
    **more: Any,
) -> Any:
    """Return a policy of trees, each for an action, that are added in this order."""
    names = list(outputs or [name for name in task.actions if name not in task.silent])
    nodes = _Nodes(task.names)
    roots = [nodes.add(tree, names.index(action)) for action, tree in trees]
    features, thresholds, left, right = (list(column) for column in zip(*nodes.rows, strict=True))
    model = Trees(
        num_inputs=len(task.names),
        num_outputs=len(names),
        roots=np.array(roots, dtype=np.int32),
        features=np.array(features, dtype=np.int32),
        thresholds=np.array(thresholds),
        left=np.array(left, dtype=np.int32),
        right=np.array(right, dtype=np.int32),
        values=np.array(nodes.values),
        base=np.zeros(len(names)),
        input_precision="float64",
        sum_precision=precision,  # type: ignore[arg-type]
        **more,
    )
    interface = Interface(tuple(Input(name) for name in task.names), tuple(names))
    return as_policy(model, task, interface=interface, unfiltered=unfiltered)


def only_in(state: Mapping[str, Any], value: float) -> Tree:
    """Return a tree that has this value in one state, and 0 in all others."""
    tree: Tree = value
    for name, number in state.items():
        tree = (name, int(number), 0.0, (name, int(number) + 0.5, tree, 0.0))
    return tree


def driver(task: Any, *more: tuple[str, Tree]) -> Any:
    """Return a policy for a line that stops at every location, with more trees behind its own."""
    wishes = [name for name in DRIVER if name in task.actions]
    own = [(name, float(len(wishes) - place)) for place, name in enumerate(wishes)]
    return hand_trees(task, [*own, *more])
