"""Small random JANI models that together use everything docs/semantics.md describes.

``random_model(seed)`` writes one model; ``features(model)`` names what a model uses, and
``FEATURES`` lists all those names. A third of the models are *calm*: no expression in them can
raise an error, no two assignments conflict, and their state spaces are finite and small, so two
implementations can be compared on all of it. The others mostly behave, and sometimes divide by
zero, overflow, leave an array or the range of a variable, or write two values to one variable.

The cast: ``_Scope`` knows what may be read in one place of the model, ``_Expressions`` writes
well-typed expressions over a scope, ``_AutomatonWriter`` writes one automaton and ``_ModelWriter``
the rest.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.support.random_conditions import (
    CONDITION_FEATURES,
    add_conditions,
    condition_features,
)

Json = Any

CALM_SHARE = 1 / 3
CALM_STATES = 800
"""how many states a calm model may have at most, about"""

BOOLEAN_OPERATORS = ("∧", "∨", "⇒")
COMPARISONS = ("=", "≠", "<", "≤", ">", "≥")
TYPES = ("bool", "int", "real")

_INT_LITERALS = (-3, -2, -1, 0, 0, 1, 1, 1, 2, 2, 3, 4, 5, 7, 9)
_WILD_INT_LITERALS = (2**62, -(2**63), 2**63 - 1, 2**53 + 1, 1_000_000)
_REAL_LITERALS = (-2.0, -0.5, 0.0, 0.1, 0.25, 0.5, 1.0, 1.5, 2.75, 3, 1)
_WILD_REAL_LITERALS = (1e308, -1e308, 5e-324, 9.3e18, -0.0)
_DEPTHS = (0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5)


def random_model(seed: int) -> dict[str, Json]:
    """Return the random model number ``seed``: valid, well-typed, the same at every call."""
    model = _ModelWriter(random.Random(seed)).model()
    add_conditions(model, random.Random(f"conditions {seed}"), calm=is_calm(seed))
    return model


def is_calm(seed: int) -> bool:
    """Return whether ``random_model(seed)`` is a calm one: free of errors and small."""
    return random.Random(seed).random() < CALM_SHARE


class VariableLike(Protocol):
    """What ``random_state`` has to know about a state variable."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def lower(self) -> Any: ...
    @property
    def upper(self) -> Any: ...


def random_state(
    variables: Sequence[VariableLike], rng: random.Random
) -> dict[str, bool | int | float]:
    """Return a random value within its bounds for each variable.

    Reals are bounds, integers, zero or uniform; a bound that is missing or infinite counts as 10
    (or now and then 1e6) away from zero.
    """
    return {variable.name: _random_value(variable, rng) for variable in variables}


def _random_value(variable: VariableLike, rng: random.Random) -> bool | int | float:
    if variable.kind == "bool":
        return rng.random() < 0.5
    if variable.kind == "int":
        return rng.randint(int(variable.lower), int(variable.upper))
    reach = 10.0 if rng.random() < 0.9 else 1e6
    lower = -reach if variable.lower is None else max(float(variable.lower), -reach)
    upper = reach if variable.upper is None else min(float(variable.upper), reach)
    if lower > upper:  # the whole range lies beyond the reach
        lower, upper = float(variable.lower), float(variable.upper)
    wish = rng.choice((lower, upper, 0.0, float(round(rng.uniform(lower, upper))), None, None))
    return rng.uniform(lower, upper) if wish is None else min(max(wish, lower), upper)


# --- what may be read, and expressions over it ----------------------------------------------------


@dataclass(slots=True)
class _Variable:
    """A variable of the model under construction; bounds are numbers, ``length`` is for arrays."""

    name: str
    type: str
    lower: Any = None
    upper: Any = None
    length: int | None = None
    is_transient: bool = False


@dataclass(slots=True)
class _Function:
    name: str
    type: str
    parameters: tuple[str, ...]


def _by_type() -> dict[str, list[Any]]:
    return {"bool": [], "int": [], "real": []}


@dataclass(slots=True)
class _Scope:
    """The names that an expression at one place of the model may mention, by type."""

    values: dict[str, list[str]] = field(default_factory=_by_type)
    arrays: dict[str, list[_Variable]] = field(default_factory=_by_type)
    functions: dict[str, list[_Function]] = field(default_factory=_by_type)

    def extended(self, variables: Sequence[_Variable]) -> _Scope:
        """Return this scope with ``variables`` added."""
        copy = _Scope(
            {t: list(names) for t, names in self.values.items()},
            {t: list(arrays) for t, arrays in self.arrays.items()},
            {t: list(functions) for t, functions in self.functions.items()},
        )
        for variable in variables:
            if variable.length is None:
                copy.values[variable.type].append(variable.name)
            else:
                copy.arrays[variable.type].append(variable)
        return copy


def _node(op: str, left: Json, right: Json) -> Json:
    return {"op": op, "left": left, "right": right}


def _unary(op: str, exp: Json) -> Json:
    return {"op": op, "exp": exp}


def _ite(condition: Json, then: Json, otherwise: Json) -> Json:
    return {"op": "ite", "if": condition, "then": then, "else": otherwise}


