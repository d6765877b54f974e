"""Which action each fault's state takes instead, and the least change that makes it so.

With one alternative chosen for each demand the program is linear. :class:`Chooser` solves that, and
then looks for better choices: it tries others where a demand costs most (flips), and asks an
integer program with a binary for each alternative. Rows of all alternatives stand in the program
from the beginning; a choice switches its own on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from surefoot.repair.decisions import Demand, Reals, best_of
from surefoot.repair.linear import Entries, Features, LinearView
from surefoot.repair.program import TOLERANCE, Program, Solution

MAX_FLIP_WORK = 1_000_000  # rows of all programs that flips solve
MOST_AT_ONCE = 16  # choices that are changed together
MOST_IN_VAIN = 40  # tries one after the other that change nothing for the better
SAVED = 0.3  # of a demand's part of the cost, if it is met otherwise: a guess that works
MAX_FILTERED = 40  # demands of a conflict that are left out one by one to see who is needed


@dataclass
class Row:
    """A row of the program: the chosen output must beat this bad one."""

    number: int
    entries: Entries
    gap: float
    """the difference of the scores as they are"""


@dataclass
class Choices:
    """What is chosen for a demand, and the rows of every choice."""

    demand: Demand
    margin: float
    chosen: int
    rivals: list[int]
    """the bad outputs that have rows: others do not come near"""
    rows: dict[int, list[Row]] = field(default_factory=dict)


class _Options:
    """All outputs that can be chosen, with their rows, as arrays."""

    def __init__(self, choices: Sequence[Choices]) -> None:
        candidates = [
            (number, output, rows)
            for number, choice in enumerate(choices)
            for output, rows in choice.rows.items()
            if rows
        ]
        self.whose = np.array([number for number, *_ in candidates], dtype=np.int64)
        self.outputs = np.array([output for _, output, _ in candidates], dtype=np.int64)
        lengths = np.array([len(rows) for *_, rows in candidates], dtype=np.int64)
        self._begins = np.cumsum(lengths) - lengths
        self._owner = np.repeat(self.whose, lengths)
        self._numbers = np.array(
            [row.number for *_, rows in candidates for row in rows], dtype=np.int64
        )
        self._gaps = np.array([row.gap for *_, rows in candidates for row in rows])

    def look_at(self, solution: Solution, margins: Sequence[float]) -> tuple[Reals, Reals]:
        """Return the share of each output's rows in the cost, and what is missing for them."""
        if not len(self.whose):
            return np.zeros(0), np.zeros(0)
        least = np.array(margins)[self._owner] - self._gaps
        share = np.abs(solution.duals[self._numbers]) * np.maximum(least, 0.0)
        missing = least - solution.rows[self._numbers]
        return np.add.reduceat(share, self._begins), np.maximum.reduceat(missing, self._begins)


