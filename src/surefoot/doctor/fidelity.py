"""Are the decisions of a policy those of the library that it comes from?

What it does: asks Surefoot's evaluation and the original library about the same inputs: sampled
states with their applicable actions; for trees both float32 neighbours of every threshold; and
inputs between states with different decisions, so near to the tie as can be found.
Guarantee: a difference that is reported is there. Where the two best scores are closer than
rounding can tell, different decisions are counted, but are nobody's error.
Cost: two evaluations for each input, at most about a hundred thousand.
When to use it: once for each policy file. Paper: none needed.
"""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from surefoot.doctor.originals import original_of
from surefoot.doctor.policy_report import Fidelity, Part
from surefoot.doctor.report import Remark
from surefoot.errors import printable, quoted
from surefoot.policies.callables import fed
from surefoot.policies.decisions import ask_core
from surefoot.policies.models import Corrected, Network, Reals, Trees
from surefoot.policies.original import Original
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.doctor.sampling import Sample
    from surefoot.policies import Policy

CHUNK = 1_000  # inputs that are asked about before the clock is looked at
NEAR = 1e-6  # relative to the largest score: closer ones are near ties
ROUNDINGS = 4.0  # how many units of rounding the sums of a network may be off
MAX_THRESHOLDS = 30_000
NEAR_TIES = 200
HALVINGS = 60
Numbers = npt.NDArray[np.int64]
Masks = npt.NDArray[np.bool_]  # (inputs, outputs), bool: the outputs among which is decided


def compared(
    policy: Policy, sample: Sample, *, seed: int, deadline: float, original: Original | None = None
) -> tuple[Fidelity, list[Remark]]:
    """Return how the decisions compare with those of the original, and findings if they differ.

    At least a thousand states are asked about, whatever the deadline is.
    """
    begin = time.monotonic()
    library = original or original_of(policy)
    if isinstance(library, str):
        return Fidelity(None, missing=library), []
    if not sample.states:
        return Fidelity(None, missing="no state was found to ask about"), []
    comparison = _Comparison(policy, library, deadline)
    comparison.ask_states(sample)
    rng = np.random.default_rng(seed)
    trees = policy.model.trees if isinstance(policy.model, Corrected) else policy.model
    if isinstance(trees, Trees):
        comparison.ask_thresholds(trees, rng)
    comparison.ask_near_ties(rng)
    seconds = time.monotonic() - begin
    fidelity = Fidelity(
        library.name,
        parts=tuple(comparison.parts),
        largest_difference=comparison.largest,
        seconds=seconds,
    )
    return fidelity, comparison.findings()


# -- the comparison ------------------------------------------------------------------------------


