"""The method ic3: from a question to a verdict."""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from collections.abc import Sequence

from surefoot.errors import InputError, Refusal, quoted
from surefoot.records import Verdict, VerifyResult
from surefoot.tasks.compiled_task import CompiledTask, has_description
from surefoot.verify.certificate import PolicyCertificate, write_box_certificate
from surefoot.verify.constraints import Constraint, find_constraints
from surefoot.verify.explicit import run_of
from surefoot.verify.ic3.boxes import Box
from surefoot.verify.ic3.circuit import FALSE, Circuit
from surefoot.verify.ic3.numbers import lacks
from surefoot.verify.ic3.replay import PackedRun, Replay, state_of
from surefoot.verify.ic3.search import Ic3
from surefoot.verify.ic3.solver import library
from surefoot.verify.ic3.transition import System
from surefoot.verify.question import Question, out_of

METHOD = "ic3"
MAX_BOUNDS = 6  # that are handed on
SECONDS_PER_REPORT = 0.1
PRECISIONS = ((12, 20), (17, 100), (24, math.inf))
"""bits of scores, and after how many near ties to go on with more of them"""


def verify_ic3(question: Question) -> VerifyResult:
    """Return what IC3 finds: boxes of states that no run comes to, or a failing run.

    What it does: puts the task and the sums of the policy's trees into clauses, and blocks boxes
    from which fail can be reached until all that is not blocked is closed under steps. Guarantee:
    ``safe`` is about all start states and the scores as the policy computes them; an ``unsafe`` run
    was followed with the policy itself, but need not be a shortest one. The result is the same
    every time. Cost: some thousand questions to a SAT solver, each of milliseconds; it does not
    depend on how many states there are. When to use it: integers and Booleans, a tree ensemble, and
    too many states for ``explicit``. Paper: Bradley 2011 (IC3); Een, Mishchenko & Brayton 2011
    (PDR).
    """
    return Verification(question).run()


class Stopped(Exception):
    """The budget ran out; ``why`` says what of it."""

    def __init__(self, why: Refusal) -> None:
        super().__init__(why.sentence)
        self.why = why


