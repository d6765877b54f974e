"""Every published instance: the core and the checker agree on random and on reachable states."""

from __future__ import annotations

import random

import pytest
from tests.support.agreement import compare_declarations, compare_reachable, compare_state
from tests.support.instances import INSTANCES, needs_data
from tests.support.random_models import random_state

from surefoot import checker, load_task

pytestmark = pytest.mark.slow

STATES = 1_000


@needs_data
@pytest.mark.parametrize("name", INSTANCES)
def test_core_agrees_with_checker(name):
    instance = INSTANCES[name]
    task = load_task(instance.path, **instance.arguments)
    model = checker.load(instance.path, **instance.arguments)
    compare_declarations(task, model)
    rng = random.Random(0)
    for _ in range(STATES):
        compare_state(task, model, task.state(random_state(model.variables, rng)))
    starts = task.sample_starts(20, seed=0)
    for start in starts:
        assert task.is_start(start)
        assert model.is_start(start.to_dict())
    assert compare_reachable(task, model, starts, count=STATES, rng=rng) == STATES
