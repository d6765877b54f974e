"""Explicit tasks as the core sees them, with policies of every kind, and their runs checked."""

from __future__ import annotations

import functools
import operator
import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import surefoot
from surefoot import Description, PythonTask
from surefoot.policies import as_policy
from surefoot.policies.models import Layer, Network, Trees
from surefoot.reference import ExplicitTask
from surefoot.reference.policies import outcomes_under
from surefoot.tasks.expressions import as_expr

LOWER = -2  # of the variable: state 0 is x = -2


def compiled(
    explicit: ExplicitTask, *, starts: Sequence[int] | None = None, copies: int = 1
) -> Any:
    """Return the task with one integer variable ``x`` and an edge for each action of a state.

    With ``copies`` there is a second variable, which has any value in the start states and does
    not change.
    """
    d = Description("explicit", silent=list(explicit.silent))
    x = d.int("x", LOWER, LOWER + len(explicit.table) - 1)
    for name in explicit.names:
        d.action(name)
    for state in explicit.states:
        guard = x == state + LOWER
        rows = [*_named(explicit.names, explicit.table[state])]
        rows += _named(explicit.silent, explicit.silent_table[state])
        for name, outcomes in rows:
            d.edge(name, guard=guard, outcomes=[{x: o + LOWER} for o in outcomes])
    d.fail(_is_one_of(x, explicit.fail))
    d.goal(_is_one_of(x, explicit.goal))
    copy = d.int("copy", 0, copies - 1) if copies > 1 else None
    if copy is not None:
        d.start(_is_one_of(x, starts) & (copy >= 0))
    elif starts is not None:
        d.start(*map(values, starts))
    return d.compile()


def _named(names: Sequence[str], row: Sequence[Any]) -> list[tuple[str, Any]]:
    return [(name, ends) for name, ends in zip(names, row, strict=False) if ends]


def _is_one_of(x: Any, numbers: Any) -> Any:
    return functools.reduce(operator.or_, (x == n + LOWER for n in numbers), as_expr(False))


def lively_task(rng: random.Random, *, max_silent: int = 2) -> ExplicitTask:
    """Return a task with safe states and ways to lose them: most states have several actions, few
    fail, and there are loops, dead ends, forced steps and goal states that fail.
    """
    count = rng.randint(4, 12)
    fail = set(rng.sample(range(count), rng.choice((1, 1, 2, 3))))
    goal = {state for state in range(count) if rng.random() < 0.1}
    sizes = rng.choice(((1,), (1, 1, 2), (1, 2, 3)))
    is_layered = rng.random() < 0.4

    def outcomes(state: int, share: float) -> tuple[int, ...]:
        ends = range(state + 1 if is_layered else 0, count)
        if rng.random() > share or not ends:
            return ()
        return tuple(sorted(rng.sample(ends, min(len(ends), rng.choice(sizes)))))

    quiet = {state for state in range(count) if max_silent and rng.random() < 0.2}
    return ExplicitTask(
        table=tuple(
            tuple(outcomes(s, 0.0 if s in quiet else 0.8) for _ in range(4)) for s in range(count)
        ),
        fail=frozenset(fail),
        goal=frozenset(goal),
        silent_table=tuple(
            tuple(outcomes(s, 0.4) for _ in range(max_silent)) for s in range(count)
        ),
        names=tuple(f"a{i}" for i in range(4)),
    )


class Definition:
    """The task in Python; states are 1-tuples. It has no silent actions."""

    def __init__(self, explicit: ExplicitTask, starts: Sequence[int]) -> None:
        self.explicit = explicit
        self.starts = starts

    def start(self) -> list[tuple[int]]:
        return [(state + LOWER,) for state in self.starts]

    def actions(self, state: tuple[int]) -> list[str]:
        choices = _named(self.explicit.names, self.explicit.table[state[0] - LOWER])
        return [name for name, _ in choices]

    def outcomes(self, state: tuple[int], action: str) -> list[tuple[int]]:
        row = self.explicit.table[state[0] - LOWER]
        return [(end + LOWER,) for end in row[self.explicit.names.index(action)]]

    def is_goal(self, state: tuple[int]) -> bool:
        return state[0] - LOWER in self.explicit.goal

    def is_fail(self, state: tuple[int]) -> bool:
        return state[0] - LOWER in self.explicit.fail


