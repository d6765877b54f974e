"""Constants, types and variables of a JANI model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from surefoot.errors import InputError, nearest_hint, quoted
from surefoot.tasks.description import REAL_LIMIT, Description, Variable, check_value
from surefoot.tasks.expressions import Array, Expr, Type, Value, constant
from surefoot.tasks.jani.expressions import (
    Cells,
    Converter,
    Entry,
    PendingConstant,
    Scope,
    as_type,
    value_of,
)
from surefoot.tasks.jani.reading import (
    Json,
    Place,
    Warn,
    distinct,
    json_bool,
    json_items,
    json_object,
    json_string,
    placed,
    refuse,
    unsupported,
)

_BASES: tuple[Type, ...] = ("bool", "int", "real")
_VARIABLE_KEYS = ("initial-value", "transient")


@dataclass(frozen=True)
class DeclaredType:
    """A type as the model writes it; a bound that is missing is None."""

    base: Type
    lower: float | None = None
    upper: float | None = None
    is_array: bool = False


@dataclass(frozen=True)
class Transient:
    """A transient variable: what assignments read, and its value where no location gives one."""

    name: str
    meaning: Expr | Array
    initial: Expr | Cells
    lower: float
    upper: float


# --- constants --------------------------------------------------------------------------------


def read_constants(
    converter: Converter, model: dict[str, Json], given: Mapping[str, object], warn: Warn
) -> tuple[Scope, dict[str, Value]]:
    """Return the scope of the constants and their values; ``given`` values replace the file's."""
    scope = Scope()
    missing: list[tuple[str, Place]] = []
    types: dict[str, tuple[Json, Place]] = {}
    for item, place in json_items(model, "constants", Place()):
        json_object(item, place, required=("name", "type"), optional=("value",), warn=warn)
        name = json_string(item["name"], place / "name")
        distinct(name, types, "constant", place / "name")
        types[name] = (item["type"], place / "type")
        base = _base_of(item["type"], place / "type")
        if name in given:
            scope.names[name] = constant(_given_value(given[name], name, base, place))
        elif "value" in item:
            scope.names[name] = PendingConstant(name, base, item["value"], place / "value")
        else:
            missing.append((name, place))
    _check_given(given, types)
    _check_missing(missing)
    values = {name: converter.constant(name, scope, Place()) for name in types}
    for name, (declared, place) in types.items():
        type = read_type(converter, scope, declared, place)
        _check_constant(name, values[name], type, place)
    return scope, values


def _check_given(given: Mapping[str, object], known: Mapping[str, object]) -> None:
    for name in given:
        if name not in known:
            message = f"the model has no constant {quoted(name)}"
            hint = nearest_hint(name, known)
            raise InputError("unknown-constant", message, place="/constants", hint=hint)


def _check_missing(missing: list[tuple[str, Place]]) -> None:
    if not missing:
        return
    names = ", ".join(quoted(name) for name, _ in missing[:5])
    hint = "give " + " ".join(f"--const {name}=VALUE" for name, _ in missing[:5])
    what = "constant" if len(missing) == 1 else "constants"
    refuse("missing-constant", f"no value for {what} {names}", missing[0][1], hint)


def _check_constant(name: str, value: Value, type: DeclaredType, place: Place) -> None:
    if type.is_array:
        unsupported("jani-type", "constants cannot be arrays", place)
    too_low = type.lower is not None and value < type.lower
    if too_low or (type.upper is not None and value > type.upper):
        refuse("constant-out-of-range", f"{value} is not a value of constant {quoted(name)}", place)


def _given_value(value: object, name: str, base: Type, place: Place) -> Value:
    """Return the value for a constant from outside; text, as on a command line, by its type."""
    if isinstance(value, str):
        value = _parsed(value.strip(), base)
    if base == "bool" and isinstance(value, bool):
        return value
    if base != "bool" and isinstance(value, int) and not isinstance(value, bool):
        return float(value) if base == "real" and abs(value) < 2**63 else value
    if base == "real" and isinstance(value, float):
        return value
    message = f"the value given for constant {quoted(name)} is not of type {base}"
    hint = "it is true or false" if base == "bool" else None
    refuse("type-mismatch", message, place, hint)


def _parsed(text: str, base: Type) -> object:
    try:
        if base == "bool":
            return {"true": True, "false": False}.get(text.lower())
        return int(text) if base == "int" else float(text)
    except ValueError:
        return None


# --- types ------------------------------------------------------------------------------------


def _base_of(node: Json, place: Place) -> Type:
    while isinstance(node, dict) and node.get("kind") == "bounded":
        node, place = node.get("base"), place / "base"
    for base in _BASES:
        if node == base:
            return base
    _no_type(node, place)
    raise AssertionError


def _no_type(node: Json, place: Place) -> None:
    if node in ("clock", "continuous"):
        unsupported("jani-type", f"{node} variables are not supported", place)
    kind = node.get("kind") if isinstance(node, dict) else None
    if kind in ("datatype", "option"):
        unsupported("jani-type", "datatypes are not supported", place)
    if kind == "array":
        unsupported("jani-type", "nested arrays are not supported", place)
    refuse("jani-unknown-type", "this is not a type", place, "types are bool, int, real")


