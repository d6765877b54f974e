"""Oracles: is there a policy that surely avoids fail from this state?

:class:`Oracle` answers that for many states of one task and keeps what it learned; :func:`decide`
asks a single question. Every safe or unsafe :class:`~surefoot.records.Answer` has a certificate.
``ORACLES`` has the algorithms, each in a file of its own; docs/oracles.md says which one when, and
docs/extending.md how to bring another.
"""

from __future__ import annotations

from typing import Unpack

from surefoot.errors import InputError, nearest_hint, quoted
from surefoot.objectives import SAFETY, Objective, handled_objective, handles_only
from surefoot.options import DecideOptions, chosen
from surefoot.options.keywords import DecideChanges
from surefoot.oracles.algorithm import Algorithm
from surefoot.oracles.deviations import DeviationsOracle
from surefoot.oracles.engine import ProgressCallback
from surefoot.oracles.tables import Table
from surefoot.policies import Policy, as_policy
from surefoot.records import Answer, Deviations
from surefoot.registry import Registry, of_class
from surefoot.tasks import require_task
from surefoot.tasks.task import Task

__all__ = [
    "ORACLES",
    "ORDERS",
    "Algorithm",
    "Oracle",
    "Table",
    "check_options",
    "decide",
    "with_radius",
]

ORACLES: Registry[Algorithm] = Registry(
    "oracle",
    group="surefoot.oracles",
    component=of_class("oracle", Algorithm),
    package=__name__,
    constant="ORACLE",
    made_by="Algorithm",
    first=(
        *("lazy_attractor", "ipi", "npi", "tarjan_safe", "tarjan_safe_printed", "lrtdp"),
        *("lao_star", "value_iteration", "propagate_unsafe", "propagate_unsafe_bdd"),
    ),
)
"""oracles by name"""
ORDERS = ("app", "learn", "rand")
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
        policy: object = None,
        objective: str | Objective = "safety",
        options: DecideOptions | None = None,
        **changes: Unpack[DecideChanges],
    ) -> None:
        self.task = require_task(task)
        self.options = check_options(
            chosen(DecideOptions, options, changes), has_policy=policy is not None
        )
        seed = self.options.seed
        self.policy = None if policy is None else as_policy(policy, self.task, seed=seed)
        algorithm = ORACLES[self.name]
        self.objective = handled_objective(
            objective, self.task, self.policy, can_handle=algorithm.can_handle
        )
        self._engine = algorithm.make(self.task, self.options, self.policy)
        self._deviations: DeviationsOracle | None = None

    @property
    def name(self) -> str:
        """Which of ``ORACLES`` this is."""
        return self.options.oracle

    def decide(self, state: object, *, progress: ProgressCallback | None = None) -> Answer:
        """Return whether some policy (with a radius: one that near) surely avoids fail from the
        state; for another objective, what the best policy achieves.

        ``progress`` is called about ten times a second with states, expanded, depth, bytes and
        seconds.
        """
        return self._engine.decide(self.task.packed(state), self.options, progress)

    def deviations(self, state: object, *, progress: ProgressCallback | None = None) -> Deviations:
        """Return how few differences from the policy suffice to keep the state safe.

        Raises InputError if the oracle was made without a policy.
        """
        if self.policy is None:
            raise InputError(
                "bad-option", "deviations are counted from a policy: give a policy", hint=GIVE
            )
        refusal = handles_only("counting deviations", SAFETY.name, self.objective)
        if refusal is not None:
            raise refusal.error()
        if self._deviations is None:
            self._deviations = DeviationsOracle(self.task, self.policy)
        return self._deviations.find(self.task.packed(state), self.options, progress)

    def __reduce__(self) -> tuple[object, ...]:
        """Say how to make the oracle again: with the same answers, which it has to find again."""
        return _made_again, (self.task, self.policy, self.options, self.objective)

    def __repr__(self) -> str:
        return f"<Oracle {self.name} of {self.task.name!r}>"


def _made_again(
    task: Task, policy: Policy | None, options: DecideOptions, objective: Objective
) -> Oracle:
    return Oracle(task, policy=policy, objective=objective, options=options)


def decide(
    task: Task,
    state: object,
    *,
    policy: object = None,
    objective: str | Objective = "safety",
    options: DecideOptions | None = None,
    **changes: Unpack[DecideChanges],
) -> Answer:
    """Return whether some policy surely avoids fail from the state; for another ``objective``, a
    name or an object, what the best policy achieves.

    Options are those of :class:`DecideOptions`, also as keywords: ``decide(task, state,
    oracle="ipi")``. For many states make an :class:`Oracle`, which keeps what it learned.
    """
    oracle = Oracle(task, policy=policy, objective=objective, options=options, **changes)
    return oracle.decide(state)


# -- options -----------------------------------------------------------------------------------


def check_options(options: DecideOptions, *, has_policy: bool) -> DecideOptions:
    """Return the options. Raises InputError for an unknown oracle or order, and for what does not
    go together.
    """
    ORACLES.check(options.oracle)
    if options.order not in ORDERS:
        raise InputError(
            "unknown-order",
            f"there is no order {quoted(options.order)}",
            hint=nearest_hint(options.order, ORDERS) or f"orders are: {', '.join(ORDERS)}",
        )
    if options.order != "app" and not ORACLES[options.oracle].takes_order:
        raise InputError("bad-option", f"order is for the oracle ipi, not for {options.oracle}")
    if options.order == "learn" and not has_policy:
        raise InputError(
            "bad-option", "order learn tries the policy's action first: give a policy", hint=GIVE
        )
    if options.radius is not None:
        _check_radius(options.oracle, has_policy=has_policy)
    return options


def with_radius() -> tuple[str, ...]:
    """Return the built-in oracles that take a radius."""
    return tuple(name for name in ORACLES.built_in if ORACLES[name].takes_radius)


def _check_radius(oracle: str, *, has_policy: bool) -> None:
    if not ORACLES[oracle].takes_radius:
        raise InputError(
            "bad-option",
            f"the oracle {oracle} takes no radius",
            hint=f"oracles that take one: {', '.join(with_radius())}",
        )
    if not has_policy:
        raise InputError("bad-option", "a radius counts differences from a policy: give a policy")
