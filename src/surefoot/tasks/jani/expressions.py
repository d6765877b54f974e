"""From JSON expressions to :class:`~surefoot.tasks.expressions.Expr`, thousands of levels deep.

The cast: :class:`Scope` says what a name means at some place of the model, :class:`Function` is a
declared function, :class:`Cells` an array that exists only in an expression, and :class:`Converter`
does the work. Each kind of node has a generator that yields the parts it wants converted and is
sent their meaning; ``Converter.convert`` keeps the generators on a stack and never recurses.

``let`` and ``call`` bind names to expressions, which are then shared. The elements of an array are
evaluated even if another one is picked: ``Converter.forced`` puts those in front that might raise
an evaluation error.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field

from surefoot.errors import InputError, SurefootError, Unsupported, nearest_hint, quoted
from surefoot.tasks.expressions import Array, Expr, Type, Value, constant, make, variable
from surefoot.tasks.jani.operators import BINARY, NUMBERS, UNARY, unknown_operator
from surefoot.tasks.jani.reading import (
    Json,
    Place,
    json_items,
    json_object,
    json_string,
    named,
    refuse,
    unsupported,
)
from surefoot.tasks.lowering import constant_value, is_constant

MAX_LENGTH = 100_000
MAX_EXPANDED = 4_000_000
"""how many nodes all expansions of functions and array constructors may have together"""
_CALL_COST = 40
"""how many of these a call counts for: so expansion without end is noticed within a second or so"""

_ZERO: dict[Type, Value] = {"bool": False, "int": 0, "real": 0.0}
_HARMLESS = frozenset(
    {"constant", "variable", "not", "and", "or", "implies", "ite", "eq", "ne", "lt", "le", "gt",
     "ge", "min", "max", "sgn"}
)  # fmt: skip


@dataclass(frozen=True)
class Cells:
    """The elements of an array that is not a variable."""

    type: Type
    items: tuple[Expr, ...]

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True)
class Hidden:
    """A name that may not be read here."""

    reason: str


@dataclass
class PendingConstant:
    """A constant whose value is not known yet: expressions may mention constants in any order."""

    name: str
    type: Type
    node: Json
    place: Place
    in_progress: bool = False


@dataclass(frozen=True, eq=False)
class Function:
    """A declared function. Its body sees the names of ``scope``, where it was declared."""

    name: str
    node: dict[str, Json]
    place: Place
    scope: Scope


Meaning = Expr | Array | Cells
Entry = Meaning | Hidden | PendingConstant


@dataclass(eq=False)
class Scope:
    """Names and functions that may be used at some place, and what is around."""

    names: dict[str, Entry] = field(default_factory=dict)
    parent: Scope | None = None
    functions: dict[str, Function] = field(default_factory=dict)
    active: tuple[Function, ...] = ()
    is_expansion: bool = False

    def inside(self, names: dict[str, Entry], *, is_expansion: bool | None = None) -> Scope:
        """Return a scope within this one with more names."""
        expansion = self.is_expansion if is_expansion is None else is_expansion
        return Scope(names, self, active=self.active, is_expansion=expansion)

    def outwards(self) -> Iterator[Scope]:
        """Yield this scope and the ones around it."""
        at: Scope | None = self
        while at is not None:
            yield at
            at = at.parent

    def find(self, name: str, place: Place) -> Entry:
        """Return what the name means; InputError with the nearest name if nothing."""
        for scope in self.outwards():
            if name in scope.names:
                return scope.names[name]
        known = [known for scope in self.outwards() for known in scope.names]
        message = f"variable {quoted(name)} is not declared"
        refuse("jani-unknown-variable", message, place, nearest_hint(name, known))

    def function(self, name: str, place: Place) -> Function:
        """Return the function of that name."""
        for scope in self.outwards():
            if name in scope.functions:
                return scope.functions[name]
        known = [known for scope in self.outwards() for known in scope.functions]
        message = f"function {quoted(name)} is not declared"
        refuse("jani-unknown-function", message, place, nearest_hint(name, known))


Request = tuple[Json, Scope, Place]
Steps = Generator[Request, Meaning, Meaning]


@dataclass
class Converter:
    """Converts the expressions of one model; ``expanded`` counts what expansions have made."""

    expanded: int = 0
    risks: Risks = field(default_factory=lambda: Risks())
    arrays: list[Array] = field(default_factory=list)
    """arrays of the state: accesses that are surely out of bounds are written over one of these"""

    def scalar(self, node: Json, scope: Scope, place: Place) -> Expr:
        """Return the expression of a node that is not an array."""
        return _scalar(self.convert(node, scope, place), place)

    def condition(self, node: Json, scope: Scope, place: Place) -> Expr:
        """Return the expression of a Boolean node."""
        made = self.scalar(node, scope, place)
        if made.type != "bool":
            refuse("type-mismatch", f"expected a Boolean, found {made.type}", place)
        return made

    def number(self, node: Json, scope: Scope, place: Place) -> Expr:
        """Return the expression of a numeric node."""
        made = self.scalar(node, scope, place)
        if made.type == "bool":
            refuse("type-mismatch", "expected a number, found a Boolean", place)
        return made

    def constant(self, node: Json, scope: Scope, place: Place) -> Value:
        """Return the value of a node without variables."""
        return value_of(self.scalar(node, scope, place), place)

    def convert(self, node: Json, scope: Scope, place: Place) -> Meaning:
        """Return the meaning of a node: an expression or an array."""
        stack: list[tuple[Steps, Place]] = []
        answer = self._begin(node, scope, place, stack)
        while stack:
            steps, at = stack[-1]
            try:
                request = next(steps) if answer is None else steps.send(answer)
                answer = self._begin(*request, stack)
            except StopIteration as done:
                stack.pop()
                answer = done.value
            except SurefootError as error:
                error.at(place=str(at))
                raise
        assert answer is not None
        return answer

    def _begin(
        self, node: Json, scope: Scope, place: Place, stack: list[tuple[Steps, Place]]
    ) -> Meaning | None:
        """Return the meaning of a leaf; put other nodes on the stack and return None."""
        if scope.is_expansion:
            self.spend(1, place)
        kind = type(node)
        if kind is dict:
            stack.append((self._steps(node, scope, place), place))
            return None
        if kind is str:
            entry = scope.find(node, place)
            if isinstance(entry, PendingConstant):
                stack.append((self._pending(entry, scope), entry.place))
                return None
            if isinstance(entry, Hidden):
                unsupported("jani-transient", entry.reason, place)
            return entry
        if kind is int or kind is bool or kind is float:
            try:
                return constant(node)
            except InputError as error:
                error.at(place=str(place))
                raise
        refuse("jani-wrong-type", "this is not an expression", place)

    def spend(self, count: int, place: Place) -> None:
        """Count nodes that an expansion makes."""
        self.expanded += count
        if self.expanded > MAX_EXPANDED:
            message = "expanding functions and arrays makes the expressions too large"
            unsupported("expression-too-large", message, place)

    # -- one generator per kind of node ----------------------------------------------------------

    def _steps(self, node: dict[str, Json], scope: Scope, place: Place) -> Steps:
        op = node.get("op")
        if type(op) is not str:
            return _without_operator(node, place)
        if op in UNARY and "exp" in node:
            return _operator(UNARY[op], ("exp",), node, scope, place)
        if op in BINARY:
            return _operator(BINARY[op], ("left", "right"), node, scope, place)
        if op in UNARY:
            return _operator(UNARY[op], ("exp",), node, scope, place)
        if op == "ite":
            return self._ite(node, scope, place)
        own = {"aa": self._access, "av": self._values, "ac": self._constructor, "let": self._let,
               "call": self._call}.get(op)  # fmt: skip
        if own is None:
            unknown_operator(op, place / "op")
        return own(node, scope, place)

    def _pending(self, entry: PendingConstant, scope: Scope) -> Steps:
        root = next(s for s in scope.outwards() if s.names.get(entry.name) is entry)
        if entry.in_progress:
            message = f"constant {quoted(entry.name)} depends on itself"
            refuse("constant-cycle", message, entry.place)
        entry.in_progress = True
        made = _scalar((yield entry.node, root, entry.place), entry.place)
        value = value_of(as_type(made, entry.type, entry.place), entry.place)
        expr = root.names[entry.name] = constant(value)
        return expr

    def _ite(self, node: dict[str, Json], scope: Scope, place: Place) -> Steps:
        json_object(node, place, required=("if", "then", "else"))
        condition = _scalar((yield node["if"], scope, place / "if"), place / "if")
        then = yield node["then"], scope, place / "then"
        otherwise = yield node["else"], scope, place / "else"
        if isinstance(then, Expr) and isinstance(otherwise, Expr):
            return make("ite", condition, then, otherwise)
        pairs = list(zip(_items(then, place), _items(otherwise, place), strict=False))
        if len(then) != len(otherwise):  # type: ignore[arg-type]
            refuse("type-mismatch", "the branches are arrays of different lengths", place)
        self.spend(len(pairs), place)
        return cells([make("ite", condition, a, b) for a, b in pairs], place)

    def _values(self, node: dict[str, Json], scope: Scope, place: Place) -> Steps:
        json_object(node, place, required=("elements",))
        items = []
        for item, at in json_items(node, "elements", place):
            items.append(_scalar((yield item, scope, at), at))
        return cells(items, place)

    def _constructor(self, node: dict[str, Json], scope: Scope, place: Place) -> Steps:
        json_object(node, place, required=("var", "length", "exp"))
        name = json_string(node["var"], place / "var")
        at = place / "length"
        length = _length(_scalar((yield node["length"], scope, at), at), at)
        items = []
        for i in range(length):
            inner = scope.inside({name: constant(i)}, is_expansion=True)
            items.append(_scalar((yield node["exp"], inner, place / "exp"), place / "exp"))
        return cells(items, place)

    def _access(self, node: dict[str, Json], scope: Scope, place: Place) -> Steps:
        json_object(node, place, required=("exp", "index"))
        array = yield node["exp"], scope, place / "exp"
        if isinstance(array, Expr):
            message = f"expected an array, found {array.type}"
            refuse("type-mismatch", message, place / "exp")
        at = place / "index"
        index = as_type(_scalar((yield node["index"], scope, at), at), "int", at)
        return self.cell(array, index, place)

    def cell(self, array: Array | Cells, index: Expr, place: Place) -> Expr:
        """Return the expression of one cell of an array."""
        if index.op == "constant" and 0 <= index.value < len(array):
            return self._cell_at(array, index.value)
        if isinstance(array, Array):
            return array[index]
        self.spend(len(array), place)
        chosen = raising("index-out-of-bounds", array.type)
        for i in range(len(array) - 1, -1, -1):
            chosen = make("ite", make("eq", index, i), array.items[i], chosen)
        return self.forced(array.items, chosen)

    def _cell_at(self, array: Array | Cells, index: int) -> Expr:
        if isinstance(array, Array):
            return variable(f"{array.name}[{index}]", array.type)
        others = (*array.items[:index], *array.items[index + 1 :])
        return self.forced(others, array.items[index])

    def forced(self, first: Iterable[Expr], then: Expr) -> Expr:
        """Return an expression that is ``then``, after what might raise has been evaluated."""
        for expr in reversed([each for each in first if self.risks.may_raise(each)]):
            then = forced(expr, then)
        return then

    def _let(self, node: dict[str, Json], scope: Scope, place: Place) -> Steps:
        json_object(node, place, required=("expression",))
        for item, at in json_items(node, "variables", place):
            json_object(item, at, required=("name", "value"))
            value = yield item["value"], scope, at / "value"
            if "type" in item:
                value = _fitted(value, item["type"], at / "value")
            scope = scope.inside({json_string(item["name"], at / "name"): value})
        return (yield node["expression"], scope, place / "expression")

    def _call(self, node: dict[str, Json], scope: Scope, place: Place) -> Steps:
        json_object(node, place, required=("function",))
        at = place / "function"
        function = scope.function(json_string(node["function"], at), at)
        if function in scope.active:
            message = f"function {quoted(function.name)} calls itself"
            unsupported("jani-recursion", message, place)
        self.spend(_CALL_COST, place)
        parameters = list(json_items(function.node, "parameters", function.place))
        args = list(json_items(node, "args", place))
        if len(args) != len(parameters):
            wanted = f"function {quoted(function.name)} takes {len(parameters)} arguments"
            refuse("wrong-number-of-arguments", f"{wanted}, not {len(args)}", place)
        names: dict[str, Entry] = {}
        for (parameter, declared), (arg, here) in zip(parameters, args, strict=True):
            json_object(parameter, declared, required=("name", "type"))
            value = _fitted((yield arg, scope, here), parameter["type"], here)
            names[json_string(parameter["name"], declared / "name")] = value
        active = (*scope.active, function)
        inner = Scope(names, function.scope, active=active, is_expansion=True)
        body = yield function.node["body"], inner, function.place / "body"
        return _fitted(body, function.node["type"], function.place / "body")


def _without_operator(node: dict[str, Json], place: Place) -> Steps:
    if "constant" in node:
        name = json_string(node["constant"], place / "constant")
        named(name, NUMBERS, "jani-unknown-constant", "constant", place / "constant")
        return _done(constant(NUMBERS[name]))
    if "distribution" in node:
        unsupported("jani-operator", "distributions are not supported", place)
    if "op" in node:
        refuse("jani-wrong-type", "an operator is a string", place / "op")
    refuse("jani-missing-key", 'this is not an expression: key "op" is missing', place)


def _done(meaning: Meaning) -> Steps:
    return meaning
    yield


def _operator(
    op: str, keys: tuple[str, ...], node: dict[str, Json], scope: Scope, place: Place
) -> Steps:
    operands = []
    for key in keys:
        if key not in node:
            refuse("jani-missing-key", f"key {quoted(key)} is missing", place)
        at = place / key
        operands.append(_scalar((yield node[key], scope, at), at))
    return make(op, *operands)


def _scalar(meaning: Meaning, place: Place) -> Expr:
    if not isinstance(meaning, Expr):
        refuse("type-mismatch", "an array cannot be used as a value here", place)
    return meaning


def _items(meaning: Meaning, place: Place) -> list[Expr]:
    if isinstance(meaning, Expr):
        refuse("type-mismatch", f"expected an array, found {meaning.type}", place)
    return cells_of(meaning)


def cells_of(array: Array | Cells) -> list[Expr]:
    """Return the expressions of all cells."""
    if isinstance(array, Cells):
        return list(array.items)
    return [variable(f"{array.name}[{i}]", array.type) for i in range(array.length)]


def cells(items: list[Expr], place: Place) -> Cells:
    """Return the array of these elements; ints among reals become reals."""
    if not items:
        unsupported("empty-array", "arrays without elements are not supported", place)
    types = {item.type for item in items}
    if "bool" in types and len(types) > 1:
        refuse("type-mismatch", "the elements of an array must have one type", place)
    if "real" in types:
        return Cells("real", tuple(as_real(item) for item in items))
    return Cells(items[0].type, tuple(items))


def _length(length: Expr, place: Place) -> int:
    if not is_constant(length):
        unsupported("array-length", "the length of an array must be constant", place)
    value = value_of(as_type(length, "int", place), place)
    if value < 0:
        refuse("bad-array-length", "the length of an array is negative", place)
    if value > MAX_LENGTH:
        unsupported("array-length", f"arrays have at most {MAX_LENGTH:,} elements", place)
    return int(value)


def value_of(expr: Expr, place: Place) -> Value:
    """Return the value of an expression that must not read variables."""
    if expr.op == "constant":
        return expr.value  # type: ignore[no-any-return]
    if not is_constant(expr):
        refuse("not-constant", "this must not depend on variables", place)
    try:
        return constant_value(expr)
    except SurefootError as error:
        error.at(place=str(place))
        raise


def as_real(expr: Expr) -> Expr:
    """Return the expression as one of type real."""
    if expr.type == "real":
        return expr
    if expr.op == "constant":
        return constant(float(expr.value))
    return make("mul", expr, 1.0)


def as_type(expr: Expr, type: Type, place: Place) -> Expr:
    """Return the expression as one of that type; only ints can become something else."""
    if expr.type == type:
        return expr
    if (expr.type, type) == ("int", "real"):
        return as_real(expr)
    refuse("type-mismatch", f"expected {type}, found {expr.type}", place)


def _fitted(meaning: Meaning, declared: Json, place: Place) -> Meaning:
    """Return the meaning as one of a declared type; bounds of the type are not looked at."""
    is_array = isinstance(declared, dict) and declared.get("kind") == "array"
    base = declared
    while isinstance(base, dict):
        base = base.get("base")
    if not isinstance(base, str) or base not in _ZERO:
        raise Unsupported("jani-type", "only bool, int, real and arrays of them are supported")
    if not is_array:
        return as_type(_scalar(meaning, place), base, place)
    items = _items(meaning, place)
    if not isinstance(meaning, Expr) and meaning.type == base:
        return meaning
    return cells([as_type(item, base, place) for item in items], place)


class Risks:
    """Which expressions could perhaps raise an evaluation error. Remembers what it was asked."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[bool, Expr]] = {}  # keeps the expression, so ids stay valid

    def may_raise(self, root: Expr) -> bool:
        """Return whether evaluating the expression could raise."""
        stack = [root]
        while stack:
            node = stack[-1]
            missing = [arg for arg in node.args if id(arg) not in self._known]
            if missing and id(node) not in self._known:
                stack.extend(missing)
                continue
            stack.pop()
            risky = node.op not in _HARMLESS or any(self._known[id(a)][0] for a in node.args)
            self._known[id(node)] = (risky, node)
        return self._known[id(root)][0]


def forced(first: Expr, then: Expr) -> Expr:
    """Return an expression that evaluates ``first`` for its errors alone, and is ``then``."""
    evaluated = make("eq", first, first)
    return make("ite", evaluated, then, constant(_ZERO[then.type]))


def raising(kind: str, type: Type) -> Expr:
    """Return an expression of that type that always raises this evaluation error."""
    return Expr("raise", (), type, kind)