def read_type(converter: Converter, scope: Scope, node: Json, place: Place) -> DeclaredType:
    """Return a declared type; its bounds are constant expressions."""
    if not isinstance(node, dict):
        return DeclaredType(_base_of(node, place))
    kind = node.get("kind")
    if kind == "array":
        json_object(node, place, required=("base",))
        inner = node["base"]
        if isinstance(inner, dict) and inner.get("kind") == "array":
            _no_type(inner, place / "base")
        return replace(read_type(converter, scope, inner, place / "base"), is_array=True)
    if kind != "bounded":
        _no_type(node, place)
    json_object(node, place, required=("base",))
    base = _base_of(node["base"], place / "base")
    if base == "bool":
        refuse("type-mismatch", "a bounded type is an int or a real", place)
    lower = _bound(converter, scope, node, "lower-bound", base, place)
    upper = _bound(converter, scope, node, "upper-bound", base, place)
    return DeclaredType(base, lower, upper)


def _bound(
    converter: Converter, scope: Scope, node: dict[str, Json], key: str, base: Type, place: Place
) -> float | None:
    if key not in node:
        return None
    made = converter.scalar(node[key], scope, place / key)
    return value_of(as_type(made, base, place / key), place / key)


# --- variables --------------------------------------------------------------------------------


@dataclass
class Declarer:
    """Puts the variables of model and automata into the description."""

    description: Description
    converter: Converter
    constants: Scope
    int_range: tuple[int, int] | None
    warn: Warn

    def declare(self, node: Json, place: Place, *, prefix: str = "") -> tuple[str, Expr | Array]:
        """Declare a variable of the state; return its name in the model and its meaning."""
        name, type = self._read(node, place)
        initial = self._initial(node, type, place)
        meaning = self._put(prefix + name, type, initial, place, is_scratch=False)
        if isinstance(meaning, Array):
            self.converter.arrays.append(meaning)
        return name, meaning

    def declare_transient(self, node: Json, place: Place, *, prefix: str = "") -> Transient:
        """Declare a transient variable: behind all others."""
        name, type = self._read(node, place)
        json_object(node, place, required=("initial-value",))
        initial = self._initial(node, type, place)
        meaning = self._put(prefix + name, type, initial, place, is_scratch=True)
        lower, upper = self._range(name, type, place)
        if isinstance(initial, list):
            made: Expr | Cells = Cells(type.base, tuple(constant(value) for value in initial))
        else:
            assert initial is not None
            made = constant(initial)
        return Transient(name, meaning, made, lower, upper)

    def _read(self, node: Json, place: Place) -> tuple[str, DeclaredType]:
        name = json_string(node["name"], place / "name")
        return name, read_type(self.converter, self.constants, node["type"], place / "type")

    def is_transient(self, node: Json, place: Place) -> bool:
        """Return whether a variable's declaration says transient."""
        json_object(node, place, required=("name", "type"), optional=_VARIABLE_KEYS, warn=self.warn)
        return json_bool(node.get("transient", False), place / "transient")

    def _put(
        self,
        name: str,
        type: DeclaredType,
        initial: Value | list[Value] | None,
        place: Place,
        *,
        is_scratch: bool,
    ) -> Expr | Array:
        lower, upper = self._range(name, type, place)
        at = str(place)
        with placed(place):
            if isinstance(initial, list):
                made = self.description.array(
                    name, type.base, len(initial), lower, upper, initial=initial,
                    is_scratch=is_scratch, place=at,
                )  # fmt: skip
                return made
            if type.base == "bool":
                flag = None if initial is None else bool(initial)
                return self.description.bool(name, initial=flag, is_scratch=is_scratch, place=at)
            if type.base == "real":
                return self.description.real(
                    name, lower, upper, initial=initial, is_scratch=is_scratch, place=at
                )
            whole = None if initial is None else int(initial)
            return self.description.int(
                name, int(lower), int(upper), initial=whole, is_scratch=is_scratch, place=at
            )

    def _range(self, name: str, type: DeclaredType, place: Place) -> tuple[float, float]:
        if type.base == "bool":
            return 0, 1
        lower, upper = type.lower, type.upper
        if type.base == "real":
            return (-REAL_LIMIT if lower is None else lower, REAL_LIMIT if upper is None else upper)
        if (lower is None or upper is None) and self.int_range is None:
            message = f"integer variable {quoted(name)} has no bounds"
            unsupported("unbounded-int", message, place / "type", "give --int-range LO..HI")
        widest = self.int_range or (0, 0)
        return (widest[0] if lower is None else lower, widest[1] if upper is None else upper)

    def _initial(
        self, node: dict[str, Json], type: DeclaredType, place: Place
    ) -> Value | list[Value] | None:
        at = place / "initial-value"
        if "initial-value" not in node:
            if type.is_array:
                message = "an array without initial value has no length"
                unsupported("array-length", message, place)
            return None
        made = self.converter.convert(node["initial-value"], self.constants, at)
        if isinstance(made, Expr) and not type.is_array:
            return value_of(as_type(made, type.base, at), at)
        if isinstance(made, Expr) or not type.is_array:
            refuse("type-mismatch", "an array's initial value is an array, and no other's is", at)
        assert isinstance(made, Cells)
        return [value_of(as_type(item, type.base, at), at) for item in made.items]


def value_for(variable: Variable, value: Value, place: Place) -> Value:
    """Return the value as one of the variable's type and range."""
    with placed(place):
        return check_value(replace(variable, place=str(place), labels=None), value)


def add_name(names: dict[str, Entry], name: str, meaning: Entry, place: Place) -> None:
    """Add a name to a scope in which it must be new."""
    distinct(name, names, "variable", place / "name")
    names[name] = meaning
