"""5,000 random models: the core and the checker give the same answers wherever asked."""

from __future__ import annotations

import json
import random

import pytest
from tests.support.agreement import (
    answer,
    compare_declarations,
    compare_reachable,
    compare_state,
    frozen,
    reachable_counts,
)
from tests.support.random_models import is_calm, random_model, random_state

from surefoot import SurefootError, checker, explore, load_task

MODELS = 5_000
PARTS = 20
QUICK_PARTS = 5  # the others are marked slow
# The loader refuses these at once; the checker only when a step meets them.
REFUSED = {"negative-probability", "too-many-start-states"}


@pytest.mark.fuzz
@pytest.mark.parametrize(
    "part",
    [
        *range(QUICK_PARTS),
        *(pytest.param(part, marks=pytest.mark.slow) for part in range(QUICK_PARTS, PARTS)),
    ],
)
def test_core_agrees_with_checker(part, tmp_path):
    path = tmp_path / "model.jani"
    for seed in range(part, MODELS, PARTS):
        path.write_text(json.dumps(random_model(seed)), encoding="utf-8")
        try:
            compare_model(path, seed)
        except Exception as error:
            raise AssertionError(f"random_model({seed})") from error


def compare_model(path, seed):
    rng = random.Random(seed)
    model = checker.load(path)
    try:
        task = load_task(path)
    except SurefootError as error:
        assert error.code in REFUSED, error
        return
    compare_declarations(task, model)
    for _ in range(4):
        state = task.state(random_state(model.variables, rng))
        compare_state(task, model, state)
        compare_is_start(task, model, state)
    compare_starts(task, model, rng, seed)


def compare_is_start(task, model, state):
    ours = answer(lambda: task.is_start(state))
    assert ours == answer(lambda: model.is_start(state.to_dict())), state


def compare_starts(task, model, rng, seed):
    starts = answer(lambda: model.starts(2_000))
    if starts is None or starts == "error":
        return
    ours = answer(lambda: task.list_starts(max_states=10_000))
    assert ours != "error"
    assert frozen(ours) == frozen(starts)
    compare_reachable(task, model, ours, count=12, rng=rng)
    if is_calm(seed) and starts:
        compare_explored(task, model, starts)


def compare_explored(task, model, starts):
    """Hold the counts of explore against a plain search with the checker."""
    expected = reachable_counts(model, starts, limit=200)
    if expected is None:
        return
    result = explore(task)
    assert result.complete
    assert {name: getattr(result, name) for name in expected} == expected