class Chooser:
    """Looks for the nearest parameters that meet all demands."""

    def __init__(
        self,
        view: LinearView,
        features: Features,
        scores: Reals,
        demands: Sequence[Demand],
        margins: Sequence[float],
        *,
        chosen: Sequence[int] | None = None,
        rivals: Sequence[Sequence[int]] | None = None,
        seconds_left: Callable[[], float],
    ) -> None:
        self._features = features
        self._scores = scores
        self._seconds_left = seconds_left
        self.program = Program(len(view.parameters))
        firsts = chosen or [self._first_choice(demand) for demand in demands]
        against = rivals or [demand.bad for demand in demands]
        self.choices = [
            Choices(demand, margin, first, list(bad))
            for demand, margin, first, bad in zip(demands, margins, firsts, against, strict=True)
        ]
        if chosen is None:
            self._agree_where_alike()
        self._fill(self.program, is_elastic=False)

    def _first_choice(self, demand: Demand) -> int:
        """Return the good output with the best score."""
        return best_of(demand.good, self._scores[demand.row])

    def _agree_where_alike(self) -> None:
        """Choose the same for demands that the policy cannot tell apart, if something is good for
        all of them.
        """
        alike: dict[bytes, list[Choices]] = {}
        for choice in self.choices:
            alike.setdefault(self._signature(choice.demand), []).append(choice)
        for some in alike.values():
            common = set(some[0].demand.good)
            for choice in some[1:]:
                common &= set(choice.demand.good)
            if len(some) > 1 and common:
                total = {
                    o: sum(self._scores[choice.demand.row, o] for choice in some) for o in common
                }
                best = max(common, key=lambda output: (total[output], -output))
                for choice in some:
                    choice.chosen = best

    def _signature(self, demand: Demand) -> bytes:
        parts = [self._features.entries(demand.row, o) for o in (*demand.good, *demand.bad)]
        return b"|".join(places.tobytes() + factors.tobytes() for places, factors in parts)

    # -- the program ---------------------------------------------------------------------------

    def _fill(self, program: Program, *, is_elastic: bool) -> None:
        for choice in self.choices:
            for output in (*choice.demand.good, *choice.demand.bad):
                program.touch(self._features.entries(choice.demand.row, output)[0])
        for choice in self.choices:
            for output in choice.demand.good:
                choice.rows[output] = [
                    self._row(program, choice, output, bad, is_elastic=is_elastic)
                    for bad in choice.rivals
                ]

    def _row(
        self, program: Program, choice: Choices, good: int, bad: int, *, is_elastic: bool
    ) -> Row:
        row = choice.demand.row
        entries = self._features.difference(row, good, bad)
        gap = float(self._scores[row, good] - self._scores[row, bad])
        add = program.elastic if is_elastic else program.hard
        number = add(entries, choice.margin - gap, is_on=good == choice.chosen)
        return Row(number, entries, gap)

    def _switch(self, program: Program, choice: Choices, output: int) -> None:
        for row in choice.rows[choice.chosen]:
            program.switch(row.number, None)
        choice.chosen = output
        for row in choice.rows[output]:
            program.switch(row.number, choice.margin - row.gap)

    def choose(self, choice: Choices, output: int) -> None:
        """Let a demand be met by another output."""
        self._switch(self.program, choice, output)

    def oppose(self, choice: Choices, bad: int) -> None:
        """Add the rows of a bad output that turned out to win."""
        choice.rivals.append(bad)
        for output in choice.demand.good:
            choice.rows[output].append(
                self._row(self.program, choice, output, bad, is_elastic=False)
            )

    def widen(self, choice: Choices, margin: float) -> None:
        """Ask a demand for a larger margin."""
        choice.margin = margin
        for row in choice.rows[choice.chosen]:
            self.program.switch(row.number, margin - row.gap)

    def solve(self) -> Solution | None:
        """Return the least change for the present choices; None if there is none."""
        return self.program.solve(seconds=self._seconds_left())

    # -- flips ---------------------------------------------------------------------------------

    def improve(self, solution: Solution, flips: int) -> Solution:
        """Return a solution that is at least as good, after trying so many other choices: fewer
        if the program is large.
        """
        flips = min(flips, MAX_FLIP_WORK // max(self.program.num_rows, 1))
        return self._flipped(self.program, solution, flips)

    def _flipped(self, program: Program, solution: Solution, flips: int) -> Solution:
        tried: set[tuple[int, int]] = set()
        options = _Options(self.choices)
        at_once, in_vain = MOST_AT_ONCE, 0
        for _ in range(flips):
            pairs = self._candidates(solution, options, tried, at_once)
            if not pairs or solution.objective <= TOLERANCE or in_vain == MOST_IN_VAIN:
                break
            better = self._tried(program, solution, pairs)
            in_vain = in_vain + 1 if better is None else 0
            if better is not None:
                solution = better
                tried = {pair for pair in tried if pair[0] not in dict(pairs)}
            elif len(pairs) == 1:
                tried.update(pairs)
            if better is None:
                at_once = max(at_once // 2, 1)
        return solution

    def _candidates(
        self, solution: Solution, options: _Options, tried: set[tuple[int, int]], count: int
    ) -> list[tuple[int, int]]:
        """Return demands and the outputs that promise most: some of the part of the cost that the
        demand has now, less what is missing for the other output.
        """
        share, missing = options.look_at(solution, [choice.margin for choice in self.choices])
        is_chosen = (
            options.outputs == np.array([choice.chosen for choice in self.choices])[options.whose]
        )
        price = np.zeros(len(self.choices))
        price[options.whose[is_chosen]] = share[is_chosen]
        promise = SAVED * price[options.whose] - np.maximum(missing, 0.0)
        useful = ~is_chosen & (price[options.whose] > TOLERANCE)
        candidates: dict[int, int] = {}
        for at in np.argsort(-promise, kind="stable").tolist():
            number, output = int(options.whose[at]), int(options.outputs[at])
            if useful[at] and number not in candidates and (number, output) not in tried:
                candidates[number] = output
                if len(candidates) == count:
                    break
        return list(candidates.items())

    def _tried(
        self, program: Program, solution: Solution, pairs: Sequence[tuple[int, int]]
    ) -> Solution | None:
        """Return the solution with other choices if it is better, else take the choices back."""
        before = [(number, self.choices[number].chosen) for number, _ in pairs]
        basis = program.basis()
        for number, output in pairs:
            self._switch(program, self.choices[number], output)
        attempt = program.solve(seconds=self._seconds_left())
        if attempt is not None and attempt.objective < solution.objective - TOLERANCE:
            return attempt
        for number, output in before:
            self._switch(program, self.choices[number], output)
        program.go_back(basis)
        return None

    # -- conflicts -----------------------------------------------------------------------------

    def conflict(self, flips: int) -> list[Demand]:
        """Return demands that cannot be met together, as few as are found; none if other choices
        resolve the conflict: these are then taken.
        """
        elastic = Program(self.program.num_parameters, cost=0.0)
        own_rows = [dict(choice.rows) for choice in self.choices]
        before = [choice.chosen for choice in self.choices]
        self._fill(elastic, is_elastic=True)
        solution = elastic.solve(seconds=self._seconds_left())
        assert solution is not None  # every row may be missed
        solution = self._flipped(elastic, solution, flips)
        blamed = [
            choice
            for choice in self.choices
            if any(
                abs(solution.duals[row.number]) > TOLERANCE for row in choice.rows[choice.chosen]
            )
        ]
        after = [choice.chosen for choice in self.choices]
        for choice, rows, chosen, new in zip(self.choices, own_rows, before, after, strict=True):
            choice.rows, choice.chosen = rows, chosen
            if new != chosen:
                self._switch(self.program, choice, new)
        if solution.objective <= TOLERANCE:
            return []
        return self._filtered(blamed)

    def _filtered(self, blamed: list[Choices]) -> list[Demand]:
        """Return a smallest part of conflicting demands: without any of them there is none."""
        if len(blamed) <= MAX_FILTERED:
            for choice in list(blamed):
                rest = [other for other in blamed if other is not choice]
                if not self._can_be_met(rest):
                    blamed = rest
        return [choice.demand for choice in blamed]

    def _can_be_met(self, some: Sequence[Choices]) -> bool:
        program = Program(self.program.num_parameters)
        for choice in some:
            for output in (choice.chosen, *choice.rivals):
                program.touch(self._features.entries(choice.demand.row, output)[0])
        for choice in some:
            for row in choice.rows[choice.chosen]:
                program.hard(row.entries, choice.margin - row.gap, is_on=True)
        return program.solve(seconds=self._seconds_left()) is not None

    # -- keeping -------------------------------------------------------------------------------

    def keep(self, entries: Entries, least: float) -> None:
        """Ask for a score difference to stay at least so large, if possible."""
        self.program.soft(entries, least)