class _Expressions:
    """Writes well-typed expressions over a scope; calm ones cannot raise an evaluation error.

    Calm integers stay far below 64 bits because one side of every product is a small literal and
    powers have a literal base and a small exponent.
    """

    def __init__(self, rng: random.Random, scope: _Scope, *, calm: bool) -> None:
        self.random = rng.random
        self.scope = scope
        self.calm = calm
        self.bound_names = 0

    def pick(self, options: Sequence[Any]) -> Any:
        return options[int(self.random() * len(options))]

    def depth(self) -> int:
        return int(self.pick(_DEPTHS))

    def of(self, type_name: str, depth: int) -> Json:
        if type_name == "bool":
            return self.boolean(depth)
        return self.integer(depth) if type_name == "int" else self.real(depth)

    def boolean(self, depth: int) -> Json:
        if depth <= 0:
            return self._leaf("bool")
        return self.pick(_BOOLEAN_FORMS)(self, depth - 1)

    def integer(self, depth: int) -> Json:
        if depth <= 0:
            return self._leaf("int")
        return self.pick(_INTEGER_FORMS)(self, depth - 1)

    def real(self, depth: int) -> Json:
        """Return a number that may be used as a real; it can also be an integer."""
        if depth <= 0:
            return self._leaf("real" if self.random() < 0.7 else "int")
        return self.pick(_REAL_FORMS)(self, depth - 1)

    def number(self, depth: int) -> Json:
        has_reals = bool(self.scope.values["real"] or self.scope.arrays["real"])
        is_real = self.random() < (0.5 if has_reals else 0.1)
        return self.real(depth) if is_real else self.integer(depth)

    def literal(self, type_name: str) -> Json:
        if type_name == "bool":
            return self.random() < 0.6
        is_wild = not self.calm and self.random() < 0.03
        if type_name == "int":
            return self.pick(_WILD_INT_LITERALS if is_wild else _INT_LITERALS)
        return self.pick(_WILD_REAL_LITERALS if is_wild else _REAL_LITERALS)

    def index(self, length: int, depth: int) -> Json:
        """Return an array index; only a wild one can be out of bounds."""
        choice = self.random()
        if choice < 0.3:
            return int(self.random() * length)
        index = self.integer(min(depth, 2))
        if self.calm or choice < 0.92:
            return _node("%", index, length)
        return index

    def access(self, type_name: str, depth: int) -> Json:
        arrays = self.scope.arrays[type_name]
        if arrays and self.random() < 0.85:
            array = self.pick(arrays)
            index = self.index(array.length, depth)
            return {"op": "aa", "exp": array.name, "index": index}
        length = 1 + int(self.random() * 2)
        values = self.array(type_name, length, min(depth, 1))
        return {"op": "aa", "exp": values, "index": self.index(length, depth)}

    def array(self, type_name: str, length: int, depth: int) -> Json:
        """Return an array of values or an array constructor."""
        if self.random() < 0.6:
            return {"op": "av", "elements": [self.of(type_name, depth) for _ in range(length)]}
        with_name = self._bound_name("i")
        exp = self._with_names([("int", with_name)], lambda: self.of(type_name, depth))
        return {"op": "ac", "var": with_name, "length": length, "exp": exp}

    def let(self, type_name: str, depth: int) -> Json:
        """Return a ``let`` with one or two names; no binding mentions another one."""
        bindings = []
        for _ in range(1 + (self.random() < 0.3)):
            bound_type = self.pick(TYPES)
            value = self.of(bound_type, min(depth, 2))
            bindings.append((bound_type, self._bound_name("l"), value))
        body = self._with_names([b[:2] for b in bindings], lambda: self.of(type_name, depth))
        declared = [{"name": n, "type": t, "value": v} for t, n, v in bindings]
        return {"op": "let", "variables": declared, "expression": body}

    def call(self, type_name: str, depth: int) -> Json:
        functions = self.scope.functions[type_name]
        if not functions:
            return self.of(type_name, depth)
        function = self.pick(functions)
        args = [self.of(parameter, min(depth, 2)) for parameter in function.parameters]
        return {"op": "call", "function": function.name, "args": args}

    def choice(self, type_name: str, depth: int) -> Json:
        condition = self.boolean(depth)
        return _ite(condition, self.of(type_name, depth), self.of(type_name, depth))

    def _leaf(self, type_name: str) -> Json:
        names = self.scope.values[type_name]
        if names and self.random() < 0.75:
            return self.pick(names)
        if self.scope.arrays[type_name] and self.random() < 0.3:
            return self.access(type_name, 0)
        return self.literal(type_name)

    def _bound_name(self, prefix: str) -> str:
        self.bound_names += 1
        return f"{prefix}{self.bound_names}_"

    def _with_names(self, names: Sequence[tuple[str, str]], write: Callable[[], Json]) -> Json:
        for type_name, name in names:
            self.scope.values[type_name].append(name)
        exp = write()
        for type_name, name in reversed(names):
            self.scope.values[type_name].remove(name)
        return exp

    # one method per operator that can go wrong

    def product(self, type_name: str, depth: int) -> Json:
        left = self.literal(type_name) if self.calm else self.of(type_name, depth)
        return _node("*", left, self.of(type_name, depth))

    def modulo(self, depth: int) -> Json:
        if self.calm or self.random() < 0.7:
            return _node("%", self.integer(depth), self.pick((1, 2, 3, 5, -2, -3)))
        return _node("%", self.integer(depth), self.integer(depth))

    def quotient(self, depth: int) -> Json:
        left = self.number(depth)
        if self.calm or self.random() < 0.5:
            return _node("/", left, self.pick((2, 4, -2, 0.5, 3, 8)))
        right = self.number(depth)
        if self.random() < 0.5:
            return _ite(_node("≠", right, 0), _node("/", left, right), self.literal("real"))
        return _node("/", left, right)

    def integer_power(self, depth: int) -> Json:
        if self.calm or self.random() < 0.8:
            exponent = _node("%", self.integer(min(depth, 1)), 4)
            return _node("pow", self.pick((-3, -2, 0, 1, 2, 3)), exponent)
        return _node("pow", self.integer(depth), self.integer(depth))

    def real_power(self, depth: int) -> Json:
        if self.calm or self.random() < 0.6:
            return _node("pow", self.pick((0.5, 2.0, 1.5, -0.5)), self.pick((0, 1, 2, 3, -1)))
        return _node("pow", self.real(depth), self.number(depth))

    def logarithm(self, depth: int) -> Json:
        if self.calm or self.random() < 0.8:
            positive = _node("+", _unary("abs", self.number(depth)), 1)
            return _node("log", positive, self.pick((2, 10, 0.5, 2.5)))
        return _node("log", self.number(depth), self.number(depth))


_Form = Callable[[_Expressions, int], Json]


def _pair(op: str, type_name: str) -> _Form:
    return lambda e, d: _node(op, e.of(type_name, d), e.of(type_name, d))


def _compare(op: str) -> _Form:
    return lambda e, d: _node(op, e.number(d), e.number(d))


def _form(method: str, type_name: str) -> _Form:
    return lambda e, d: getattr(e, method)(type_name, d)


def _common_forms(type_name: str) -> list[_Form]:
    forms = [_form(method, type_name) for method in ("let", "call", "call", "access", "choice")]
    return [*forms, lambda e, d: e.of(type_name, 0)]


def _arithmetic_forms(type_name: str) -> list[_Form]:
    forms = [_pair(op, type_name) for op in ("+", "+", "-", "min", "max")]
    forms += [_form("product", type_name)]
    forms += [lambda e, d: _unary("-", e.of(type_name, d))]
    forms += [lambda e, d: _unary("abs", e.of(type_name, d))]
    return forms


