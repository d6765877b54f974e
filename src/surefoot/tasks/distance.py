"""How far a state is from fail, as an expression (algorithms of P-TEST, section on fuzzing).

0 where the condition holds and positive elsewhere: for a comparison how much is missing; the sum
over a conjunction; the minimum over a disjunction; negations are pushed inwards. On integers ``a <
b`` is read as ``a + 1 <= b``. Conditions are lazy and the distance is not: a part that cannot be
evaluated counts 1.
"""

from __future__ import annotations

from surefoot.tasks.expressions import Expr, ite, make, maximum, minimum, postorder

_FAR = 1e300  # sums of distances stay finite
_NEAR = 1e-9
_NEGATED = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}


def distance_to(condition: Expr) -> Expr:
    """Return a real expression: 0 where ``condition`` holds, positive elsewhere."""
    done: dict[int, tuple[Expr, Expr]] = {}
    for node in postorder(condition):
        if node.type == "bool":
            done[id(node)] = _distances(node, done)
    return done[id(condition)][0]


def _distances(node: Expr, done: dict[int, tuple[Expr, Expr]]) -> tuple[Expr, Expr]:
    """Return the distances to where the node holds and to where it does not."""
    parts = [done.get(id(arg)) for arg in node.args]
    if node.op == "not":
        assert parts[0] is not None
        return parts[0][1], parts[0][0]
    if node.op in ("and", "or", "implies", "ite"):
        return _connective(node, [part for part in parts if part is not None])
    if node.op in _NEGATED and node.args[0].type != "bool":
        return _missing(node.op, *node.args), _missing(_NEGATED[node.op], *node.args)
    return _leaf(node, 1.0), _leaf(~node, 1.0)


def _leaf(holds: Expr, gap: Expr | float) -> Expr:
    """Return 0 where ``holds``, else the gap; 1 where either cannot be evaluated."""
    return make("guarded", ite(holds, 0.0, minimum(gap, _FAR)), 1.0)


def _connective(node: Expr, parts: list[tuple[Expr, Expr]]) -> tuple[Expr, Expr]:
    if node.op == "ite":
        (c, not_c), (t, not_t), (e, not_e) = parts
        return minimum(c + t, not_c + e), minimum(c + not_t, not_c + not_e)
    (a, not_a), (b, not_b) = parts
    if node.op == "and":
        return a + b, minimum(not_a, not_b)
    if node.op == "or":
        return minimum(a, b), not_a + not_b
    return minimum(not_a, b), a + not_b


def _missing(op: str, left: Expr, right: Expr) -> Expr:
    """Return how much is missing for ``left op right`` on numbers."""
    holds = make(op, left, right)
    if op == "ne":
        return _leaf(holds, 1.0)
    gap = abs(left * 1.0 - right * 1.0)
    is_integer = left.type == right.type == "int"
    if is_integer and op in ("lt", "gt"):
        gap = gap + 1.0
    # Where doubles see no gap although there is one it must not be lost.
    return _leaf(holds, maximum(gap, 1.0 if is_integer else _NEAR))
