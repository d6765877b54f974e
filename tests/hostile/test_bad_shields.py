"""Whatever is in a shield's file, it is read or refused, soon, and nothing is run."""

import contextlib
import copy
import json
import os
import random
import time

import pytest
from tests.hostile.test_bad_certificates import junk, places
from tests.support.mutate import mutate

from surefoot import Description, InputError, SurefootError, load_policy, load_task
from surefoot.policies.shield import shield, write_shield
from surefoot.records import Fault

MAX_SECONDS = 5.0


def walk(name="walk", top=5):
    task = Description(name)
    x = task.int("x", 0, top, initial=1)
    y = task.real("y", 0.0, 1.0, initial=0.5)
    task.edge("up", guard=x < top, outcomes=[{x: x + 1, y: y}])
    task.edge("down", guard=x > 0, outcomes=[{x: x - 1}])
    task.edge("wait", outcomes=[{}])
    task.fail(x == top)
    return task.compile()


@pytest.fixture
def task():
    return walk()


@pytest.fixture
def content(task, tmp_path):
    lines = [{"state": {"x": x, "y": 0.5}, "action": "up"} for x in range(5)]
    (tmp_path / "p.jsonl").write_text("\n".join(map(json.dumps, lines)))
    base = load_policy(tmp_path / "p.jsonl", task)
    faults = [Fault(task.state(x=x, y=0.5), "up", ("down",)) for x in (3, 4)]
    file = write_shield(shield(base, faults), tmp_path / "s.json")
    return json.loads(file.read_text())


def refused(tmp_path, task, content):
    """Return the error of a shield with this content, which must name the file."""
    text = content if isinstance(content, str) else json.dumps(content)
    (tmp_path / "s.json").write_text(text)
    begin = time.process_time()
    with pytest.raises(SurefootError) as caught:
        load_policy(tmp_path / "s.json", task)
    assert time.process_time() - begin < MAX_SECONDS
    error = caught.value
    assert error.file is not None
    if error.place is not None:  # else the policy below is what is wrong
        assert error.file == str(tmp_path / "s.json"), error
    assert error.exit_code in (2, 3)
    return error


def test_the_right_one_is_read(task, content, tmp_path):
    assert len(load_policy(tmp_path / "s.json", task).decisions) == 2


def test_of_another_task(task, content, tmp_path):
    error = refused(tmp_path, walk(top=6), content)
    assert (error.code, error.place) == ("shield-other-task", "/task")
    (tmp_path / "s.json").write_text(json.dumps(content))
    with pytest.raises(InputError) as caught:
        load_policy(tmp_path / "s.json", load_task("domain:staircase"))
    assert caught.value.code == "shield-other-task"


@pytest.mark.parametrize(
    ("state", "action", "code"),
    [
        ({"x": 0, "y": 0.5}, "down", "policy-not-applicable"),
        ({"x": 3, "y": 0.5}, "fly", "policy-unknown-action"),
        ({"x": 3, "y": 0.5}, None, "bad-shield"),
        ({"x": 3, "y": 0.5}, ["up"], "bad-shield"),
        ({"x": 3}, "up", "missing-variable"),
        ({"x": 3, "y": 0.5, "z": 0}, "up", "unknown-variable"),
        ({"x": 99, "y": 0.5}, "up", "value-out-of-range"),
        ({"x": 10**400, "y": 0.5}, "up", None),
        ({"x": 3, "y": 1e999}, "up", None),
        ({"x": 3, "y": [0.5]}, "up", None),
        ({"x": {"a": {}}, "y": 0.5}, "up", None),
        ({"x": "3", "y": 0.5}, "up", None),
        ([3, 0.5], "up", "bad-shield"),
        (None, "up", "bad-shield"),
    ],
)
def test_decisions_that_are_none(task, content, tmp_path, state, action, code):
    content["decisions"][1] = {"state": state, "action": action}
    error = refused(tmp_path, task, json.dumps(content).replace("Infinity", "1e999"))
    assert error.place == "/decisions/1"
    if code in ("bad-shield", "policy-not-applicable", "policy-unknown-action"):
        assert error.code == code


def test_not_a_number_is_refused(task, content, tmp_path):
    content["decisions"][0]["state"]["y"] = float("nan")
    error = refused(tmp_path, task, content)
    assert error.code != "internal"