def _to_integer(op: str) -> _Form:
    return lambda e, d: _unary(op, e.number(d) if e.random() < 0.4 else e.real(d))


_BOOLEAN_FORMS: tuple[_Form, ...] = (
    *_common_forms("bool"),
    *(_pair(op, "bool") for op in (*BOOLEAN_OPERATORS, *BOOLEAN_OPERATORS, "=", "≠")),
    *(_compare(op) for op in (*COMPARISONS, "<", "≤", "≥")),
    lambda e, d: _unary("¬", e.boolean(d)),
    lambda e, d: _unary("¬", e.boolean(d)),
)
_INTEGER_FORMS: tuple[_Form, ...] = (
    *_common_forms("int"),
    *_arithmetic_forms("int"),
    *(_to_integer(op) for op in ("floor", "ceil", "trc", "sgn")),
    _Expressions.modulo,
    _Expressions.integer_power,
)
_REAL_FORMS: tuple[_Form, ...] = (
    *_common_forms("real"),
    *_arithmetic_forms("real"),
    _Expressions.quotient,
    _Expressions.quotient,
    _Expressions.real_power,
    _Expressions.logarithm,
    _Expressions.integer,
)


# --- updates --------------------------------------------------------------------------------------


def _clamped(exp: Json, variable: _Variable) -> Json:
    return _node("min", _node("max", exp, variable.lower), variable.upper)


def _fitting_value(expressions: _Expressions, variable: _Variable) -> Json:
    """Return an expression whose value is surely within the variable's bounds."""
    depth = expressions.depth()
    if variable.type == "bool":
        return expressions.boolean(depth)
    if variable.type == "int":
        return _fitting_integer(expressions, variable, depth)
    if variable.lower is None:
        return expressions.literal("real") if expressions.calm else expressions.real(depth)
    if not expressions.calm:
        return _clamped(expressions.real(depth), variable)
    halves = _node("/", _unary("floor", expressions.real(depth)), 2)  # keeps state spaces finite
    return _clamped(halves, variable)


def _fitting_integer(expressions: _Expressions, variable: _Variable, depth: int) -> Json:
    lower, upper = variable.lower, variable.upper
    form = expressions.random()
    if form < 0.1:
        return lower + int(expressions.random() * (upper - lower + 1))
    exp = expressions.integer(depth)
    if form < 0.25:
        return _clamped(exp, variable)
    if form < 0.45:
        return _node("+", lower, _node("%", exp, upper - lower + 1))
    if form < 0.6:
        is_fitting = _node("∧", _node("≤", lower, exp), _node("≤", exp, upper))
        return _ite(is_fitting, exp, expressions.pick((lower, upper)))
    if variable.length is not None or variable.is_transient:  # their names are not for reading
        return _clamped(_node("+", exp, 1), variable)
    step = _node("+", variable.name, 1)
    return _ite(_node("<", variable.name, upper), step, lower)


def _array_value(
    expressions: _Expressions, variable: _Variable, arrays: Sequence[_Variable]
) -> Json:
    """Return a whole array for ``variable``: values, a constructor or another array."""
    assert variable.length is not None
    twins = [a.name for a in arrays if _is_twin(a, variable, strict=expressions.calm)]
    if twins and expressions.random() < 0.5:
        return expressions.pick(twins)
    cell = _Variable(variable.name, variable.type, variable.lower, variable.upper, length=1)
    if expressions.random() < 0.4:
        name = expressions._bound_name("i")
        exp = expressions._with_names([("int", name)], lambda: _fitting_value(expressions, cell))
        return {"op": "ac", "var": name, "length": variable.length, "exp": exp}
    values = [_fitting_value(expressions, cell) for _ in range(variable.length)]
    return {"op": "av", "elements": values}


def _is_twin(source: _Variable, target: _Variable, *, strict: bool) -> bool:
    if (source.length, source.type) != (target.length, target.type):
        return False
    return not strict or (source.lower, source.upper) == (target.lower, target.upper)


# --- automata -------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Plan:
    """What an automaton has to know about the rest of the model."""

    name: str
    scope: _Scope
    readable: list[_Variable]
    writable: list[_Variable]
    shown: list[_Variable]
    """global transient variables that the locations of this automaton may give values to"""
    actions: list[str]
    probabilities: list[str]
    """constants that are probabilities"""
    is_lts: bool
    copies: int
    """how often the automaton occurs in the system"""


