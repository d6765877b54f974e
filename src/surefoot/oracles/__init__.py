"""Oracles: is there a policy that surely avoids fail from this state?

:class:`Oracle` answers that for many states of one task and keeps what it learned; :func:`decide`
asks a single question. Every safe or unsafe :class:`~surefoot.results.Answer` has a certificate.
``ORACLES`` are the algorithms; docs/oracles.md says which one when.
"""

from __future__ import annotations

from typing import Any

from surefoot.errors import InputError, nearest_hint, quoted
from surefoot.options import DecideOptions, chosen
from surefoot.oracles.deviations import DeviationsOracle
from surefoot.oracles.engine import Engine, ProgressCallback, core_engine
from surefoot.policies import Policy, as_policy
from surefoot.results import Answer, Deviations
from surefoot.tasks import require_task
from surefoot.tasks.task import Task

ORACLES = (
    "lazy_attractor",
    "ipi",
    "npi",
    "tarjan_safe",
    "tarjan_safe_printed",
    "lrtdp",
    "lao_star",
    "value_iteration",
    "propagate_unsafe",
    "propagate_unsafe_bdd",
)
WITH_RADIUS = ("lazy_attractor", "tarjan_safe", "lrtdp", "lao_star", "value_iteration")
ORDERS = ("app", "learn", "rand")
BDD = "propagate_unsafe_bdd"
GIVE = 'for example policy="first", on the command line --policy first'


class Oracle:
    """Decides whether states of a task are safe, and keeps what it learned from question to
    question.

    Options are those of :class:`DecideOptions`, also as keywords, which win over ``options``. A
    question that runs out of its budget leaves nothing wrong behind: ask again to go on.
    """

    def __init__(
        self,
        task: Task,
        *,
        policy: Any = None,
        options: DecideOptions | None = None,
        **changes: Any,
    ) -> None:
        self.task = require_task(task)
        self.options = check_options(
            chosen(DecideOptions, options, changes), has_policy=policy is not None
        )
        seed = self.options.seed
        self.policy = None if policy is None else as_policy(policy, self.task, seed=seed)
        self._engine = _engine(self.task, self.options, self.policy)
        self._deviations: DeviationsOracle | None = None

    @property
    def name(self) -> str:
        """Which of ``ORACLES`` this is."""
        return self.options.oracle

    def decide(self, state: Any, *, progress: ProgressCallback | None = None) -> Answer:
        """Return whether some policy (with a radius: one that near) surely avoids fail from the
        state.

        ``progress`` is called about ten times a second with states, expanded, depth, bytes and
        seconds.
        """
        return self._engine.decide(self.task.packed(state), self.options, progress)

    def deviations(self, state: Any, *, progress: ProgressCallback | None = None) -> Deviations:
        """Return how few differences from the policy suffice to keep the state safe.

        Raises InputError if the oracle was made without a policy.
        """
        if self.policy is None:
            raise InputError(
                "bad-option", "deviations are counted from a policy: give a policy", hint=GIVE
            )
        if self._deviations is None:
            self._deviations = DeviationsOracle(self.task, self.policy)
        return self._deviations.find(self.task.packed(state), self.options, progress)

    def __repr__(self) -> str:
        return f"<Oracle {self.name} of {self.task.name!r}>"


def decide(
    task: Task,
    state: Any,
    *,
    policy: Any = None,
    options: DecideOptions | None = None,
    **changes: Any,
) -> Answer:
    """Return whether some policy surely avoids fail from the state.

    Options are those of :class:`DecideOptions`, also as keywords: ``decide(task, state,
    oracle="ipi")``. For many states make an :class:`Oracle`, which keeps what it learned.
    """
    return Oracle(task, policy=policy, options=options, **changes).decide(state)


# -- options -----------------------------------------------------------------------------------


def check_options(options: DecideOptions, *, has_policy: bool) -> DecideOptions:
    """Return the options. Raises InputError for an unknown oracle or order, and for what does not
    go together.
    """
    check_oracle(options.oracle)
    if options.order not in ORDERS:
        raise InputError(
            "unknown-order",
            f"there is no order {quoted(options.order)}",
            hint=nearest_hint(options.order, ORDERS) or f"orders are: {', '.join(ORDERS)}",
        )
    if options.order != "app" and options.oracle != "ipi":
        raise InputError("bad-option", f"order is for the oracle ipi, not for {options.oracle}")
    if options.order == "learn" and not has_policy:
        raise InputError(
            "bad-option", "order learn tries the policy's action first: give a policy", hint=GIVE
        )
    if options.radius is not None:
        _check_radius(options.oracle, has_policy=has_policy)
    return options


def check_oracle(name: str) -> None:
    """Raise InputError if there is no oracle of that name."""
    if name in ORACLES:
        return
    near = nearest_hint(name, ORACLES)
    every = f"oracles are: {', '.join(ORACLES)}"
    raise InputError(
        "unknown-oracle",
        f"there is no oracle {quoted(name)}",
        hint=f"{near} {every}" if near else every,
    )


def _check_radius(oracle: str, *, has_policy: bool) -> None:
    if oracle not in WITH_RADIUS:
        raise InputError(
            "bad-option",
            f"the oracle {oracle} takes no radius",
            hint=f"oracles that take one: {', '.join(WITH_RADIUS)}",
        )
    if not has_policy:
        raise InputError("bad-option", "a radius counts differences from a policy: give a policy")


def _engine(task: Task, options: DecideOptions, policy: Policy | None) -> Engine:
    if options.oracle == BDD:
        from surefoot.oracles.bdd import PropagateUnsafeBdd

        return Engine(task, PropagateUnsafeBdd(task))  # type: ignore[arg-type]  # it refuses others
    return core_engine(
        task,
        options.oracle,
        order=options.order,
        seed=options.seed,
        policy=policy if options.radius is not None or options.order == "learn" else None,
        radius=options.radius,
    )