def in_python(explicit: ExplicitTask, *, starts: Sequence[int] | None = None) -> PythonTask:
    """Return the task as Python code defines it; it must have no silent actions."""
    assert not any(outcomes for row in explicit.silent_table for outcomes in row)
    return PythonTask(Definition(explicit, starts or explicit.states), names=["x"])


def number(state: Mapping[str, Any]) -> int:
    """Return the number of a state of such a task."""
    return int(state["x"]) - LOWER


def values(state: int) -> dict[str, int]:
    """Return the state of a number, as plain data."""
    return {"x": state + LOWER}


# -- policies ----------------------------------------------------------------------------------

KINDS = ("table", "callable", "random", "first", "batched", "network", "trees")


def policy_of_kind(
    kind: str, explicit: ExplicitTask, task: Any, rng: random.Random, wish: Sequence[int | None]
) -> Any:
    """Return a policy of the task; tables and callables decide as wished."""
    names = {number: explicit.names[a] for number, a in enumerate(wish) if a is not None}
    if kind == "table":
        table = {task.state(values(number)): name for number, name in names.items()}
        return as_policy(table, task)
    if kind == "callable":
        return as_policy(lambda state: names[number(state)], task)
    if kind == "random":
        return as_policy(f"random?seed={rng.randrange(1000)}", task)
    if kind == "first":
        return as_policy("first", task)
    generator = np.random.default_rng(rng.randrange(2**32))
    outputs = len(explicit.names)
    if kind == "network":
        return as_policy(small_network(generator, outputs), task)
    if kind == "trees":
        return as_policy(small_trees(generator, outputs, len(explicit.table)), task)
    weights = generator.normal(size=outputs)
    return as_policy(surefoot.batched(lambda rows: np.sin(rows * 7) * weights), task)


def small_network(generator: np.random.Generator, outputs: int) -> Network:
    """Return a network of one input whose scores go up and down."""
    hidden = Layer(generator.normal(size=(7, 1)), generator.normal(size=7) * 3, "relu")
    last = Layer(generator.normal(size=(outputs, 7)), generator.normal(size=outputs), "linear")
    return Network((hidden, last), "float64")


def small_trees(generator: np.random.Generator, outputs: int, states: int) -> Trees:
    """Return trees of one node each."""
    count = 4
    thresholds = generator.integers(LOWER, LOWER + states + 1, size=count) - 0.5
    nodes = 3 * np.arange(count)
    inner = np.tile([0, -1, -1], count).astype(np.int32)
    left = np.concatenate(
        [[n + 1, 2 * i * outputs, (2 * i + 1) * outputs] for i, n in enumerate(nodes)]
    )
    right = np.concatenate([[n + 2, -1, -1] for n in nodes])
    return Trees(
        num_inputs=1,
        num_outputs=outputs,
        roots=nodes.astype(np.int32),
        features=inner,
        thresholds=np.repeat(thresholds, 3) * (inner >= 0),
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        values=generator.integers(-2, 3, size=2 * count * outputs).astype(np.float64),
        base=np.zeros(outputs),
        input_precision="float64",
        sum_precision="float64",
    )


def decisions_of(explicit: ExplicitTask, policy: Any) -> list[int | None]:
    """Return what the policy decides in each state, None where there is nothing to decide."""
    return [
        None
        if set(explicit.choices(state)) <= {None}
        else explicit.names.index(policy.decide(values(state)))
        for state in explicit.states
    ]


# -- runs --------------------------------------------------------------------------------------


def assert_failing_run(explicit: ExplicitTask, decisions: Sequence[int | None], run: Any) -> None:
    """Assert that a run is one of the policy, and that it fails at its end and only there."""
    numbers = [number(state) for state in run.states]
    assert len(numbers) == len(run.actions) + 1 == run.steps + 1
    assert numbers[-1] in explicit.fail
    for state, action, end in zip(numbers, run.actions, numbers[1:], strict=False):
        choices = explicit.choices(state)
        assert choices, "the run goes on from a terminal state"
        if None in choices:
            taken = explicit.silent_table[state][explicit.silent.index(action)]
        else:
            assert action == explicit.names[decisions[state]]
            taken = choices[decisions[state]]
        assert end in taken


def states_after(
    explicit: ExplicitTask, decisions: Sequence[int | None], start: int, steps: int
) -> set[int]:
    """Return where runs of the policy may be after exactly so many steps."""
    layer = {start}
    for _ in range(steps):
        layer = {end for state in layer for end in outcomes_under(explicit, decisions, state)}
    return layer