class _AutomatonWriter:
    """Writes the locations and edges of one automaton."""

    def __init__(self, models: _ModelWriter, plan: _Plan) -> None:
        self.models = models
        self.rng = models.rng
        self.random = models.rng.random
        self.plan = plan
        self.calm = models.calm
        self.models.copies = plan.copies
        self.locals = self._local_variables()
        self.scope = plan.scope.extended([v for v, _ in self.locals])
        self.expressions = _Expressions(self.rng, self.scope, calm=self.calm)
        self.variables = [v for v, _ in self.locals]
        count = 1 if models.is_crowded() else self.expressions.pick((1, 1, 1, 2, 2, 3))
        models.states *= count**plan.copies
        self.locations = [f"loc_{k}" for k in range(count)]

    def automaton(self) -> Json:
        result: Json = {"name": self.plan.name}
        if self.locals:
            result["variables"] = [declaration for _, declaration in self.locals]
        if self.random() < 0.25:
            result["functions"] = self.models.functions(self.scope, "g", self.expressions)
        result["locations"] = [self._location(name) for name in self.locations]
        several = len(self.locations) > 1 and self.random() < 0.12
        result["initial-locations"] = self.locations[: 2 if several else 1]
        if self.random() < 0.08:
            values = self.models.easy_condition(self.expressions, self._state_variables())
            result["restrict-initial"] = {"exp": values}
        count = self.expressions.pick((1, 2, 3, 3, 4, 4, 5, 8))
        result["edges"] = [self._edge() for _ in range(count)]
        return result

    def _local_variables(self) -> list[tuple[_Variable, Json]]:
        result = []
        for name in ("v", "w-2"):
            if self.random() < 0.3 and not self.models.is_crowded():
                result.append(self.models.variable(name))
        if self.random() < 0.1:
            result.append(self.models.variable("t_local", is_transient=True))
        return result

    def _state_variables(self) -> list[_Variable]:
        everything = [*self.plan.readable, *self.variables]
        return [v for v in everything if not v.is_transient]

    def _location(self, name: str) -> Json:
        result: Json = {"name": name}
        shown = [v for v in (*self.plan.shown, *self.variables) if v.is_transient]
        values = [self._transient_value(v) for v in shown if self.random() < 0.7]
        if values:
            result["transient-values"] = values
        return result

    def _transient_value(self, variable: _Variable) -> Json:
        # Transient values that read transient variables would need an order: left out.
        constants = self.models.constant_scope
        scope = constants.extended(self._state_variables())
        expressions = _Expressions(self.rng, scope, calm=self.calm)
        return {"ref": variable.name, "value": _fitting_value(expressions, variable)}

    def _edge(self) -> Json:
        result: Json = {"location": self.expressions.pick(self.locations)}
        if self.plan.actions and self.random() < 0.8:
            result["action"] = self.expressions.pick(self.plan.actions)
        if self.random() < 0.75:
            result["guard"] = {"exp": self._guard()}
        result["destinations"] = [self._destination(p) for p in self._probabilities()]
        return result

    def _guard(self) -> Json:
        form = self.random()
        if form < 0.35:
            return self.models.easy_condition(self.expressions, self._state_variables())
        exp = self.expressions.boolean(self.expressions.depth())
        if form < 0.6:
            return exp
        easy = self.models.easy_condition(self.expressions, self._state_variables())
        if form < 0.9:
            return _node("∨", exp, easy)
        return _node("∧", easy, exp)

    def _probabilities(self) -> list[Json]:
        """Return probabilities that add up to one; None stands for a missing one."""
        form = self.random()
        if self.plan.is_lts or form < 0.4:
            return [None]
        if form < 0.6:
            fixed = ([1], [0.5, 0.5], [0, 1], [1.0, 0.0], [0.25, 0.25, 0.5], [0.1, 0.9], [1.0])
            return list(self.expressions.pick(fixed))
        if form < 0.85:
            return self._constant_probabilities()
        if self.calm or form < 0.97:
            condition = self.expressions.boolean(2)
            return [_ite(condition, 0.5, 1), _ite(condition, 0.5, 0)]
        share = _node("/", self.expressions.integer(1), 4)  # can be negative
        return [share, _node("-", 1, share)]

    def _constant_probabilities(self) -> list[Json]:
        if not self.plan.probabilities:
            return [_node("/", 1, 3), _node("/", 2, 3)]
        share = self.expressions.pick(self.plan.probabilities)
        rest = _node("-", 1, share)
        if self.random() < 0.3:
            return [_node("/", share, 2), rest, _node("*", 0.5, share)]
        return [share, rest]

    def _destination(self, probability: Json) -> Json:
        result: Json = {"location": self.expressions.pick(self.locations)}
        if probability is not None:
            result["probability"] = {"exp": probability}
        assignments = self._assignments()
        if assignments or self.random() < 0.5:
            result["assignments"] = assignments
        return result

    def _assignments(self) -> list[Json]:
        targets = [*self.plan.writable, *self.variables]
        if not targets:
            return []
        result = []
        written: set[tuple[str, int]] = set()
        for _ in range(self.expressions.pick((0, 1, 1, 2, 2, 2, 3))):
            target = self.expressions.pick(targets)
            index = self.expressions.pick((None, None, None, None, 0, 1, 2))
            is_repeated = (target.name, index or 0) in written
            if is_repeated and (self.calm or self.random() < 0.7):
                continue
            written.add((target.name, index or 0))
            result.append(self._assignment(target, index))
        result += self._through_transient(targets, written)
        return result

    def _through_transient(
        self, targets: Sequence[_Variable], written: set[tuple[str, int]]
    ) -> list[Json]:
        """Return assignments that store a transient variable and read it in a later group."""
        through = [v for v in targets if v.is_transient and (v.name, 0) not in written]
        to = [v for v in targets if not v.is_transient and v.length is None]
        to = [v for v in to if (v.name, 1) not in written]
        if not through or not to or self.random() < 0.6:
            return []
        transient, target = self.expressions.pick(through), self.expressions.pick(to)
        value = self._read_transient(transient, target)
        return [self._assignment(transient, 0), {"ref": target.name, "value": value, "index": 1}]

    def _read_transient(self, transient: _Variable, target: _Variable) -> Json:
        if target.type == transient.type == "bool":
            return transient.name
        if target.type == "bool":
            return _node("≤", transient.name, self.expressions.literal(transient.type))
        if transient.type == "bool":
            options = [_fitting_value(self.expressions, target) for _ in range(2)]
            return _ite(transient.name, *options)
        if target.type == "int":
            integer = transient.name if transient.type == "int" else _unary("floor", transient.name)
            return _clamped(integer, target)
        if target.lower is None:
            return 0.5 if self.calm else transient.name
        return _clamped(_node("/", _unary("floor", transient.name), 2), target)

    def _assignment(self, target: _Variable, index: int | None) -> Json:
        if target.length is None or self.random() < 0.65:
            result = self._value_assignment(target)
        else:
            arrays = [v for v in self._state_variables() if v.length is not None]
            value = _array_value(self.expressions, target, arrays)
            result = {"ref": target.name, "value": value}
        if index is not None:
            result["index"] = index
        return result

    def _value_assignment(self, target: _Variable) -> Json:
        ref: Json = target.name
        if target.length is not None:
            index = self.expressions.index(target.length, 2)
            ref = {"op": "aa", "exp": target.name, "index": index}
        if target.type == "int" and self.random() < 0.12:
            lower, upper = self._interval(target)
            return {"ref": ref, "lower-bound": lower, "upper-bound": upper}
        if self.calm or self.random() < 0.93:
            return {"ref": ref, "value": _fitting_value(self.expressions, target)}
        return {"ref": ref, "value": self.expressions.of(target.type, self.expressions.depth())}

    def _interval(self, target: _Variable) -> tuple[Json, Json]:
        if not self.calm and self.random() < 0.15:
            return self.expressions.integer(2), self.expressions.integer(2)
        lower = _clamped(self.expressions.integer(1), target)
        return lower, _node("+", lower, self.expressions.pick((0, 1, 2)))


# --- models ---------------------------------------------------------------------------------------


