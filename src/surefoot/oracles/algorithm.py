"""What an oracle consists of: how it is made, and what it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from surefoot.errors import Refusal
from surefoot.objectives import SAFETY, Objective, handles_only
from surefoot.options import DecideOptions
from surefoot.oracles.bounds import BoundsEngine, BoundsOf
from surefoot.oracles.engine import Engine, OracleAtWork, core_engine
from surefoot.oracles.tables import Table, table_engine
from surefoot.policies import Policy
from surefoot.tasks.state import State
from surefoot.tasks.task import Task


@dataclass(frozen=True)
class Algorithm:
    """An algorithm that decides whether states are safe, or what the best policy achieves there
    under another ``objective``, which is a name.

    ``make`` returns it at work on a task; the policy is there if the options need one.
    ``takes_radius`` if it can be asked about policies near a given one, ``takes_order`` if the
    option ``order`` means something to it, ``serves_faults`` if faults can be found with it.
    ``cannot_read`` returns why it cannot work on a task.
    """

    name: str
    make: Callable[[Task, DecideOptions, Policy | None], OracleAtWork]
    takes_radius: bool = False
    takes_order: bool = False
    serves_faults: bool = False
    objective: str = SAFETY.name
    cannot_read: Callable[[Task], Refusal | None] | None = None

    def can_handle(self, task: Task, policy: Policy | None, objective: Objective) -> Refusal | None:
        """Return why the oracle cannot answer about the objective; None if it can."""
        refusal = handles_only(f"the oracle {self.name}", self.objective, objective)
        if refusal is not None or self.cannot_read is None:
            return refusal
        return self.cannot_read(task)

    @classmethod
    def of_core(
        cls, name: str, *, takes_radius: bool = False, takes_order: bool = False
    ) -> Algorithm:
        """Return the core's algorithm of that name."""

        def make(task: Task, options: DecideOptions, policy: Policy | None) -> Engine:
            return core_engine(
                task,
                name,
                order=options.order,
                seed=options.seed,
                policy=policy if options.radius is not None or options.order == "learn" else None,
                radius=options.radius,
            )

        return cls(name, make, takes_radius, takes_order, serves_faults=True)

    @classmethod
    def of_tables(
        cls, name: str, decide: Callable[[Task, State, DecideOptions], Table]
    ) -> Algorithm:
        """Return the algorithm that a function is which answers with a table. Its verdicts count
        only if the checker accepts the table.
        """

        def make(task: Task, options: DecideOptions, policy: Policy | None) -> Engine:
            return table_engine(task, name, decide, options)

        return cls(name, make, serves_faults=True)

    @classmethod
    def of_bounds(cls, name: str, objective: Objective, bounds_of: BoundsOf) -> Algorithm:
        """Return the algorithm that a function is which encloses best values under an objective.
        No certificate proves them: its answers are ``unchecked``.
        """

        def make(task: Task, options: DecideOptions, policy: Policy | None) -> OracleAtWork:
            return BoundsEngine(task, objective, bounds_of)

        return cls(name, make, objective=objective.name)
