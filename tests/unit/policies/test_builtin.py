"""Policies that come with Surefoot: their cards, the tasks they fit, and findings about them.

The folder is one of the test's own, with a network that drives the first truck it can.
"""

import hashlib
import json
import shlex
from dataclasses import replace

import numpy as np
import pytest
from tests.support.networks import random_network

from surefoot import (
    Description,
    InputError,
    PythonTask,
    decide,
    evaluate,
    examine,
    find_faults,
    finding_of,
    fuzz,
    load_policy,
    load_task,
    minimise,
    read_finding,
    replay,
)
from surefoot.cli import main
from surefoot.policies import builtin
from surefoot.policies.interface import Input, Interface
from surefoot.policies.models import Trees
from surefoot.policies.safetensors import to_bytes
from surefoot.policies.trees import own

LINE = "domain:one-way-line?packages=2&locations=6&variant=icy-park"
NETWORK, TREES = "line-network", "line-trees"


def card_data(made_for, **changes):
    said = {
        "surefoot_card": 1,
        "name": NETWORK,
        "task": LINE,
        "task_sha256": made_for.sha256,
        "file": f"{NETWORK}.safetensors",
        "kind": "network",
        "seed": 3,
        "steps": 12345,
        "training_seconds": 61.5,
        "goal_fraction": 0.75,
        "unsafe_fraction": 0.125,
        "starts": 16,
        "exact": True,
        "mean_steps": 11.5,
        "command": f"surefoot train '{LINE}' -o {NETWORK}.safetensors",
    }
    return said | changes


def write_card(folder, content):
    name = content["name"]
    (folder / f"{name}.card.json").write_text(json.dumps(content))


def interface_of(task):
    inputs = tuple(map(Input, task.names))
    return Interface(inputs, tuple(a for a in task.actions if a not in task.silent))


def stump(task):
    """Return a tree of a single leaf, which prefers the first action."""
    outputs = len(interface_of(task).outputs)
    return Trees(
        num_inputs=len(task.names),
        num_outputs=outputs,
        roots=np.array([0], dtype=np.int32),
        features=np.array([-1], dtype=np.int32),
        thresholds=np.array([0.0]),
        left=np.array([0], dtype=np.int32),
        right=np.array([-1], dtype=np.int32),
        values=np.arange(outputs, 0, -1).astype(float),
        base=np.zeros(outputs),
        input_precision="float64",
        sum_precision="float64",
    )


@pytest.fixture
def task():
    return load_task(LINE)


@pytest.fixture
def folder(task, tmp_path, monkeypatch):
    found = tmp_path / "shipped"
    found.mkdir()
    interface = interface_of(task)
    network = random_network(1, len(task.names), 8, len(interface.outputs))
    (found / f"{NETWORK}.safetensors").write_bytes(to_bytes(network, interface))
    write_card(found, card_data(task))
    own.write(stump(task), found / f"{TREES}.json", interface)
    more = {"name": TREES, "file": f"{TREES}.json", "kind": "trees", "teacher": NETWORK}
    write_card(found, card_data(task, **more, agreement=0.5, steps=None, training_seconds=None))
    monkeypatch.setattr(builtin, "FOLDER", found)
    return found


def error_of(call, *args, **options):
    with pytest.raises(InputError) as caught:
        call(*args, **options)
    return caught.value


# -- cards -----------------------------------------------------------------------------------


def test_cards_are_sorted_and_complete(folder, task):
    network, trees = builtin.cards()
    assert (network.name, trees.name) == (NETWORK, TREES)
    said = card_data(task)
    for name, value in said.items():
        assert name == "surefoot_card" or getattr(network, name) == value
    assert (network.teacher, network.agreement) == (None, None)
    assert (trees.teacher, trees.agreement, trees.steps) == (NETWORK, 0.5, None)
    assert network.policy == "builtin:line-network"
    assert network.path == folder / "line-network.safetensors"


def test_no_cards(tmp_path, monkeypatch, task):
    monkeypatch.setattr(builtin, "FOLDER", tmp_path / "none")
    assert builtin.cards() == ()
    assert error_of(load_policy, "builtin:x", task).hint == "built-in policies are: none"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("line-netwrk", 'did you mean "line-network"? built-in policies are: line-network, line-'),
        ("", "built-in policies are: line-network, line-trees"),
        ("../line-network", 'did you mean "line-network"?'),
        ("\x1b[2J.py:evil", "built-in policies are: line-network, line-trees"),
    ],
)
def test_unknown_names(folder, task, name, hint):
    error = error_of(load_policy, f"builtin:{name}", task)
    assert error.code == "unknown-policy"
    assert error.hint.startswith(hint)
    assert "\x1b" not in str(error)


