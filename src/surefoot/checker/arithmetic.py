"""The operators on values: exact 64-bit integers, finite doubles, Booleans.

Values carry their type: ``bool``, ``int`` or ``float``; arrays are tuples. An operator gets
operands that the type check let through, and returns a value of the type that it announced.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from .errors import ModelError

Scalar = bool | int | float
Value = Scalar | tuple[Scalar, ...]
Relation = Callable[[float, float], bool]
INT_MIN, INT_MAX = -(2**63), 2**63 - 1


def fit(value: int) -> int:
    """Return the integer if 64 bits hold it."""
    if not INT_MIN <= value <= INT_MAX:
        raise ModelError("overflow", f"a result has {value.bit_length()} bits and a sign")
    return value


def finite(value: float) -> float:
    """Return the real unless it is NaN or infinite."""
    if not math.isfinite(value):
        raise ModelError("not-finite", f"a result is {value}")
    return value


def to_real(value: Value) -> Value:
    """Return the number, or every number of the array, as a double."""
    return tuple(map(float, value)) if isinstance(value, tuple) else float(value)


def exact_or_real(
    on_int: Callable[[int, int], int], on_real: Callable[[float, float], float]
) -> Callable[[float, float], float]:
    """Return the operator that is exact on two integers, and otherwise works on doubles."""

    def apply(left: float, right: float) -> float:
        if isinstance(left, int) and isinstance(right, int):
            return fit(on_int(left, right))
        return finite(on_real(float(left), float(right)))

    return apply


def compare(relation: Relation) -> Relation:
    """Return the comparison that converts an integer which meets a real to a double first."""

    def apply(left: float, right: float) -> bool:
        if isinstance(left, float) or isinstance(right, float):
            left, right = float(left), float(right)
        return relation(left, right)

    return apply


def divide(left: float, right: float) -> float:
    if right == 0:
        raise ModelError("division-by-zero", f"{left} / 0")
    return finite(float(left) / float(right))


def modulo(left: int, right: int) -> int:
    """Return the remainder with the sign of the divisor."""
    if right == 0:
        raise ModelError("division-by-zero", f"{left} % 0")
    return left % right


def logarithm(left: float, right: float) -> float:
    if left <= 0 or right <= 0:
        raise ModelError("bad-log", f"log of {left} to base {right}")
    if float(right) == 1.0:
        raise ModelError("division-by-zero", f"log of {left} to base 1")
    return finite(math.log(float(left)) / math.log(float(right)))


def int_power(base: int, exponent: int) -> int:
    if exponent < 0:
        raise ModelError("negative-exponent", f"pow({base}, {exponent})")
    if abs(base) > 1 and exponent > 63:
        raise ModelError("overflow", f"pow({base}, {exponent}) does not fit 64 bits")
    if abs(base) <= 1 and exponent > 1:
        exponent = 2 + exponent % 2
    return int(base**exponent)


def real_power(base: float, exponent: float) -> float:
    """Return C's `pow`; Python raises where C answers NaN or infinity."""
    try:
        return math.pow(base, exponent)
    except (ValueError, OverflowError):
        raise ModelError("not-finite", f"pow({base}, {exponent})") from None


def negate(value: float) -> float:
    return fit(-value) if isinstance(value, int) else -value


def absolute(value: float) -> float:
    return fit(abs(value)) if isinstance(value, int) else abs(value)


def sign(value: float) -> int:
    return int(value > 0) - int(value < 0)


def rounding(rule: Callable[[float], int]) -> Callable[[float], int]:
    """Return `floor`, `ceil` or `trc` with the result held to 64 bits."""
    return lambda value: fit(rule(value))


def cell(array: tuple[Scalar, ...], index: int) -> Scalar:
    if not 0 <= index < len(array):
        raise ModelError("index-out-of-bounds", f"index {index}, length {len(array)}")
    return array[index]


def pack(*elements: Scalar) -> tuple[Scalar, ...]:
    return elements


# Type rules: the type of the result, or None if the operands have no business here.
NUMBERS = ("int", "real")


def number_rule(*kinds: object) -> str | None:
    if any(kind not in NUMBERS for kind in kinds):
        return None
    return "real" if "real" in kinds else "int"


def real_rule(*kinds: object) -> str | None:
    return "real" if number_rule(*kinds) else None


def rounding_rule(*kinds: object) -> str | None:
    return "int" if number_rule(*kinds) else None


def int_rule(*kinds: object) -> str | None:
    return "int" if all(kind == "int" for kind in kinds) else None


def bool_rule(*kinds: object) -> str | None:
    return "bool" if all(kind == "bool" for kind in kinds) else None


def order_rule(*kinds: object) -> str | None:
    return "bool" if number_rule(*kinds) else None


def equality_rule(*kinds: object) -> str | None:
    return bool_rule(*kinds) or order_rule(*kinds)


Operator = tuple[Callable[..., "str | None"], Callable[..., float]]

RELATIONS: dict[str, Relation] = {
    "=": operator.eq,
    "≠": operator.ne,
    "<": operator.lt,
    "≤": operator.le,
    ">": operator.gt,
    "≥": operator.ge,
}

BINARY: dict[str, Operator] = {
    "+": (number_rule, exact_or_real(operator.add, operator.add)),
    "-": (number_rule, exact_or_real(operator.sub, operator.sub)),
    "*": (number_rule, exact_or_real(operator.mul, operator.mul)),
    "min": (number_rule, exact_or_real(min, min)),
    "max": (number_rule, exact_or_real(max, max)),
    "pow": (number_rule, exact_or_real(int_power, real_power)),
    "/": (real_rule, divide),
    "%": (int_rule, modulo),
    "log": (real_rule, logarithm),
    **{
        name: (equality_rule if name in ("=", "≠") else order_rule, compare(relation))
        for name, relation in RELATIONS.items()
    },
}

UNARY: dict[str, Operator] = {
    "¬": (bool_rule, operator.not_),
    "-": (number_rule, negate),
    "abs": (number_rule, absolute),
    "sgn": (rounding_rule, sign),
    "floor": (rounding_rule, rounding(math.floor)),
    "ceil": (rounding_rule, rounding(math.ceil)),
    "trc": (rounding_rule, rounding(math.trunc)),
}
