"""Random tasks over variables with a hundred values or so, that boxes do not keep apart, and
policies for them.
"""

from __future__ import annotations

import random
from functools import reduce
from operator import and_
from typing import Any

import numpy as np

from surefoot import Description, ite, maximum, minimum
from surefoot.policies import as_policy
from surefoot.policies.interface import Input, Interface
from surefoot.policies.models import Corrected
from surefoot.tasks.description import Assignment, Outcome
from surefoot.tasks.expressions import as_expr
from tests.support.boxes import random_network_of
from tests.support.tree_policies import random_trees

Bounds = tuple[int, int]


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.d = Description("wide", silent=["tick"] if rng.random() < 0.25 else [])
        self.of: dict[Any, Bounds] = {}
        for name in "xyz"[: rng.choice((1, 2, 2, 2))]:
            low = rng.choice((0, 0, 0, -40, 7))
            high = low + rng.choice((66, 70, 90, 120))
            self.of[self.d.int(name, low, high)] = (low, high)
        if rng.random() < 0.4:
            self.of[self.d.int("k", 0, 2)] = (0, 2)
        self.flag = self.d.bool("b") if rng.random() < 0.3 else None
        self.ints = list(self.of)

    def number(self, x: Any) -> int:
        """Return a value about the range of a variable."""
        low, high = self.of[x]
        return self.rng.choice((low, high, self.rng.randint(low, high), low + 3, high - 3))

    def comparison(self) -> Any:
        rng, x, y = self.rng, self.rng.choice(self.ints), self.rng.choice(self.ints)
        if self.flag is not None and rng.random() < 0.2:
            return rng.choice((self.flag, ~self.flag))
        left = rng.choice((x, x, x, x + y, x - y, 2 * x - 3 * y, x * y, x % 5, abs(x - y)))
        right = self.number(x)
        return rng.choice((left <= right, left >= right, left <= right, left != right))

    def condition(self, length: int) -> Any:
        made = self.comparison()
        for _ in range(length - 1):
            made = made & self.comparison() if self.rng.random() < 0.8 else made | self.comparison()
        return made

    def value(self, x: Any) -> Any:
        rng, (low, high), y = self.rng, self.of[x], self.rng.choice(self.ints)
        step = rng.randint(1, 9)
        wish = rng.choice(
            (
                x + step,
                x - step,
                as_expr(self.number(x)),
                y,
                x + y,
                low + high - x,
                2 * x,
                ite(self.comparison(), x + step, y),
                (x + y) % 50,
            )
        )
        return minimum(maximum(wish, low), high) if rng.random() < 0.93 else x + step

    def outcome(self, *, is_sure: bool) -> Outcome:
        rng, made = self.rng, []
        for x in rng.sample(self.ints, rng.choice((0, 1, 1, min(2, len(self.ints))))):
            group = rng.choice((0, 0, 0, 1))
            if rng.random() < 0.1:
                low, high = self.of[x]
                upper = minimum(x + rng.randint(0, 3), high)
                made.append(Assignment(x, lower=maximum(x - 2, low), upper=upper, index=group))
            else:
                made.append(Assignment(x, self.value(x), index=group))
        if self.flag is not None and rng.random() < 0.3:
            made.append(Assignment(self.flag, as_expr(rng.choice((True, self.comparison())))))
        chance = [ite(self.comparison(), 0.5, 0.0)] if not is_sure and rng.random() < 0.2 else []
        return Outcome(tuple(made), tuple(chance))

    def moves(self) -> Outcome:
        """Return an outcome that keeps the sum of two variables."""
        x, y = self.rng.sample(self.ints, 2)
        step = self.rng.choice((1, 1, 3))
        return Outcome((Assignment(x, x - step), Assignment(y, y + step)), ())

    def task(self) -> Any:
        rng, d = self.rng, self.d
        has_sum = len(self.ints) > 1 and rng.random() < 0.4
        names = ["go", "turn", "wait"]
        for name in names:
            d.action(name)
        for name in (*names, rng.choice(names), *d.silent):
            outcomes = [self.outcome(is_sure=not n) for n in range(rng.choice((1, 1, 2)))]
            guard = self.condition(rng.choice((1, 2)))
            if has_sum:
                outcomes = [self.moves() for _ in outcomes]
                for each in outcomes:
                    for one in each.assignments:
                        low, high = self.of[one.target]
                        guard = guard & (one.target >= low + 3) & (one.target <= high - 3)
            d.edge(name, guard=guard, outcomes=outcomes)
        d.fail(reduce(and_, (self.comparison() for _ in range(rng.randint(2, 5)))))
        if rng.random() < 0.5:
            d.goal(self.condition(2))
        start = reduce(and_, (self.comparison() for _ in range(rng.randint(1, 4))))
        if has_sum:
            x, y = self.ints[:2]
            start = start & (x + y == sum(self.of[x]) // 2 + sum(self.of[y]) // 2)
        d.start(start)
        return d.compile()


def wide_task(seed: int) -> Any:
    """Return a random task of at most some ten thousand states."""
    return _Writer(random.Random(seed)).task()


def wide_policy(kind: str, task: Any, seed: int, *, unfiltered: bool = False) -> Any:
    """Return a policy of random numbers that asks about all of the variables' ranges."""
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    outputs = [name for name in task.actions if name not in task.silent]
    rng.shuffle(outputs)
    ranges = [(int(v.lower), int(v.upper)) for v in task.variables]
    is_plain = kind == "trees"
    inputs = tuple(
        Input(name) if is_plain else Input(name, mean=(low + high) / 2, scale=(high - low) / 3)
        for name, (low, high) in zip(task.names, ranges, strict=True)
    )
    asked = ranges if is_plain else [(-2, 2)] * len(ranges)
    trees = random_trees(rng, asked, len(outputs))
    model: Any = trees
    if not is_plain:
        network = random_network_of(numbers, len(inputs), len(outputs))
        model = network if kind == "network" else Corrected(network, trees)
    return as_policy(
        model, task, interface=Interface(inputs, tuple(outputs)), unfiltered=unfiltered
    )
