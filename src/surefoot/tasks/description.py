"""A task as plain data, before it is compiled.

:class:`Description` is what every loader and every domain generator fills in, and how users write a
task by hand::

    lamp = Description("lamp")
    x = lamp.int("x", 0, 3, initial=0)
    lamp.edge("up", guard=x < 3, outcomes=[{x: x + 1}, {}])
    lamp.edge("down", guard=x > 0, outcomes=[{x: x - 1}])
    lamp.start(x <= 1)
    lamp.goal(x == 2)
    lamp.fail(x == 3)
    task = lamp.compile()

Names are checked as they are used, types as expressions are built; ``compile`` checks the rest and
hands everything to the core once.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, get_args

from surefoot.errors import InputError, nearest_hint, printable, quoted
from surefoot.tasks.expressions import (
    Array,
    Expr,
    Type,
    Value,
    as_expr,
    make,
    postorder,
    variable,
)

if TYPE_CHECKING:
    from surefoot.tasks.compiled_task import CompiledTask
    from surefoot.tasks.observed import Observed

REAL_LIMIT = 1.7976931348623157e308
INT_LIMIT = 2**62
MAX_CELLS = 100_000


@dataclass(frozen=True)
class Variable:
    """A state variable (or, if ``is_scratch``, a transient one) with its bounds.

    ``initial`` is its initial value; None stands for *any value of the range*. ``labels`` names the
    values of a location variable. Cells of an array are variables of their own, ``array[0]`` and so
    on.
    """

    name: str
    type: Type
    lower: float
    upper: float
    initial: Value | None = None
    is_scratch: bool = False
    labels: tuple[str, ...] | None = None
    place: str | None = None


@dataclass(frozen=True)
class Assignment:
    """``target := value``, or any integer from ``lower`` to ``upper``. ``index`` is the group it
    runs in.
    """

    target: Expr
    value: Expr | None = None
    lower: Expr | None = None
    upper: Expr | None = None
    index: int = 0


@dataclass(frozen=True)
class Outcome:
    """Something an edge may do: possible where all ``probabilities`` are positive.

    ``weight`` is their constant factor, which is positive. An outcome's probability is the product
    of all, divided by the sum over the outcomes of the edge.
    """

    assignments: tuple[Assignment, ...] = ()
    probabilities: tuple[Expr, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True)
class Edge:
    """Where ``guard`` holds, ``action`` may have any of the ``outcomes``.

    Taking it costs ``cost``, 1 if that is None.
    """

    action: str
    guard: Expr | None
    outcomes: tuple[Outcome, ...]
    place: str | None = None
    cost: Expr | None = None


@dataclass
class Notice:
    """Something unusual that was noticed while reading: shown by ``doctor``."""

    message: str
    place: str | None = None


@dataclass(repr=False)
class Description:
    """See the module's docstring. ``file`` is where messages say the task came from, ``observed``
    what policies are fed that were made for another form of the task; empty for the variables.
    """

    name: str = "task"
    file: str | None = None
    variables: dict[str, Variable] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)
    constants: dict[str, Value] = field(default_factory=dict)
    actions: dict[str, None] = field(default_factory=dict)  # an ordered set
    silent: list[str] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    start_condition: Expr | None = None
    start_states: list[dict[str, Value]] | None = None
    goal_condition: Expr | None = None
    fail_condition: Expr | None = None
    warnings: list[Notice] = field(default_factory=list)
    observed: tuple[Observed, ...] = ()

    # -- variables ---------------------------------------------------------------------------

    def int(
        self, name: str, lower: int, upper: int, *, initial: int | None = None, **more: Any
    ) -> Expr:
        """Declare an integer variable with values ``lower`` to ``upper`` and return it."""
        check_name(name, "variable", more.get("place"))
        _check_int_bounds(name, lower, upper, more.get("place"))
        return self.declare(Variable(name, "int", lower, upper, initial, **more))

    def bool(self, name: str, *, initial: bool | None = None, **more: Any) -> Expr:
        """Declare a Boolean variable and return it."""
        return self.declare(Variable(name, "bool", 0, 1, initial, **more))

    def real(
        self,
        name: str,
        lower: float = -REAL_LIMIT,
        upper: float = REAL_LIMIT,
        *,
        initial: float | None = None,
        **more: Any,
    ) -> Expr:
        """Declare a real variable and return it; without bounds it can be any finite double."""
        check_name(name, "variable", more.get("place"))
        if not (_is_finite(lower) and _is_finite(upper)) or lower > upper:
            raise InputError(
                "bad-bounds",
                f"variable {quoted(name)} has bounds {shown(lower)} to {shown(upper)}",
                place=more.get("place"),
                hint="the lower bound must not be above the upper one, and both must be finite",
            )
        return self.declare(Variable(name, "real", float(lower), float(upper), initial, **more))

    def declare(self, new: Variable) -> Expr:
        """Add a variable; its name must be new and its initial value within the bounds."""
        check_name(new.name, "variable", new.place)
        if new.name in self.variables or new.name in self.arrays:
            raise InputError(
                "duplicate-name", f"{quoted(new.name)} is declared twice", place=new.place
            )
        if new.initial is not None:
            value = check_value(new, new.initial, code="initial-value-out-of-range")
            new = replace(new, initial=value)
        self.variables[new.name] = new
        return variable(new.name, new.type)

    def array(
        self,
        name: str,
        type: Type,
        length: builtins.int,
        lower: float | None = None,
        upper: float | None = None,
        *,
        initial: Sequence[Value] | None = None,
        **more: object,
    ) -> Array:
        """Declare ``length`` cells ``name[0]``, ``name[1]``, ... and return the array.

        Cells of type int need bounds; those of type real are unbounded without.
        """
        check_name(name, "array")
        _check_cell_type(name, type)
        self._check_length(name, length)
        if initial is not None:
            _check_initial_cells(name, length, initial)
        if name in self.variables or name in self.arrays:
            raise InputError("duplicate-name", f"{quoted(name)} is declared twice")
        for i in range(length):
            value = None if initial is None else initial[i]
            self._declare_cell(f"{name}[{i}]", type, lower, upper, initial=value, **more)
        self.arrays[name] = Array(name, type, length)
        return self.arrays[name]

    def _check_length(self, name: str, length: object) -> None:
        is_count = isinstance(length, int) and not isinstance(length, bool) and length > 0
        if not is_count or len(self.variables) + length > MAX_CELLS:  # type: ignore[operator]
            raise InputError(
                "bad-array-length", f"array {quoted(name)} cannot have {shown(length)} cells"
            )

    def _declare_cell(
        self, name: str, type: Type, lower: float | None, upper: float | None, **more: Any
    ) -> None:
        if type == "bool":
            self.bool(name, **more)
        elif type == "real":
            lowest = -REAL_LIMIT if lower is None else lower
            self.real(name, lowest, REAL_LIMIT if upper is None else upper, **more)
        elif lower is None or upper is None:
            raise InputError(
                "bad-bounds", f"{quoted(name)} needs a lower and an upper bound",
                place=more.get("place"), hint="only cells of type real go without bounds",
            )  # fmt: skip
        else:
            self.int(name, lower, upper, **more)  # type: ignore[arg-type]

    # -- actions and edges -------------------------------------------------------------------

    def action(self, name: str) -> str:
        """Declare an action (edges also declare theirs) and return its name. The order is the
        action index.
        """
        check_name(name, "action")
        self.actions[name] = None
        return name

    def edge(
        self,
        action: str,
        *,
        guard: Expr | None = None,
        outcomes: Iterable[Outcome | Mapping[Any, object]] = (),
        place: str | None = None,
        cost: Expr | float | None = None,
    ) -> None:
        """Add an edge. An outcome is a dictionary variable -> new value; ``{}`` changes nothing.

        ``cost`` is what taking the edge costs, 1 if it is not given.
        """
        check_name(action, "action", place)
        made = tuple(self._outcome(o) for o in _listed_outcomes(outcomes, action, place))
        if not made:
            raise InputError(
                "no-outcome", f"edge of {quoted(action)} has no outcome", place=place,
                hint="an action without effect has the one outcome {}",
            )  # fmt: skip
        if guard is not None:
            guard = require_bool(guard, "a guard", place)
        if action not in self.silent:
            self.action(action)
        price = None if cost is None else as_expr(cost)
        self.edges.append(Edge(action, guard, made, place, price))

    def _outcome(self, changes: Outcome | Mapping[Any, object]) -> Outcome:
        if isinstance(changes, Outcome):
            return changes
        return Outcome(tuple(self._assignment(key, value) for key, value in changes.items()))

    def _assignment(self, target: Expr | str, value: object) -> Assignment:
        if isinstance(target, str):
            target = variable(target, self.lookup(target).type)
        if not isinstance(target, Expr):
            raise InputError(
                "bad-target", f"cannot assign to {shown(target)}",
                hint="an outcome maps variables, or cells of arrays, to new values",
            )  # fmt: skip
        return Assignment(target, as_expr(value))

    def lookup(self, name: str, place: str | None = None) -> Variable:
        """Return the variable of that name; InputError with the nearest name if there is none."""
        variable = self.variables.get(name)
        if variable is None:
            raise InputError(
                "unknown-variable",
                f"variable {quoted(name)} is not declared",
                place=place,
                hint=nearest_hint(name, self.variables),
            )
        return variable

    # -- start, goal, fail -------------------------------------------------------------------

    def start(self, *states_or_condition: Expr | Mapping[str, Value]) -> None:
        """Set the start: one condition, or states as dictionaries (variables left out keep their
        initial value).
        """
        states = [dict(s) for s in states_or_condition if isinstance(s, Mapping)]
        if len(states) == len(states_or_condition):
            self.start_states, self.start_condition = states, None
        elif len(states_or_condition) == 1 and isinstance(states_or_condition[0], Expr | bool):
            self.start_condition = require_bool(states_or_condition[0], "a start condition")
            self.start_states = None
        else:
            raise InputError(
                "type-mismatch", "the start is one condition, or states as dictionaries",
                hint="write start(condition) or start({...}, {...})",
            )  # fmt: skip

    def goal(self, condition: Expr) -> None:
        """Set the goal condition."""
        self.goal_condition = require_bool(condition, "a goal condition")

    def fail(self, condition: Expr) -> None:
        """Set the fail condition."""
        self.fail_condition = require_bool(condition, "a fail condition")

    def warn(self, message: str, place: str | None = None) -> None:
        """Note something unusual."""
        self.warnings.append(Notice(message, place))

    def initial_condition(self) -> Expr | None:
        """Return the condition that every variable has its initial value; None if none has one."""
        result: Expr | None = None
        for v in self.variables.values():
            if v.is_scratch or v.initial is None:
                continue
            holds = make("eq", variable(v.name, v.type), v.initial)
            result = holds if result is None else make("and", result, holds)
        return result

    def compile(self) -> CompiledTask:
        """Check everything that is left to check and return the task, ready to run."""
        from surefoot.tasks.compiled_task import CompiledTask

        return CompiledTask(self)

    def check_names(self, root: Expr) -> None:
        """Raise InputError if the expression reads a variable or array that is not declared as it
        is read.
        """
        for node in postorder(root):
            if node.op == "variable":
                self._check_type(node, self.lookup(node.value).type)
            elif node.op == "cell":
                if node.value not in self.arrays:
                    self.lookup(node.value)
                    raise InputError("type-mismatch", f"{quoted(node.value)} is not an array")
                self._check_type(node, self.arrays[node.value].type)

    def _check_type(self, node: Expr, declared: Type) -> None:
        if node.type != declared:
            raise InputError(
                "type-mismatch",
                f"{quoted(node.value)} is declared {declared} but used as {node.type}",
                hint="an expression belongs to the description that declared its variables",
            )

    def __repr__(self) -> str:
        return f"<Description {self.name!r}: {sizes_of(self)}>"


def sizes_of(description: Description) -> str:
    """Return ``1 variable, 2 actions, 2 edges`` of a description."""
    counts = {
        "variable": sum(not v.is_scratch for v in description.variables.values()),
        "action": len(description.actions) + len(description.silent),
        "edge": len(description.edges),
    }
    return ", ".join(f"{n} {what}{'' if n == 1 else 's'}" for what, n in counts.items())


def check_name(name: object, what: str, place: str | None = None) -> None:
    """Raise InputError unless the name is a string that is not empty."""
    if not (isinstance(name, str) and name):
        raise InputError(
            "bad-name",
            f"{shown(name)} is not a name for {'an' if what[0] == 'a' else 'a'} {what}",
            place=place,
            hint="a name is a string that is not empty",
        )


def check_value(of: Variable, value: object, *, code: str = "value-out-of-range") -> Value:
    """Return ``value`` as a value of the variable. Raises InputError if it does not fit."""
    if of.labels is not None and isinstance(value, str) and value in of.labels:
        return of.labels.index(value)
    if of.type == "bool" and isinstance(value, int) and value in (0, 1):
        return bool(value)
    fits = (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and of.type != "bool"
        and (of.type == "real" or isinstance(value, int))
    )
    if not fits:
        raise InputError(
            "type-mismatch",
            f"{shown(value)} is not a value of {of.type} variable {quoted(of.name)}",
            place=of.place,
        )
    assert isinstance(value, int | float)
    if not of.lower <= value <= of.upper:
        raise InputError(
            code,
            f"{shown(value)} is not a value of {quoted(of.name)}: "
            f"it ranges from {of.lower} to {of.upper}",
            place=of.place,
        )
    return float(value) if of.type == "real" else value


def require_bool(condition: object, what: str, place: str | None = None) -> Expr:
    """Return the condition as Boolean expression or raise InputError."""
    made = as_expr(condition)
    if made.type != "bool":
        raise InputError("type-mismatch", f"{what} must be Boolean, not {made.type}", place=place)
    return made


def shown(value: object) -> str:
    """Return a value for a message: short, whatever it is."""
    if isinstance(value, int) and abs(value) > 10**40:
        return f"a number of {value.bit_length()} bits"
    return printable(repr(value), 60)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except (OverflowError, TypeError):
        return False


def _check_cell_type(name: str, type: object) -> None:
    types = get_args(Type)
    if type not in types:
        near = nearest_hint(type, types) if isinstance(type, str) else None
        raise InputError(
            "unknown-type",
            f"array {quoted(name)} cannot have cells of type {shown(type)}",
            hint=near or f"types are {', '.join(types)}",
        )


def _check_initial_cells(name: str, length: int, initial: object) -> None:
    if not isinstance(initial, Sequence) or isinstance(initial, str | bytes):
        raise InputError(
            "type-mismatch",
            f"the initial values of array {quoted(name)} are a list, not {shown(initial)}",
        )
    if len(initial) != length:
        raise InputError(
            "bad-array-length", f"array {quoted(name)} has {length} cells, not {len(initial)}"
        )


def _listed_outcomes(
    outcomes: object, action: str, place: str | None
) -> list[Outcome | Mapping[object, object]]:
    is_list = isinstance(outcomes, Iterable) and not isinstance(outcomes, Mapping | str)
    listed: list[Any] = list(outcomes) if is_list else [None]  # type: ignore[call-overload]
    if not all(isinstance(outcome, Outcome | Mapping) for outcome in listed):
        raise InputError(
            "type-mismatch",
            f"outcomes is a list of dictionaries, in an edge of {quoted(action)}",
            place=place,
            hint="write outcomes=[{x: 1}, {}] for two outcomes",
        )
    return listed


def _check_int_bounds(name: str, lower: int, upper: int, place: str | None) -> None:
    if not (isinstance(lower, int) and isinstance(upper, int)):
        raise InputError("bad-bounds", f"bounds of {quoted(name)} must be integers", place=place)
    if lower > upper:
        raise InputError(
            "bad-bounds",
            f"variable {quoted(name)} has lower bound {shown(lower)} "
            f"above its upper bound {shown(upper)}",
            place=place,
            hint="swap them",
        )
    if lower < -INT_LIMIT or upper > INT_LIMIT:
        raise InputError("bad-bounds", f"bounds of {quoted(name)} are beyond ±2^62", place=place)
