"""Conditions with local names and pinned reals: what the core reads, the checker reads alike.

Random models of two automata with local variables and arrays, whose conditions name them in every
way that docs/jani.md allows, and whose start condition leaves one value to reals by bounds of all
forms. Verdicts on them are carried through to certificates.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from surefoot import checker, load_task
from surefoot.certificates import check_policy_certificate
from surefoot.policies import as_policy
from surefoot.verify import verify

EXACTLY = {
    "name": "exactly",
    "type": "bool",
    "parameters": [{"name": "v", "type": "real"}, {"name": "limit", "type": "real"}],
    "body": {
        "op": "∧",
        "left": {"op": "≥", "left": "v", "right": "limit"},
        "right": {"op": "≥", "left": "limit", "right": "v"},
    },
}
MIRRORED = {"=": "=", "<": ">", "≤": "≥", ">": "<", "≥": "≤"}


def node(op: str, left: Any, right: Any) -> Any:
    return {"op": op, "left": left, "right": right}


def conjunction(rng: random.Random, parts: list[Any]) -> Any:
    """Return the parts joined by ∧, nested anyhow."""
    parts = list(parts)
    rng.shuffle(parts)
    while len(parts) > 1:
        at = rng.randrange(len(parts) - 1)
        parts[at : at + 2] = [node("∧", parts[at], parts[at + 1])]
    return parts[0]


def compared(rng: random.Random, op: str, left: Any, right: Any) -> Any:
    return node(op, left, right) if rng.random() < 0.5 else node(MIRRORED[op], right, left)


def pinned(rng: random.Random, name: str, value: float, bound: str | None) -> list[Any]:
    """Return conditions that leave one value to a real; ``bound`` is what its declaration bounds
    there already.
    """
    constant: Any = rng.choice((value, "HALF") if value == 0.5 else (value,))
    form = rng.random()
    if form < 0.2:
        return [compared(rng, "=", name, constant)]
    if form < 0.4:
        return [{"op": "call", "function": "exactly", "args": [name, constant]}]
    if form < 0.6:
        return [inside_let(name, constant, ("≥", "≤"))]
    ops = [op for op, side in (("≥", "lower"), ("≤", "upper")) if side != bound]
    if rng.random() < 0.3:  # a further one that rules nothing out
        ops.append(rng.choice(("≥", "≤")))
    return [compared(rng, op, name, constant) for op in ops]


def inside_let(name: str, constant: Any, ops: tuple[str, ...]) -> Any:
    """Return comparisons in which variable and constant have names of a ``let``."""
    variables = [{"name": "v", "value": name}, {"name": "limit", "type": "real", "value": constant}]
    first, second = (node(op, "v", "limit") for op in ops)
    return {"op": "let", "variables": variables, "expression": node("∧", first, second)}


def scoped_model(rng: random.Random) -> dict[str, Any]:
    """Return a model in which no run fails."""
    shares = rng.random() < 0.5  # both automata have a k: then it must be qualified
    value = rng.choice((0.5, 0.0, -1.25, 3, 0.1))
    bound = rng.choice((None, "lower", "upper"))
    real: Any = "real"
    if bound is not None:
        real = {"kind": "bounded", "base": "real", f"{bound}-bound": value}
    k = "m.k" if shares or rng.random() < 0.3 else "k"
    a = rng.choice(("m.a", "a"))
    other = "n.k" if shares else rng.choice(("n.b", "b"))
    r = rng.choice(("m.r", "r"))

    def cell(index: int) -> Any:
        return {"op": "aa", "exp": a, "index": index}

    whole = {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 3}
    start = [node("=", k, 0), node("=", cell(0), 0), compared(rng, "≤", cell(1), 1)]
    start += [node("=", other, 0), *pinned(rng, r, value, bound)]
    fail = node("∧", node(">", cell(0), k), node("=", other, 0))
    go = {
        "location": "here",
        "action": "go",
        "guard": {"exp": node("<", "k", 3)},
        "destinations": [
            {"location": "here", "assignments": [{"ref": "k", "value": node("+", "k", 1)}]},
        ],
    }
    keep = {
        "location": "here",
        "action": "keep",
        "destinations": [
            {
                "location": "here",
                "assignments": [{"ref": {"op": "aa", "exp": "a", "index": 0}, "value": "k"}],
            },
        ],
    }
    array = {"op": "av", "elements": [0, 1]}
    locals_ = [
        {"name": "k", "type": whole},
        {"name": "a", "type": {"kind": "array", "base": whole}, "initial-value": array},
        {"name": "r", "type": real},
    ]
    places = {"locations": [{"name": "here"}], "initial-locations": ["here"]}
    own = {"name": "k" if shares else "b", "type": whole}
    return {
        "jani-version": 1,
        "name": "scopes",
        "type": "lts",
        "actions": [{"name": "go"}, {"name": "keep"}],
        "constants": [{"name": "HALF", "type": "real", "value": 0.5}],
        "variables": [],
        "functions": [EXACTLY],
        "automata": [
            {"name": "m", "variables": locals_, **places, "edges": [go, keep]},
            {"name": "n", "variables": [own], **places, "edges": []},
        ],
        "system": {
            "elements": [{"automaton": "m"}, {"automaton": "n"}],
            "syncs": [{"synchronise": [each, None], "result": each} for each in ("go", "keep")],
        },
        "properties": [
            {
                "name": "p",
                "expression": {"op": "PA", "start": conjunction(rng, start), "reach": fail},
            }
        ],
    }


@pytest.mark.parametrize("seed", range(40))
def test_certificates_of_random_scopes(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    file = tmp_path / "scopes.jani"
    file.write_text(json.dumps(scoped_model(rng)))
    task = load_task(file)
    model = checker.load(file)
    starts = model.starts(10_000)
    assert starts is not None
    assert all(task.is_start(state) for state in starts)
    policy = as_policy(rng.choice(("first", "random")), task)
    result = verify(task, policy, certificate=tmp_path / "c.jsonl")
    assert result.verdict == "safe", result
    check_policy_certificate(task, tmp_path / "c.jsonl", policy=policy)


PINS = {
    "let": inside_let("m.r", 2, ("≥", "≤")),
    "call": {"op": "call", "function": "exactly", "args": ["m.r", 2]},
    "let of a call": {
        "op": "let",
        "variables": [{"name": "r", "value": "m.r"}],
        "expression": {"op": "call", "function": "exactly", "args": ["r", 0.5]},
    },
    "mathematical constant": node("=", "m.r", {"constant": "e"}),
    "element of an array": node(
        "=", "r", {"op": "aa", "exp": {"op": "av", "elements": [0.25, 2]}, "index": 1}
    ),
    "integer that no real equals": node("=", "r", 2**53 + 1),
}


@pytest.mark.parametrize("pin", PINS.values(), ids=PINS)
def test_what_pins_a_real_for_the_core_does_for_the_checker(pin: Any, tmp_path: Path) -> None:
    content = scoped_model(random.Random(1))
    (expression,) = (each["expression"] for each in content["properties"])
    rest = node("∧", node("=", "m.k", 0), node("=", {"op": "aa", "exp": "a", "index": 1}, 1))
    others = node("∧", node("=", {"op": "aa", "exp": "a", "index": 0}, 0), node("=", "n.k", 0))
    expression["start"] = node("∧", node("∧", pin, rest), others)
    file = tmp_path / "scopes.jani"
    file.write_text(json.dumps(content))
    task = load_task(file)
    policy = as_policy("first", task)
    (start,) = task.list_starts()
    assert checker.load(file).starts(1_000) == [dict(start)]
    assert verify(task, policy, certificate=tmp_path / "c.jsonl").verdict == "safe"
    check_policy_certificate(task, tmp_path / "c.jsonl", policy=policy)


@pytest.mark.parametrize("op", ["<", ">"])
def test_a_strict_bound_leaves_nothing(op: str, tmp_path: Path) -> None:
    content = scoped_model(random.Random(0))
    (expression,) = (each["expression"] for each in content["properties"])
    expression["start"] = node("∧", expression["start"], node(op, "m.r", -1000.0))
    expression["start"] = node("∧", node("=", "m.r", -1000.0), expression["start"])
    file = tmp_path / "scopes.jani"
    file.write_text(json.dumps(content))
    assert checker.load(file).starts(10_000) == []


@pytest.mark.parametrize("probability", [0, {"op": "ite", "if": "b", "then": 0.0, "else": 0}])
def test_an_action_without_possible_outcomes(probability: Any, tmp_path: Path) -> None:
    edge = {
        "location": "here",
        "action": "go",
        "destinations": [{"location": "here", "probability": {"exp": probability}}],
    }
    stay = {"location": "here", "action": "stay", "destinations": [{"location": "here"}]}
    content = {
        "jani-version": 1,
        "name": "zero",
        "type": "mdp",
        "actions": [{"name": "go"}, {"name": "stay"}],
        "variables": [{"name": "b", "type": "bool", "initial-value": False}],
        "automata": [
            {
                "name": "m",
                "locations": [{"name": "here"}],
                "initial-locations": ["here"],
                "edges": [edge, stay],
            }
        ],
        "system": {
            "elements": [{"automaton": "m"}],
            "syncs": [{"synchronise": [each], "result": each} for each in ("go", "stay")],
        },
    }
    file = tmp_path / "zero.jani"
    file.write_text(json.dumps(content))
    task, model = load_task(file), checker.load(file)
    (state,) = model.starts(10)
    assert tuple(task.applicable(task.state(state))) == ("stay",)
    assert model.applicable(state) == ("stay",)
    assert model.outcomes(state, "go") == []
