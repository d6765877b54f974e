"""Small random tasks of integers and Booleans, and tree ensembles that decide on them."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from surefoot import Description, InputError, ite
from surefoot.policies import as_policy
from surefoot.policies.interface import Input, Interface
from surefoot.policies.models import Trees
from surefoot.tasks.description import Assignment, Outcome
from surefoot.tasks.expressions import as_expr, maximum, minimum, sign
from tests.support import lines

LEAVES = {
    "whole": (-2.0, -1.0, 0.0, 1.0, 2.0),
    "tenths": (0.1, 0.2, 0.3, 0.4, -0.1, -0.3, 0.7),
    "thirds": (1 / 3, 2 / 3, 0.0, -1 / 3),
}


# -- trees -------------------------------------------------------------------------------------


def random_trees(rng: random.Random, ranges: Sequence[tuple[int, int]], outputs: int) -> Trees:
    """Return an ensemble whose inputs are in these ranges. Many of its sums are equal, or differ
    by rounding only.
    """
    kind = rng.choice(tuple(LEAVES))
    values, bases = LEAVES[kind], (0.0, 0.5) if kind == "whole" else (0.0, 0.5, 0.1)
    features: list[int] = []
    thresholds: list[float] = []
    left: list[int] = []
    right: list[int] = []
    leaves: list[float] = []

    def grow(depth: int, output: int) -> int:
        number = len(features)
        is_leaf = depth == 0 or rng.random() < 0.2
        feature = -1 if is_leaf else rng.randrange(len(ranges))
        features.append(feature)
        thresholds.append(0.0 if is_leaf else rng.choice((0, 0.5)) + rng.randint(*ranges[feature]))
        left.append(len(leaves))
        right.append(output)
        if is_leaf:
            leaves.extend(rng.choice(values) for _ in range(outputs if output == -1 else 1))
        else:
            left[number] = grow(depth - 1, output)
            right[number] = grow(depth - 1, output)
        return number

    is_joint = rng.random() < 0.3
    targets = [-1 if is_joint else i % outputs for i in range(outputs * rng.randint(1, 4))]
    roots = [grow(rng.randint(0, 3), target) for target in targets]
    return Trees(
        num_inputs=len(ranges),
        num_outputs=outputs,
        roots=np.array(roots, dtype=np.int32),
        features=np.array(features, dtype=np.int32),
        thresholds=np.array(thresholds, dtype=np.float64),
        left=np.array(left, dtype=np.int32),
        right=np.array(right, dtype=np.int32),
        values=np.array(leaves),
        base=np.array([rng.choice(bases) for _ in range(outputs)]),
        input_precision=rng.choice(("float32", "float64")),
        sum_precision=rng.choice(("float32", "float64")),
        base_last=rng.random() < 0.3,
        divide_by=rng.choice((1.0, 1.0, 1.0, 3.0)),
    )


def alike_trees(rng: random.Random, ranges: Sequence[tuple[int, int]], outputs: int) -> Trees:
    """Return an ensemble whose outputs have the same trees in different orders: exact sums are all
    equal, and rounding alone decides.
    """
    inputs = [rng.randrange(len(ranges)) for _ in range(rng.randint(3, 5))]
    stumps = [
        (feature, rng.randint(*ranges[feature]) + 0.5, rng.sample(LEAVES["tenths"], 2))
        for feature in inputs
    ]
    order = [(o, each) for o in range(outputs) for each in rng.sample(stumps, len(stumps))]
    count = len(order)
    nodes = np.arange(count, dtype=np.int32) * 3
    return Trees(
        num_inputs=len(ranges),
        num_outputs=outputs,
        roots=nodes,
        features=np.array([n for _, (f, _, _) in order for n in (f, -1, -1)], dtype=np.int32),
        thresholds=np.array([n for _, (_, t, _) in order for n in (t, 0.0, 0.0)]),
        left=np.array([n for i in range(count) for n in (3 * i + 1, 2 * i, 2 * i + 1)], np.int32),
        right=np.array([n for i, (o, _) in enumerate(order) for n in (3 * i + 2, o, o)], np.int32),
        values=np.array([value for _, (_, _, values) in order for value in values]),
        base=np.zeros(outputs),
        input_precision="float64",
        sum_precision=rng.choice(("float32", "float64")),
    )


def random_tree_policy(rng: random.Random, task: Any) -> Any:
    """Return a policy of the task: mostly filtered, with an output for all actions or some."""
    actions = [name for name in task.actions if name not in task.silent]
    outputs = rng.sample(actions, len(actions) if rng.random() < 0.8 else max(len(actions) - 1, 1))
    ranges = [(int(v.lower), int(v.upper)) for v in task.variables]
    inputs = []
    for i, v in enumerate(task.variables):
        inputs.append(Input(v.name))
        if rng.random() < 0.2:
            inputs[i] = Input(v.name, mean=1.5, scale=rng.choice((0.7, -0.7)))
    make = alike_trees if rng.random() < 0.25 else random_trees
    model = make(rng, ranges, len(outputs))
    interface = Interface(tuple(inputs), tuple(outputs))
    unfiltered = rng.random() < 0.1
    return as_policy(model, task, interface=interface, unfiltered=unfiltered)


def slow_driver(task: Any, *, wrong: float, seed: int = 0, count: int = 3000) -> Any:
    """Return a classifier of XGBoost for a one-way line that learned from one who stops at every
    location; a share of the examples is wrong.
    """
    import xgboost

    rng = random.Random(seed)
    names = list(task.actions)
    rows, labels = [], []
    for state in lines.random_states(task, count // 4, seed=seed):
        applicable = task.applicable(state)
        if applicable:
            chosen = _slow_decision(task, state, applicable)
            chosen = rng.choice(applicable) if rng.random() < wrong else chosen
            rows.append([float(value) for value in state.values_tuple])
            labels.append(names.index(chosen))
    for number in range(len(names)):  # classes must all be there
        rows.append(rows[0])
        labels.append(number)
    model = xgboost.XGBClassifier(
        n_estimators=12, max_depth=4, learning_rate=0.5, n_jobs=1, random_state=seed
    )
    return model.fit(np.array(rows), np.array(labels))


def _slow_decision(task: Any, state: Any, applicable: Sequence[str]) -> str:
    if state["truck_vel_0"] == 0:
        wish = ("pick_up_truck_0", "drop_truck_0", "park_truck_0", "acc_truck_0")
    else:
        wish = ("dec_truck_0",)
    return next((name for name in wish if name in applicable), applicable[0])


# -- tasks -------------------------------------------------------------------------------------


class _Maker:
    def __init__(self, rng: random.Random, *, errors: bool) -> None:
        self.rng = rng
        self.errors = errors
        self.d = Description("random")
        self.ints = [
            (self.d.int(f"x{i}", low, low + rng.randint(1, 3)), low)
            for i in range(rng.randint(1, 3))
            for low in [rng.choice((-1, 0, 0, 2))]
        ]
        self.bools = [self.d.bool(f"b{i}") for i in range(rng.randint(0, 2))]

    def number(self, depth: int) -> Any:
        """Return a random expression of integers."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return rng.choice(self.ints)[0] if rng.random() < 0.7 else as_expr(rng.randint(-2, 3))
        a, b = self.number(depth - 1), self.number(depth - 1)
        forms = [
            lambda: a + b,
            lambda: a - b,
            lambda: -a,
            lambda: a * rng.randint(-1, 2),
            lambda: a * b,
            lambda: minimum(a, b),
            lambda: maximum(a, b),
            lambda: abs(a),
            lambda: sign(a),
            lambda: a % 3,
            lambda: ite(self.condition(depth - 1), a, b),
        ]
        if self.errors and rng.random() < 0.1:
            return a % b
        return rng.choice(forms)()

    def condition(self, depth: int) -> Any:
        """Return a random Boolean expression."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.4:
            if self.bools and rng.random() < 0.3:
                return rng.choice(self.bools)
            x, low = rng.choice(self.ints)
            bound = low + rng.randint(0, 3)
            return rng.choice((x <= bound, x >= bound, x == bound, x != bound))
        if rng.random() < 0.4:
            a, b = self.number(depth - 1), self.number(depth - 1)
            return rng.choice((a < b, a <= b, a == b, a != b, a > b, a >= b))
        a, b = self.condition(depth - 1), self.condition(depth - 1)
        return rng.choice((a & b, a | b, ~a, a == b))

    def outcome(self) -> Outcome:
        rng = self.rng
        assignments = []
        for x, _ in rng.sample(self.ints, rng.randint(0, len(self.ints))):
            v = self.d.variables[x.value]
            new = self.number(2) if rng.random() < 0.4 else x + rng.choice((-1, 1))
            if not (self.errors and rng.random() < 0.3):
                new = minimum(maximum(new, int(v.lower)), int(v.upper))
            if rng.random() < 0.1:
                bounds = (int(v.lower), minimum(x + 1, int(v.upper)))
                assignments.append(
                    Assignment(x, lower=as_expr(bounds[0]), upper=as_expr(bounds[1]))
                )
            else:
                assignments.append(Assignment(x, new, index=rng.choice((0, 0, 1))))
        assignments += [
            Assignment(b, as_expr(self.condition(1))) for b in self.bools if rng.random() < 0.3
        ]
        chance = [ite(self.condition(1), 0.5, 0.0)] if rng.random() < 0.15 else []
        return Outcome(tuple(assignments), tuple(chance))

    def describe(self) -> Description:
        rng, d = self.rng, self.d
        names = [f"a{i}" for i in range(rng.randint(2, 4))]
        if rng.random() < 0.3:
            d.silent.append("quiet")
        for name in names:
            d.action(name)
        for name in [*names, *names[:2], *d.silent]:
            guard = self.condition(2) if rng.random() < 0.8 or d.silent else None
            if d.silent and name != "quiet":
                guard = guard & self.condition(0)
            d.edge(name, guard=guard, outcomes=[self.outcome() for _ in range(rng.randint(1, 2))])
        d.fail(self.condition(2) & self.condition(1) & self.condition(0))
        if rng.random() < 0.6:
            d.goal(self.condition(1) & self.condition(1))
        d.start(self.condition(1) & self.condition(0))
        return d


def random_tree_task(seed: int, *, errors: bool = False) -> tuple[Any, Any] | None:
    """Return a random task and a policy of it; None if the task has no start state.

    Without ``errors`` updates stay within the bounds.
    """
    rng = random.Random(seed)
    task = _Maker(rng, errors=errors).describe().compile()
    try:
        if not task.list_starts():
            return None
    except InputError:
        pass
    return task, random_tree_policy(rng, task)


# -- plain checks ------------------------------------------------------------------------------


def count_within(task: Any) -> int:
    """Return how many states are within the bounds of the variables."""
    return math.prod(int(v.upper) - int(v.lower) + 1 for v in task.variables)


def states_within(task: Any) -> Iterator[Any]:
    """Yield all states within the bounds of the variables."""
    ranges = [
        (False, True) if v.type == "bool" else range(int(v.lower), int(v.upper) + 1)
        for v in task.variables
    ]
    for values in itertools.product(*ranges):
        yield task.state(dict(zip(task.names, values, strict=True)))


def steps_of(task: Any, policy: Any, state: Any) -> list[Any]:
    """Return where a run of the policy may be after a step. Errors of the model are raised."""
    if task.is_fail(state) or task.is_goal(state):
        return []
    applicable = task.applicable(state)
    loud = [name for name in applicable if name not in task.silent]
    if not loud:
        return [end for name in applicable for end in task.outcomes(state, name)]
    if policy.unfiltered:
        scores = policy.scores(state)
        best = max(scores, key=lambda name: scores[name])
        return list(task.outcomes(state, best)) if best in loud else []
    return list(task.outcomes(state, policy.decide(state)))


def assert_proves_safety(task: Any, policy: Any, boxes: Any, constraints: Any) -> None:
    """Assert that the states in no blocked box that satisfy the constraints contain the start
    states, do not fail, and are closed under steps of the policy, which raise no error there.
    """

    def is_in(state: Any) -> bool:
        for factors, lower, upper in constraints:
            if not lower <= sum(f * state[name] for name, f in factors.items()) <= upper:
                return False
        values = [int(value) for value in state.values_tuple]
        return not any(
            all(a <= value <= b for (a, b), value in zip(box, values, strict=True)) for box in boxes
        )

    for state in states_within(task):
        if task.is_start(state):
            assert is_in(state), state
        if is_in(state):
            assert not task.is_fail(state), state
            assert all(map(is_in, steps_of(task, policy, state))), state


def assert_is_failing_run(task: Any, policy: Any, run: Any) -> None:
    """Assert that a run begins at the start, is one of the policy, and fails at its end only."""
    assert task.is_start(run.states[0])
    for state, end in zip(run.states, run.states[1:], strict=False):
        assert end in steps_of(task, policy, state)
    assert task.is_fail(run.states[-1])
    assert not any(task.is_fail(state) for state in run.states[:-1])
    assert len(run.actions) == len(run.states) - 1
