"""Many runs at once: every step is a step of the task, and depends on nothing it should not."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.support.explicit_policies import compiled, lively_task

from surefoot import Description, _core, domain
from surefoot.policies.binding import core_interface
from surefoot.policies.interface import Input, Interface, scaled_interface
from surefoot.train.rewards import goal_guidance

GOES_ON, FAIL, GOAL, DEAD_END, CUT = 0, 1, 2, 3, 6  # as the core numbers ends of runs
LINE = {"packages": 2, "locations": 5, "variant": "icy-park"}
LIMIT = 8


def environments(task, *, count=8, max_steps=30, interface=None, starts=None, **more):
    inputs, outputs = core_interface(task, interface or scaled_interface(task))
    packed = task.draw_starts(50, seed=1) if starts is None else starts
    return _core.Environments(
        task.core,
        packed,
        count=count,
        max_steps=max_steps,
        inputs=inputs,
        outputs=outputs,
        **more,
    )


def any_action(masks, rng):
    """Return an applicable output for each row."""
    return np.array([rng.choice(np.flatnonzero(row)) for row in masks], np.int32)


def decisions(task):
    return [name for name in task.actions if name not in task.silent]


def result_of(task, state, steps, max_steps):
    """Return how a run that has come to this state goes on, from the task's own answers."""
    if task.is_fail(state):
        return FAIL
    if task.is_goal(state):
        return GOAL
    if not task.applicable(state):
        return DEAD_END
    return CUT if steps >= max_steps else GOES_ON


@pytest.mark.parametrize("name", ["line", "bird"])
def test_steps_are_those_of_the_task(name):
    short = {**LINE, "packages": 1, "locations": 4}
    task = domain("one-way-line", **short) if name == "line" else domain("flappy-bird", walls=30)
    many = environments(task, max_steps=LIMIT)
    many.reset(3)
    rng, names = np.random.default_rng(0), decisions(task)
    steps, seen = np.zeros(8, int), set()
    for _ in range(600):
        before = task.unpack_all(many.states)
        actions = any_action(many.masks, rng)
        many.step(actions)
        steps += 1
        after = task.unpack_all(many.next_states)
        for i, (state, led_to) in enumerate(zip(before, after, strict=True)):
            assert led_to in task.outcomes(state, names[actions[i]])
            assert many.results[i] == result_of(task, led_to, steps[i], LIMIT)
            seen.add(int(many.results[i]))
            is_over = many.results[i] in (FAIL, GOAL, DEAD_END)
            wanted = [] if is_over else [a for a in names if a in task.applicable(led_to)]
            assert [a for a, can in zip(names, many.next_masks[i], strict=True) if can] == wanted
        for i, now in enumerate(task.unpack_all(many.states)):
            assert now == after[i] if many.results[i] == GOES_ON else task.is_start(now)
            assert [a for a, can in zip(names, many.masks[i], strict=True) if can] == list(
                task.applicable(now)
            )
        steps[many.results != GOES_ON] = 0
    assert seen == ({0, 1, 2, 3, CUT} if name == "line" else {0, 1, CUT})


def test_every_outcome_is_met_about_equally_often():
    d = Description("die")
    x = d.int("x", 0, 6, initial=0)
    d.edge("roll", guard=x == 0, outcomes=[{x: n} for n in range(1, 7)])
    d.edge("keep", guard=x == 0, outcomes=[{}])
    d.start({"x": 0})
    d.goal(x >= 1)
    many = environments(d.compile(), count=600)
    many.reset(0)
    rolled = np.zeros(7, int)
    for _ in range(20):
        many.step(np.zeros(600, np.int32))
        values = np.rint(many.next_observations[:, 0] * 3 + 3).astype(int)
        rolled += np.bincount(values, minlength=7)
    assert rolled[0] == 0
    assert 1800 < rolled[1:].min() <= rolled[1:].max() < 2200


@pytest.mark.parametrize("seed", range(60))
def test_random_tasks_with_silent_actions(seed):
    rng = random.Random(seed)
    explicit = lively_task(rng)
    task = compiled(explicit)
    try:
        many = environments(task, count=4, max_steps=20)
        many.reset(seed)
    except ValueError as error:
        assert "begin" in str(error)  # nothing is to be decided anywhere near the start
        return
    names, numbers = decisions(task), np.random.default_rng(seed)
    for _ in range(60):
        before = task.unpack_all(many.states)
        actions = any_action(many.masks, numbers)
        many.step(actions)
        for i, led_to in enumerate(task.unpack_all(many.next_states)):
            assert led_to in silently_reached(task, task.outcomes(before[i], names[actions[i]]))
            if many.results[i] == GOES_ON:
                assert set(task.applicable(led_to)) - set(task.silent)


def silently_reached(task, states):
    """Return the states that forced silent actions lead to, those on the way included."""
    found, open_states = set(states), list(states)
    while open_states:
        state = open_states.pop()
        applicable = task.applicable(state)
        if task.is_fail(state) or task.is_goal(state) or set(applicable) - set(task.silent):
            continue
        for action in applicable:
            for outcome in task.outcomes(state, action):
                if outcome not in found:
                    found.add(outcome)
                    open_states.append(outcome)
    return found