@dataclass
class _Comparison:
    """Keeps count of what differs; ``rows`` and ``masks`` are those of the states asked about."""

    policy: Policy
    original: Original
    deadline: float
    parts: list[Part] = field(default_factory=list)
    largest: float = 0.0
    not_numbers: int = 0
    example: str | None = None

    def ask_states(self, sample: Sample) -> None:
        """Compare decisions in states, among the actions that are applicable there.

        Where there is no choice, and for an unfiltered policy, all outputs count.
        """
        assert self.policy.interface is not None
        self.sample = sample
        self.rows = fed(self.policy.interface, self.policy.task, b"".join(sample.states))
        self.masks = np.zeros((len(sample.states), len(self.policy.interface.outputs)), dtype=bool)
        for row, actions in zip(self.masks, sample.choices, strict=True):
            row[[self.positions[a] for a in actions if a in self.positions]] = True
        has_choice = self.masks.sum(axis=1) > 1
        self.is_decided = has_choice & (not self.policy.unfiltered)
        self.masks[~self.is_decided] = True
        asked = self._ask("states", self.rows, self.masks, are_states=True)
        self.rows, self.masks = self.rows[:asked], self.masks[:asked]

    @functools.cached_property
    def positions(self) -> dict[int | None, int]:
        """Which output is which action, by its number."""
        assert self.policy.interface is not None
        number = self.policy.task.action_number
        return {number(name): at for at, name in enumerate(self.policy.interface.outputs)}

    def _decided_by_core(self, begin: int, chosen: Numbers) -> Numbers:
        """Return decisions by scores, those in states with a choice replaced by the policy's own:
        the core feeds it, scores and picks in one go.
        """
        asked = np.flatnonzero(self.is_decided[begin : begin + len(chosen)])
        if not len(asked):
            return chosen
        packed = b"".join(self.sample.states[begin + i] for i in asked)
        task = self.policy.task
        numbers = ask_core(task, self.policy.core.decide_all, task.core, packed)
        decided = chosen.copy()
        decided[asked] = [self.positions[number] for number in numbers]
        return decided

    def ask_thresholds(self, trees: Trees, rng: np.random.Generator) -> None:
        """Compare decisions at every threshold and its neighbours, in the company of inputs and
        applicable actions of states.
        """
        inner = np.flatnonzero(trees.features >= 0)
        if len(inner) > MAX_THRESHOLDS:
            inner = np.sort(rng.choice(inner, MAX_THRESHOLDS, replace=False))
        values = [_neighbours(trees.thresholds[inner], np.float32)]
        if trees.input_precision == "float64":
            values.append(_neighbours(trees.thresholds[inner], np.float64))
        numbers = np.concatenate([threshold.reshape(-1) for threshold in values])
        features = np.tile(trees.features[inner], len(numbers) // max(len(inner), 1))
        usable = np.isfinite(numbers)
        numbers, features = numbers[usable], features[usable]
        if not len(numbers):
            return
        company = rng.integers(0, len(self.rows), len(numbers))
        rows = self.rows[company]
        rows[np.arange(len(rows)), features] = numbers
        self._ask("inputs at thresholds", rows, self.masks[company])

    def ask_near_ties(self, rng: np.random.Generator) -> None:
        """Compare decisions between two states that are decided differently, where that turns:
        for a network that is a near tie.
        """
        pairs = rng.integers(0, len(self.rows), (20 * NEAR_TIES, 2))
        scores = self._scores(self.rows)
        best = scores.argmax(axis=1)
        pairs = pairs[best[pairs[:, 0]] != best[pairs[:, 1]]][:NEAR_TIES]
        if not len(pairs):
            return
        left, other = self.rows[pairs[:, 0]], self.rows[pairs[:, 1]]
        decided = best[pairs[:, 0]]
        for _ in range(HALVINGS):
            if time.monotonic() > self.deadline:
                return
            middle = left + (other - left) / 2
            is_same = (self._scores(middle).argmax(axis=1) == decided)[:, None]
            left, other = np.where(is_same, middle, left), np.where(is_same, other, middle)
        rows = np.concatenate([left, other])
        self._ask(
            "inputs where the decision turns",
            rows,
            np.ones((len(rows), scores.shape[1]), dtype=bool),
        )

    def _ask(self, what: str, rows: Reals, masks: Masks, *, are_states: bool = False) -> int:
        """Compare chunk by chunk until time is up; return how many inputs were asked about."""
        counts = np.zeros(4, dtype=np.int64)
        at = 0
        while at < len(rows) and (at == 0 or time.monotonic() < self.deadline):
            end = min(at + CHUNK, len(rows))
            counts += self._compare(rows[at:end], masks[at:end], at if are_states else None)
            at = end
        self.parts.append(Part(what, at, *map(int, counts)))
        return at

    def _compare(self, rows: Reals, masks: Masks, begin: int | None) -> tuple[int, int, int, int]:
        """Return how many have the same scores, near ties, and decisions that differ there and
        elsewhere; ``begin`` is the position of the first state, if these are states.
        """
        ours, theirs = self._scores(rows), self.original.scores(rows)
        is_number = np.asarray(np.isfinite(np.hstack([ours, theirs])).all(axis=1))
        self.not_numbers += int((~is_number).sum())
        same = (ours == theirs).all(axis=1)
        ours, theirs = (np.where(is_number[:, None], each, 0.0) for each in (ours, theirs))
        chosen, wanted = _best(ours, masks), _best(theirs, masks)
        if begin is not None and is_number.all():
            chosen = self._decided_by_core(begin, chosen)
        self.largest = max(self.largest, float(np.abs(ours - theirs).max()))
        each = np.arange(len(rows))
        allowed = self._tolerance(rows, theirs)
        is_other = (chosen != wanted) & is_number
        is_close = theirs[each, wanted] - theirs[each, chosen] <= allowed
        differs = np.flatnonzero(is_other & ~is_close)
        if len(differs) and self.example is None:
            at = differs[0]
            state = None if begin is None else self.sample.states[begin + at]
            self._note_example(rows[at], chosen[at], wanted[at], state)
        near = (_gap(theirs, masks) <= allowed) & is_number
        counts = map(np.count_nonzero, (same, near, is_other & is_close))
        return (*counts, len(differs))  # type: ignore[return-value]

    def _scores(self, rows: Reals) -> Reals:
        scores: Reals = self.policy.scorer.scores(np.ascontiguousarray(rows, dtype=np.float64))
        return scores

    def _tolerance(self, rows: Reals, scores: Reals) -> Reals:
        """Return how far scores may be apart for a near tie, for each row."""
        allowed: Reals = NEAR * np.abs(scores).max(axis=1)
        model = self.policy.model
        network = model.network if isinstance(model, Corrected) else model
        if isinstance(network, Network):
            unit = float(np.finfo(network.precision).eps)
            sums = sum_magnitudes(network, rows)
            allowed = np.maximum(allowed, ROUNDINGS * unit * sums)
        return allowed

    def _note_example(self, row: Reals, chosen: int, wanted: int, state: bytes | None) -> None:
        assert self.policy.interface is not None
        outputs = self.policy.interface.outputs
        if state is not None:
            where = f"in state {printable(str(self.policy.task.unpack(state)), 1000)}"
        else:
            where = f"for the inputs {printable(str(row.tolist()), 1000)}"
        self.example = (
            f"Surefoot picks {quoted(outputs[chosen])}, {self.original.name} picks "
            f"{quoted(outputs[wanted])}, {where}"
        )

    def findings(self) -> list[Remark]:
        """Return what is wrong with the decisions."""
        findings = []
        asked = sum(part.asked for part in self.parts)
        if differs := sum(part.differs for part in self.parts):
            text = f"{differs:,} of {counted(asked, 'decision')}"
            findings.append(
                Remark(
                    "policy-differs",
                    f"{text} differ from {self.original.name}; {self.example}",
                )
            )
        if self.not_numbers:
            findings.append(
                Remark(
                    "policy-no-number",
                    f"for {self.not_numbers:,} of {counted(asked, 'input')} a score is infinite or "
                    "not a number",
                )
            )
        return findings


def _best(scores: Reals, masks: Masks) -> Numbers:
    """Return the best output of each row, of equal ones the lowest."""
    best: Numbers = np.where(masks, scores, -np.inf).argmax(axis=1)
    return best


def _gap(scores: Reals, masks: Masks) -> Reals:
    """Return how far the two best scores of each row are apart; infinity if there is one alone."""
    if scores.shape[1] < 2:
        return np.full(len(scores), np.inf)
    two = np.partition(np.where(masks, scores, -np.inf), -2, axis=1)[:, -2:]
    gaps: Reals = two[:, 1] - two[:, 0]
    return gaps


def _neighbours(thresholds: Reals, kind: type[np.floating[Any]]) -> Reals:
    """Return thresholds in a precision, with the numbers on both sides of each."""
    with np.errstate(over="ignore"):
        at = thresholds.astype(kind)
    below, above = np.nextafter(at, kind(-np.inf)), np.nextafter(at, kind(np.inf))
    return np.stack([below, at, above]).astype(np.float64)


def sum_magnitudes(network: Network, rows: Reals) -> Reals:
    """Return for each row the largest sum of absolute values behind a score: what rounding errors
    are relative to.
    """
    sizes = np.abs(rows)
    for layer in network.layers:
        sizes = sizes @ np.abs(layer.weights).T + np.abs(layer.biases)
        if layer.activation in ("tanh", "sigmoid"):
            sizes = np.minimum(sizes, 1.0)
    magnitudes: Reals = sizes.max(axis=1)
    return magnitudes
