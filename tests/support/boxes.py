"""Small random tasks with learned policies, certificates of boxes for them, and the truth."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import CertificateRejected, Description, InputError, ite, maximum, minimum
from surefoot.certificates import check_policy_certificate, model_of
from surefoot.checker.certificates import Place
from surefoot.checker.errors import ModelError
from surefoot.options import VerifyOptions
from surefoot.policies import as_policy
from surefoot.policies.interface import Input, Interface
from surefoot.policies.models import Corrected, Rules, Trees
from surefoot.verify.certificate import write_box_certificate
from surefoot.verify.question import Question
from tests.support.networks import random_network

Key = tuple[Any, ...]
Box = tuple[tuple[Any, Any], ...]
Constraint = tuple[dict[str, int], int, int]
KINDS = ("trees", "network", "corrected", "rules", "trees", "network")


# -- tasks -------------------------------------------------------------------------------------


class _Writer:
    """Writes a random task over some small integers and a Boolean."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.silent = ["tick"] if rng.random() < 0.4 else []
        self.d = Description("boxes", silent=self.silent)
        self.upper = rng.randint(2, 4)
        self.ints = [self.d.int(name, 0, self.upper) for name in "xyz"[: rng.choice((2, 2, 3))]]
        self.flag = self.d.bool("b") if rng.random() < 0.5 else None
        self.actions = ["go", "turn", "wait", *(["rest"] if rng.random() < 0.3 else [])]
        for name in self.actions:
            self.d.action(name)

    def task(self) -> Any:
        rng, d = self.rng, self.d
        for name in (*self.actions, *self.silent):
            for _ in range(rng.choice((1, 1, 2))):
                self._edge(name, rng.random())
        d.fail(self._condition(rng.choice((2, 3))))
        if rng.random() < 0.6:
            d.goal(self._condition(2))
        start = self._condition(rng.choice((1, 2)))
        if rng.random() < 0.4:
            start &= sum(self.ints[1:], self.ints[0]) == rng.randint(1, self.upper)
        d.start(start)
        return d.compile()

    def _edge(self, name: str, kind: float) -> None:
        outcomes = [self._changes() for _ in range(self.rng.choice((1, 1, 2)))]
        guard = self._condition(self.rng.choice((1, 2)))
        if kind < 0.4:  # moves one from here to there
            one, other = self.rng.sample(self.ints, 2)
            guard = (one > 0) & (other < self.upper) & guard
            outcomes[0] = {one: one - 1, other: other + 1}
        elif kind < 0.45:  # may leave the range
            outcomes[0] = {self.ints[0]: self.ints[0] + self.rng.choice((-1, 1))}
        self.d.edge(name, guard=guard, outcomes=outcomes)

    def _changes(self) -> dict[Any, Any]:
        changed = self.rng.sample(self.ints, self.rng.choice((0, 1, 1, 2)))
        changes: dict[Any, Any] = {each: self._value(each) for each in changed}
        if self.flag is not None and self.rng.random() < 0.3:
            changes[self.flag] = self.rng.choice((True, False, ~self.flag, self._comparison()))
        return changes

    def _value(self, own: Any) -> Any:
        rng, other = self.rng, self.rng.choice(self.ints)
        return rng.choice(
            (
                minimum(own + rng.choice((1, 2)), self.upper),
                maximum(own - 1, 0),
                rng.randint(0, self.upper),
                other,
                ite(self._comparison(), other, self.upper - own),
                (own + other) % (self.upper + 1),
            )
        )

    def _condition(self, length: int) -> Any:
        return reduce(and_, (self._comparison() for _ in range(length)))

    def _comparison(self) -> Any:
        rng = self.rng
        if self.flag is not None and rng.random() < 0.2:
            return rng.choice((self.flag, ~self.flag))
        one, other = rng.sample(self.ints, 2)
        left = rng.choice((one, one, one + other, 2 * one - other))
        right: Any = rng.randint(0, self.upper + 1)
        made = rng.choice((left <= right, left >= right, left < right, left > right))
        return rng.choice((made, made, made, left != right, made | (other == right)))


def small_task(seed: int) -> Any:
    """Return a random task of at most some hundred states."""
    return _Writer(random.Random(seed)).task()


# -- policies ----------------------------------------------------------------------------------


