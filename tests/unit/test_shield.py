"""Shields: what they decide, what they are worth, and their files."""

import itertools
import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from tests.support.networks import random_network

from surefoot import (
    Definition,
    Description,
    InputError,
    PythonTask,
    Unsupported,
    evaluate,
    find_faults,
    fuzz,
    load_policy,
    load_task,
    write_policy,
)
from surefoot.policies import as_policy
from surefoot.policies.shield import (
    ShieldedPolicy,
    module_text,
    shield,
    write_module,
    write_shield,
)
from surefoot.records import Fault

LINE = "domain:one-way-line?packages=2&locations=6&variant=icy-park"


def walk(top=5):
    """Go up and down; at the top it fails."""
    task = Description("walk")
    x = task.int("x", 0, top, initial=1)
    task.edge("up", guard=x < top, outcomes=[{x: x + 1}])
    task.edge("down", guard=x > 0, outcomes=[{x: x - 1}])
    task.edge("wait", outcomes=[{}])
    task.start((x >= 1) & (x <= 3))
    task.fail(x == top)
    return task.compile()


@pytest.fixture(scope="module")
def task():
    return walk()


@pytest.fixture(scope="module")
def line():
    return load_task(LINE)


def fault(task, x, action="up", alternatives=("down", "wait")):
    return Fault(task.state(x=x), action, tuple(alternatives))


# -- decisions -------------------------------------------------------------------------------


def test_takes_the_first_alternative_in_the_state_of_a_fault_and_nowhere_else(task):
    base = load_policy("first", task)
    made = shield(base, [fault(task, 4)])
    assert [made.decide({"x": x}) for x in range(5)] == ["up", "up", "up", "up", "down"]
    assert made.name == "shielded first"
    assert dict(made.decisions) == {task.state(x=4): "down"}


def test_keeps_what_the_policy_decides_where_that_is_safe(task):
    waits = as_policy(lambda state: "wait", task)
    made = shield(waits, [fault(task, 4)])
    assert made.decisions == {task.state(x=4): "wait"}


def test_actions_that_other_faults_blame_are_left_out(task):
    base = load_policy("first", task)
    faults = [fault(task, 4), fault(task, 4, "down", ["wait"])]
    assert shield(base, faults).decide({"x": 4}) == "wait"
    with pytest.raises(InputError, match="no safe action") as caught:
        shield(base, [fault(task, 4, "up", ["down"]), fault(task, 4, "down", ["up"])])
    assert caught.value.code == "no-safe-action"
    with pytest.raises(InputError, match="no safe action"):
        shield(base, [fault(task, 4, alternatives=[])])


def test_alternatives_must_be_applicable_actions_of_the_task(task):
    base = load_policy("first", task)
    with pytest.raises(InputError) as caught:
        shield(base, [fault(task, 0, "up", ["down"])])
    assert caught.value.code == "policy-not-applicable"
    with pytest.raises(InputError) as caught:
        shield(base, [fault(task, 4, "up", ["fly"])])
    assert caught.value.code == "policy-unknown-action"
    with pytest.raises(InputError):
        shield("first", [fault(task, 4)])


def test_many_decisions_are_those_one_by_one(line):
    """Mixed batches: all in the table, none, and some of each."""
    base = load_policy("random?seed=1", line)
    faults = find_faults(line, base, fuzz(line, base, runs=200).failing)
    made = shield(base, faults)
    assert len(made.decisions) > 5
    runs = fuzz(line, base, runs=20, seed=3).failing
    visited = list(dict.fromkeys(state for run in runs for state in run.states[:-1]))
    known = list(made.decisions)
    mixed = [one for pair in zip(visited, itertools.cycle(known), strict=False) for one in pair]
    for states in (known, [s for s in visited if s not in made.decisions], mixed, []):
        expected = [made.decisions.get(state) or base.decide(state) for state in states]
        assert made.decide_all(states) == expected
        assert [made.decide(state) for state in states] == expected
    assert any(made.decide(state) != base.decide(state) for state in known)


def test_shielding_again_and_again_ends_with_a_safe_policy(line):
    policy = load_policy("first", line)
    before = evaluate(line, policy).unsafe
    assert before > 0
    for _ in range(100):
        failing = fuzz(line, policy, runs=500).failing
        faults = find_faults(line, policy, failing).faults
        if not faults:
            break
        larger = shield(policy, faults)
        assert len(larger.decisions) > len(getattr(policy, "decisions", ()))
        policy = larger
    assert policy.base.name == "first"
    assert policy.name == "shielded first"
    assert evaluate(line, policy).unsafe == 0


