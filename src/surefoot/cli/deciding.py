"""The work of ``decide``: ask the oracles, check what they answer, keep what is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from surefoot.cli.checking import Checking, Row
from surefoot.oracles import ORACLES, Oracle
from surefoot.oracles.compare import Comparison, compare
from surefoot.results import DecideResult

if TYPE_CHECKING:
    from surefoot.cli.progress import Progress
    from surefoot.options import DecideOptions
    from surefoot.oracles.states import Starts
    from surefoot.policies import Policy
    from surefoot.results import Answer
    from surefoot.tasks.state import State
    from surefoot.tasks.task import Task

SAFE, UNSAFE, UNKNOWN = 0, 1, 4


@dataclass(frozen=True)
class Found:
    """What is to be printed. With a comparison, ``who`` are the oracles the rows are from."""

    job: Job
    oracle: str
    rows: tuple[Row, ...]
    comparison: Comparison | None = None
    who: tuple[str, ...] = ()

    @property
    def result(self) -> DecideResult:
        """The answers with their summary."""
        return DecideResult(self.oracle, tuple(row.answer for row in self.rows))

    @property
    def check_seconds(self) -> float | None:
        """What making and checking certificates took; None if none is checked."""
        if self.job.checking.seconds is None:
            return None
        return sum(row.check_seconds for row in self.rows)

    @property
    def exit_code(self) -> int:
        """1 if a state is unsafe, else 4 if one is unknown, else 0."""
        summary = self.result.summary
        if summary["unsafe"]:
            return UNSAFE
        return UNKNOWN if summary["unknown"] else SAFE

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        content: dict[str, Any] = {"states": [row.to_dict() for row in self.rows]}
        for row, name in zip(content["states"], self.who, strict=False):
            row["oracle"] = name
        starts = self.job.starts
        if starts is not None:
            total = starts.listed if starts.complete else None
            content["starts"] = {"decided": len(self.rows), "total": total}
        content["summary"] = {**self.result.summary, "check_seconds": self.check_seconds}
        return {**content, **(self.comparison.to_dict() if self.comparison else {})}


@dataclass(frozen=True, kw_only=True)
class Job:
    """States of a task and how to decide them."""

    task: Task
    states: tuple[State, ...]
    starts: Starts | None
    policy: Policy | None
    options: DecideOptions
    checking: Checking

    def decide(
        self, progress: Progress, *, deviations: bool, tell: Callable[[Row, Progress], None]
    ) -> Found:
        """Return the answers of one oracle, checked; each row is told as soon as it is there."""
        oracle = Oracle(self.task, policy=self.policy, options=self.options)
        rows: list[Row] = []
        for number, state in enumerate(self.states):
            told = self._told(progress, "", number)
            answer = oracle.decide(state, progress=told)
            if deviations:
                found = oracle.deviations(state, progress=told)
                answer = replace(answer, deviations=found)
            progress.note(f"checking the answer about {self._which(number)}")
            rows.append(_without_certificates(self.checking.row(answer)))
            tell(rows[-1], progress)
        return Found(self, oracle.name, tuple(rows))

    def compare(self, names: Sequence[str], progress: Progress) -> Found:
        """Return the answers of several oracles; of each state the first definite one, checked."""
        rows: dict[State, tuple[str, Row]] = {}

        def settle(name: str, answer: Answer) -> None:
            is_better = answer.is_known or answer.state not in rows
            if is_better:
                progress.note(f"{name}, checking an answer")
                rows[answer.state] = name, _without_certificates(self.checking.row(answer))

        comparison = compare(
            self.task,
            self.states,
            names=names,
            policy=self.policy,
            options=self.options,
            skip_unsupported=tuple(names) == ORACLES,
            settle=settle,
            progress=lambda name, number: self._told(progress, f"{name}, ", number),
        )
        found = [rows[state] for state in self.states]
        rows_of, who = zip(*((row, name) for name, row in found), strict=True)
        return Found(self, ",".join(names), rows_of, comparison, who)

    def _which(self, number: int) -> str:
        return f"state {number + 1:,} of {len(self.states):,}"

    def _told(
        self, progress: Progress, who: str, number: int
    ) -> Callable[[int, int, int, int, float], None]:
        which = f"{who}{self._which(number)}"
        progress.note(which)

        def tell(states: int, expanded: int, depth: int, size: int, seconds: float) -> None:
            progress.note(
                f"{which}, {states:,} states, {expanded:,} expanded, {size / 1e6:,.0f} MB"
            )

        return tell


def _without_certificates(row: Row) -> Row:
    """Return the row without what is too large to keep for every state."""
    deviations = row.answer.deviations
    if deviations is not None:
        deviations = replace(deviations, certificates=())
    return replace(row, answer=replace(row.answer, make_certificate=None, deviations=deviations))