class _ModelWriter:
    """Writes the constants, global variables, system and property of one model."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.random = rng.random
        self.calm = rng.random() < CALM_SHARE
        self.states = 1
        self.copies = 1
        self.integers: list[tuple[str, int]] = []
        self.constant_scope = _Scope()
        self.probabilities: list[str] = []

    def pick(self, options: Sequence[Any]) -> Any:
        return options[int(self.random() * len(options))]

    def model(self) -> dict[str, Json]:
        result: dict[str, Json] = {"jani-version": 1, "name": "random", "type": "mdp"}
        is_lts = self.random() < 0.12
        if is_lts:
            result["type"] = "lts"
        constants = self._constants()
        if constants:
            result["constants"] = constants
        variables = self._global_variables()
        result["variables"] = [declaration for _, declaration in variables]
        scope = self.constant_scope.extended([v for v, _ in variables])
        expressions = _Expressions(self.rng, scope, calm=self.calm)
        if self.random() < 0.4:
            result["functions"] = self.functions(scope, "f", expressions)
        actions = ["a", "b", "c-1", "d"][: self.pick((0, 1, 2, 2, 3, 3, 4))]
        if actions or self.random() < 0.5:
            result["actions"] = [{"name": action} for action in actions]
        if self.random() < 0.12:
            state_variables = [v for v, _ in variables if not v.is_transient]
            condition = self.easy_condition(expressions, state_variables)
            result["restrict-initial"] = {"exp": condition}
        globals_ = [v for v, _ in variables]
        result |= self._automata_and_system(scope, globals_, actions, is_lts=is_lts)
        self._add_properties(result, expressions, globals_)
        return result

    def _constants(self) -> list[Json]:
        result = []
        if self.random() < 0.6:
            result.append(self._integer_constant("N", self.pick((1, 2, 3, 4, 5))))
            if self.random() < 0.3:
                double = self._integer_constant("TWICE-N", 2 * self.integers[0][1])
                result.append({**double, "value": _node("*", 2, "N")})
        if self.random() < 0.3:
            result.append(self._integer_constant("LOW", self.pick((-4, -3, -2, -1))))
        if self.random() < 0.4:
            value = self.pick((0.5, 0.25, 0.125, 0, 1, 0.1))
            result.append({"name": "P", "type": "real", "value": value})
            self.constant_scope.values["real"].append("P")
            self.probabilities.append("P")
        if self.random() < 0.2:
            result.append({"name": "FLAG", "type": "bool", "value": self.random() < 0.5})
            self.constant_scope.values["bool"].append("FLAG")
        return result

    def _integer_constant(self, name: str, value: int) -> Json:
        self.integers.append((name, value))
        self.constant_scope.values["int"].append(name)
        return {"name": name, "type": "int", "value": value}

    def _global_variables(self) -> list[tuple[_Variable, Json]]:
        names = ["x", "y", "z-0", "u"][: self.pick((1, 1, 2, 2, 3, 4))]
        result = [self.variable(name) for name in names]
        if self.random() < 0.25:
            result.append(self.variable("t", is_transient=True))
        if self.random() < 0.08:
            result.append(self.variable("t2", is_transient=True))
        return result

    # variables

    def is_crowded(self) -> bool:
        """Return whether the model is calm and has about as many states as it may have."""
        return self.calm and self.states > CALM_STATES // 8

    def variable(self, name: str, *, is_transient: bool = False) -> tuple[_Variable, Json]:
        """Return a new variable and its declaration."""
        type_name = self.pick(("bool", "int", "int", "int") if self.calm else TYPES)
        if self.calm and self.random() < 0.15:
            type_name = "real"
        if self.is_crowded() and not is_transient:
            type_name = "bool"
        variable = _Variable(name, type_name, is_transient=is_transient)
        declared = self._declared_type(variable)
        if not is_transient and self.random() < 0.25:
            variable.length = self.pick((1, 2, 3) if self.calm else (1, 2, 3, 4))
            declared = {"kind": "array", "base": declared}
        if not is_transient:
            self._count_states(variable)
        declaration = {"name": name, "type": declared}
        if is_transient:
            declaration["transient"] = True
        if variable.length is not None:
            declaration["initial-value"] = self._initial_array(variable)
        elif is_transient or self.random() < 0.9 or not self._may_be_free(variable):
            declaration["initial-value"] = self._initial_value(variable)
        return variable, declaration

    def _may_be_free(self, variable: _Variable) -> bool:
        """Return whether the variable may do without initial value."""
        if variable.type == "real":
            return not self.calm and variable.lower is not None
        return True

    def _declared_type(self, variable: _Variable) -> Json:
        if variable.type == "bool":
            return "bool"
        if variable.type == "real":
            if self.random() < 0.2:
                return "real"
            variable.lower = self.pick((0, 0.0, -1.5, -2, 1, -0.25))
            variable.upper = variable.lower + self.pick((1, 1.5, 2, 0.5))
            lower, upper = variable.lower, variable.upper
            if self.random() < 0.1 and isinstance(lower, int):
                lower = self._integer_expression(lower)
        else:
            variable.lower, variable.upper = self._integer_range()
            lower = self._integer_expression(variable.lower)
            upper = self._integer_expression(variable.upper)
        return {
            "kind": "bounded",
            "base": variable.type,
            "lower-bound": lower,
            "upper-bound": upper,
        }

    def _integer_range(self) -> tuple[int, int]:
        size = self.pick((2, 3, 3, 4, 5, 8))
        if self.integers and self.random() < 0.5:
            _, value = self.pick(self.integers)
            return (value, value + size - 1) if value < 0 else (0, value)
        lower = self.pick((0, 0, 0, 1, -1, -2, -3))
        return lower, lower + size - 1

    def _integer_expression(self, value: int) -> Json:
        """Return ``value`` as a literal, as a constant's name or over a constant."""
        for name, constant in self.integers:
            if constant == value and self.random() < 0.7:
                return name
        if not self.integers or self.random() < 0.85:
            return value
        name, constant = self.pick(self.integers)
        return _node("+", name, value - constant)

    def _count_states(self, variable: _Variable) -> None:
        """Count the states of a calm model, and shrink what would make them too many."""
        if variable.type == "bool":
            size = 2
        elif variable.type == "int":
            size = variable.upper - variable.lower + 1
        else:
            size = 8
        cells = variable.length or 1
        while self.calm and cells > 1 and self.states * size**cells > CALM_STATES:
            cells -= 1
        if variable.length is not None:
            variable.length = cells
        self.states *= int(size ** (cells * self.copies))

    def _initial_value(self, variable: _Variable) -> Json:
        if variable.type == "bool":
            is_constant = self.constant_scope.values["bool"] and self.random() < 0.3
            return "FLAG" if is_constant else self.random() < 0.5
        if variable.type == "int":
            value = self.rng.randint(variable.lower, variable.upper)
            return self._integer_expression(value)
        if variable.lower is None:
            return self.pick((0, 0.5, 1, -1.25))
        return self.pick((variable.lower, variable.upper, (variable.lower + variable.upper) / 2))

    def _initial_array(self, variable: _Variable) -> Json:
        assert variable.length is not None
        if self.random() < 0.6:
            values = [self._initial_value(variable) for _ in range(variable.length)]
            return {"op": "av", "elements": values}
        exp: Json = self._initial_value(variable)
        if variable.type == "bool" and self.random() < 0.5:
            exp = _node("<", "i", 1)
        elif variable.type == "int" and self.random() < 0.5:
            exp = _node("min", _node("+", "i", variable.lower), variable.upper)
        length = self._integer_expression(variable.length)
        return {"op": "ac", "var": "i", "length": length, "exp": exp}

    def functions(self, scope: _Scope, prefix: str, expressions: _Expressions) -> list[Json]:
        """Return one or two functions, and add them to the scope of ``expressions``."""
        result = []
        for k in range(self.pick((1, 1, 2))):
            type_name = self.pick(TYPES)
            parameters = [(self.pick(TYPES), f"p{j}") for j in range(self.pick((0, 1, 1, 2)))]
            body = expressions._with_names(
                parameters,
                lambda type_name=type_name: expressions.of(type_name, 2),  # type: ignore[misc]
            )
            declared = [{"name": name, "type": t} for t, name in parameters]
            result.append(
                {"name": f"{prefix}{k}", "type": type_name, "parameters": declared, "body": body}
            )
            types = tuple(t for t, _ in parameters)
            scope.functions[type_name].append(_Function(f"{prefix}{k}", type_name, types))
        return result

    def easy_condition(self, expressions: _Expressions, variables: Sequence[_Variable]) -> Json:
        """Return a condition on one variable that holds for much of its range."""
        if not variables:
            return True
        variable = self.pick(variables)
        exp: Json = variable.name
        if variable.length is not None:
            exp = {"op": "aa", "exp": variable.name, "index": variable.length - 1}
        if variable.type == "bool":
            return exp if self.random() < 0.5 else _unary("¬", exp)
        if variable.lower is None:
            return _node(self.pick(("<", "≥")), exp, self.pick((-1, 0, 1.5)))
        lower, upper = variable.lower, variable.upper
        return self.pick(
            (
                _node("<", exp, upper),
                _node("≤", exp, _node("-", upper, 1)),
                _node(">", exp, lower),
                _node("≥", exp, lower),
                _node("≠", exp, upper),
            )
        )

    # system

    def _automata_and_system(
        self, scope: _Scope, variables: list[_Variable], actions: list[str], *, is_lts: bool
    ) -> dict[str, Json]:
        names = ["m", "n", "car-1"][: self.pick((1, 1, 1, 2, 2, 3))]
        if actions and self.random() < 0.05:
            names[0] = actions[0]
        is_doubled = self.random() < 0.05
        is_shared = not self.calm and self.random() < 0.35  # all may write everything
        automata = []
        for position, name in enumerate(names):
            is_twice = is_doubled and position == 0
            owned = variables[position :: len(names)]  # who may write without conflict
            writable = list(variables) if is_shared else [] if is_twice else owned
            shown = [] if is_twice else [v for v in owned if v.is_transient]
            plan = _Plan(
                name,
                scope,
                variables,
                writable,
                shown,
                actions,
                self.probabilities,
                is_lts,
                2 if is_twice else 1,
            )
            automata.append(_AutomatonWriter(self, plan).automaton())
        elements = names + ([names[0]] if is_doubled else [])
        if len(names) > 1 and self.random() < 0.04:
            elements.remove(names[-1])
        system: Json = {"elements": [{"automaton": name} for name in elements]}
        if actions and self.random() < 0.95:
            system["syncs"] = self._syncs(automata, elements, actions)
        return {"automata": automata, "system": system}

    def _syncs(self, automata: list[Json], elements: list[str], actions: list[str]) -> list[Json]:
        used = {
            automaton["name"]: [e["action"] for e in automaton["edges"] if "action" in e]
            for automaton in automata
        }
        result = []
        if len(elements) == 1 and self.random() < 0.6:
            return [{"synchronise": [action], "result": action} for action in actions]
        for _ in range(self.pick((1, 2, 2, 3, 4, 5))):
            labels = [self._sync_label(used[name], actions) for name in elements]
            if not any(labels):
                labels[int(self.random() * len(labels))] = self.pick(actions)
            sync: Json = {"synchronise": labels}
            if self.random() < 0.85:
                sync["result"] = self.pick(actions)
            result.append(sync)
        return result + self._solo_syncs(used, elements, result)

    def _solo_syncs(
        self, used: dict[str, list[str]], elements: list[str], syncs: list[Json]
    ) -> list[Json]:
        """Return syncs of one element for most of the labels that no sync lists."""
        result = []
        for position, name in enumerate(elements):
            listed = {sync["synchronise"][position] for sync in syncs}
            for label in dict.fromkeys(used[name]):
                if label not in listed and self.random() < 0.75:
                    alone: list[str | None] = [None] * len(elements)
                    alone[position] = label
                    result.append({"synchronise": alone, "result": label})
        return result

    def _sync_label(self, used: list[str], actions: list[str]) -> str | None:
        choice = self.random()
        if choice < 0.35:
            return None
        label: str = self.pick(used) if used and choice < 0.95 else self.pick(actions)
        return label

    # properties

    def _add_properties(
        self, model: Json, expressions: _Expressions, variables: Sequence[_Variable]
    ) -> None:
        if self.random() < 0.05:
            return
        model["properties"] = []
        if self.random() < 0.08:
            model["properties"].append(_standard_property(expressions.boolean(1)))
        if self.random() < 0.08:
            return
        is_calm = self.calm or self.random() < 0.8
        conditions = _Expressions(self.rng, expressions.scope, calm=is_calm)
        state_variables = [v for v in variables if not v.is_transient]
        exp: Json = {"op": "PA"}
        if self.random() < 0.6:
            exp["start"] = self._start(model, conditions, state_variables)
        if self.random() < 0.8:
            exp["reach"] = self._state_condition(model, conditions, state_variables)
        if self.random() < 0.7:
            goal = self._state_condition(model, conditions, state_variables)
            exp["objective"] = {"op": "objective", "goal": goal}
        model["properties"].append({"name": "p", "expression": exp})

    def _start(
        self, model: Json, expressions: _Expressions, variables: Sequence[_Variable]
    ) -> Json:
        automata = {a["name"]: a for a in model["automata"]}
        local = [v for a in automata.values() for v in a.get("variables", ())]
        has_reals = any("real" in _bases(v["type"]) for v in (*model["variables"], *local))
        if not (self.calm and has_reals) and self.random() < 0.6:
            return self._state_condition(model, expressions, variables)
        entries = []
        for _ in range(self.pick((1, 2, 3))):
            named = [v for v in variables if v.length is None and self.random() < 0.7]
            self.rng.shuffle(named)
            values = [{"var": v.name, "value": self._listed_value(v)} for v in named]
            entry: Json = {"variables": values}
            if self.random() < 0.3:
                entry["locations"] = self._some_locations(model)
            entries.append(entry)
        return {"op": "states-values", "values": entries}

    def _listed_value(self, variable: _Variable) -> Json:
        if variable.type == "bool":
            return self.random() < 0.5
        if variable.type == "int":
            return self.rng.randint(variable.lower, variable.upper)
        if variable.lower is None:
            return self.pick((0, 0.5, -3.25))
        return self.pick((variable.lower, variable.upper, (variable.lower + variable.upper) / 2))

    def _state_condition(
        self, model: Json, expressions: _Expressions, variables: Sequence[_Variable]
    ) -> Json:
        result: Json = {"op": "state-condition"}
        has_locations = self.random() < 0.3
        if not has_locations or self.random() < 0.7:
            is_easy = self.random() < 0.5
            result["exp"] = (
                self.easy_condition(expressions, variables)
                if is_easy
                else expressions.boolean(expressions.depth())
            )
        if has_locations:
            result["locations"] = self._some_locations(model)
        return result

    def _some_locations(self, model: Json) -> list[Json]:
        locations = {a["name"]: a["locations"] for a in model["automata"]}
        result = []
        for index, element in enumerate(model["system"]["elements"]):
            name = element["automaton"]
            if index == 0 or self.random() < 0.5:
                location = self.pick(locations[name])["name"]
                result.append({"automaton": name, "index": index, "location": location})
        return result