def test_threads_see_the_same_shield(line):
    base = load_policy("first", line)
    made = shield(base, find_faults(line, base, fuzz(line, base, runs=50).failing))
    one, four = (fuzz(line, made, runs=300, workers=n) for n in (1, 4))
    assert [run.states for run in one.failing] == [run.states for run in four.failing]
    assert fuzz(line, base, runs=300).failing != one.failing


def test_the_base_lives_as_long_as_the_shield(task):
    core = shield(as_policy(lambda state: "wait", task), [fault(task, 4)]).core
    packed = task.state(x=2).packed
    assert task.actions[core.decide(task.core, packed)] == "wait"


def test_a_fault_without_settled_alternative_takes_that_of_its_certificate(line):
    base = load_policy("first", line)
    found = find_faults(line, base, fuzz(line, base, runs=20).failing).faults[0]
    unsettled = replace(found, alternatives=())
    (action,) = shield(base, [unsettled]).decisions.values()
    assert action in found.alternatives


def test_python_tasks_and_callables_have_shields_too():
    class Steps(Definition):
        variables = ("at",)

        def start(self):
            return [(0,)]

        def actions(self, state):
            return ["go", "stop"] if state[0] < 3 else []

        def outcomes(self, state, action):
            return [(state[0] + (action == "go"),)]

        def is_goal(self, state):
            return False

        def is_fail(self, state):
            return state[0] == 3

    task = PythonTask(Steps())
    base = as_policy(lambda state: "go", task)
    found = find_faults(task, base, fuzz(task, base, runs=1).failing)
    made = shield(base, found)
    assert list(made.decisions.values()) == ["stop"]
    assert not fuzz(task, made, runs=3, max_steps=50).failing
    with pytest.raises(InputError) as caught:
        write_shield(made, "unwritten.json")
    assert caught.value.code == "no-policy-file"


# -- files -------------------------------------------------------------------------------------


def table(task, path):
    lines = [{"state": {"x": x}, "action": "up"} for x in range(5)]
    path.write_text("\n".join(map(json.dumps, lines)))
    return load_policy(path, task)


def test_written_and_read_again(task, tmp_path):
    base = table(task, tmp_path / "p.jsonl")
    made = shield(base, [fault(task, 4), fault(task, 3)])
    (tmp_path / "deep").mkdir()
    for folder in (tmp_path, tmp_path / "deep"):
        file = write_shield(made, folder / "shield.json")
        again = load_policy(str(file), task)
        assert isinstance(again, ShieldedPolicy)
        assert again.decisions == made.decisions
        assert [again.decide({"x": x}) for x in range(5)] == ["up", "up", "up", "down", "down"]
        assert (again.name, again.file) == (str(file), file)
    content = json.loads(file.read_text())
    assert content["policy"]["name"] == os.path.join("..", "p.jsonl")
    assert content["policy"]["sha256"] == base.sha256
    assert content["task"] == {"name": "walk", "sha256": task.sha256}


def test_sha256_covers_both_files(task, tmp_path):
    base = table(task, tmp_path / "p.jsonl")
    digests = set()
    for x in (3, 4):
        write_shield(shield(base, [fault(task, x)]), tmp_path / "s.json")
        digests.add(load_policy(tmp_path / "s.json", task).sha256)
    content = json.loads((tmp_path / "s.json").read_text())
    (tmp_path / "p.jsonl").write_text((tmp_path / "p.jsonl").read_text() + "\n")
    with pytest.raises(InputError) as caught:
        load_policy(tmp_path / "s.json", task)
    assert caught.value.code == "shield-other-policy"
    content["policy"]["sha256"] = load_policy(tmp_path / "p.jsonl", task).sha256
    (tmp_path / "s.json").write_text(json.dumps(content))
    digests.add(load_policy(tmp_path / "s.json", task).sha256)
    assert len(digests) == 3
    assert base.sha256 not in digests


