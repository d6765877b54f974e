"""The work of ``decide``: ask the oracles, check what they answer, keep what is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from surefoot.cli.checking import Checking, Row
from surefoot.oracles import ORACLES, Oracle
from surefoot.oracles.compare import Comparison, compare
from surefoot.records import DecideResult

if TYPE_CHECKING:
    from surefoot.cli.deadline import Deadline
    from surefoot.cli.progress import Progress
    from surefoot.objectives import Objective
    from surefoot.options import DecideOptions
    from surefoot.oracles.states import Starts
    from surefoot.policies import Policy
    from surefoot.records import Answer
    from surefoot.tasks.state import State
    from surefoot.tasks.task import Task

SAFE, UNSAFE, UNKNOWN = 0, 1, 4


@dataclass(frozen=True)
class Answers:
    """What is to be printed. With a comparison, ``who`` are the oracles the rows are from."""

    job: Deciding
    oracle: str
    rows: tuple[Row, ...]
    comparison: Comparison | None = None
    oracles: tuple[str, ...] = ()

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
        """1 if a state is unsafe (or as bad by another objective), else 4 if one is unknown, or
        said to be known by an oracle from outside that proves nothing, else 0.
        """
        answers = [row.answer for row in self.rows]
        sure = [answer for answer in answers if answer.is_known and answer.reason is None]
        if any(answer.verdict in answer.objective.bad_verdicts for answer in sure):
            return UNSAFE
        return SAFE if len(sure) == len(answers) else UNKNOWN

    def to_dict(self) -> dict[str, object]:
        """Return the result as plain data."""
        content: dict[str, Any] = {"states": [row.to_dict() for row in self.rows]}
        for row, name in zip(content["states"], self.oracles, strict=False):
            row["oracle"] = name
        starts = self.job.starts
        if starts is not None:
            total = starts.listed if starts.complete else None
            content["starts"] = {"decided": len(self.rows), "total": total}
        content["summary"] = {**self.result.summary, "check_seconds": self.check_seconds}
        return {**content, **(self.comparison.to_dict() if self.comparison else {})}


@dataclass(frozen=True, kw_only=True)
class Deciding:
    """States of a task and how to decide them."""

    task: Task
    states: tuple[State, ...]
    starts: Starts | None
    policy: Policy | None
    options: DecideOptions
    checking: Checking
    objective: Objective
    deadline: Deadline

    def decide(
        self, progress: Progress, *, deviations: bool, tell: Callable[[Row, Progress], None]
    ) -> Answers:
        """Return the answers of one oracle, checked; each row is told as soon as it is there."""
        oracle = Oracle(
            self.task, policy=self.policy, objective=self.objective, options=self.options
        )
        rows: list[Row] = []
        for number, state in enumerate(self.states):
            told = self._told(progress, "", number)
            oracle.options = self.deadline.within(self.options)
            answer = oracle.decide(state, progress=told)
            if deviations:
                deviating = oracle.deviations(state, progress=told)
                answer = replace(answer, deviations=deviating)
            progress.note(f"checking the answer about {self._which(number)}")
            rows.append(_without_certificates(self.checking.row(answer)))
            tell(rows[-1], progress)
        return Answers(self, oracle.name, tuple(rows))

    def compare(self, names: Sequence[str], progress: Progress) -> Answers:
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
            objective=self.objective,
            options=self.options,
            skip_unsupported=tuple(names) == ORACLES.built_in,
            settle=settle,
            left=lambda: self.deadline.left,
            progress=lambda name, number: self._told(progress, f"{name}, ", number),
        )
        named_rows = [rows[state] for state in self.states]
        rows_of, oracles = zip(*((row, name) for name, row in named_rows), strict=True)
        return Answers(self, ",".join(names), rows_of, comparison, oracles)

    def _which(self, number: int) -> str:
        return f"state {number + 1:,} of {len(self.states):,}"

    def _told(
        self, progress: Progress, name: str, number: int
    ) -> Callable[[int, int, int, int, float], None]:
        which = f"{name}{self._which(number)}"
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
    return replace(row, answer=replace(row.answer.without_evidence(), deviations=deviations))
