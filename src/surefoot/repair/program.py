"""The linear program of a repair: change parameters as little as possible in all.

Every parameter that a demand touches has two columns, how much it grows and how much it falls, both
at a cost of 1. A *hard* row asks that a score difference is at least so much; it counts while it is
switched on. A *soft* row may be missed, at a cost. HiGHS keeps its basis between solves, so that a
program that was changed a little is solved again quickly, and always in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.errors import Unsupported
from surefoot.repair.decisions import Numbers, Reals
from surefoot.repair.linear import Entries

KEEP_WEIGHT = 100.0  # what a missed soft row costs, for each unit, in units of changed parameters
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Solution:
    """How much each parameter changes, at what cost; ``rows`` say how the score differences change,
    ``duals`` what a unit of each costs.
    """

    objective: float
    columns: Reals
    rows: Reals
    duals: Reals


class Program:
    """A linear program over the changes of ``num_parameters`` parameters, each at a ``cost``."""

    def __init__(self, num_parameters: int, *, cost: float = 1.0) -> None:
        self._cost = cost
        self._highs = _highs()
        self._infinity = self._highs.getInfinity()
        self.num_parameters = num_parameters
        self._column_of: dict[int, int] = {}
        self._parameters: list[int] = []
        self._num_columns = 0
        self.num_rows = 0

    # -- building ------------------------------------------------------------------------------

    def touch(self, parameters: Iterable[int]) -> None:
        """Let these parameters change."""
        new = [
            number
            for number in dict.fromkeys(map(int, parameters))
            if number not in self._column_of
        ]
        for parameter in new:
            self._column_of[parameter] = self._num_columns
            self._parameters.append(parameter)
            self._add_column(self._cost)
            self._add_column(self._cost)

    def _add_column(self, cost: float) -> int:
        none = np.zeros(0, dtype=np.int32)
        self._highs.addCol(cost, 0.0, self._infinity, 0, none, np.zeros(0))
        self._num_columns += 1
        return self._num_columns - 1

    def hard(self, entries: Entries, least: float, *, is_on: bool) -> int:
        """Add a row that must hold while it is on, and return its number."""
        columns, factors = self._in_columns(entries)
        return self._add_row(columns, factors, least if is_on else -self._infinity)

    def soft(self, entries: Entries, least: float, *, weight: float = KEEP_WEIGHT) -> int:
        """Add a row that should hold, and return its number."""
        columns, factors = self._in_columns(entries)
        missed = self._add_column(weight)
        return self._add_row(np.append(columns, missed), np.append(factors, 1.0), least)

    def elastic(self, entries: Entries, least: float, *, is_on: bool) -> int:
        """Add a row that may be missed while it is on, at a cost of 1, and return its number."""
        row = self.soft(entries, least, weight=1.0)
        if not is_on:
            self.switch(row, None)
        return row

    def _add_row(self, columns: Numbers, factors: Reals, least: float) -> int:
        self._highs.addRow(
            least, self._infinity, len(columns), columns.astype(np.int32), factors.astype(float)
        )
        self.num_rows += 1
        return self.num_rows - 1

    def _in_columns(self, entries: Entries) -> Entries:
        """Return entries over the columns of the parameters that may change; each once."""
        total: dict[int, float] = {}
        for parameter, factor in zip(entries[0].tolist(), entries[1].tolist(), strict=True):
            column = self._column_of.get(parameter)
            if column is not None:
                total[column] = total.get(column, 0.0) + factor
        used = [(column, factor) for column, factor in total.items() if factor]
        columns = np.array([c for column, _ in used for c in (column, column + 1)], dtype=np.int64)
        factors = np.array([f for _, factor in used for f in (factor, -factor)], dtype=float)
        return columns, factors

    def switch(self, row: int, least: float | None) -> None:
        """Let a hard row ask for so much, or for nothing."""
        lower = -self._infinity if least is None else least
        self._highs.changeRowBounds(row, lower, self._infinity)

    # -- solving -------------------------------------------------------------------------------

    def solve(self, *, seconds: float) -> Solution | None:
        """Return the solution of least cost; None if there is none.

        Raises OutOfSeconds if the time is up before, and Unsure if the numbers are such that the
        solver cannot tell.
        """
        import highspy

        kinds = highspy.HighsModelStatus
        status = self._run(seconds)
        if status not in (kinds.kOptimal, kinds.kInfeasible, kinds.kTimeLimit):
            self._highs.clearSolver()  # from the beginning: a bad basis may be why
            status = self._run(seconds)
        if status == kinds.kOptimal:
            solution = self._highs.getSolution()
            objective = self._highs.getInfo().objective_function_value
            values = (solution.col_value, solution.row_value, solution.row_dual)
            return Solution(objective, *map(np.array, values))
        if status == kinds.kTimeLimit:
            raise OutOfSeconds
        if status == kinds.kInfeasible:
            return None
        raise Unsure(self._highs.modelStatusToString(status))

    def _run(self, seconds: float) -> object:
        self._limit(seconds)
        self._highs.run()
        return self._highs.getModelStatus()

    def _limit(self, seconds: float) -> None:
        if seconds <= 0:
            raise OutOfSeconds
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + seconds)

    def basis(self) -> object:
        """Return where the solver stands, to come back to."""
        return self._highs.getBasis()

    def go_back(self, basis: object) -> None:
        """Let the solver begin where it stood."""
        self._highs.setBasis(basis)

    def changes(self, solution: Solution) -> Reals:
        """Return by how much every parameter changes."""
        changes = np.zeros(self.num_parameters)
        columns = np.array(
            [self._column_of[parameter] for parameter in self._parameters], dtype=np.int64
        )
        if len(columns):
            values = solution.columns
            changes[self._parameters] = values[columns] - values[columns + 1]
        return changes

    @property
    def model(self) -> Any:
        """The solver with the program in it."""
        return self._highs


class OutOfSeconds(Exception):
    """The time was up before the program was solved."""


class Unsure(Exception):
    """The solver ends without an answer: numbers that differ by many powers of ten do that."""


def _highs() -> Any:
    try:
        import highspy
    except ImportError:
        raise Unsupported(
            "solver-missing",
            "repair needs the library highspy, which is not installed",
            hint="pip install highspy",
        ) from None
    made: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for name, value in (
        ("output_flag", False),
        ("threads", 1),
        ("parallel", "off"),
        ("solver", "simplex"),
        ("random_seed", 0),
    ):
        made.setOptionValue(name, value)
    return made