def test_a_state_that_is_there_twice(task, content, tmp_path):
    for action in ("down", "wait"):
        again = {"state": content["decisions"][0]["state"], "action": action}
        changed = {**content, "decisions": [*content["decisions"], again]}
        error = refused(tmp_path, task, changed)
        assert (error.code, error.place) == ("duplicate-state", "/decisions/2")
    text = json.dumps(content)[:-1] + ', "decisions": []}'
    refused(tmp_path, task, text)  # a member that is there twice


def test_a_shield_of_a_shield(task, content, tmp_path):
    (tmp_path / "below.json").write_text(json.dumps(content))
    content["policy"]["name"] = "below.json"
    assert refused(tmp_path, task, content).code == "shield-of-shield"


def test_cycles_of_files(task, content, tmp_path):
    content["policy"]["name"] = "s.json"
    assert refused(tmp_path, task, content).code == "shield-of-shield"
    os.symlink(tmp_path / "s.json", tmp_path / "link.json")
    content["policy"]["name"] = "link.json"
    assert refused(tmp_path, task, content).code == "shield-of-shield"
    # by an interface that names the shield as its policy
    interface = {"surefoot_interface": 1, "file": "s.json"}
    (tmp_path / "i.json").write_text(json.dumps(interface))
    content["policy"]["name"] = "i.json"
    refused(tmp_path, task, content)
    with pytest.raises(InputError):
        load_policy(tmp_path / "i.json", task)
    os.symlink(tmp_path / "loop.json", tmp_path / "loop.json")
    content["policy"]["name"] = "loop.json"
    refused(tmp_path, task, content)


def test_nothing_is_run(task, content, tmp_path):
    (tmp_path / "evil.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w')\ngo = lambda s: 'up'\n"
    )
    for name in ("evil.py:go", "./evil.py:go", str(tmp_path / "evil.py:go"), "x/../evil.py:go"):
        content["policy"]["name"] = name
        refused(tmp_path, task, content)
    content["policy"]["name"] = "evil.pkl"
    (tmp_path / "evil.pkl").write_bytes(b"\x80\x04cos\nsystem\n(S'true'\ntR.")
    refused(tmp_path, task, content)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "name", ["", "gone.json", "\0", "a" * 5000, "/dev/zero", "..", "first ", "builtin:none", "\n"]
)
def test_policies_that_are_none(task, content, tmp_path, name):
    content["policy"]["name"] = name
    assert refused(tmp_path, task, content).place != "/decisions"


@pytest.mark.parametrize("member", ["policy", "task", "decisions", "surefoot_shield"])
def test_members_that_are_missing_or_something_else(task, content, tmp_path, member):
    without = {name: value for name, value in content.items() if name != member}
    refused(tmp_path, task, without)
    for value in (None, 7, "x", [], {}, [[]], True, 1e300):
        changed = {**content, member: value}
        if member == "decisions" and value == []:
            continue  # a shield without decisions is one
        refused(tmp_path, task, changed)
    refused(tmp_path, task, {**content, "more": 1})


def test_versions(task, content, tmp_path):
    for version in (2, "1", True, 1.5, None):
        error = refused(tmp_path, task, {**content, "surefoot_shield": version})
        assert error.code == "shield-version"


def test_huge_and_deep(task, content, tmp_path):
    text = json.dumps(content)
    for depth in (3_000, 100_000):
        deep = "[" * depth + "]" * depth
        refused(tmp_path, task, text.replace('"down"', deep, 1))
        refused(tmp_path, task, text.replace("0.5", deep, 1))
    refused(tmp_path, task, text.replace('"x": 3', f'"x": {"9" * 100_000}', 1))
    many = [{"state": {"x": 3, "y": 0.5}, "action": "down"}] * 200_000
    refused(tmp_path, task, {**content, "decisions": many})


def test_anything_in_any_place(task, content, tmp_path):
    """Junk in every place: read or refused, never something else."""
    rng = random.Random(3)
    for number in range(len(places(content))):
        for _ in range(15):
            changed = copy.deepcopy(content)
            container, key = places(changed)[number]
            container[key] = junk(rng)
            with contextlib.suppress(ValueError):  # numbers that Python does not write
                try_it(tmp_path, task, json.dumps(changed).encode())


@pytest.mark.fuzz
def test_mutated_files(task, content, tmp_path):
    rng = random.Random(1)
    for _ in range(300):
        try_it(tmp_path, task, mutate(content, rng))


def try_it(tmp_path, task, data):
    (tmp_path / "s.json").write_bytes(data)
    begin = time.process_time()
    try:
        policy = load_policy(tmp_path / "s.json", task)
        policy.decide(task.state(x=3, y=0.5))
    except SurefootError as error:
        assert str(error)
    assert time.process_time() - begin < MAX_SECONDS
