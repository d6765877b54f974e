"""Simulate: runs follow the task, end for the right reason, and depend on their number only."""

import pytest

from surefoot import Description, InputError, OutOfBudget, SimulateOptions, domain, simulate


def walk(**conditions):
    """A random walk on 0..9; conditions are values of x."""
    d = Description("walk")
    x = d.int("x", 0, 9, initial=5)
    d.edge("left", guard=x > 0, outcomes=[{x: x - 1}, {}])
    d.edge("right", guard=x < 9, outcomes=[{x: x + 1}, {}])
    for name, value in conditions.items():
        getattr(d, name)(x == value)
    return d.compile()


def test_run_k_is_the_same_among_any_number():
    task = domain("one-way-line", packages=4, locations=5, variant="icy")
    many = simulate(task, runs=20, seed=3).runs
    assert [run.run for run in many] == list(range(20))
    for count in (1, 2, 7):
        assert simulate(task, runs=count, seed=3).runs == many[:count]
    assert simulate(task, runs=20, seed=4).runs != many
    assert len({run.states for run in many}) > 5
    starts = [run.start for run in many]
    assert simulate(task, starts, runs=20, seed=3).runs == many
    assert simulate(task, starts, runs=20, seed=3, max_seconds=300).runs == many


def test_too_many_runs_are_refused_at_once():
    with pytest.raises(InputError) as caught:
        simulate(domain("one-way-line"), runs=10**12)
    assert caught.value.code == "bad-option"


@pytest.mark.parametrize("policy", ["random", "first"])
def test_runs_follow_the_task(policy):
    task = domain("one-way-line", packages=3, locations=5, variant="icy-park")
    results = set()
    for run in simulate(task, policy=policy, runs=60, seed=1, max_steps=30).runs:
        assert task.is_start(run.start)
        for state, action, after in zip(run.states, run.actions, run.states[1:], strict=False):
            assert not task.is_fail(state)
            assert not task.is_goal(state)
            applicable = task.applicable(state)
            assert action == applicable[0] if policy == "first" else action in applicable
            assert after in task.outcomes(state, action)
        last = run.states[-1]
        ends = {
            "fail": task.is_fail(last),
            "goal": task.is_goal(last),
            "dead_end": not task.applicable(last),
            "cut": run.steps == 30,
        }
        assert ends[run.result]
        results.add(run.result)
    assert len(results) > 1 or policy == "first"


def test_results():
    assert simulate(walk(fail=5)).runs[0].result == "fail"
    assert simulate(walk(goal=5)).runs[0].result == "goal"
    assert simulate(walk(goal=5, fail=5)).runs[0].result == "fail"
    assert simulate(walk(), max_steps=7).runs[0].result == "cut"
    d = Description("end")
    d.int("x", 0, 1, initial=0)
    assert simulate(d.compile()).runs[0].result == "dead_end"


def test_steps_are_limited_exactly():
    d = Description("line")
    x = d.int("x", 0, 5, initial=0)
    d.edge("up", guard=x < 5, outcomes=[{x: x + 1}])
    task = d.compile()
    for limit, (result, steps) in {
        0: ("cut", 0),
        4: ("cut", 4),
        5: ("dead_end", 5),
        9: ("dead_end", 5),
    }.items():
        run = simulate(task, max_steps=limit).runs[0]
        assert (run.result, run.steps, len(run.states)) == (result, steps, steps + 1)


def test_every_action_and_outcome_is_taken_about_equally_often():
    runs = simulate(walk(), [{"x": 5}], runs=2000, max_steps=1, seed=6).runs
    assert abs(sum(run.actions[0] == "left" for run in runs) - 1000) < 150
    assert abs(sum(run.states[1]["x"] == 5 for run in runs) - 1000) < 150


