"""What an expression means: `compile_expression` checks its types, `run` evaluates it.

An expression becomes Code, a program for a small stack machine. Published conditions are trees
that are thousands of nodes deep, so neither half may recurse on Python's stack: the compiler is
written recursively but run by `_without_stack`, and the machine needs only jumps. What is evaluated
again and again becomes a Python function (`programs`).

Names mean what the Scope says: a Constant, the Cells of a variable (one, or one for each element
of an array), or a Bound name (of `let`, `ac` or a function's parameter).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from functools import cached_property, partial
from typing import Any

from .arithmetic import (
    BINARY,
    INT_MAX,
    INT_MIN,
    RELATIONS,
    UNARY,
    Operator,
    Scalar,
    Value,
    cell,
    pack,
    to_real,
)
from .errors import ModelError, NotSupported, ReadError
from .files import Json, field, items, optional, shown, text
from .programs import Evaluate, function_of

_MAX_LENGTH = 1_000_000
_MAX_STEPS = 2_000_000
_USES = 16
"""how often an expression is run before it becomes a function: making one takes its time"""
_LITERALS = {"e": math.e, "π": math.pi}


@dataclass(frozen=True)
class Array:
    """The type of an array; a declared type may leave the length open."""

    base: str
    length: int | None


Type = str | Array  # "bool", "int", "real" or an array


@dataclass(frozen=True)
class Constant:
    """A name for a value."""

    type: Type
    value: Value


@dataclass(frozen=True)
class Cells:
    """A name for a variable: the names of its cells in a valuation."""

    type: Type
    names: tuple[str, ...]


@dataclass(frozen=True)
class Bound:
    """A name for an expression, which is evaluated where the name is used."""

    node: Json
    scope: Scope
    declared: Type | None
    open_calls: tuple[Function, ...]


@dataclass(frozen=True, eq=False)
class Function:
    """A declared function; its body sees the scope of its declaration."""

    node: Json
    scope: Scope


@dataclass(frozen=True)
class Scope:
    """What names mean at some place of a file."""

    names: Mapping[str, Constant | Cells | Bound]
    functions: Mapping[str, Function]

    def adding(self, names: Mapping[str, Constant | Cells | Bound]) -> Scope:
        """Return the scope in which these names hide those of the same spelling."""
        return replace(self, names={**self.names, **names})


Step = tuple[str, Any]  # what to do, and what with


@dataclass(frozen=True)
class Code:
    """A compiled expression: its type, its program, and the cells that it may read, with kinds."""

    where: str
    type: Type
    steps: tuple[Step, ...]
    reads: frozenset[str]
    kinds: Mapping[str, str] = dataclass_field(default_factory=dict, compare=False)

    @cached_property
    def program(self) -> Program:
        """What evaluates it."""
        return Program(self)


class Program:
    """Evaluates an expression: by its steps at first, as a Python function once that pays."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._uses = 0
        self.evaluate: Evaluate = self._by_steps

    def _by_steps(self, values: Mapping[str, Scalar]) -> Any:
        self._uses += 1
        if self._uses > _USES:
            function = function_of(self._code.steps, self._code.kinds)
            self.evaluate = function or partial(run_steps, self._code.steps)
        return run_steps(self._code.steps, values)


def compile_expression(node: Json, scope: Scope, where: str, *, want: Type | None = None) -> Code:
    """Return the program of an expression, converted to the wanted type.

    Raises ReadError if names are unknown or types do not fit.
    """
    compiler = _Compiler()
    try:
        have = _without_stack(compiler.visit(node, scope))
        if want is not None:
            have = compiler.convert(have, want)
    except ReadError as error:
        raise ReadError(f"{where}: {error}") from error
    except NotSupported as error:
        raise NotSupported(f"{where}: {error}") from error
    reads = frozenset(compiler.kinds)
    return Code(where, have, tuple(compiler.steps), reads, compiler.kinds)


def run(code: Code, values: Mapping[str, Scalar]) -> Any:
    """Return the value of an expression in a valuation of cells. Raises ModelError."""
    try:
        return code.program.evaluate(values)
    except ModelError as error:
        raise ModelError(error.kind, f"{code.where}: {error.detail}") from None