@pytest.mark.parametrize("unfiltered", [False, True])
def test_networks_keep_interface_and_unfiltered(task, tmp_path, unfiltered):
    network = random_network(2, 1, 4, 3)
    interface = {"surefoot_interface": 1, "inputs": ["x"], "outputs": ["up", "down", "wait"]}
    policy = load_policy(network, task, interface=interface, unfiltered=unfiltered)
    for name in ("n.safetensors", "n.onnx"):
        write_policy(policy, tmp_path / name)
        base = load_policy(tmp_path / name, task)
        made = shield(base, [fault(task, 4)])
        again = load_policy(write_shield(made, tmp_path / "s.json"), task)
        assert again.unfiltered is unfiltered
        assert again.core.decide(task.core, task.state(x=2).packed) == base.core.decide(
            task.core, task.state(x=2).packed
        )
        assert again.scores({"x": 4}) == base.scores({"x": 4})
        assert again.model is None  # repair and write_policy must not take the base for it


def test_built_in_policies_are_named(line, tmp_path):
    for name in ("first", "random?seed=4"):
        base = load_policy(name, line)
        found = find_faults(line, base, fuzz(line, base, runs=20).failing)
        file = write_shield(shield(base, found), tmp_path / "s.json")
        assert json.loads(file.read_text())["policy"]["name"] == name
        assert load_policy(file, line).decisions == shield(base, found).decisions


def test_policies_of_python_code_are_not_written(task, tmp_path):
    (tmp_path / "p.py").write_text("def go(state):\n    return 'up'\n")
    base = load_policy(f"{tmp_path / 'p.py'}:go", task)
    made = shield(base, [fault(task, 4)])
    with pytest.raises(Unsupported) as caught:
        write_shield(made, tmp_path / "s.json")
    assert caught.value.code == "shield-of-python"
    assert not (tmp_path / "s.json").exists()


def test_no_other_file_is_overwritten(task, tmp_path):
    made = shield(load_policy("first", task), [fault(task, 4)])
    for name, write in (("a.json", write_shield), ("a.py", write_module)):
        (tmp_path / name).write_text("{}")
        with pytest.raises(InputError) as caught:
            write(made, tmp_path / name)
        assert caught.value.code == "file-exists"
        assert (tmp_path / name).read_text() == "{}"
        (tmp_path / name).unlink()
        assert write(made, tmp_path / name) == write(made, tmp_path / name)
    with pytest.raises(InputError):
        write_shield(made, tmp_path / "a.txt")


def test_interface_and_unfiltered_are_said_by_the_shield(task, tmp_path):
    file = write_shield(shield(load_policy("first", task), [fault(task, 4)]), tmp_path / "s.json")
    for options in ({"interface": {"surefoot_interface": 1}}, {"unfiltered": True}):
        with pytest.raises(InputError) as caught:
            load_policy(file, task, **options)
        assert caught.value.code == "bad-option"
    assert load_policy(file, task, unfiltered=False).decide({"x": 4}) == "down"


# -- as Python code ----------------------------------------------------------------------------


def test_module_needs_nothing_and_decides_alike(line, tmp_path):
    base = load_policy("first", line)
    made = shield(base, find_faults(line, base, fuzz(line, base, runs=50).failing))
    file = write_module(made, tmp_path / "careful.py")
    runs = fuzz(line, base, runs=20).failing
    states = [state for run in runs for state in run.states[:-1]]
    asked = [[dict(state), base.decide(state)] for state in states]
    program = (
        "import json, sys; from careful import shield\n"
        "print(json.dumps([shield(*each) for each in json.load(sys.stdin)]))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        cwd=file.parent,
        check=True,
        env={"PYTHONPATH": str(tmp_path)},
    )
    assert json.loads(done.stdout) == made.decide_all(states)


def test_names_in_the_module_are_text():
    evil = '"""\nimport os\n"""\u202e\\'
    task = Description(evil)
    x = task.int(evil, 0, 2, initial=0)
    task.edge("a'+evil()+'", guard=x < 2, outcomes=[{x: x + 1}])
    task.edge(evil, outcomes=[{}])
    task.fail(x == 2)
    task = task.compile()
    base = load_policy("first", task)
    state = task.state({evil: 1})
    text = module_text(shield(base, [Fault(state, "a'+evil()+'", (evil,))]))
    assert text.isascii()
    found = {}
    exec(compile(text, "shield", "exec"), found)
    assert found["shield"]({evil: 1}, "a") == evil
    assert found["shield"]({evil: 0}, "a") == "a"
    assert "os" not in found
