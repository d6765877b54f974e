"""propagate_unsafe_bdd: spread unsafety backwards over sets of states kept as decision diagrams.

What it does: starts from all fail states within the bounds of the variables, reachable or not, and
adds layer by layer the states in which every action may lead into the set so far. It stops as soon
as the state in question is in the set, or when nothing is added any more.

What it guarantees: states of a layer are unsafe, also if it is stopped before the end; once nothing
is added, the others are safe. Regression also comes to states that no run reaches and that have
errors of the model (an update out of range). They never make a verdict: ``unsafe`` is said where it
holds whatever should have been there instead, ``safe`` where a policy avoids fail and errors. Where
neither holds the answer depends on an error, and that is raised.

Cost: as many layers as the longest forced way to fail, each with one substitution per way to change
a state. Diagrams can explode with the number of variables that depend on each other, and then it
runs out of memory. The clock is looked at between operations on diagrams, and a single one can take
seconds once there are millions of nodes.

When to use it: tasks of integers and Booleans with so many states that they cannot be listed, where
one run is to answer every question. For a few states the searches that start from them are faster.

Paper: Schmalz & Jain 2026, alg. 5 (Prop-U by regression). Steps that only silent actions can take
are forced (docs/semantics.md).
"""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from surefoot.certificates import Entries
from surefoot.errors import Refusal, Unsupported, quoted
from surefoot.oracles.algorithm import Algorithm
from surefoot.oracles.bdd_encoding import TaskDiagrams
from surefoot.oracles.bdd_evidence import Evidence
from surefoot.oracles.bdd_propagation import Bits, Propagation, doubtful_states, unsafe_states
from surefoot.oracles.engine import AlgorithmAnswer, Engine
from surefoot.tasks.compiled_task import CompiledTask, has_description
from surefoot.tasks.task import Task

Progress = Callable[[int, int, int, int, float], object]

BYTES_PER_NODE = 40
BYTES_PER_CACHE_ENTRY = 32
MAX_NODES = 2**32 - 2
MAX_CACHE_ENTRIES = 2**22
SECONDS_PER_REPORT = 0.1


class PropagateUnsafeBdd:
    """See the module. Keeps its diagrams from question to question.

    Raises Unsupported for tasks with real variables, for tasks defined in Python, and if oxidd is
    not installed.
    """

    def __init__(self, task: CompiledTask) -> None:
        if (refusal := cannot_read(task)) is not None:
            raise refusal.error()
        self.task = task
        self._make_manager = _library().BCDDManager
        self._budget = _Budget()
        self._manager: Any = None
        self._evidence: Any = None
        self._unsafe: Propagation | None = None
        self._doubtful: Propagation | None = None
        self._num_nodes = 0
        self._is_full = False

    # -- questions ---------------------------------------------------------------------------

    def decide(
        self,
        state: bytes,
        *,
        max_seconds: float,
        max_bytes: int,
        max_states: int,
        progress: Progress | None = None,
    ) -> AlgorithmAnswer:
        """Return the verdict on a packed state, and what it cost.

        ``expanded`` are the layers, ``pairs`` the sets of states found to lose an action and
        ``outcomes`` the substitutions made for this question; ``states`` are the nodes of the last
        layer's diagram, which ``max_states`` limits, and ``bytes`` is the memory of all diagrams.
        The memory limit is that of the first question. Raises InputError if the answer depends on
        an error of the model.
        """
        self._budget = _Budget(max_seconds, max_states, progress)
        verdict, stopped = "unknown", ""
        try:
            verdict = self._verdict(state, max_bytes)
        except _Stopped as reason:
            stopped = str(reason)
        except MemoryError:
            self._is_full = True
            stopped = "memory"
        if verdict == "doubtful":
            raise self._evidence.model_error(state, self._unsafe, self._doubtful)
        return replace(self._costs(), verdict=verdict, stopped=stopped)

    def _verdict(self, state: bytes, max_bytes: int) -> str:
        """Return safe, unsafe, or doubtful where the answer depends on an error of the model."""
        self._encode(max_bytes)
        bits = self._evidence.bits(state)
        if self._unsafe is None:
            self._unsafe = unsafe_states(self._evidence.diagrams)
        if self._is_reached(self._unsafe, bits):
            return "unsafe"
        if self._doubtful is None:
            self._doubtful = doubtful_states(self._evidence.diagrams, self._unsafe)
        if self._has_way_around(state):
            return "safe"
        return "doubtful" if self._is_reached(self._doubtful, bits) else "safe"

    def _has_way_around(self, state: bytes) -> bool:
        """Return whether a few safe states without errors are closed under some choice: then
        errors elsewhere do not matter.
        """
        assert self._unsafe is not None and self._doubtful is not None
        if self._doubtful.is_complete:
            return False
        return self._evidence.choices(state, self._unsafe) is not None

    def _encode(self, max_bytes: int) -> None:
        if self._manager is None:
            self._manager = self._make_manager(*_capacities(max_bytes), 1)
        if self._evidence is None:
            self._go_on()
            diagrams = TaskDiagrams(self.task.description, self._manager, self._tick)
            self._evidence = Evidence(self.task, diagrams, self._tick)
        while not self._evidence.diagrams.is_complete:
            self._go_on()
            self._evidence.diagrams.step()

    def _is_reached(self, propagation: Propagation, bits: Bits) -> bool:
        """Propagate until the state is found or nothing is added any more; return which."""
        layers = 0
        while True:
            if len(propagation.layers) > layers:
                self._budget.expanded += layers > 0
                layers = len(propagation.layers)
                self._num_nodes = propagation.states.node_count()
                if propagation.states.eval(bits):
                    return True
                self._budget.check_nodes(self._num_nodes)
            if propagation.is_complete:
                return False
            self._go_on()
            self._budget.pairs += propagation.step()
            self._budget.outcomes += 1

    def _go_on(self) -> None:
        if self._is_full:
            raise _Stopped("memory")
        self._tick()

    def _tick(self) -> None:
        self._budget.tick(self._costs)

    def _costs(self) -> AlgorithmAnswer:
        """Return what the question has cost so far."""
        nodes = self._manager.approx_num_inner_nodes() if self._manager else 0
        budget = self._budget
        return AlgorithmAnswer(
            verdict="unknown",
            expanded=budget.expanded,
            pairs=budget.pairs,
            outcomes=budget.outcomes,
            seconds=budget.seconds,
            states=self._num_nodes,
            bytes=nodes * BYTES_PER_NODE,
        )

    # -- evidence ----------------------------------------------------------------------------

    def certificate(
        self,
        state: bytes,
        *,
        max_seconds: float = math.inf,
        max_bytes: int = 0,
        max_states: int = 0,
    ) -> Entries:
        """Return the certificate of a state on which ``decide`` said safe or unsafe.

        ``states`` are the one in question and the packed states with an entry. Ranks are layers.
        If time runs out there is only ``stopped``. Other limits are ignored.
        """
        self._budget = _Budget(max_seconds)
        try:
            claim, entries = self._entries(state)
        except _Stopped as reason:
            return Entries("unknown", stopped=str(reason))
        numbers = {each: i for i, each in enumerate(dict.fromkeys([state, *entries]))}
        return Entries(
            claim=claim,
            states=b"".join(numbers),
            entry_states=[numbers[each] for each in entries],
            entry_values=list(entries.values()),
        )

    def _entries(self, state: bytes) -> tuple[str, dict[bytes, int]]:
        unsafe, doubtful, evidence = self._unsafe, self._doubtful, self._evidence
        choices = None
        if unsafe is not None and unsafe.rank(evidence.bits(state)) is not None:
            return "unsafe", evidence.ranks(state, unsafe)
        if unsafe is not None and unsafe.is_complete:
            choices = evidence.choices(state, unsafe)
        if choices is None and doubtful is not None and doubtful.is_complete:
            choices = evidence.all_choices(state, doubtful)
        if choices is None:
            raise ValueError("there is no verdict on this state")
        return "safe", choices


