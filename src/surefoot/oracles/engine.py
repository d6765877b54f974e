"""An algorithm at work: packed states in, answers with certificates out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ParamSpec, Protocol, TypeVar

from surefoot import _core
from surefoot.certificates import Certificate, Claim, Entries, certificate_of
from surefoot.errors import InputError, OutOfBudget
from surefoot.objectives import SAFETY, Evidence
from surefoot.options import DecideOptions
from surefoot.policies import Policy
from surefoot.policies.decisions import policy_error
from surefoot.records import Answer
from surefoot.tasks.task import Task

P = ParamSpec("P")
T = TypeVar("T")
ProgressCallback = Callable[[int, int, int, int, float], object]
MAX_ENTRIES = 5_000_000  # of a certificate
COSTS = ("expanded", "pairs", "outcomes", "seconds")


@dataclass(frozen=True)
class AlgorithmAnswer:
    """What an algorithm that is written in Python says about a state; see ``_core.Answer``."""

    verdict: str
    stopped: str = ""
    expanded: int = 0
    pairs: int = 0
    outcomes: int = 0
    seconds: float = 0.0
    states: int = 0
    bytes: int = 0


class Turn:
    """Lets threads ask one after the other; refuses a policy that asks the oracle it works for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner: int | None = None

    def __enter__(self) -> None:
        if self._owner == threading.get_ident():
            raise InputError("oracle-busy", "the policy asks the very oracle that asks it")
        self._lock.acquire()
        self._owner = threading.get_ident()

    def __exit__(self, *_: object) -> None:
        self._owner = None
        self._lock.release()


class OracleAtWork(Protocol):
    """An oracle at work on a task: packed states in, answers out."""

    def decide(
        self, packed: bytes, options: DecideOptions, progress: ProgressCallback | None = None
    ) -> Answer:
        """Return the answer about a state, within the limits of the options."""


@dataclass(frozen=True)
class Engine:
    """What has ``decide`` and ``certificate`` on packed states, with the task it works on.

    ``radius`` and ``policy`` are what its claims are about.
    """

    task: Task
    algorithm: Any
    radius: int | None = None
    policy: Policy | None = None
    turn: Turn = field(default_factory=Turn, compare=False, repr=False)

    def decide(
        self, packed: bytes, options: DecideOptions, progress: ProgressCallback | None = None
    ) -> Answer:
        """Return the answer about a state, within the limits of the options."""
        answer = self.ask(
            self.algorithm.decide,
            packed,
            max_seconds=options.max_seconds,
            max_bytes=options.max_bytes,
            max_states=options.max_states,
            progress=progress,
        )
        verdict, state = answer.verdict, self.task.unpack(packed)
        claim = Claim(verdict, self.radius, state)
        evidence = Evidence(lambda: self.certificate(packed, claim, options))
        return Answer(
            state=state,
            objective=SAFETY,
            bounds=SAFETY.bounds(verdict, evidence),
            reason=answer.stopped if verdict == "unknown" else None,
            radius=self.radius,
            sampled=self.task.is_sampled,
            **{name: getattr(answer, name) for name in COSTS},
        )

    def certificate(
        self, packed: bytes, claim: Claim, options: DecideOptions, *, first: int | None = None
    ) -> Certificate:
        """Return the certificate of a claim that the algorithm made. Raises OutOfBudget.

        With ``first``, the number of an action all of whose outcomes are known to be safe, it is a
        certificate of a safe state in which this action is taken.
        """
        chosen = {} if first is None else {"first": first}
        made: _core.Certificate | Entries = self.ask(
            self.algorithm.certificate,
            packed,
            max_seconds=options.max_seconds,
            max_bytes=options.max_bytes,
            max_states=MAX_ENTRIES,
            **chosen,
        )
        if made.stopped == "states":
            raise OutOfBudget(
                "certificate-too-large",
                f"the certificate has more than {MAX_ENTRIES:,} entries: too many to check",
            )
        if made.stopped:
            raise OutOfBudget(
                f"out-of-{made.stopped}", f"ran out of {made.stopped} making the certificate"
            )
        return certificate_of(
            self.task, made, radius=claim.radius, policy=self.policy, expected=claim
        )

    def fault_analysis(self) -> Callable[..., _core.RunFaults]:
        """Return what tells the guilty decisions on a run, from its packed states and the numbers
        of its actions.
        """
        analysis = _core.FaultAnalysis(self.algorithm, self.radius)

        def analyse(packed: bytes, numbers: Sequence[int], **limits: Any) -> _core.RunFaults:
            return self.ask(analysis.analyse, self.algorithm, packed, numbers, **limits)

        return analyse

    def ask(self, call: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Return what the core answers; errors of model and policy come out as InputError."""
        try:
            with self.turn:
                return call(*args, **options)
        except _core.ModelError as error:
            raise self.task.model_error(error) from None
        except _core.PolicyError as error:
            raise policy_error(self.task, error) from None


def core_engine(
    task: Task,
    name: str,
    *,
    order: str = "app",
    seed: int = 0,
    policy: Policy | None = None,
    radius: int | None = None,
) -> Engine:
    """Return the core's algorithm of that name."""
    asked = None if policy is None else policy.core
    made = _core.Oracle(task.core, name, order=order, seed=seed, policy=asked, radius=radius)
    return Engine(task, made, radius, policy)