def run_steps(steps: tuple[Step, ...], values: Mapping[str, Scalar]) -> Any:
    """Return what a program leaves on the stack."""
    stack: list[Any] = []
    end, at = len(steps), 0
    while at < end:
        what, argument = steps[at]
        at += 1
        if what == "load":
            stack.append(values[argument])
        elif what == "push":
            stack.append(argument)
        elif what == "apply to two":
            right = stack.pop()
            stack[-1] = argument(stack[-1], right)
        elif what == "apply":
            count, function = argument
            operands = stack[-count:]
            stack[-count:] = [function(*operands)]
        elif what == "load array":
            stack.append(tuple(values[name] for name in argument))
        elif what == "jump":
            at = argument
        elif what == "jump if false":
            at = at if stack.pop() else argument
        elif what == "settle":  # a lazy operator is settled by its left side, or goes on
            answer, target = argument
            if stack[-1] is answer:
                at = target
            else:
                stack.pop()
    return stack.pop()


def constant_value(node: Json, scope: Scope, where: str, *, want: Type) -> Any:
    """Return the value of an expression that may not read variables."""
    code = compile_expression(node, scope, where, want=want)
    if code.reads:
        raise ReadError(f"{where}: expected a constant, but it reads {min(code.reads)}")
    return run(code, {})


def conversion(have: Type, want: Type) -> Type | None:
    """Return the type that a value of type `have` gets where `want` is declared, if it may."""
    if isinstance(have, Array) and isinstance(want, Array):
        base = conversion(have.base, want.base)
        fits = want.length is None or have.length == want.length
        return Array(base, have.length) if fits and isinstance(base, str) else None
    return want if have == want or (have == "int" and want == "real") else None


def common_type(left: Type, right: Type) -> Type | None:
    """Return the type that values of both types can be converted to."""
    return conversion(left, right) or conversion(right, left)


def declared_type(node: Json) -> Type:
    """Return the type that a type declaration names, its bounds ignored."""
    if node in ("bool", "int", "real"):
        return str(node)
    kind = node.get("kind") if isinstance(node, dict) else node
    if kind == "bounded":
        base = field(node, "base")
        if base not in ("int", "real"):
            raise ReadError(f"a bounded type has base int or real, not {shown(base)}")
        return str(base)
    if kind == "array":
        element = declared_type(field(node, "base"))
        if isinstance(element, str):
            return Array(element, None)
        raise NotSupported("arrays of arrays are not supported")
    raise NotSupported(f"type {shown(kind)} is not supported")


_Visit = Generator[Any, Any, Any]


def _without_stack(visit: _Visit) -> Any:
    """Run a generator that calls others by `result = yield call`, without Python's stack."""
    calls, result = [visit], None
    while calls:
        try:
            calls.append(calls[-1].send(result))
            result = None
        except StopIteration as done:
            calls.pop()
            result = done.value
    return result