def random_trees(rng: np.random.Generator, inputs: int, outputs: int, *, top: int) -> Trees:
    """Return trees of depth 1 to 3 that ask about whole numbers and halves up to ``top``."""
    nodes: list[tuple[int, float, int, int]] = []
    values: list[float] = []
    precision = str(rng.choice(["float32", "float64"]))
    is_vector = rng.random() < 0.3

    def leaf(output: int) -> int:
        nodes.append((-1, 0.0, len(values), -1 if is_vector else output))
        drawn = rng.integers(-2, 3, size=outputs if is_vector else 1) * float(rng.choice([0.1, 1]))
        values.extend(drawn.astype(precision).astype(float).tolist())
        return len(nodes) - 1

    def tree(depth: int, output: int) -> int:
        if depth == 0:
            return leaf(output)
        at = len(nodes)
        nodes.append((0, 0.0, 0, 0))
        threshold = float(rng.integers(0, 2 * top + 1)) / 2
        below = tree(depth - 1, output), tree(depth - 1, output)
        nodes[at] = (int(rng.integers(inputs)), threshold, *below)
        return at

    roots = [tree(int(rng.integers(1, 4)), number % outputs) for number in range(2 * outputs)]
    features, thresholds, left, right = (list(column) for column in zip(*nodes, strict=True))
    return Trees(
        num_inputs=inputs,
        num_outputs=outputs,
        roots=np.array(roots, dtype=np.int32),
        features=np.array(features, dtype=np.int32),
        thresholds=np.array(thresholds),
        left=np.array(left, dtype=np.int32),
        right=np.array(right, dtype=np.int32),
        values=np.array(values),
        base=rng.integers(-1, 2, size=outputs) / 4,
        input_precision=str(rng.choice(["float32", "float64"])),  # type: ignore[arg-type]
        sum_precision=precision,  # type: ignore[arg-type]
        base_last=bool(rng.random() < 0.5),
        divide_by=float(rng.choice([1.0, 3.0])),
    )


def random_rules(rng: np.random.Generator, inputs: int, outputs: int, *, top: int) -> Rules:
    """Return a few rules over the values of the inputs."""
    atoms = tuple((int(rng.integers(inputs)), int(rng.integers(top + 1))) for _ in range(6))
    rules = []
    for number in range(6):
        terms = rng.integers(0, 6 + number, size=2)
        rules.append(
            (bool(rng.random() < 0.5), tuple((int(t), bool(rng.random() < 0.3)) for t in terms))
        )
    weights = tuple(
        (int(rng.integers(6)), int(rng.integers(outputs)), float(rng.normal())) for _ in range(10)
    )
    return Rules(inputs, outputs, atoms, tuple(rules), weights, (0.0,) * outputs)


def random_network_of(rng: np.random.Generator, inputs: int, outputs: int) -> Any:
    """Return a small network with any activation, in any precision."""
    return random_network(
        int(rng.integers(2**31)),
        *(inputs, int(rng.integers(2, 7)), int(rng.integers(2, 7)), outputs),
        activation=str(rng.choice(["relu", "relu", "leaky_relu", "tanh", "sigmoid"])),
        precision=str(rng.choice(["float32", "float64"])),
    )


def random_model(
    kind: str, rng: np.random.Generator, inputs: int, outputs: int, *, top: int
) -> Any:
    """Return a model of a kind."""
    if kind == "rules":
        return random_rules(rng, inputs, outputs, top=top)
    trees = random_trees(rng, inputs, outputs, top=top)
    if kind == "trees":
        return trees
    network = random_network_of(rng, inputs, outputs)
    return network if kind == "network" else Corrected(network, trees)


def learned_policy(kind: str, task: Any, seed: int, *, unfiltered: bool = False) -> Any:
    """Return a policy of random numbers; some actions may have no output, some inputs are scaled,
    one may be a constant.
    """
    rng, names = np.random.default_rng(seed), list(task.names)
    loud = [name for name in task.actions if name not in task.silent]
    outputs = [str(name) for name in rng.permutation(loud)]
    if rng.random() < 0.2:
        outputs = outputs[:-1] or outputs
    inputs = [Input(name, mean=_mean(rng), scale=_scale(rng)) for name in names]
    if kind == "rules":
        inputs = [Input(name) for name in names]
    if rng.random() < 0.2:
        inputs.append(Input(constant=1.5))
    upper = max((int(v.upper) for v in task.variables if v.type != "real"), default=3)
    model = random_model(kind, rng, len(inputs), len(outputs), top=min(max(upper, 1), 9))
    interface = Interface(tuple(inputs), tuple(outputs))
    return as_policy(model, task, interface=interface, unfiltered=unfiltered)


def _mean(rng: np.random.Generator) -> float:
    return float(rng.choice([0.0, 0.0, 0.3]))


def _scale(rng: np.random.Generator) -> float:
    return float(rng.choice([1.0, 1.0, 3.0, -1.0]))


# -- the truth ---------------------------------------------------------------------------------


