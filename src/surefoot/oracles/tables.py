"""Oracles that answer with a table, which the checker must accept: those from outside."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from surefoot import _core
from surefoot.certificates import Entries
from surefoot.errors import CertificateRejected, InputError, OutOfBudget, quoted, shown
from surefoot.objectives import SAFETY
from surefoot.options import DecideOptions
from surefoot.oracles.analysis import FoundVerdict, TableAnalysis
from surefoot.oracles.engine import AlgorithmAnswer, Engine, ProgressCallback
from surefoot.records import Answer
from surefoot.records.common import VERDICTS
from surefoot.tasks.state import State
from surefoot.tasks.task import Task

UNCHECKED = "unchecked"
"""reason of an answer that an oracle gave without evidence that the checker accepts"""


@dataclass(frozen=True)
class Table:
    """A verdict (``safe``, ``unsafe`` or ``unknown``) on a state, with its evidence.

    ``entries`` of a safe state: an action for each state, no outcome of which fails or has no
    entry, unless it is terminal; None stands for a step that is forced. Of an unsafe one: a rank
    for each state, so that every action has an outcome of smaller rank; states that fail have the
    smallest. Without entries, or where checking them takes too long, the answer is ``unknown``, for
    the reason ``unchecked``. ``expanded`` counts states that were examined.
    """

    verdict: str
    entries: Mapping[State, str | int | None] | None = None
    expanded: int = 0


Decide = Callable[[Task, State, DecideOptions], Table]


def table_engine(task: Task, name: str, decide: Decide, options: DecideOptions) -> Engine:
    """Return an oracle at work that answers with tables."""
    return _TableEngine(task, _Tables(task, name, decide, options), options=options)


@dataclass(frozen=True)
class _TableEngine(Engine):
    """Checks every answer before it is given."""

    options: DecideOptions = field(kw_only=True)

    def fault_analysis(self) -> Callable[..., _core.RunFaults]:
        def decide(packed: bytes) -> FoundVerdict:
            answer = self.decide(packed, self.options)
            return FoundVerdict(answer.verdict, answer.reason or "")

        return TableAnalysis(self.task, decide).analyse  # type: ignore[return-value]  # alike

    def decide(
        self, packed: bytes, options: DecideOptions, progress: ProgressCallback | None = None
    ) -> Answer:
        answer = super().decide(packed, options, progress)
        try:
            if (certificate := answer.certificate) is not None:
                certificate.check(max_seconds=options.max_seconds)
        except OutOfBudget:
            return replace(answer, bounds=SAFETY.bounds("unknown"), reason=UNCHECKED)
        except CertificateRejected as error:
            hint = f"the oracle {quoted(self.algorithm.name)} is wrong, or its table is"
            raise CertificateRejected(error.code, error.message, hint=hint) from None
        return answer


class _Tables:
    """Answers of a function in the form in which the core gives its own."""

    def __init__(self, task: Task, name: str, decide: Decide, options: DecideOptions) -> None:
        self.name = name
        self._task, self._decide, self._options = task, decide, options
        self._tables: dict[bytes, Table] = {}

    def decide(self, packed: bytes, **limits: object) -> AlgorithmAnswer:
        """Return the verdict on a packed state, and what it cost."""
        begin = time.perf_counter()
        table = self._decide(self._task, self._task.unpack(packed), self._options)
        if not isinstance(table, Table) or table.verdict not in VERDICTS:
            raise self._error(f"returned {shown(table)}", "it must return a Table with a verdict")
        if not isinstance(table.entries, Mapping | None):
            raise self._error(f"has the entries {shown(table.entries)}", "they are a mapping")
        is_known = table.verdict != "unknown"
        is_unchecked = is_known and table.entries is None
        self._tables[packed] = table
        return AlgorithmAnswer(
            verdict="unknown" if is_unchecked else table.verdict,
            stopped=UNCHECKED if is_known else "states",
            expanded=table.expanded,
            seconds=time.perf_counter() - begin,
        )

    def certificate(self, packed: bytes, *, first: int | None = None, **limits: object) -> Entries:
        """Return the table of a state in the form of the core's evidence. With ``first``, an action
        with safe outcomes, it is taken in the state, and their tables tell what comes after it.
        """
        table = self._tables[packed]
        entries = self._entries(table) if first is None else self._entries_after(packed, first)
        states = list(dict.fromkeys([packed, *entries]))
        numbers = {state: number for number, state in enumerate(states)}
        return Entries(
            claim=table.verdict,
            states=b"".join(states),
            entry_states=[numbers[state] for state in entries],
            entry_values=[self._value(table, value) for value in entries.values()],
        )

    def _entries(self, table: Table) -> dict[bytes, object]:
        return {self._packed(state): value for state, value in (table.entries or {}).items()}

    def _entries_after(self, packed: bytes, first: int) -> dict[bytes, object]:
        action = self._task.actions[first]
        entries: dict[bytes, object] = {packed: action}
        for outcome in self._task.outcomes(self._task.unpack(packed), action):
            entries = self._entries(self._tables[outcome.packed]) | entries
        return entries

    def _packed(self, state: object) -> bytes:
        if not isinstance(state, Mapping):
            raise self._error(f"has an entry for {shown(state)}", "entries are for states")
        return self._task.packed(state)

    def _value(self, table: Table, value: object) -> int:
        """Return an action's number, -1 for a forced step; or a rank."""
        if table.verdict == "unsafe":
            if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
                return value
            raise self._error(f"has the rank {shown(value)}", "ranks are whole numbers")
        if value is None:
            return -1
        if value not in self._task.actions:
            raise self._error(f"has the choice {shown(value)}", "choices are names of actions")
        return self._task.actions.index(value)

    def _error(self, message: str, hint: str) -> InputError:
        return InputError("plugin-error", f"the oracle {quoted(self.name)} {message}", hint=hint)