def test_without_the_prefix(folder, task):
    error = error_of(load_policy, NETWORK, task)
    assert error.hint == 'did you mean "builtin:line-network"?'


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"surefoot_card": 2}, None),
        ({"task": 3}, "/task"),
        ({"goal_fraction": None}, "/goal_fraction"),
        ({"goal_fraction": True}, "/goal_fraction"),
        ({"exact": 1}, "/exact"),
        ({"steps": 0.5}, "/steps"),
    ],
)
def test_bad_cards(folder, task, changes, place):
    write_card(folder, card_data(task, **changes))
    error = error_of(builtin.card, NETWORK)
    assert (error.code, error.place) == ("bad-card", place)
    assert error.file.endswith("line-network.card.json")


def test_a_card_of_another_name(folder, task):
    (folder / "other.card.json").write_text(json.dumps(card_data(task)))
    assert error_of(builtin.card, "other").code == "bad-card"


# -- loading ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [NETWORK, TREES])
def test_load(folder, task, name):
    policy = load_policy(f"builtin:{name}", task)
    card = builtin.card(name)
    assert policy.name == f"builtin:{name}"
    assert policy.file == card.path
    assert policy.sha256 == hashlib.sha256(card.path.read_bytes()).hexdigest()
    assert policy.card == card
    assert policy.model.kind == card.kind
    assert policy.notes == ()
    same = load_policy(card.path, task)
    states = [state for run in fuzz(task, same, runs=5).failing for state in run.states]
    asked = [state for state in states if task.applicable(state)]
    assert asked
    assert policy.decide_all(asked) == same.decide_all(asked)


def test_other_policies_have_no_card(task):
    assert load_policy("first", task).card is None


def test_same_names_but_another_task_is_a_note(folder, task, tmp_path):
    larger = load_task(LINE.replace("packages=2", "packages=3"))
    assert larger.names == task.names
    (note,) = load_policy(f"builtin:{NETWORK}", larger).notes
    assert LINE in note
    task.write_jani(tmp_path / "line.jani")
    same = load_task(tmp_path / "line.jani")
    assert load_policy(f"builtin:{NETWORK}", same).notes == ()


@pytest.mark.parametrize(
    "other",
    [
        "domain:one-way-line?packages=2&locations=7&variant=icy-park",  # more variables
        "domain:one-way-line?packages=2&locations=5&variant=icy-park",  # fewer
        "domain:one-way-line?packages=2&locations=6&variant=det",  # other actions
        "domain:staircase?steps=3",
    ],
)
def test_other_task(folder, task, other):
    error = error_of(load_policy, f"builtin:{NETWORK}", load_task(other))
    assert error.code == "policy-other-task"
    assert f'"builtin:line-network" was made for {LINE}' in error.message
    command = error.hint.removeprefix("use it on its own task: ")
    assert shlex.split(command) == ["surefoot", "fuzz", LINE, "--policy", "builtin:line-network"]


def test_other_task_that_has_policies_of_its_own(folder, task):
    other = load_task("domain:staircase?steps=3")
    write_card(folder, card_data(other, name="stairs", task="domain:staircase?steps=3"))
    error = error_of(load_policy, f"builtin:{NETWORK}", other)
    assert error.hint == "for this task there are: builtin:stairs"


def leaky_lamp(*, names=("x", "y"), actions=("up", "down", "stay")):
    """A lamp with a variable that nothing is fed with, and an action without output."""
    d = Description("lamp")
    x, y = (d.int(name, 0, 3, initial=0) for name in names)
    up, down, stay = actions
    d.edge(up, guard=x < 3, outcomes=[{x: x + 1}])
    d.edge(down, guard=x > 0, outcomes=[{x: x - 1, y: 1}])
    d.edge(stay, outcomes=[{}])
    d.fail(x == 3)
    return d.compile()


def ship_lamp(folder, monkeypatch):
    task = leaky_lamp()
    network = random_network(1, 1, 2)
    interface = Interface((Input("x"),), ("up", "down"))
    (folder / "lamp.safetensors").write_bytes(to_bytes(network, interface))
    write_card(folder, card_data(task, name="lamp", file="lamp.safetensors"))
    monkeypatch.setattr(builtin, "task_of", lambda card: task)


@pytest.mark.parametrize(
    ("changes", "fits"),
    [
        ({}, True),
        ({"names": ("x", "z")}, False),
        ({"names": ("z", "y")}, False),
        ({"actions": ("up", "down", "wait")}, False),
        ({"actions": ("on", "down", "stay")}, False),
    ],
)
def test_a_policy_that_is_not_fed_with_everything(folder, monkeypatch, changes, fits):
    ship_lamp(folder, monkeypatch)
    task = leaky_lamp(**changes)
    if fits:
        assert load_policy("builtin:lamp", task).decide({"x": 1, "y": 0}) in ("up", "down")
    else:
        assert error_of(load_policy, "builtin:lamp", task).code == "policy-other-task"


class Lamp:
    def start(self):
        return [(0, 0)]

    def actions(self, state):
        return ["up", "down"]

    def outcomes(self, state, action):
        return [state]

    def is_goal(self, state):
        return False

    is_fail = is_goal


