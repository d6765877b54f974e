"""5,000 random models: the core and the checker give the same answers, everywhere they are asked."""

from __future__ import annotations

import json
import random

import pytest

from surefoot import checker, explore, load_task
from tests.support.agreement import answer, compare_declarations, compare_reachable, compare_state, frozen
from tests.support.random_models import is_calm, random_model, random_state

MODELS = 5_000
PARTS = 20


@pytest.mark.fuzz
@pytest.mark.parametrize("part", range(PARTS))
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
    task, model = load_task(path), checker.load(path)
    compare_declarations(task, model)
    for _ in range(4):
        state = task.state(random_state(model.variables, rng))
        compare_state(task, model, state)
        ours, theirs = answer(lambda s=state: task.is_start(s)), answer(lambda s=state: model.is_start(s.to_dict()))
        assert ours == theirs, state
    compare_starts(task, model, rng, seed)


def compare_starts(task, model, rng, seed):
    starts = answer(lambda: model.starts(2_000))
    if starts is None or starts == "error":
        return
    ours = task.list_starts(max_states=10_000)
    assert len(set(ours)) == len(ours)
    assert frozen(ours) == frozen(starts)
    met = compare_reachable(task, model, ours, count=12, rng=rng)
    if is_calm(seed) and met < 12:
        assert explore(task).states >= met