class Verification:
    """One question. ``search`` is there as soon as the task is encoded, also after time ran out."""

    def __init__(self, question: Question) -> None:
        if not has_description(question.task):
            raise lacks("tasks defined in Python")
        for v in question.task.variables:
            if v.type == "real":
                raise lacks(f"real variables, such as {quoted(v.name)}")
        library()
        self.question = question
        self.task: CompiledTask = question.task
        self.constraints: list[Constraint] = []
        self.search: Ic3 | None = None
        self._queries = self._roundings = 0
        self._begin = self._reported = time.perf_counter()
        self._memory = _peak_bytes()

    def run(self) -> VerifyResult:
        """Return the result."""
        try:
            run = self._decided()
        except Stopped as stopped:
            return self._result("unknown", why=stopped.why)
        finally:
            if self.search is not None:
                self.search.close()
        return self._result("safe") if run is None else self._result("unsafe", run=run)

    @property
    def queries(self) -> int:
        """How often the solver was asked."""
        return self._queries + (0 if self.search is None else self.search.queries)

    @property
    def blocked(self) -> list[Box]:
        """The boxes blocked so far."""
        return [] if self.search is None else self.search.blocked

    def _decided(self) -> PackedRun | None:
        """Return a failing run; None if there is none."""
        self.constraints = find_constraints(self.task)
        for bits, max_settled in PRECISIONS:
            search = self._encoded(bits)
            self._check_start(search)
            replay = Replay(self.question, search.system)
            while True:
                suspect = search.run()
                if suspect is None:
                    return None
                run = replay.follow(suspect)
                if run is not None:
                    return run
                if search.system.settled > max_settled:
                    break
        raise AssertionError("the last precision has no limit")

    def _encoded(self, bits: int) -> Ic3:
        """Return the search with scores of so many bits. It goes on where the last one was."""
        system = self._system(bits)
        if self.constraints and system.clauses.start_error != FALSE:
            self.constraints = []  # they would hide errors of states that break them
            system = self._system(bits)
        before = self.search
        if before is None:
            self.search = Ic3(system, self._tick)
            return self.search
        before.close()
        self.search = Ic3(system, self._tick, before.frames)
        self._queries += before.queries
        self._roundings += before.system.roundings
        return self.search

    def _system(self, bits: int) -> System:
        circuit = Circuit(self._tick)
        return System(self.task, self.question.policy, circuit, self.constraints, bits=bits)

    def _check_start(self, search: Ic3) -> None:
        """Raise InputError if there is no start state, or if it is an error to look for them."""
        state = search.state_in(search.system.clauses.start_error)
        if state is not None:
            self.task.is_start(state_of(self.task, state))
        if search.state_in(search.system.start) is None:
            raise InputError(
                "no-start-state", "there is no state to start from", file=self.task.file
            )

    # -- limits ------------------------------------------------------------------------------

    def _tick(self) -> None:
        """Report now and then; raise Stopped if time or memory is up."""
        options, now = self.question.options, time.perf_counter()
        if now - self._begin > options.max_seconds:
            raise Stopped(out_of("seconds", options))
        if now - self._reported < SECONDS_PER_REPORT:
            return
        self._reported = now
        if _peak_bytes() - self._memory > options.max_bytes:
            raise Stopped(out_of("memory", options))
        if self.question.progress is not None:
            frame = 0 if self.search is None else len(self.search.frames) - 1
            self.question.progress(len(self.blocked), self.queries, frame, 0, now - self._begin)

    # -- results -----------------------------------------------------------------------------

    def _result(
        self, verdict: Verdict, *, why: Refusal | None = None, run: PackedRun | None = None
    ) -> VerifyResult:
        search = self.search
        boxes = search.invariant if search is not None and verdict == "safe" else self.blocked
        certificate = None
        if verdict == "safe" and self.question.certificate is not False:
            certificate = self._certificate(boxes)
        return VerifyResult(
            verdict=verdict,
            method=METHOD,
            starts=0,
            all_starts=True,
            states=0,
            depth=0 if search is None else len(search.frames) - 1,
            seconds=time.perf_counter() - self._begin,
            reason=None if why is None else why.sentence,
            code=None if why is None else why.code,
            run=None if run is None else run_of(self.task, *run),
            boxes=len(boxes),
            bounds=self._bounds() if verdict == "unknown" else (),
            rounding=self._roundings + (0 if search is None else search.system.roundings),
            certificate=certificate,
        )

    def _bounds(self) -> tuple[tuple[str, int], ...]:
        """Return the bounds that most blocked boxes share: good predicates for ``box``."""
        count: Counter[tuple[str, int]] = Counter()
        for box in self.blocked:
            for variable, (low, high) in zip(self.task.variables, box, strict=True):
                least, most = (
                    (0, 1) if variable.type == "bool" else (variable.lower, variable.upper)
                )
                count.update([(variable.name, int(low))] if low > least else [])
                count.update([(variable.name, int(high) + 1)] if high < most else [])
        best = sorted(count.items(), key=lambda item: (-item[1], item[0]))
        return tuple(bound for bound, _ in best[:MAX_BOUNDS])

    def _certificate(self, boxes: Sequence[Box]) -> PolicyCertificate:
        blocked = [self.values_of(box) for box in boxes]
        return write_box_certificate(self.question, blocked, self.constraints, blocked=True)

    def values_of(self, box: Box) -> list[tuple[object, object]]:
        """Return the bounds of a box as values of the variables."""
        pairs = zip(self.task.variables, box, strict=True)
        return [(bool(a), bool(b)) if v.type == "bool" else (a, b) for v, (a, b) in pairs]


def _peak_bytes() -> int:
    """Return the most memory this process has had, 0 where that is unknown."""
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