def _standard_property(exp: Json) -> Json:
    reach = {"op": "F", "exp": exp}
    states = {"op": "initial"}
    filtered = {"op": "filter", "fun": "∃", "states": states, "values": reach}
    return {"name": "reachable", "expression": filtered}


def _bases(declared: Json) -> str:
    """Return the element type of a declared type: ``bool``, ``int`` or ``real``."""
    while isinstance(declared, dict):
        declared = declared["base"]
    return str(declared)


# --- what a model uses ----------------------------------------------------------------------------

OPERATORS = (
    *BOOLEAN_OPERATORS, "¬", *COMPARISONS, "+", "-", "*", "/", "%", "min", "max", "abs", "pow",
    "log", "floor", "ceil", "trc", "sgn", "ite", "aa", "av", "ac", "let", "call",
)  # fmt: skip
FEATURES = frozenset(
    {
        *OPERATORS, "unary minus", "depth 5", "computed index", "access to a written array",
        "bool variable", "int variable", "real variable", "unbounded real variable",
        "bound by constant", "bound by expression", "negative lower bound", "array of bool",
        "array of int", "array of real", "av initial value", "ac initial value",
        "no initial value", "transient bool", "transient int", "transient real",
        "local variable", "equal local names", "automaton twice", "unused automaton",
        "automaton named like an action", "several locations", "several initial locations",
        "silent edge", "label in no sync", "no guard", "no assignments", "no probability",
        "probability zero", "probability over constants", "probability over the state",
        "constant over constants", "index groups", "interval", "interval of a cell",
        "cell target", "array from av", "array from ac", "array from array", "write conflict",
        "transient assignment", "transient-values", "transient in guard",
        "transient in later group", "restrict-initial of model", "restrict-initial of automaton",
        "global function", "local function", "null in sync", "sync without result",
        "two syncs with one result", "no syncs", "lts", "mdp", "no property", "standard property",
        "start condition", "start condition with locations", "condition without exp",
        "states-values", "partial states-values", "states-values with locations", "no start",
        "goal", "fail", *CONDITION_FEATURES,
    }
)  # fmt: skip