@pytest.mark.parametrize("policy", ["random", "first"])
def test_silent_actions_are_taken_only_where_nothing_else_is_applicable(policy):
    d = Description("silent", silent=["tick", "tock"])
    x = d.int("x", 0, 3)
    d.edge("tick", outcomes=[{x: 0}])
    d.edge("tock", outcomes=[{x: 3}])
    d.edge("choose", guard=x <= 1, outcomes=[{x: x + 1}])
    task = d.compile()
    runs = simulate(task, [{"x": 0}], policy=policy, runs=40, max_steps=3).runs
    assert {run.actions[:2] for run in runs} == {("choose", "choose")}
    assert {run.actions[2] for run in runs} == {"tick", "tock"}


def test_states_are_used_round_and_round():
    runs = simulate(walk(), [{"x": 1}, {"x": 2}], runs=5, max_steps=0).runs
    assert [run.start["x"] for run in runs] == [1, 2, 1, 2, 1]


def test_without_a_number_there_is_one_run_for_each_state():
    assert [run.start["x"] for run in simulate(walk(), [{"x": 1}, {"x": 2}]).runs] == [1, 2]
    assert len(simulate(walk()).runs) == 1
    assert simulate(walk(), [{"x": 1}], runs=0).runs == ()


def test_summary_and_plain_data():
    result = simulate(walk(goal=5), runs=3)
    counts = dict.fromkeys(("fail", "dead_end", "cycle", "inapplicable", "cut"), 0)
    assert result.summary == {"runs": 3, "goal": 3, **counts}
    assert result.to_dict()["runs"][2] == {
        "run": 2,
        "start": {"x": 5},
        "result": "goal",
        "steps": 0,
        "states": [{"x": 5}],
        "actions": [],
    }
    assert str(result.runs[0]) == "run 0: goal after 0 steps\n  x=5"
    assert simulate(walk(), runs=0).runs == ()


def test_budgets_and_bad_options():
    with pytest.raises(OutOfBudget) as caught:
        simulate(walk(), max_steps=10**12, max_seconds=0.1)
    assert caught.value.code == "out-of-seconds"
    with pytest.raises(OutOfBudget) as caught:
        simulate(walk(), max_steps=10**12, memory_mb=1)
    assert caught.value.code == "out-of-memory"
    with pytest.raises(InputError) as caught:
        simulate(walk(), policy="randm")
    assert (caught.value.code, caught.value.hint) == ("unknown-policy", 'did you mean "random"?')
    with pytest.raises(InputError) as caught:
        simulate(walk(), [])
    assert caught.value.code == "no-start-state"


@pytest.mark.parametrize(
    "changes", [{"runs": -1}, {"max_steps": -1}, {"seed": -1}, {"seed": 2**64}]
)
def test_bad_numbers_are_input_errors(changes):
    with pytest.raises(InputError):
        simulate(walk(), **changes)


def test_options_as_object_or_keywords_but_none_is_lost():
    assert len(simulate(walk(), options=SimulateOptions(runs=3)).runs) == 3
    assert len(simulate(walk(), options=SimulateOptions(), runs=3).runs) == 3


def test_the_first_action_of_run_0_does_not_depend_on_its_start():
    d = Description("coins")
    x, y = d.int("x", 0, 1), d.int("y", 0, 1, initial=0)
    d.edge("heads", outcomes=[{y: 0}])
    d.edge("tails", outcomes=[{y: 1}])
    d.start((x >= 0) & (y == 0))
    task = d.compile()
    runs = [simulate(task, seed=seed, max_steps=1).runs[0] for seed in range(400)]
    pairs = [(run.start["x"], run.actions[0]) for run in runs]
    for start in (0, 1):
        for action in ("heads", "tails"):
            assert 60 < pairs.count((start, action)) < 140


def test_many_short_runs_end_with_the_seconds():
    d = Description("turn")
    x = d.int("x", 0, 3, initial=0)
    d.edge("turn", outcomes=[{x: (x + 1) % 4}])
    with pytest.raises(OutOfBudget):
        simulate(d.compile(), runs=200_000, max_steps=100, max_seconds=0.01)