class _Compiler:
    """Writes the program of one expression. Visits return the type of what they wrote."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.kinds: dict[str, str] = {}  # of the cells that are read
        self._open_calls: tuple[Function, ...] = ()

    def visit(self, node: Json, scope: Scope) -> _Visit:
        if len(self.steps) > _MAX_STEPS:
            raise NotSupported("an expression grows too large when its functions are expanded")
        if isinstance(node, str):
            return (yield self._name(node, scope))
        if not isinstance(node, dict):
            return self._literal(node)
        if "constant" in node:
            return self._push("real", _LITERALS.get(text(node, "constant")))
        op = text(node, "op")
        if op in UNARY and ("exp" in node or op not in BINARY):
            return (yield self._operator(op, UNARY, (field(node, "exp"),), scope))
        if op in BINARY:
            operands = (field(node, "left"), field(node, "right"))
            return (yield self._operator(op, BINARY, operands, scope))
        visit = _SHAPES.get(op)
        if visit is None:
            raise NotSupported(f'operator "{op}" is not supported')
        return (yield visit(self, node, scope))

    def convert(self, have: Type, want: Type) -> Type:
        """Write the conversion of the value just computed; return its new type."""
        new = conversion(have, want)
        if new is None:
            raise ReadError(f"type error: expected {_spell(want)}, not {_spell(have)}")
        if new != have:
            self._apply(1, to_real)
        return new

    def _apply(self, count: int, function: Callable[..., Value]) -> None:
        is_binary = count == 2
        step = ("apply to two", function) if is_binary else ("apply", (count, function))
        self.steps.append(step)

    def _push(self, type_: Type, value: Value | None) -> Type:
        if value is None:
            raise ReadError("unknown mathematical constant")
        self.steps.append(("push", value))
        return type_

    def _literal(self, value: Json) -> Type:
        if isinstance(value, bool):
            return self._push("bool", value)
        if isinstance(value, int) and INT_MIN <= value <= INT_MAX:
            return self._push("int", value)
        if isinstance(value, float) and math.isfinite(value):
            return self._push("real", value)
        raise ReadError(f"{shown(value)} is not an expression")

    def _name(self, name: str, scope: Scope) -> _Visit:
        meaning = scope.names.get(name)
        if meaning is None:
            raise ReadError(f'"{name}" is not declared')
        if isinstance(meaning, Bound):
            return (yield self._bound(meaning))
        if isinstance(meaning, Constant):
            self.steps.append(("push", meaning.value))
        else:
            base = meaning.type.base if isinstance(meaning.type, Array) else meaning.type
            self.kinds.update(dict.fromkeys(meaning.names, base))
            is_array = isinstance(meaning.type, Array)
            step = ("load array", meaning.names) if is_array else ("load", meaning.names[0])
            self.steps.append(step)
        return meaning.type

    def _bound(self, bound: Bound) -> _Visit:
        inside, self._open_calls = self._open_calls, bound.open_calls
        have = yield self.visit(bound.node, bound.scope)
        self._open_calls = inside
        return have if bound.declared is None else self.convert(have, bound.declared)

    def _operator(
        self, op: str, table: Mapping[str, Operator], operands: tuple[Json, ...], scope: Scope
    ) -> _Visit:
        types = []
        for operand in operands:
            types.append((yield self.visit(operand, scope)))
        rule, function = table[op]
        result = rule(*types)
        if result is None:
            raise ReadError(f'type error: "{op}" of {", ".join(map(_spell, types))}')
        if types[0] == types[-1]:  # nothing to convert
            function = RELATIONS.get(op, function)
        self._apply(len(types), function)
        return result

    def _lazy(self, node: Json, scope: Scope) -> _Visit:
        op = field(node, "op")
        self.convert((yield self.visit(field(node, "left"), scope)), "bool")
        if op == "⇒":
            self._apply(1, UNARY["¬"][1])
        settle = self._reserve()
        self.convert((yield self.visit(field(node, "right"), scope)), "bool")
        self.steps[settle] = ("settle", (op != "∧", len(self.steps)))
        return "bool"

    def _ite(self, node: Json, scope: Scope) -> _Visit:
        self.convert((yield self.visit(field(node, "if"), scope)), "bool")
        to_else = self._reserve()
        then = yield self.visit(field(node, "then"), scope)
        to_end = self._reserve()
        self.steps[to_else] = ("jump if false", len(self.steps))
        otherwise = yield self.visit(field(node, "else"), scope)
        self.steps[to_end] = ("jump", len(self.steps))
        return self._join([then, otherwise])

    def _reserve(self) -> int:
        """Return the place of a jump whose target is not known yet."""
        self.steps.append(("", None))
        return len(self.steps) - 1

    def _join(self, types: list[Type]) -> Type:
        """Convert the value just computed, of any of these types, to their common type."""
        common: Type | None = types[0]
        for type_ in types[1:]:
            common = common and common_type(common, type_)
        if common is None:
            raise ReadError(f"type error: {', '.join(map(_spell, types))} do not mix")
        if any(type_ != common for type_ in types):
            self._apply(1, to_real)
        return common

    def _access(self, node: Json, scope: Scope) -> _Visit:
        array = yield self.visit(field(node, "exp"), scope)
        if not isinstance(array, Array):
            raise ReadError(f"type error: {_spell(array)} is not an array")
        self.convert((yield self.visit(field(node, "index"), scope)), "int")
        self._apply(2, cell)
        return array.base

    def _array_of_values(self, node: Json, scope: Scope) -> _Visit:
        return (yield self._elements([(e, scope) for e in items(node, "elements")]))

    def _array_constructor(self, node: Json, scope: Scope) -> _Visit:
        length = yield self._constant_length(field(node, "length"), scope)
        name, body = text(node, "var"), field(node, "exp")
        scopes = (scope.adding({name: Constant("int", i)}) for i in range(length))
        return (yield self._elements([(body, each) for each in scopes]))

    def _constant_length(self, node: Json, scope: Scope) -> _Visit:
        """Return the value, not the type, of the length of an array constructor."""
        aside = _Compiler()
        aside._open_calls = self._open_calls
        aside.convert((yield aside.visit(node, scope)), "int")
        if any(what in ("load", "load array") for what, _ in aside.steps):
            raise NotSupported("an array whose length is not constant is not supported")
        length = run(Code("array length", "int", tuple(aside.steps), frozenset()), {})
        if length > _MAX_LENGTH:
            raise NotSupported(f"an array of length {length} is not supported")
        return length

    def _elements(self, elements: list[tuple[Json, Scope]]) -> _Visit:
        if not elements:
            raise NotSupported("arrays without elements are not supported")
        types: list[Type] = []
        for element, scope in elements:
            types.append((yield self.visit(element, scope)))
        bases = [type_ for type_ in types if isinstance(type_, str)]
        if len(bases) < len(types):
            raise NotSupported("arrays of arrays are not supported")
        self._apply(len(bases), pack)
        return self._join([Array(base, len(bases)) for base in bases])

    def _let(self, node: Json, scope: Scope) -> _Visit:
        for variable in items(node, "variables"):
            bound = yield self._bind(variable, field(variable, "value"), scope)
            scope = scope.adding(bound)
        return (yield self.visit(field(node, "expression"), scope))

    def _call(self, node: Json, scope: Scope) -> _Visit:
        name, arguments = text(node, "function"), items(node, "args")
        function = scope.functions.get(name)
        if function is None:
            raise ReadError(f'function "{name}" is not declared')
        parameters = items(function.node, "parameters")
        if len(parameters) != len(arguments):
            raise ReadError(f'"{name}" takes {len(parameters)} arguments, not {len(arguments)}')
        if function in self._open_calls:
            raise NotSupported(f'function "{name}" is recursive')
        bound: dict[str, Bound] = {}
        for parameter, argument in zip(parameters, arguments, strict=True):
            bound.update((yield self._bind(parameter, argument, scope)))
        before, self._open_calls = self._open_calls, (*self._open_calls, function)
        result = yield self.visit(field(function.node, "body"), function.scope.adding(bound))
        self._open_calls = before
        return self.convert(result, declared_type(field(function.node, "type")))

    def _bind(self, declaration: Json, node: Json, scope: Scope) -> _Visit:
        """Return the name for an expression, its type checked also if the name is never used."""
        declared = optional(declaration, "type")
        type_ = None if declared is None else declared_type(declared)
        bound = Bound(node, scope, type_, self._open_calls)
        yield _Compiler()._bound(bound)
        return {text(declaration, "name"): bound}


_SHAPES = {
    "∧": _Compiler._lazy,
    "∨": _Compiler._lazy,
    "⇒": _Compiler._lazy,
    "ite": _Compiler._ite,
    "aa": _Compiler._access,
    "av": _Compiler._array_of_values,
    "ac": _Compiler._array_constructor,
    "let": _Compiler._let,
    "call": _Compiler._call,
}


def _spell(type_: Type) -> str:
    return f"array of {type_.base}" if isinstance(type_, Array) else type_