def features(model: dict[str, Json]) -> set[str]:
    """Return the features that the model uses, by the names of ``FEATURES``."""
    found = set(_operators(model))
    found.add(model["type"])
    found.update(_variable_features(model))
    found.update(_system_features(model))
    found.update(_property_features(model))
    found.update(condition_features(model))
    names = {c["name"] for c in model.get("constants", ())}
    if any(isinstance(c["value"], dict) for c in model.get("constants", ())):
        found.add("constant over constants")
    for automaton in model["automata"]:
        found.update(_automaton_features(automaton))
        transient = _transient_names(model) | _transient_names(automaton)
        for edge in automaton["edges"]:
            found.update(_edge_features(edge, names, transient))
    return found


def _operators(exp: Json, depth: int = 0) -> Iterator[str]:
    """Yield the operators below ``exp``; ``depth`` counts the operators above it."""
    if isinstance(exp, list):
        for part in exp:
            yield from _operators(part, depth)
        return
    if not isinstance(exp, dict):
        return
    op = exp.get("op")
    if op in OPERATORS:
        yield op
        depth += 1
        if depth == 5:
            yield "depth 5"
        if op == "-" and "exp" in exp:
            yield "unary minus"
        if op == "aa" and not isinstance(exp["index"], int):
            yield "computed index"
        if op == "aa" and isinstance(exp["exp"], dict):
            yield "access to a written array"
    else:
        depth = 0
    for part in exp.values():
        yield from _operators(part, depth)


def _mentions(exp: Json) -> set[str]:
    """Return the strings in an expression: names, and also operators."""
    if isinstance(exp, str):
        return {exp}
    parts = exp.values() if isinstance(exp, dict) else exp if isinstance(exp, list) else ()
    return set().union(*map(_mentions, parts))


