"""Replay: whether the run of a finding still fails, and if not, where it ends."""

import random

import pytest
from tests.support.explicit_policies import compiled, decisions_of, lively_task, policy_of_kind
from tests.support.explicit_tasks import random_policy

from surefoot import Description, InputError, load_policy, load_task
from surefoot.findings import finding_of, read_finding
from surefoot.fuzz import fuzz
from surefoot.policies import as_policy
from surefoot.replay import replay, replayed


def lamp(*, top=3, edges=("up", "down"), start=1):
    d = Description("lamp")
    x = d.int("x", 0, 5, initial=0)
    if "up" in edges:
        d.edge("up", guard=x < 5, outcomes=[{x: x + 1}, {}])
    if "down" in edges:
        d.edge("down", guard=x > 0, outcomes=[{x: x - 1}])
    d.start(x <= start)
    d.fail(x == top)
    return d


def shortest(task, policy):
    return min(fuzz(task, policy, runs=30).failing, key=lambda run: (run.steps, run.start["x"]))


@pytest.fixture
def finding():
    task = lamp().compile()
    return finding_of(task, "first", shortest(task, "first"))


def test_still_fails(finding):
    result = replay(finding)
    assert result.still_fails
    assert (result.steps, result.step, result.state) == (2, 2, {"x": 3})
    assert str(result) == "still fails after 2 steps, in x=3"
    assert result.to_dict() == {"still_fails": True, "steps": 2, "step": 2, "state": {"x": 3}}


def test_another_decision(finding):
    task = finding.task
    decide = {task.state(x=x): "up" if x < 2 else "down" for x in range(6)}
    result = replay(finding, policy=as_policy(decide, task))
    assert not result.still_fails
    assert (result.step, result.state, result.was, result.now) == (1, {"x": 2}, "up", "down")
    assert "at step 1, in x=2, the policy now decides on down, not on up" in str(result)
    content = result.to_dict()
    assert (content["was"], content["now"], "reason" in content) == ("up", "down", False)


def test_no_decision(finding):
    task = finding.task
    result = replay(finding, policy={task.state(x=1): "up"})
    assert (result.still_fails, result.step) == (False, 1)
    assert "the policy has no decision" in result.reason


OTHER_TASKS = {
    "no start state": (lamp(start=0), 0, "runs do not start here"),
    "ends earlier": (lamp(top=2), 1, "where runs now stop"),
    "does not end": (lamp(top=4), 2, "which is not fail"),
    "not applicable": (lamp(edges=()), 0, "where no action is applicable now"),
}


@pytest.mark.parametrize("description, step, reason", OTHER_TASKS.values(), ids=OTHER_TASKS)
def test_other_tasks(finding, description, step, reason):
    result = replay(finding, description.compile(), "first")
    assert not result.still_fails
    assert (result.step, result.reason) == (step, reason)
    assert reason in str(result)


def test_an_outcome_that_is_not_possible_any_more(finding):
    d = Description("lamp")
    x = d.int("x", 0, 5, initial=0)
    d.edge("up", guard=x < 5, outcomes=[{}])
    d.start(x <= 1)
    d.fail(x == 3)
    result = replay(finding, d.compile(), "first")
    assert (result.still_fails, result.step) == (False, 0)
    assert result.reason == "up cannot lead on as it did"


def test_states_of_another_task(finding):
    d = Description("other")
    d.int("y", 0, 1, initial=0)
    with pytest.raises(InputError):
        replay(finding, d.compile(), "first")


def test_what_has_changed_is_refused_unless_it_is_given(tmp_path):
    file = tmp_path / "lamp.jani"
    table = tmp_path / "table.jsonl"
    lamp().compile().write_jani(file)
    table.write_text("".join(f'{{"state": {{"x": {x}}}, "action": "up"}}\n' for x in range(5)))
    task = load_task(file)
    policy = load_policy(str(table), task)
    finding_of(task, policy, shortest(task, policy)).write(tmp_path / "finding.json")
    found = tmp_path / "finding.json"
    assert replay(found).still_fails
    assert replay(read_finding(found)).still_fails
    table.write_text(
        table.read_text().replace('{"x": 2}, "action": "up"', '{"x": 2}, "action": "down"')
    )
    with pytest.raises(InputError) as caught:
        replay(found)
    assert caught.value.code == "finding-other-policy"
    assert replay(found, policy=str(table)).now == "down"
    lamp(top=4).compile().write_jani(file)
    with pytest.raises(InputError) as caught:
        replay(found, policy=str(table))
    assert caught.value.code == "finding-other-task"
    assert not replay(found, load_task(file), str(table)).still_fails


def test_made_starts_need_not_be_start_states():
    task = load_task("domain:one-way-line?packages=2&locations=6&variant=icy-park")
    runs = fuzz(task, "first", runs=20, perturb="values").failing
    assert any(not task.is_start(run.start) for run in runs)
    assert all(replayed(as_policy("first", task), run).still_fails for run in runs)


def test_against_brute_force():
    """Another policy still fails by the run exactly if it decides alike in all its states."""
    rng = random.Random(5)
    seen = set()
    for _ in range(60):
        explicit = lively_task(rng)
        task = compiled(explicit)
        one, other = (
            policy_of_kind("callable", explicit, task, rng, random_policy(rng, explicit))
            for _ in range(2)
        )
        ours, theirs = decisions_of(explicit, one), decisions_of(explicit, other)
        for run in fuzz(task, one, runs=5).failing:
            finding = finding_of(task, one, run)
            assert replay(finding).still_fails
            numbers = [state["x"] + 2 for state in run.states[:-1]]
            differ = [step for step, n in enumerate(numbers) if ours[n] != theirs[n]]
            result = replay(finding, policy=other)
            assert result.still_fails == (not differ)
            assert result.step == (differ[0] if differ else run.steps)
            seen.add(result.still_fails)
    assert seen == {True, False}