class _Stopped(Exception):
    """The budget ran out; the text says what of it."""


class _Budget:
    """What one question may cost, and what it did."""

    def __init__(
        self,
        max_seconds: float = 0,
        max_nodes: int = 0,
        progress: Progress | None = None,
    ) -> None:
        self._begin = self._reported = time.monotonic()
        self._max_seconds, self._max_nodes = max_seconds, max_nodes
        self._progress = progress
        self.expanded = self.pairs = self.outcomes = 0

    @property
    def seconds(self) -> float:
        """The seconds since the question was asked."""
        return time.monotonic() - self._begin

    def tick(self, costs: Callable[[], AlgorithmAnswer]) -> None:
        """Report now and then; raise _Stopped if time is up."""
        now = time.monotonic()
        if self._progress is not None and now - self._reported >= SECONDS_PER_REPORT:
            self._reported = now
            c = costs()
            self._progress(c.states, c.expanded, c.expanded, c.bytes, c.seconds)
        if now - self._begin > self._max_seconds:
            raise _Stopped("seconds")

    def check_nodes(self, count: int) -> None:
        """Raise _Stopped if a diagram of so many nodes is too large."""
        if count > self._max_nodes:
            raise _Stopped("states")


def cannot_read(task: Task) -> Refusal | None:
    """Return why there are no decision diagrams of the task; None if there are."""
    if not has_description(task):
        return Refusal(
            "bdd-python-task",
            "propagate_unsafe_bdd needs a task with a description, not one defined in Python",
            hint="use another oracle",
        )
    for v in task.variables:
        if v.type == "real":
            return Refusal(
                "bdd-real-variable",
                f"propagate_unsafe_bdd takes integers and Booleans; {quoted(v.name)} is real",
                file=task.file,
                place=v.place,
                hint="use another oracle",
            )
    return None


def _library() -> Any:
    try:
        return importlib.import_module("oxidd.bcdd")
    except ImportError:
        raise Unsupported(
            "missing-library",
            "propagate_unsafe_bdd needs the library oxidd",
            hint="pip install 'surefoot[verify]'",
        ) from None


def _capacities(max_bytes: int) -> tuple[int, int]:
    """Return for how many nodes and cache entries there is memory."""
    entries = min(max(max_bytes // 8 // BYTES_PER_CACHE_ENTRY, 2**10), MAX_CACHE_ENTRIES)
    nodes = (max_bytes - entries * BYTES_PER_CACHE_ENTRY) // BYTES_PER_NODE
    return min(max(nodes, 2**10), MAX_NODES), entries


ORACLE = Algorithm(
    "propagate_unsafe_bdd",
    lambda task, options, policy: Engine(task, PropagateUnsafeBdd(task)),  # type: ignore[arg-type]
    cannot_read=cannot_read,
)
