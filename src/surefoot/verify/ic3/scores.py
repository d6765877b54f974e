"""Tree ensembles as clauses: which leaves a state comes to, and which score may be the best.

The policy adds floats up in a fixed order. :class:`Scores` has exact sums of whole numbers instead:
the leaves in units of ``quantum``, rounded, with a ``slack`` for all that may differ from what the
policy computes. Output ``a`` *may* score as good as ``b`` where its sum plus the slack is not below
that of ``b``. Where no rounding can happen at all the slack is 0 and the answer is exact, ties
included.

Near ties, in which the policy is known to decide otherwise, are taken out one by one
(:meth:`Scores.settle`). Rounded addition is monotone: where ``b`` beats ``a``, it also does with
leaves that are no less for ``b`` and no more for ``a``. So one settled state settles many.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from surefoot.policies.interface import Input
from surefoot.policies.models import Reals, Trees
from surefoot.tasks.compiled_task import CompiledTask
from surefoot.verify.ic3.circuit import FALSE, TRUE, Circuit
from surefoot.verify.ic3.numbers import Unary, lacks

WHOLE_BITS = 24  # sums of so many bits are exact
MAX_NODES = 200_000
TINY = 2.0**-100  # sums below that may have units that no double is


@dataclass(frozen=True)
class Leaf:
    """A leaf of a tree: where it is reached, and what it adds to each output it adds to."""

    literal: int
    values: dict[int, float]


class Scores:
    """The scores of an ensemble over the variables of a state.

    ``settled`` counts the near ties taken out, ``roundings`` those of them in which the exact sums
    of the leaves decide otherwise than the policy does.
    """

    def __init__(
        self,
        task: CompiledTask,
        trees: Trees,
        inputs: Sequence[Input],
        variables: Sequence[Unary],
        circuit: Circuit,
        *,
        bits: int,
    ) -> None:
        if len(trees.features) > MAX_NODES:
            raise lacks(f"ensembles with more than {MAX_NODES:,} nodes")
        self.trees = trees
        self.circuit = circuit
        self._kind = np.float32 if trees.sum_precision == "float32" else np.float64
        with np.errstate(over="ignore"):
            self.base = trees.base.astype(self._kind).astype(np.float64)
        self._inputs = _Inputs(task, trees, inputs, variables)
        self.leaves = [self._leaves_of(int(root)) for root in trees.roots]
        self._choose_units(bits)
        self._sums = [self._sum_of(output) for output in range(trees.num_outputs)]
        self._pairs: dict[tuple[int, int], _Pair] = {}
        self.settled = self.roundings = 0

    # -- leaves ------------------------------------------------------------------------------

    def _leaves_of(self, root: int) -> list[Leaf]:
        """Return the leaves of a tree that some state comes to."""
        trees, leaves = self.trees, []
        waiting = [(root, TRUE)]
        while waiting:
            node, reached = waiting.pop()
            if reached == FALSE:
                continue
            feature = int(trees.features[node])
            if feature == -1:
                leaves.append(Leaf(reached, self._values_of(node)))
                continue
            right = self._inputs.at_least(feature, float(trees.thresholds[node]))
            for child, side in ((trees.right[node], right), (trees.left[node], -right)):
                waiting.append((int(child), self.circuit.every((reached, side))))
        self._add_one_of([leaf.literal for leaf in leaves])
        return leaves

    def _add_one_of(self, literals: Sequence[int]) -> None:
        """Add what follows from the gates: a state comes to one of the leaves, and to no other."""
        self.circuit.add(*literals)
        if len(literals) <= 8:
            for i, literal in enumerate(literals):
                for other in literals[:i]:
                    self.circuit.add(-literal, -other)

    def _values_of(self, leaf: int) -> dict[int, float]:
        first, output = int(self.trees.left[leaf]), int(self.trees.right[leaf])
        outputs = range(self.trees.num_outputs) if output == -1 else (output,)
        with np.errstate(over="ignore"):
            values = self.trees.values[first : first + len(outputs)].astype(self._kind)
        return dict(zip(outputs, values.astype(np.float64).tolist(), strict=True))

    # -- units -------------------------------------------------------------------------------

    def _choose_units(self, bits: int) -> None:
        """Choose the unit of the sums, which have so many bits if they are not exact, and the slack
        of their differences, in units.
        """
        bounds = [self._bounds(output) for output in range(self.trees.num_outputs)]
        largest = max(each[-1] for each in bounds)
        if not TINY <= (largest or 1.0) <= float(np.finfo(self._kind).max) / 4:
            raise lacks("leaf values as large or as small as those of the policy")
        values = [v for tree in self.leaves for leaf in tree for v in leaf.values.values()]
        top = math.frexp(largest)[1]
        finest = min([top, *map(_lowest_bit, filter(None, [*values, *self.base.tolist()]))])
        digits = int(np.finfo(self._kind).nmant) + 1
        is_whole = top - finest <= WHOLE_BITS
        self.quantum = 2.0 ** (finest if is_whole else top - bits)
        if is_whole and top - finest < digits and self.trees.divide_by == 1:
            self.slack = 0
            return
        rounding = max(sum(each) + each[-1] for each in bounds) * 1.02 * 2.0**-digits
        rounding += float(np.finfo(self._kind).tiny) * self.trees.divide_by
        cut = 0 if is_whole else max(len(each) for each in bounds) / 2 + 1
        self.slack = 2 * (math.ceil(rounding / self.quantum + cut) + 1)

    def _bounds(self, output: int) -> list[float]:
        """Return bounds of the absolute values of all partial sums of an output."""
        most = [
            max((abs(leaf.values[output]) for leaf in tree if output in leaf.values), default=0.0)
            for tree in self.leaves
        ]
        bounds = [abs(float(self.base[output]))]
        for each in (each for each in most if each):
            bounds.append(bounds[-1] + each)
        return bounds

    def _units(self, value: float) -> int:
        return round(value / self.quantum)

    # -- sums --------------------------------------------------------------------------------

    def _sum_of(self, output: int) -> tuple[list[int], int, int]:
        """Return the literals of a sum, least significant first, what it is more than that, and
        the most they can be.
        """
        parts, offset = [], self._units(float(self.base[output]))
        for tree in self.leaves:
            weights = [self._units(leaf.values.get(output, 0.0)) for leaf in tree]
            least = min(weights)
            offset += least
            if max(weights) > least:
                numbers = [weight - least for weight in weights]
                parts.append((self._bits_of(tree, numbers), max(numbers)))
        bits, most = self._total(parts)
        return bits, offset, most

    def _bits_of(self, tree: Sequence[Leaf], numbers: Sequence[int]) -> list[int]:
        pairs = list(zip(tree, numbers, strict=True))
        return [
            self.circuit.some([leaf.literal for leaf, number in pairs if number >> i & 1])
            for i in range(max(numbers).bit_length())
        ]

    def _total(self, parts: list[tuple[list[int], int]]) -> tuple[list[int], int]:
        """Return the sum of binary numbers: small ones meet small ones first."""
        left = sorted(parts, key=lambda part: part[1])
        while len(left) > 1:
            (a, most_a), (b, most_b) = left.pop(0), left.pop(0)
            most = most_a + most_b
            left.append((self._added(a, b, most.bit_length()), most))
            left.sort(key=lambda part: part[1])
        return left[0] if left else ([], 0)

    def _added(self, a: Sequence[int], b: Sequence[int], width: int) -> list[int]:
        carry, bits = FALSE, []
        for i in range(width):
            x = a[i] if i < len(a) else FALSE
            y = b[i] if i < len(b) else FALSE
            bits.append(-self.circuit.same(-self.circuit.same(x, y), carry))
            carry = self.circuit.majority(x, y, carry)
        return bits

    def _not_below(self, a: int, b: int, slack: int) -> int:
        """Return where the sum of ``a`` plus the slack is not below that of ``b``."""
        (x, offset_a, most_a), (y, offset_b, most_b) = self._sums[a], self._sums[b]
        more = offset_a - offset_b + slack
        if more >= most_b:
            return TRUE
        if most_a + more < 0:
            return FALSE
        plus = [TRUE if abs(more) >> i & 1 else FALSE for i in range(abs(more).bit_length())]
        width = max(most_a, most_b).bit_length() + abs(more).bit_length() + 1
        if more >= 0:
            x = self._added(x, plus, width)
        else:
            y = self._added(y, plus, width)
        return self._is_at_least(x, y)

    def _is_at_least(self, x: Sequence[int], y: Sequence[int]) -> int:
        holds = TRUE
        for i in range(max(len(x), len(y))):
            bit = x[i] if i < len(x) else FALSE
            other = y[i] if i < len(y) else FALSE
            holds = self.circuit.majority(bit, -other, holds)
        return holds

    # -- comparisons -------------------------------------------------------------------------

    def may_beat(self, a: int, b: int) -> int:
        """Return where output ``a`` may be preferred to output ``b``."""
        if (a, b) not in self._pairs:
            slack = self.slack if self.slack or a < b else -1
            holds = self._not_below(a, b, slack)
            more = FALSE if self.slack == 0 or holds == FALSE else self.circuit.new()
            self._pairs[a, b] = _Pair(self.circuit.every((holds, -more)), more)
        return self._pairs[a, b].literal

    @property
    def assumptions(self) -> list[int]:
        """What must be assumed whenever something is asked: that no more is settled."""
        return [-pair.open for pair in self._pairs.values() if pair.open != FALSE]

    def settle(self, a: int, b: int, values: Sequence[int]) -> None:
        """Take out that ``a`` may be preferred to ``b`` in this state, and in all others in which
        leaves are no better for ``a`` and no worse for ``b``.
        """
        reached = [self._reached(number, values) for number in range(len(self.leaves))]
        self.settled += 1
        self.roundings += self._differs(reached, a, b)
        pair = self._pairs[a, b]
        assert pair.open != FALSE, "what is exact needs no settling"
        situation = self.circuit.every(
            self._no_better(tree, at, a, b) for tree, at in zip(self.leaves, reached, strict=True)
        )
        more = self.circuit.new()
        self.circuit.add(-pair.open, situation, more)
        self.circuit.add(pair.open, -situation)
        self.circuit.add(pair.open, -more)
        self._pairs[a, b] = _Pair(pair.literal, more)

    def _differs(self, reached: Sequence[dict[int, float]], a: int, b: int) -> bool:
        """Return whether the exact sums of these leaves prefer ``a`` to ``b``."""
        sums = [
            sum((Fraction(at.get(output, 0.0)) for at in reached), Fraction(self.base[output]))
            for output in (a, b)
        ]
        return sums[0] > sums[1] or (sums[0] == sums[1] and a < b)

    def _no_better(self, tree: Sequence[Leaf], at: dict[int, float], a: int, b: int) -> int:
        """Return where a tree comes to a leaf that is no better for ``a`` and no worse for ``b``
        than one with these values.
        """

        def others(leaf: Leaf) -> bool:
            better_for_a = leaf.values.get(a, 0.0) > at.get(a, 0.0)
            return better_for_a or leaf.values.get(b, 0.0) < at.get(b, 0.0)

        return self.circuit.every(-leaf.literal for leaf in tree if others(leaf))

    def _reached(self, number: int, values: Sequence[int]) -> dict[int, float]:
        """Return the values of the leaf that a tree comes to in a state."""
        trees = self.trees
        node = int(trees.roots[number])
        while trees.features[node] != -1:
            fed = self._inputs.fed(int(trees.features[node]), values)
            node = int((trees.right if fed >= trees.thresholds[node] else trees.left)[node])
        return self._values_of(node)


@dataclass(frozen=True)
class _Pair:
    """``literal`` holds where an output may be preferred to another; ``open`` is false, and stands
    for all that is yet to be settled.
    """

    literal: int
    open: int


class _Inputs:
    """What the inputs of an ensemble are for each value of a variable."""

    def __init__(
        self, task: CompiledTask, trees: Trees, inputs: Sequence[Input], variables: Sequence[Unary]
    ) -> None:
        numbers = {name: i for i, name in enumerate(task.names)}
        kind = np.float32 if trees.input_precision == "float32" else np.float64
        self._variables = variables
        self._number = [
            None if entry.variable is None else numbers[entry.variable] for entry in inputs
        ]
        with np.errstate(over="ignore"):
            self._fed = [
                _fed(entry, None if n is None else variables[n]).astype(kind).astype(np.float64)
                for entry, n in zip(inputs, self._number, strict=True)
            ]
        self._scales = [entry.scale for entry in inputs]

    def fed(self, feature: int, values: Sequence[int]) -> float:
        """Return what an input is in a state."""
        number = self._number[feature]
        position = 0 if number is None else int(values[number]) - self._variables[number].lower
        return float(self._fed[feature][position])

    def at_least(self, feature: int, threshold: float) -> int:
        """Return where an input is at least a threshold."""
        fed, number = self._fed[feature], self._number[feature]
        if number is None:
            return TRUE if fed[0] >= threshold else FALSE
        unary = self._variables[number]
        count = int((fed >= threshold).sum())
        if self._scales[feature] > 0:
            return unary.at_least(unary.upper + 1 - count)
        return -unary.at_least(unary.lower + count)


def _fed(entry: Input, unary: Unary | None) -> Reals:
    """Return the input for each value of its variable: monotone, as its operations are."""
    if unary is None:
        plain = np.array([entry.constant or 0.0])
    else:
        plain = np.arange(unary.lower, unary.upper + 1, dtype=np.int64).astype(np.float64)
    return np.asarray((plain - entry.mean) / entry.scale)


def _lowest_bit(value: float) -> int:
    """Return the power of two of the lowest bit that is set; the value is not 0."""
    top, bottom = value.as_integer_ratio()
    return (top & -top).bit_length() - 1 - (bottom.bit_length() - 1)
