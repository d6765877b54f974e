"""What makes two tasks the same: a hash of what the core compiles, and the names.

Not part of it: the name of the task, where it came from, names of locations, and initial values
beyond the start that they make. It does not depend on how nodes are numbered, and what a JANI file
cannot tell apart is the same: the unary minus and ``0 - x``, which error is raised, several
factors of a probability and their product, the order of edges with different actions, edges whose
guard is false (they keep the names of silent actions). So a task that is written as JANI and read
again has the same identity. Costs are part of it where there are any, and weights of outcomes where
those of an edge differ: a task without them has the hash that it had before there were any.

The checker neither reads nor computes it: it takes the task from the files that the user gives, and
what a certificate claims must hold there. The identity only tells early, and by name, that a file
is about another task.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from surefoot import _core
from surefoot.tasks.lowering import NO_NODE, TYPES, NodeTuple, bits_of

if TYPE_CHECKING:
    from surefoot.tasks.compiled_task import CompiledTask

PREFIX = "compiled-1:"
"""how an identity begins; the hashes of JANI texts, of versions before 0.2, have no prefix"""
_NAMES: dict[int, str] = {number: name for name, number in _core.OPS.items()}
OutcomeTuple = tuple[Sequence[int], Sequence[tuple[int, ...]], float]
"""factors of the probability, assignments, and the weight"""
_NOTHING = b"\0" * 32
_ONE = bits_of(1.0, "real")


def identity_of(task: CompiledTask, spec: Mapping[str, Any]) -> str:
    """Return the identity of a task that was compiled from this specification."""
    digest = hashlib.sha256(json.dumps(_head(task, spec)).encode())
    for piece in _pieces(task, spec):
        digest.update(piece)
    return PREFIX + digest.hexdigest()


def short_identity(digest: str) -> str:
    """Return the beginning of a hash of either kind, enough to tell two apart."""
    kind, colon, digits = digest.rpartition(":")
    return f"{kind}{colon}{digits[:12]}..."


def _head(task: CompiledTask, spec: Mapping[str, Any]) -> list[object]:
    declared = task.description.variables.values()
    scratch = [variable.name for variable in declared if variable.is_scratch]
    names = [*task.names, *scratch], list(task.actions)
    return [*names, spec["first_silent"], spec["variables"], spec["scratch_start"]]


def _pieces(task: CompiledTask, spec: Mapping[str, Any]) -> Iterator[bytes]:
    nodes = _digests(spec["nodes"])
    is_listed = task.description.start_states is not None
    starts = task.start_source() if is_listed else None  # initial values are a condition, too
    yield b"".join(nodes[spec[name]] for name in ("fail", "goal", "start"))
    yield b"any" if starts is None else b"listed %d:" % len(starts) + starts
    by_action = sorted(spec["edges"], key=lambda edge: edge[0])
    for action, guard, outcomes, cost in by_action:
        if nodes[guard] == _NEVER:
            continue
        yield b"edge %d %d:" % (action, len(outcomes)) + nodes[guard]
        if cost != NO_NODE and nodes[cost] not in _COSTS_OF_ONE:
            yield b"cost:" + nodes[cost]
        are_alike = _are_alike(outcomes)
        for probabilities, assignments, weight in outcomes:
            factors = [nodes[each] for each in probabilities]
            if weight != 1 and not are_alike:
                factors.insert(0, _digest("constant", TYPES["real"], bits=bits_of(weight, "real")))
            yield b"outcome %d:" % len(assignments) + _product(factors)
            for number, length, *parts, index in assignments:
                yield b"%d %d %d:" % (number, length, index)
                yield b"".join([nodes[part] for part in parts])


def _digests(tuples: Sequence[NodeTuple]) -> dict[int, bytes]:
    """Return a digest of every node, made from those of its operands."""
    made = {NO_NODE: _NOTHING}
    for number, (op, type, a, b, c, bits) in enumerate(tuples):
        name = _NAMES[op]
        if name == "variable":
            made[number] = _digest(name, type, bits=a)
        elif name == "cell":
            made[number] = _digest(name, type, made[a], bits=b, length=c)
        elif name == "raise":
            made[number] = _raised(type)
        elif name == "neg":
            made[number] = _digest("sub", type, _constant(0, type), made[a])
        else:
            made[number] = _digest(name, type, made[a], made[b], made[c], bits=bits)
    return made


def _digest(name: str, type: int, *operands: bytes, bits: int = 0, length: int = 0) -> bytes:
    parts = itertools.chain(operands, itertools.repeat(_NOTHING, 3 - len(operands)))
    head = b"%s %d %d %d:" % (name.encode(), type, bits, length)
    return hashlib.sha256(head + b"".join(parts)).digest()


def _constant(value: int, type: int) -> bytes:
    made = _digest("constant", TYPES["int"], bits=value)
    return _digest("to_real", type, made) if type == TYPES["real"] else made


def _raised(type: int) -> bytes:
    """Return the digest of an error as the JANI writer writes it: 1 % 0 in the right type."""
    whole = TYPES["int"]
    error = _digest("mod", whole, _constant(1, whole), _constant(0, whole))
    if type == TYPES["bool"]:
        return _digest("eq", type, error, _constant(0, whole))
    if type == whole:
        return error
    unit = _digest("constant", type, bits=_ONE)
    return _digest("mul", type, _digest("to_real", type, error), unit)


def _are_alike(outcomes: Sequence[OutcomeTuple]) -> bool:
    """Return whether all outcomes of an edge are equally likely: then weights tell nothing."""
    first = outcomes[0][2] if outcomes else 1.0
    return all(not factors and weight == first for factors, _, weight in outcomes)


def _product(factors: Sequence[bytes]) -> bytes:
    if not factors:
        return _NOTHING
    made = factors[0]
    for factor in factors[1:]:
        made = _digest("mul", TYPES["real"], made, factor)
    return made


_NEVER = _digest("constant", TYPES["bool"], bits=0)
_COSTS_OF_ONE = (_constant(1, TYPES["real"]), _digest("constant", TYPES["real"], bits=_ONE))
