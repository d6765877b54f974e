"""The SAT solver: python-sat behind the few calls that are needed.

A call may take long, so it is made in slices of so many conflicts. Between them ``tick`` may raise,
and Ctrl-C gets through. The slices do not change the answer.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from surefoot.errors import Unsupported
from surefoot.verify.ic3.circuit import Circuit

NAME = "glucose4"
CONFLICTS_PER_SLICE = 500
MAX_RETIRED = 3000


def library() -> Any:
    """Return the module of solvers. Raises Unsupported if python-sat is not installed."""
    try:
        return importlib.import_module("pysat.solvers")
    except ImportError:
        raise Unsupported(
            "missing-library",
            "the method ic3 needs the library python-sat",
            hint='pip install "surefoot[verify]"',
        ) from None


class Solver:
    """The clauses of a circuit, and more clauses, which ``more`` gives whenever it is asked.

    Clauses for a while are thrown out now and then, by building the solver anew. ``queries`` counts
    the questions.
    """

    def __init__(
        self,
        circuit: Circuit,
        tick: Callable[[], None],
        more: Callable[[], Iterable[Sequence[int]]] = tuple,
    ) -> None:
        self._make = library().Solver
        self._circuit = circuit
        self._tick = tick
        self._more = more
        self._num_clauses = 0
        self._retired: list[int] = []
        self._unused: list[int] = []
        self._solver: Any = None
        self.queries = 0
        self._build()

    def _build(self) -> None:
        self.close()
        self._solver = self._make(name=NAME)
        self._num_clauses = 0
        self._unused += self._retired
        self._retired = []
        for clause in self._more():
            self._solver.add_clause(clause)
        self._catch_up()

    def close(self) -> None:
        """Free the memory of the solver."""
        if self._solver is not None:
            self._solver.delete()
            self._solver = None

    def _catch_up(self) -> None:
        """Add what the circuit has got since the last time."""
        clauses = self._circuit.clauses
        while self._num_clauses < len(clauses):
            self._solver.add_clause(clauses[self._num_clauses])
            self._num_clauses += 1
            if self._num_clauses % 8192 == 0:
                self._tick()

    # -- clauses -----------------------------------------------------------------------------

    def add(self, clause: Sequence[int]) -> None:
        """Add a clause, one that ``more`` will give too."""
        self._solver.add_clause(list(clause))

    @contextlib.contextmanager
    def holding(self, clause: Sequence[int]) -> Iterator[int]:
        """Return a literal that, if it is assumed, makes the clause hold; for a while."""
        literal = self._unused.pop() if self._unused else self._circuit.new()
        self._solver.add_clause([-literal, *clause])
        try:
            yield literal
        finally:
            self._solver.add_clause([-literal])
            self._retired.append(literal)

    def tidy(self) -> None:
        """Throw out what is not needed any more, if there is much of it."""
        if len(self._retired) > MAX_RETIRED:
            self._build()

    # -- questions ---------------------------------------------------------------------------

    def solve(self, assumptions: Sequence[int]) -> bool:
        """Return whether the clauses can be satisfied under these assumptions."""
        self.queries += 1
        self._tick()
        if self._num_clauses < len(self._circuit.clauses):
            self._catch_up()
        wanted = list(assumptions)
        while True:
            self._solver.conf_budget(CONFLICTS_PER_SLICE)
            answer = self._solver.solve_limited(assumptions=wanted, expect_interrupt=True)
            if answer is not None:
                return bool(answer)
            self._tick()

    def core(self) -> set[int]:
        """Return assumptions that cannot be met together, after a solve that said no."""
        return set(self._solver.get_core() or ())

    def model(self) -> list[int]:
        """Return the literals that hold, after a solve that said yes."""
        literals: list[int] = self._solver.get_model()
        return literals