def test_a_task_in_python(folder, monkeypatch):
    ship_lamp(folder, monkeypatch)
    policy = load_policy("builtin:lamp", PythonTask(Lamp(), names=["x", "y"]))
    assert len(policy.notes) == 1
    assert policy.decide({"x": 1, "y": 0}) in ("up", "down")


def test_options(folder, task):
    name = f"builtin:{NETWORK}"
    assert load_policy(name, task, unfiltered=True).unfiltered
    error = error_of(load_policy, name, task, interface=interface_of(task))
    assert error.code == "bad-option"


# -- findings and certificates ---------------------------------------------------------------


@pytest.fixture(params=[NETWORK, TREES])
def fault(request, folder, task):
    """Return a policy and a fault of it."""
    policy = load_policy(f"builtin:{request.param}", task)
    assert evaluate(task, policy).unsafe > 0
    return policy, find_faults(task, policy, fuzz(task, policy, runs=50).failing).faults[0]


def test_finding_is_read_and_replayed(fault, task, tmp_path, folder):
    policy, found = fault
    finding_of(task, policy, found).write(tmp_path / "finding.json")
    text = (tmp_path / "finding.json").read_text()
    assert str(folder) not in text  # nothing about the machine
    finding = read_finding(tmp_path / "finding.json")
    assert finding.content["policy"]["name"] == policy.name
    again = finding.find_policy(finding.find_task())
    assert (again.name, again.sha256) == (policy.name, policy.sha256)
    assert replay(finding).still_fails
    assert minimise(finding).after.content["policy"]["name"] == policy.name
    finding.check()


def test_finding_about_a_policy_that_changed(fault, task, tmp_path, folder):
    policy, found = fault
    finding_of(task, policy, found).write(tmp_path / "finding.json")
    if policy.model.kind == "trees":
        better = replace(policy.model, values=policy.model.values * 2)
        own.write(better, policy.file, interface_of(task))
    else:
        network = random_network(2, len(task.names), len(policy.interface.outputs))
        policy.file.write_bytes(to_bytes(network, interface_of(task)))
    finding = read_finding(tmp_path / "finding.json")
    assert error_of(finding.check).code == "finding-other-policy"


def test_unfiltered_in_a_finding(folder, task, tmp_path):
    policy = load_policy(f"builtin:{TREES}", task, unfiltered=True)
    finding_of(task, policy, failing_of(task)).write(tmp_path / "finding.json")
    finding = read_finding(tmp_path / "finding.json")
    assert finding.find_policy(task).unfiltered


def failing_of(task):
    return fuzz(task, load_policy(f"builtin:{TREES}", task), runs=50).failing[0]


def test_command_line(fault, folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name = fault[0].name
    assert run("faults", LINE, "--policy", name, "--runs", "20", "-o", "out") == 1
    found = sorted(tmp_path.glob("out/*.json"))[0]
    assert run("replay", str(found)) == 1
    assert run("check", str(found)) == 0
    assert "recomputes" not in capsys.readouterr().out
    found.rename(tmp_path / "f.json")
    for card in folder.glob("*.card.json"):
        card.unlink()
    assert run("check", "f.json") == 0
    assert "--policy recomputes" in capsys.readouterr().out


def run(*arguments):
    """Return the exit code of a command."""
    try:
        code = main(list(arguments))
    except SystemExit as stop:
        code = stop.code
    return code or 0


def test_certificate_names_the_policy(folder, task, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    policy = load_policy(f"builtin:{TREES}", task)
    answer = decide(task, task.sample_starts(1, seed=0)[0], policy=policy, radius=1)
    answer.certificate.write(tmp_path / "c.json")
    assert run("check", "c.json") == 0
    assert "recomputes" not in capsys.readouterr().out
    (folder / f"{TREES}.card.json").unlink()
    assert run("check", "c.json") == 0
    assert "there is no built-in policy" in capsys.readouterr().out


# -- doctor ----------------------------------------------------------------------------------


def test_doctor_shows_the_card(folder, task):
    report = examine(task, policy=f"builtin:{NETWORK}")
    lines = str(report).splitlines()
    assert f"  made for {LINE}" in lines
    assert "  training 12,345 steps in 62 s, seed 3" in lines
    assert (
        "  there    fails from 12.50% of 16 start states, 75.00% of runs reach the goal, "
        "11.5 steps in a run" in lines
    )
    assert f"  as by    surefoot train '{LINE}' -o line-network.safetensors" in lines
    assert report.to_dict()["policy"]["card"]["goal_fraction"] == 0.75
    json.dumps(report.to_dict())


def test_doctor_shows_the_teacher(folder, task):
    lines = str(examine(task, policy=f"builtin:{TREES}")).splitlines()
    assert "  teacher  line-network, in 50.00% of states alike" in lines
    assert not any(line.startswith("  training") for line in lines)


def test_doctor_without_card(task):
    report = examine(task, policy="first")
    assert report.policy.card is None
    assert "made for" not in str(report)
