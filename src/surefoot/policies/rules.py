"""Rule models of microplaja (``sym_model.json``).

An atom ``i_v`` says that input i has the value v. A rule is a conjunction or disjunction of atoms
and other rules, negated or not. The score of a class is its bias plus the weights of those rules of
the last layer that are true, added in double in the order of the file. Class k is output k.

The file names no variables: that is for the interface. It has as many inputs as the atoms are
about, at least: an input with one value only has no atom.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from surefoot.errors import InputError, quoted, shown
from surefoot.files import read_json
from surefoot.policies.format import JSON, Format
from surefoot.policies.loaded import Loaded
from surefoot.policies.models import Rules
from surefoot.policies.trees.reading import MAX_INPUTS, errors_in

_ATOM = re.compile(r"([0-9]{1,9})_(-?[0-9]{1,9})")
_RULE = re.compile(r"L([0-9]{1,9})_([0-9]{1,9})")
_CLASS = re.compile(r"class_(0|[1-9][0-9]{0,8})")

Body = tuple[bool, list[tuple[str, bool]]]
"""whether it is a conjunction, and its terms: a name, and whether it is negated"""


def read(path: str | Path) -> Loaded:
    """Return the rules in a ``sym_model.json`` file."""
    with errors_in(Path(path), "bad-rules"):
        return Loaded(_rules_of(read_json(path)), at_least=True)


def _rules_of(content: object) -> Rules:
    atoms = _atoms(_part(content, "atoms", list, ""))
    bodies = {name: _body(name, body) for name, body in _part(content, "rules", dict, "").items()}
    order = _order(bodies, atoms)
    numbers = atoms | {name: len(atoms) + number for number, name in enumerate(order)}
    linear = _part(content, "linear", dict, "")
    base = _bias(_part(linear, "bias", dict, "/linear"))
    weights = _weights(_part(linear, "weights", dict, "/linear"), order, len(base))
    pairs = tuple(_split_atom(name) for name in atoms)
    rules = Rules(
        num_inputs=max([0, *(number for number, _ in pairs)]) + 1,
        num_outputs=len(base),
        atoms=pairs,
        rules=tuple(
            (is_and, tuple((numbers[term], negated) for term, negated in terms))
            for is_and, terms in (bodies[name] for name in order)
        ),
        weights=weights,
        base=base,
    )
    rules.check()
    return rules


def _bad(message: str, place: str) -> InputError:
    return InputError("bad-rules", message, place=place)


def _part(content: object, key: str, kind: type, place: str) -> Any:
    if not isinstance(content, dict) or key not in content:
        raise _bad(f"{quoted(key)} is missing", place or "/")
    if not isinstance(content[key], kind):
        raise _bad(f"this is not {'a list' if kind is list else 'an object'}", f"{place}/{key}")
    return content[key]


# -- atoms and rules -------------------------------------------------------------------------


def _atoms(names: list[object]) -> dict[str, int]:
    """Return the number of each atom."""
    atoms: dict[str, int] = {}
    for number, name in enumerate(names):
        place = f"/atoms/{number}"
        if not isinstance(name, str) or not _ATOM.fullmatch(name):
            raise _bad(f"{shown(name)} is not an atom like 3_14", place)
        if _split_atom(name)[0] >= MAX_INPUTS:
            raise _bad(f"atom {quoted(name)} is about input {MAX_INPUTS:,} or later", place)
        if name in atoms:
            raise _bad(f"atom {quoted(name)} is listed twice", place)
        atoms[name] = number
    return atoms


def _split_atom(name: str) -> tuple[int, int]:
    number, _, value = name.partition("_")
    return int(number), int(value)


def _body(name: str, body: object) -> Body:
    place = f"/rules/{name}"
    if not _RULE.fullmatch(name):
        raise _bad(f"{quoted(name)} is not a rule like L1_3", place)
    if not isinstance(body, dict) or len(body) != 1 or next(iter(body)) not in ("AND", "OR"):
        raise _bad("a rule is one AND or one OR", place)
    kind, terms = next(iter(body.items()))
    if not isinstance(terms, list):
        raise _bad("the terms of a rule are a list", place)
    return kind == "AND", [_term(term, place) for term in terms]


def _term(term: object, place: str) -> tuple[str, bool]:
    """Return the atom or rule that a term is about, and whether it is negated."""
    negated = False
    while isinstance(term, dict):
        if set(term) == {"NOT"}:
            negated, term = not negated, term["NOT"]
        elif set(term) in ({"ref"}, {"ref", "neg"}) and isinstance(term.get("neg", False), bool):
            negated, term = negated != term.get("neg", False), term["ref"]
        else:
            raise _bad("a term is a name, a NOT or a ref", place)
    if not isinstance(term, str):
        raise _bad(f"{shown(term)} is not a term", place)
    return term, negated


def _order(bodies: dict[str, Body], atoms: dict[str, int]) -> list[str]:
    """Return the rules such that each comes after those it is about, else as in the file."""
    done: dict[str, None] = {}
    open_rules: set[str] = set()
    for first in bodies:
        waiting = [first]
        while waiting:
            name = waiting[-1]
            if name in done:
                waiting.pop()
                continue
            needed = [term for term, _ in bodies[name][1] if term not in atoms and term not in done]
            if not needed:
                done[waiting.pop()] = None
                open_rules.discard(name)
                continue
            if name in open_rules:
                raise _bad("rules are about each other in a circle", f"/rules/{name}")
            open_rules.add(name)
            for term in needed:
                if term not in bodies:
                    message = f"{quoted(term)} is neither an atom nor a rule"
                    raise _bad(message, f"/rules/{name}")
            waiting.extend(dict.fromkeys(reversed(needed)))
    return list(done)


# -- classes ---------------------------------------------------------------------------------


def _bias(biases: dict[str, object]) -> tuple[float, ...]:
    """Return the biases of all classes; those must be numbered from 0 on."""
    numbers = {
        _class_number(name, "/linear/bias"): _real(value, f"/linear/bias/{name}")
        for name, value in biases.items()
    }
    if sorted(numbers) != list(range(len(numbers))) or not numbers:
        raise _bad("the classes are not class_0, class_1 and so on", "/linear/bias")
    return tuple(numbers[number] for number in range(len(numbers)))


def _weights(
    classes: dict[str, object], order: list[str], num_outputs: int
) -> tuple[tuple[int, int, float], ...]:
    """Return (rule, class, weight) for the rules of the last layer."""
    numbers = {name: number for number, name in enumerate(order)}
    layers = {name: int(name[1 : name.index("_")]) for name in order}
    last = max(layers.values(), default=0)
    weights = []
    for name, row in classes.items():
        place = f"/linear/weights/{name}"
        output = _class_number(name, place)
        if output >= num_outputs or not isinstance(row, dict):
            raise _bad("this is not a class with a bias, or has no weights", place)
        for rule, weight in row.items():
            if rule not in numbers:
                raise _bad(f"{quoted(rule)} is not a rule", place)
            value = _real(weight, f"{place}/{rule}")
            if layers[rule] == last:
                weights.append((numbers[rule], output, value))
    return tuple(weights)


def _class_number(name: str, place: str) -> int:
    match = _CLASS.fullmatch(name)
    if match is None:
        raise _bad(f"{quoted(name)} is not a class like class_0", place)
    return int(match.group(1))


def _real(value: object, place: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise _bad(f"{shown(value)} is not a number", place)
    try:
        return float(value)
    except OverflowError:
        raise _bad("a number is too large", place) from None


FORMAT = Format(
    "rules", read, (JSON,), members=frozenset({"atoms", "rules", "linear"}), plural="rules"
)
