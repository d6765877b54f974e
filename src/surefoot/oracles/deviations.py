"""Deviations: how few differences from a policy suffice to keep a state safe.

What it does: asks whether the state is safe at all, then whether it is with 0, 1, ... differences,
lazy_attractor each time. If a few are not enough, it looks at everything reachable and finds the
number, or that there is none: a difference inside a cycle counts infinitely often.

What it guarantees: the least number, on finite tasks, with certificates: that so many differences
are enough and that one fewer is not, or that no finite number is.

Cost: as lazy_attractor for each number asked about; then all reachable states, once for each number
up to the answer.

When to use it: to grade a bug. One difference: one changed decision repairs it.

Paper: J of Jain et al. 2025, section 6.1.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace

from surefoot.certificates import Certificate, Claim
from surefoot.errors import OutOfBudget
from surefoot.options import DecideOptions
from surefoot.oracles.engine import COSTS, Engine, ProgressCallback, core_engine
from surefoot.policies import Policy
from surefoot.records import Answer, Deviations
from surefoot.tasks.task import Task

ASKED_SINGLY = 4


class DeviationsOracle:
    """Finds the numbers of many states, and keeps what it learned."""

    def __init__(self, task: Task, policy: Policy) -> None:
        self._task = task
        self._policy = policy
        self._any_policy = core_engine(task, "lazy_attractor")
        self._within: dict[int, Engine] = {}
        self._everything: Engine | None = None

    def find(
        self, packed: bytes, options: DecideOptions, progress: ProgressCallback | None
    ) -> Deviations:
        """Return the number of a state; the limits hold for all its questions together."""
        return _Search(self, packed, options, progress).run()

    def within(self, radius: int) -> Engine:
        """Return the oracle for this many differences."""
        if radius not in self._within:
            self._within[radius] = core_engine(
                self._task, "lazy_attractor", policy=self._policy, radius=radius
            )
        return self._within[radius]

    @property
    def any_policy(self) -> Engine:
        """The oracle for any number of differences."""
        return self._any_policy

    @property
    def everything(self) -> Engine:
        """The algorithm that looks at everything reachable."""
        if self._everything is None:
            self._everything = core_engine(self._task, "deviations", policy=self._policy)
        return self._everything


class _Search:
    """One question, with what it has cost so far."""

    def __init__(
        self,
        oracle: DeviationsOracle,
        packed: bytes,
        options: DecideOptions,
        progress: ProgressCallback | None,
    ) -> None:
        self.oracle = oracle
        self.packed = packed
        self.options = options
        self.progress = progress
        self.end = time.monotonic() + options.max_seconds
        self.answers: list[Answer] = []

    def run(self) -> Deviations:
        """Return the number, or what ran out on the way to it or to its proof."""
        try:
            return self._found()
        except OutOfBudget as error:
            return self._result(None, reason=error.code.removeprefix("out-of-"))

    def _found(self) -> Deviations:
        if self._ask(self.oracle.any_policy).verdict == "unsafe":
            return self._result(math.inf, [self.answers[-1].certificate])
        for radius in range(ASKED_SINGLY):
            if self._ask(self.oracle.within(radius)).verdict == "safe":
                return self._result(radius, self._proof(radius))
        self._ask(self.oracle.everything)
        return self._counted()

    def _counted(self) -> Deviations:
        everything, state = self.oracle.everything, self.answers[0].state
        number = everything.ask(everything.algorithm.deviations, self.packed)
        if number is not None:
            return self._result(number, self._proof(number))
        claim = Claim("unsafe", "finite", state)
        return self._result(math.inf, [everything.certificate(self.packed, claim, self.options)])

    def _proof(self, number: int) -> list[Certificate | None]:
        """Return the certificates that the number is enough and that one fewer is not."""
        radii = [number, number - 1] if number else [number]
        return [self._ask(self.oracle.within(radius)).certificate for radius in radii]

    def _ask(self, engine: Engine) -> Answer:
        """Return an answer that is not unknown. Raises OutOfBudget."""
        left = max(self.end - time.monotonic(), 0.0)
        limits = replace(self.options, max_seconds=left)
        answer = engine.decide(self.packed, limits, self.progress)
        self.answers.append(answer)
        if not answer.is_known:
            raise OutOfBudget(f"out-of-{answer.reason}", "ran out while counting deviations")
        return answer

    def _result(
        self,
        number: float | None,
        certificates: Sequence[Certificate | None] = (),
        *,
        reason: str | None = None,
    ) -> Deviations:
        costs = {name: sum(getattr(answer, name) for answer in self.answers) for name in COSTS}
        return Deviations(
            state=self.answers[0].state,
            least=number,
            reason=reason,
            **costs,
            certificates=tuple(each for each in certificates if each is not None),
        )