def test_observations_are_the_scaled_values():
    task = domain("one-way-line", **LINE)
    interface = Interface(
        (Input("truck_0", mean=1.0, scale=2.0), Input(constant=7.0), Input("truck_load_0")),
        scaled_interface(task).outputs,
    )
    plain, scaled = environments(task, interface=interface), environments(task)
    for many in (plain, scaled):
        many.reset(5)
    for state, row, all_of in zip(
        task.unpack_all(plain.states), plain.observations, scaled.observations, strict=True
    ):
        assert list(row) == [(state["truck_0"] - 1) / 2, 7.0, state["truck_load_0"]]
        wanted = [
            np.float32((state[v.name] - (v.lower + v.upper) / 2) / ((v.upper - v.lower) / 2))
            for v in task.variables
        ]
        assert all_of == pytest.approx(wanted)
        assert np.abs(all_of).max() <= 1
    assert plain.observations.dtype == np.float32
    assert plain.masks.dtype == np.bool_


def followed(task, *, count, seed, steps=40):
    """Return where run 0 and run 1 are after each step, if each takes its first action."""
    many = environments(task, count=count)
    many.reset(seed)
    path = []
    for _ in range(steps):
        many.step(many.masks.argmax(1).astype(np.int32))
        path.append(many.observations[:2].copy())
    return np.array(path)


def test_a_run_depends_on_its_seed_and_number_only():
    task = domain("one-way-line", **LINE)
    alone = followed(task, count=2, seed=4)
    assert np.array_equal(alone, followed(task, count=9, seed=4))
    assert np.array_equal(alone, followed(task, count=2, seed=4))
    assert not np.array_equal(alone, followed(task, count=2, seed=5))
    assert not np.array_equal(alone[:, 0], alone[:, 1])


def test_distance_to_the_goal():
    task = domain("two-way-line", packages=2, locations=4)
    goal = goal_guidance(task)
    many = environments(task, guidance=goal)
    many.reset(0)
    rng = np.random.default_rng(0)
    for _ in range(50):
        many.step(any_action(many.masks, rng))
        for state, distance in zip(
            task.unpack_all(many.next_states), many.next_distances, strict=True
        ):
            assert distance == goal.distance(task.core, state.packed)
            assert (distance == 0) == task.is_goal(state) or task.is_fail(state)
    assert len(set(many.distances)) > 1


def test_wrong_use():
    task = domain("one-way-line", **LINE)
    many = environments(task, count=2)
    with pytest.raises(ValueError, match="reset"):
        many.step(np.zeros(2, np.int32))
    many.reset(0)
    for wrong in (np.array([-1, 0]), np.array([0, 99]), np.array([0, 0, 0])):
        with pytest.raises(ValueError, match=r"applicable|one action"):
            many.step(wrong.astype(np.int32))
    not_applicable = np.flatnonzero(~many.masks[0])[0]
    before = many.states
    with pytest.raises(ValueError, match="applicable"):
        many.step(np.array([not_applicable, not_applicable], np.int32))
    assert many.states == before
    with pytest.raises(ValueError, match="start"):
        environments(task, starts=b"")
    with pytest.raises(ValueError, match="packed"):
        environments(task, starts=b"12345678")
    ended = task.state({**task.initial_state(), "aux_vel": -1})
    with pytest.raises(ValueError, match="end where they begin"):
        environments(task, starts=ended.packed).reset(0)


def test_model_errors_come_out():
    d = Description("out")
    x = d.int("x", 0, 3, initial=0)
    d.edge("up", outcomes=[{x: x + 1}])
    d.edge("stay", outcomes=[{}])
    d.start({"x": 0})
    many = environments(d.compile(), count=1)
    many.reset(0)
    for _ in range(3):
        many.step(np.zeros(1, np.int32))
    with pytest.raises(_core.ModelError):
        many.step(np.zeros(1, np.int32))


def broken_when_begun():
    """Return a task of which the second start state cannot be looked at."""
    d = Description("broken")
    x = d.int("x", 0, 3)
    d.edge("on", guard=x == 0, outcomes=[{x: 1}])
    d.edge("over", guard=(x == 0) | (1.0 / (x - 2.0) < 9.0), outcomes=[{x: 1}])
    d.start({"x": 0}, {"x": 2})
    d.goal(x == 1)
    return d.compile()


def stepped(many, count):
    for _ in range(count):
        many.step(np.zeros(1, np.int32))


def test_after_an_error_runs_are_begun_again():
    task = broken_when_begun()
    many = environments(task, count=1, starts=task.state(x=0).packed + task.state(x=2).packed)
    for seed in range(20):
        try:
            many.reset(seed)
        except _core.ModelError:
            continue
        break
    with pytest.raises(_core.ModelError):
        stepped(many, 50)
    with pytest.raises(ValueError, match="reset"):
        many.step(np.zeros(1, np.int32))
