"""Questions to Z3: whether a step, or a run of steps, is possible between sets of states.

:class:`Solver` knows the task, not the policy: whoever asks has split sets of states until the
policy decides the same in all of each. What Z3 is not told, such as arithmetic on real numbers, may
be anything: *impossible* is always right, *possible* need not be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from types import ModuleType
from typing import Any

from surefoot import _core
from surefoot.policies.libraries import library
from surefoot.tasks.compiled_task import CompiledTask
from surefoot.tasks.expressions import Expr, postorder
from surefoot.verify.predicates.atoms import Cut, Literal, Sum, Test
from surefoot.verify.predicates.changes import values_after
from surefoot.verify.predicates.ranges import LARGEST, Box, full_box, names_of

Term = Any
"""a term of Z3, whose Python package has no types"""
MAX_SECONDS = 5.0
"""for one question"""
Constraints = Sequence[_core.LinearBound]
"""linear sums of variables that no step changes, with their bounds"""


@dataclass
class Step:
    """What an outcome makes of the variables, for Z3."""

    condition: Term
    values: dict[int, Term]
    """by variable, over the state before; those that are not here stay as they are"""
    unknowns: list[Term] = field(default_factory=list)


@dataclass
class Moment:
    """The state after some steps: a term for each variable."""

    terms: list[Term]
    known: dict[tuple[int, int], Term] = field(default_factory=dict)
    """conditions that a variable is at least a value"""


class Solver:
    """Z3 with the task. ``asked`` counts the questions."""

    def __init__(
        self, task: CompiledTask, constraints: Constraints, seconds_left: Callable[[], float]
    ):
        self.z3 = library("z3", extra="verify", what="the method predicates, for this task,")
        self.task = task
        self.asked = 0
        self.numbers = names_of(task)
        self.full = full_box(task)
        self._seconds_left = seconds_left
        self._new = 0
        self._steps: dict[tuple[int, int], Step] = {}
        self._afters: dict[tuple[int, int], tuple[list[Term], Moment]] = {}
        self._conditions: dict[int, tuple[Term, list[Term], Expr]] = {}
        self.variables = [self._state_variable(v.type) for v in task.variables]
        self._solver = self.z3.Solver()
        self._solver.add(*self.bounds(Moment(self.variables)), *self._sums(constraints))
        self.now = Moment(self.variables)

    def new_moment(self) -> Moment:
        """Return a state that nothing is known about."""
        return Moment([self._state_variable(v.type) for v in self.task.variables])

    def _state_variable(self, type: str) -> Term:
        self._new += 1
        make = self.z3.Bool if type == "bool" else self.z3.Int if type == "int" else self.z3.Real
        return make(f"v{self._new}")

    def bounds(self, at: Moment) -> Iterator[Term]:
        """Yield the conditions that variables are within their bounds."""
        for term, (low, high), v in zip(at.terms, self.full, self.task.variables, strict=True):
            if v.type != "bool":
                yield self.z3.And(term >= low, term <= high)

    def _sums(self, constraints: Constraints) -> Iterator[Term]:
        for each in constraints:
            total = self._total(each.terms, self.variables)
            yield self.z3.And(total >= each.lower, total <= each.upper)

    def _total(self, terms: Sequence[tuple[int, int]], at: Sequence[Term]) -> Term:
        return self.z3.Sum([factor * self._number(at[v]) for v, factor in terms])

    def _number(self, term: Term) -> Term:
        return self.z3.If(term, 1, 0) if self.z3.is_bool(term) else term

    # -- questions ---------------------------------------------------------------------------

    def is_possible(self, *conditions: Term) -> bool | None:
        """Return whether the conditions, and all that was assumed, can hold together; None if Z3
        does not know.
        """
        self.asked += 1
        seconds = max(min(MAX_SECONDS, self._seconds_left()), 0.05)
        self._solver.set("timeout", int(1000 * seconds))
        answer = self._solver.check(*conditions)
        return None if answer == self.z3.unknown else bool(answer == self.z3.sat)

    @contextmanager
    def assuming(self, *conditions: Term) -> Iterator[None]:
        """Assume something for a while."""
        self._solver.push()
        try:
            self._solver.add(*conditions)
            yield
        finally:
            self._solver.pop()

    @contextmanager
    def apart(self, *conditions: Term) -> Iterator[None]:
        """Forget all that was assumed for a while, and assume something else."""
        before = self._solver
        self._solver = self.z3.Solver()
        try:
            self._solver.add(*conditions)
            yield
        finally:
            self._solver = before

    def add(self, *conditions: Term) -> None:
        """Assume something until the innermost ``assuming`` ends."""
        self._solver.add(*conditions)

    def core(self, conditions: Sequence[Term]) -> list[int] | None:
        """Return the positions of conditions that cannot hold together, as few as are easily
        found; None if they can.
        """
        self._new += 1
        tags = [self.z3.Bool(f"tag{self._new}.{i}") for i in range(len(conditions))]
        with self.assuming(
            *(self.z3.Implies(*pair) for pair in zip(tags, conditions, strict=True))
        ):
            if self.is_possible(*tags) is not False:
                return None
            names = {str(each) for each in self._solver.unsat_core()}
            kept = [i for i, tag in enumerate(tags) if str(tag) in names]
            for i in list(kept):
                fewer = [j for j in kept if j != i]
                if len(kept) > 1 and self.is_possible(*(tags[j] for j in fewer)) is False:
                    kept = fewer
        return kept

    def state(self, at: Moment) -> tuple[int, ...]:
        """Return the values of the variables in what was found possible last."""
        model = self._solver.model()
        values = [model.eval(term, model_completion=True) for term in at.terms]
        z3 = self.z3
        return tuple(int(z3.is_true(v)) if z3.is_bool(v) else int(v.as_long()) for v in values)

    # -- states ------------------------------------------------------------------------------

    def inside(self, box: Box, at: Moment) -> list[Term]:
        """Return the conditions that the state is in a box."""
        inner = []
        for number, ((low, high), (least, most)) in enumerate(zip(box, self.full, strict=True)):
            if low > least:
                inner.append(self.at_least(number, low, at))
            if high < most:
                inner.append(self.z3.Not(self.at_least(number, high + 1, at)))
        return inner

    def at_least(self, number: int, value: int, at: Moment) -> Term:
        """Return the condition that a variable is at least a value."""
        key = number, value
        if key not in at.known:
            term = at.terms[number]
            at.known[key] = term if self.z3.is_bool(term) else term >= value
        return at.known[key]

    def value(self, number: int, value: int) -> Term:
        """Return a value of a variable."""
        is_bool = self.task.variables[number].type == "bool"
        return self.z3.BoolVal(bool(value)) if is_bool else self.z3.IntVal(value)

    def says(self, test: Test, value: bool, at: Moment) -> Term:
        """Return the condition that a test holds, or does not."""
        holds = self.holds(test, at)
        return holds if value else self.z3.Not(holds)

    def holds(self, test: Test, at: Moment) -> Term:
        """Return the condition that a test holds."""
        if isinstance(test, Cut):
            return self.at_least(test.variable, test.value, at)
        if isinstance(test, Sum):
            return self._total(test.terms, at.terms) <= test.upper
        return self.condition(test.expr, at)

    def literals(self, literals: Sequence[Literal], at: Moment) -> list[Term]:
        """Return the conditions that predicates hold, or do not."""
        return [self.says(predicate, value, at) for predicate, value in literals]

    def condition(self, root: Expr, at: Moment) -> Term:
        """Return a condition of the task for Z3."""
        if id(root) not in self._conditions:
            unknowns: list[Term] = []
            made = self._translated(root, unknowns)
            self._conditions[id(root)] = made, unknowns, root
        formula, unknowns, _ = self._conditions[id(root)]
        return self.z3.substitute(formula, *self._moves(at, unknowns))

    def _moves(self, at: Moment, unknowns: Sequence[Term]) -> list[tuple[Term, Term]]:
        """Return what makes a term over the state now one over another state. What is unknown is
        something else each time.
        """
        pairs = zip(self.variables, at.terms, strict=True)
        moved = [(old, new) for old, new in pairs if old is not new]
        return moved + [(each, self._unknown(each.sort())) for each in unknowns]

    # -- steps -------------------------------------------------------------------------------

    def step(self, edge: int, outcome: int) -> Step:
        """Return what an outcome of an edge does."""
        key = edge, outcome
        if key not in self._steps:
            self._steps[key] = self._made_step(edge, outcome)
        return self._steps[key]

    def _made_step(self, edge: int, outcome: int) -> Step:
        described = self.task.description.edges[edge]
        unknowns: list[Term] = []
        guard, goal = described.guard, self.task.description.goal_condition
        condition = [] if guard is None else [self._translated(guard, unknowns)]
        if goal is not None:
            condition.append(self.z3.Not(self._translated(goal, unknowns)))
        values: dict[int, Term] = {}
        for number, value in values_after(self.task, described.outcomes[outcome]).items():
            v = self.task.variables[number]
            if value is None:
                values[number] = self._kept(self._unknown_of(v.type), unknowns)
            else:
                values[number] = self._translated(value, unknowns)
        return Step(self.z3.And(*condition), values, unknowns)

    def next(self, edge: int, outcome: int) -> tuple[list[Term], Moment]:
        """Return the state after a step from now, and what must hold for it."""
        key = edge, outcome
        if key not in self._afters:
            self._afters[key] = self.after(self.step(*key), self.now)
        return self._afters[key]

    def after(self, step: Step, at: Moment) -> tuple[list[Term], Moment]:
        """Return the state after a step, and what must hold for it."""
        z3, moves = self.z3, self._moves(at, step.unknowns)
        condition = z3.substitute(step.condition, *moves)
        terms, needed = list(at.terms), [condition]
        for number, old in step.values.items():
            value = z3.substitute(old, *moves)
            v = self.task.variables[number]
            terms[number] = self._state_variable(v.type)
            needed.append(terms[number] == value)
            if v.type != "bool":
                low, high = self.full[number]
                needed.append(z3.And(terms[number] >= low, terms[number] <= high))
        return needed, Moment(terms)

    # -- expressions -------------------------------------------------------------------------

    def _unknown(self, sort: Term) -> Term:
        self._new += 1
        return self.z3.Const(f"u{self._new}", sort)

    def _unknown_of(self, type: str) -> Term:
        z3 = self.z3
        sorts = {"bool": z3.BoolSort, "int": z3.IntSort, "real": z3.RealSort}
        return self._unknown(sorts[type]())

    def _kept(self, term: Term, unknowns: list[Term]) -> Term:
        unknowns.append(term)
        return term

    def _translated(self, root: Expr, unknowns: list[Term]) -> Term:
        """Return an expression for Z3; what it does not understand is unknown."""
        done: dict[int, Term] = {}
        for node in postorder(root):
            made = self._translated_node(node, [done[id(arg)] for arg in node.args])
            if made is None:
                made = self._kept(self._unknown_of(node.type), unknowns)
            done[id(node)] = made
        return done[id(root)]

    def _translated_node(self, node: Expr, args: Sequence[Term]) -> Term:
        z3 = self.z3
        if node.op == "constant":
            return self._constant(node)
        if node.op == "variable":
            number = self.numbers.get(node.value)
            return None if number is None else self.variables[number]
        if node.op == "cell":
            return self._cell(node, args[0])
        if node.op == "mod":
            return self._remainder(node, args[0])
        if node.type == "real" or any(not self._is_exact(arg) for arg in node.args):
            return None
        if node.op in ("floor", "ceil", "trc") and node.args[0].type == "int":
            return args[0]
        make = _operators(z3).get(node.op)
        return None if make is None else make(*args)

    def _constant(self, node: Expr) -> Term:
        if node.type == "bool":
            return self.z3.BoolVal(node.value)
        if node.type == "int":
            return self.z3.IntVal(node.value)
        return self.z3.RealVal(str(Fraction(node.value)))

    def _is_exact(self, arg: Expr) -> bool:
        """Return whether an operand is not a real number that steps are computed with."""
        if arg.type != "real":
            return True
        return arg.op == "constant" and abs(arg.value) < LARGEST

    def _cell(self, node: Expr, index: Term) -> Term:
        length = self.task.description.arrays[node.value].length
        names = [f"{node.value}[{i}]" for i in range(length)]
        if any(name not in self.numbers for name in names):
            return None
        cells = [self.variables[self.numbers[name]] for name in names]
        cell = cells[-1]
        for i in range(length - 2, -1, -1):
            cell = self.z3.If(index == i, cells[i], cell)
        return cell

    def _remainder(self, node: Expr, left: Term) -> Term:
        divisor = node.args[1]
        if divisor.op != "constant" or divisor.value == 0:
            return None
        if divisor.value > 0:
            return left % divisor.value
        return -((-left) % -divisor.value)


_cache: dict[int, Mapping[str, Callable[..., Term]]] = {}


def _operators(z3: ModuleType) -> Mapping[str, Callable[..., Term]]:
    """Return how Z3 computes."""
    if id(z3) not in _cache:
        _cache[id(z3)] = {
            "not": z3.Not,
            "and": z3.And,
            "or": z3.Or,
            "implies": z3.Implies,
            "ite": z3.If,
            "eq": lambda a, b: a == b,
            "ne": lambda a, b: a != b,
            "lt": lambda a, b: a < b,
            "le": lambda a, b: a <= b,
            "gt": lambda a, b: a > b,
            "ge": lambda a, b: a >= b,
            "neg": lambda a: -a,
            "add": lambda a, b: a + b,
            "sub": lambda a, b: a - b,
            "mul": lambda a, b: a * b,
            "min": lambda a, b: z3.If(a <= b, a, b),
            "max": lambda a, b: z3.If(a >= b, a, b),
            "abs": lambda a: z3.If(a >= 0, a, -a),
            "sgn": lambda a: z3.If(a > 0, 1, z3.If(a < 0, -1, 0)),
        }
    return _cache[id(z3)]
