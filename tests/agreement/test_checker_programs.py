"""The checker's ways to be quick against its plain ones: functions against the machine, edges found
by the values of variables against edges tried one by one, updates at once against groups.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.random_models import random_model, random_state

from surefoot import checker, load_task
from surefoot.certificates.models import model_of
from surefoot.checker import model as checker_model
from surefoot.checker.dispatch import Dispatch
from surefoot.checker.errors import ModelError
from surefoot.checker.expressions import Code, run_steps
from surefoot.checker.model import Edge, Model
from surefoot.checker.programs import function_of

SEEDS = 80
STATES = 12
FAMILIES = ("beluga?jigs=4", "blocksworld?blocks=5", "bouncing-ball", "one-way-line", "racetrack")


def random_checker_model(seed: int, folder: Path) -> Model:
    file = folder / "model.jani"
    file.write_text(json.dumps(random_model(seed)), "utf-8")
    return checker.load(file)


def codes_of(edge: Edge) -> Iterator[Code]:
    yield from filter(None, [edge.guard])
    for destination in edge.destinations:
        yield from filter(None, [destination.probability])
        for each in destination.assignments:
            yield from filter(None, [each.position, each.value, *(each.interval or ())])


def answer(question: Any, *arguments: object) -> object:
    """Return what is answered, with its type, or the error."""
    try:
        return repr(question(*arguments))
    except ModelError as error:
        return error.kind, error.detail


def test_functions_compute_what_the_machine_does(tmp_path):
    compared = raised = 0
    for seed in range(SEEDS):
        model = random_checker_model(seed, tmp_path)
        rng = random.Random(seed)
        codes = [code for each in model.elements for edge in each.edges for code in codes_of(edge)]
        conditions = [each for each in (model.fail, model.goal, *model.start.conditions) if each]
        codes += [code for each in conditions for code in each.conjuncts]
        functions = [function_of(code.steps, code.kinds) for code in codes]
        assert None not in functions
        for _ in range(STATES):
            state = random_state(model.variables, rng)
            for code, function in zip(codes, functions, strict=True):
                expected = answer(run_steps, code.steps, model.view(state))
                assert answer(function, model.view(state)) == expected, (seed, code.steps)
                compared += 1
                raised += isinstance(expected, tuple)
    assert compared > 5_000
    assert raised > 50


def behaviour(model: Model, state: dict[str, Any]) -> list[object]:
    view = model.view(state)
    answers = [answer(model.applicable, view)]
    return answers + [answer(model.outcomes, view, action) for action in model.actions]


def plain_behaviour(model: Model, state: dict[str, Any], monkeypatch: Any) -> list[object]:
    """Return the same, with every guard evaluated by itself and updates in groups."""
    with monkeypatch.context() as patch:
        patch.setattr(Dispatch, "at", lambda self, values: self._left)
        patch.setattr(checker_model, "_plan_of", lambda *_: None)
        patch.setattr(checker_model.Edge, "is_certain", False)
        return behaviour(model, state)


def test_random_models_behave_alike(tmp_path, monkeypatch):
    for seed in range(SEEDS):
        quick, plain = (random_checker_model(seed, tmp_path) for _ in range(2))
        rng = random.Random(seed)
        for _ in range(STATES):
            state = random_state(quick.variables, rng)
            assert behaviour(quick, state) == plain_behaviour(plain, state, monkeypatch), seed


@pytest.mark.parametrize("family", FAMILIES)
def test_families_behave_alike(family, monkeypatch):
    quick, plain = (model_of(load_task(f"domain:{family}"), []) for _ in range(2))
    rng = random.Random(family)
    for _ in range(60):
        state = random_state(quick.variables, rng)
        for _ in range(5):
            assert behaviour(quick, state) == plain_behaviour(plain, state, monkeypatch)
            try:
                outcomes = [o for a in quick.applicable(state) for o in quick.outcomes(state, a)]
            except ModelError:
                break
            if not outcomes:
                break
            state = rng.choice(outcomes)


@pytest.mark.parametrize("op", ["∧", "∨"])
def test_long_chains_have_functions_and_deep_ones_the_machine(op):
    load, is_one = ("load", "x"), ("push", 1)
    compare = ("apply to two", checker_model.run.__globals__["RELATIONS"]["="])
    steps: list[Any] = [load, is_one, compare]
    for _ in range(5_000):
        at = len(steps)
        steps += [("settle", (op == "∨", at + 4)), load, is_one, compare]
    assert function_of(steps, {})({"x": 1}) is True
    assert function_of(steps, {})({"x": 2}) is False
    deep = [*steps[:3], *[("apply", (1, len))] * 100]
    assert function_of(deep, {}) is None


def test_names_and_values_never_become_source():
    name = "x'] + __import__('os').getpid() + ['"
    function = function_of([("load", name), ("push", -1), ("apply to two", max)], {})
    assert function({name: -5}) == -1
    assert "__builtins__" in function.__globals__ and function.__globals__["__builtins__"] == {}