class Truth:
    """All that a policy does in all states of a small task, by looking at each of them."""

    def __init__(self, task: Any, policy: Any) -> None:
        self.task = task
        self.policy = policy
        self.model = model_of(task, [])
        self.names = list(task.names)
        self.starts = {tuple(state.values()) for state in self.model.starts(10**6)}
        self._after: dict[Key, frozenset[Key] | None] = {}

    def all_states(self) -> Iterator[Key]:
        """Yield every state within the bounds."""
        kinds = {"bool": lambda v: (False, True), "int": lambda v: range(v.lower, v.upper + 1)}
        return itertools.product(*(kinds[v.kind](v) for v in self.model.variables))

    def after(self, key: Key) -> frozenset[Key] | None:
        """Return what may follow a state; None if it fails, or something is wrong there."""
        if key not in self._after:
            self._after[key] = self._steps(key)
        return self._after[key]

    def _steps(self, key: Key) -> frozenset[Key] | None:
        try:
            place = Place(self.model, key)
            if place.is_fail:
                return None
            if not place.choices:
                return frozenset()
            action = None if place.choices == (None,) else self.policy.decide(place.state)
            return frozenset(place.outcomes(action))
        except ModelError:
            return None
        except InputError as error:
            is_end = error.code == "policy-not-applicable" and self.policy.unfiltered
            return frozenset() if is_end else None

    def reached(self) -> set[Key] | None:
        """Return all that the policy comes to; None if it fails, or something is wrong."""
        found, waiting = set(self.starts), list(self.starts)
        while waiting:
            after = self.after(waiting.pop())
            if after is None:
                return None
            waiting += after - found
            found |= after
        return found

    def proves(self, states: set[Key]) -> bool:
        """Return whether a set of states proves that no run fails."""
        if not self.starts or not self.starts <= states:
            return False
        return all((after := self.after(key)) is not None and after <= states for key in states)

    def states_of(
        self, boxes: Sequence[Box], constraints: Sequence[Constraint], *, blocked: bool
    ) -> set[Key]:
        """Return the states of a certificate."""
        return {
            key
            for key in self.all_states()
            if any(_is_in(key, box) for box in boxes) is not blocked
            and all(low <= self._sum(key, factors) <= high for factors, low, high in constraints)
        }

    def _sum(self, key: Key, factors: dict[str, int]) -> int:
        values = dict(zip(self.names, key, strict=True))
        return sum(factor * values[name] for name, factor in factors.items())


def _is_in(key: Key, box: Box) -> bool:
    return all(low <= value <= high for value, (low, high) in zip(key, box, strict=True))


# -- certificates ------------------------------------------------------------------------------


def point(key: Key) -> Box:
    """Return the box of one state."""
    return tuple((value, value) for value in key)


def hull(one: Box, other: Box) -> Box:
    """Return the smallest box with both in it."""
    pairs = zip(one, other, strict=True)
    return tuple((min(a, c), max(b, d)) for (a, b), (c, d) in pairs)


def merged(boxes: Iterable[Box], is_good: Any, rng: random.Random) -> list[Box]:
    """Return fewer boxes: two become one where what comes out is good."""
    left = list(boxes)
    for _ in range(3 * len(left)):
        if len(left) < 2:
            break
        one, other = rng.sample(left, 2)
        rest = [each for each in left if each not in (one, other)]
        if is_good([*rest, hull(one, other)]):
            left = [*rest, hull(one, other)]
    return left


def is_accepted(
    truth: Truth,
    file: Path,
    boxes: Sequence[Box],
    constraints: Sequence[Constraint] = (),
    *,
    blocked: bool = False,
) -> bool:
    """Return what the checker says about a certificate."""
    question = Question(truth.task, truth.policy, VerifyOptions(), None, file)
    write_box_certificate(question, boxes, constraints, blocked=blocked)
    try:
        check_policy_certificate(truth.task, file, policy=truth.policy, max_seconds=60)
    except CertificateRejected:
        return False
    except InputError as error:
        assert error.code.startswith("model-"), error
        return False
    return True


def neighbours(boxes: Sequence[Box], truth: Truth) -> Iterator[list[Box]]:
    """Yield the boxes with one of them left out, or one bound moved by one."""
    for number, box in enumerate(boxes):
        others = [*boxes[:number], *boxes[number + 1 :]]
        yield others
        for position, variable in enumerate(truth.model.variables):
            for low, high in _moved(*box[position], variable):
                yield [*others, (*box[:position], (low, high), *box[position + 1 :])]


def _moved(low: Any, high: Any, variable: Any) -> Iterator[tuple[Any, Any]]:
    if variable.kind == "bool":
        yield from {(False, False), (True, True), (False, True)} - {(low, high)}
        return
    for first, last in ((low - 1, high), (low + 1, high), (low, high - 1), (low, high + 1)):
        if variable.lower <= first <= last <= variable.upper:
            yield first, last


def lines_of(file: Path) -> list[Any]:
    """Return the lines of a certificate as data."""
    return [json.loads(line) for line in file.read_text().splitlines()]