def _transient_names(owner: Json) -> set[str]:
    return {v["name"] for v in owner.get("variables", ()) if v.get("transient")}


def _variable_features(model: Json) -> Iterator[str]:
    local = [v for a in model["automata"] for v in a.get("variables", ())]
    if local:
        yield "local variable"
    if len({v["name"] for v in local}) < len(local):
        yield "equal local names"
    for variable in (*model["variables"], *local):
        base = _bases(variable["type"])
        yield f"transient {base}" if variable.get("transient") else f"{base} variable"
        yield from _type_features(variable["type"])
        initial = variable.get("initial-value")
        if initial is None:
            yield "no initial value"
        elif isinstance(variable["type"], dict) and variable["type"]["kind"] == "array":
            yield f"array of {base}"
            yield f"{initial['op']} initial value"


def _type_features(declared: Json) -> Iterator[str]:
    if isinstance(declared, dict) and declared["kind"] == "array":
        declared = declared["base"]
    if declared == "real":
        yield "unbounded real variable"
    if not isinstance(declared, dict):
        return
    for bound in (declared["lower-bound"], declared["upper-bound"]):
        if isinstance(bound, str):
            yield "bound by constant"
        elif isinstance(bound, dict):
            yield "bound by expression"
    lower = declared["lower-bound"]
    if lower == "LOW" or (isinstance(lower, int | float) and lower < 0):
        yield "negative lower bound"


def _automaton_features(automaton: Json) -> Iterator[str]:
    if len(automaton["locations"]) > 1:
        yield "several locations"
    if len(automaton["initial-locations"]) > 1:
        yield "several initial locations"
    if any("transient-values" in location for location in automaton["locations"]):
        yield "transient-values"
    if "restrict-initial" in automaton:
        yield "restrict-initial of automaton"
    if "functions" in automaton:
        yield "local function"


def _edge_features(edge: Json, constants: set[str], transient: set[str]) -> Iterator[str]:
    if "action" not in edge:
        yield "silent edge"
    if "guard" not in edge:
        yield "no guard"
    elif _mentions(edge["guard"]) & transient:
        yield "transient in guard"
    for destination in edge["destinations"]:
        yield from _probability_features(destination, constants)
        if "assignments" not in destination:
            yield "no assignments"
        seen = []
        for assignment in destination.get("assignments", ()):
            yield from _assignment_features(assignment, transient)
            target = (assignment["ref"], assignment.get("index", 0))
            if target in seen:
                yield "write conflict"
            seen.append(target)


def _probability_features(destination: Json, constants: set[str]) -> Iterator[str]:
    if "probability" not in destination:
        yield "no probability"
        return
    exp = destination["probability"]["exp"]
    if exp == 0:
        yield "probability zero"
    names = _mentions(exp) - set(OPERATORS)
    if names and names <= constants:
        yield "probability over constants"
    elif names:
        yield "probability over the state"


def _assignment_features(assignment: Json, transient: set[str]) -> Iterator[str]:
    ref, value = assignment["ref"], assignment.get("value")
    is_cell = isinstance(ref, dict)
    if "index" in assignment:
        yield "index groups"
    if "lower-bound" in assignment:
        yield "interval of a cell" if is_cell else "interval"
    if is_cell:
        yield "cell target"
    if ref in ("t", "t2", "t_local"):
        yield "transient assignment"
    if isinstance(value, dict) and value["op"] in ("av", "ac"):
        yield f"array from {value['op']}"
    if assignment.get("index", 0) > 0 and _mentions(value) & transient:
        yield "transient in later group"


def _system_features(model: Json) -> Iterator[str]:
    elements = [element["automaton"] for element in model["system"]["elements"]]
    names = {automaton["name"] for automaton in model["automata"]}
    actions = {action["name"] for action in model.get("actions", ())}
    syncs = model["system"].get("syncs", ())
    results = [sync["result"] for sync in syncs if "result" in sync]
    listed = {(n, k) for s in syncs for n, k in zip(elements, s["synchronise"], strict=True)}
    labels = {
        (a["name"], e["action"])
        for a in model["automata"] if a["name"] in elements
        for e in a["edges"] if "action" in e
    }  # fmt: skip
    yield from _named(
        {
            "automaton twice": len(set(elements)) < len(elements),
            "unused automaton": not names <= set(elements),
            "automaton named like an action": bool(names & actions),
            "label in no sync": not labels <= listed,
            "null in sync": any(None in sync["synchronise"] for sync in syncs),
            "sync without result": len(results) < len(syncs),
            "two syncs with one result": len(set(results)) < len(results),
            "no syncs": "syncs" not in model["system"],
            "restrict-initial of model": "restrict-initial" in model,
            "global function": "functions" in model,
            "array from array": any(_array_copies(model)),
        }
    )


def _array_copies(model: Json) -> Iterator[bool]:
    for automaton in model["automata"]:
        variables = [*model["variables"], *automaton.get("variables", ())]
        is_array = {v["name"]: '"kind": "array"' in str(v).replace("'", '"') for v in variables}
        for edge in automaton["edges"]:
            for destination in edge["destinations"]:
                for assignment in destination.get("assignments", ()):
                    value = assignment.get("value")
                    yield isinstance(value, str) and is_array.get(value, False)


def _property_features(model: Json) -> Iterator[str]:
    properties = [p["expression"] for p in model.get("properties", ())]
    tasks = [p for p in properties if p["op"] == "PA"]
    yield from _named(
        {
            "no property": not properties,
            "standard property": len(tasks) < len(properties),
        }
    )
    for task in tasks:
        start = task.get("start")
        yield from _named(
            {"no start": start is None, "fail": "reach" in task, "goal": "objective" in task}
        )
        conditions = [task.get("reach"), task.get("objective", {}).get("goal")]
        if start is not None and start["op"] == "state-condition":
            yield "start condition with locations" if "locations" in start else "start condition"
            conditions.append(start)
        if any(condition and "exp" not in condition for condition in conditions):
            yield "condition without exp"
        if start is not None and start["op"] == "states-values":
            yield "states-values"
            sizes = {len(entry["variables"]) for entry in start["values"]}
            has_locations = any("locations" in entry for entry in start["values"])
            yield from _named(
                {
                    "partial states-values": min(sizes) < len(model["variables"]),
                    "states-values with locations": has_locations,
                }
            )


def _named(claims: dict[str, bool]) -> Iterator[str]:
    return (name for name, holds in claims.items() if holds)
