"""Policies: every way to get one, and decisions that cannot be taken."""

import hashlib
import json

import pytest

from surefoot import Description, InputError, Oracle, Policy, PythonTask, load_policy
from surefoot.policies import as_policy


def corridor():
    """Numbers from 0 to 9, left and right; ``tau`` is silent and leaves 9, ``jump`` never fires."""
    d = Description("corridor")
    x = d.int("x", 0, 9, initial=0)
    d.action("left")
    d.action("right")
    d.action("jump")
    d.silent.append("tau")
    d.edge("left", guard=(x > 0) & (x < 9), outcomes=[{x: x - 1}])
    d.edge("right", guard=x < 9, outcomes=[{x: x + 1}])
    d.edge("tau", guard=x == 9, outcomes=[{x: 0}])
    return d.compile()


class Walk:
    def start(self):
        return [(0,)]

    def actions(self, state):
        return ["on", "back"] if state[0] < 3 else []

    def outcomes(self, state, action):
        return [(state[0] + 1,) if action == "on" else (0,)]

    def is_goal(self, state):
        return False

    is_fail = is_goal


def code_of(call, *args, **options):
    with pytest.raises(InputError) as caught:
        call(*args, **options)
    return caught.value.code


def test_first():
    policy = load_policy("first", corridor())
    assert isinstance(policy, Policy)
    assert (policy.name, policy.sha256) == ("first", None)
    assert policy.decide({"x": 0}) == "right"
    assert policy.decide({"x": 5}) == "left"


def test_random_depends_on_seed_and_state_only():
    task = corridor()
    decisions = {
        seed: [load_policy("random", task, seed=seed).decide({"x": x}) for x in range(9)]
        for seed in range(20)
    }
    assert decisions[3] == [
        load_policy("random?seed=3", corridor()).decide({"x": x}) for x in range(9)
    ]
    assert {action for each in decisions.values() for action in each} == {"left", "right"}
    assert len({tuple(each) for each in decisions.values()}) > 10
    assert load_policy("random", task).name == "random"
    assert load_policy("random", task, seed=3).name == "random?seed=3"


def test_callable():
    task = corridor()
    policy = as_policy(lambda state: "right" if state["x"] < 5 else "left", task)
    assert [policy.decide({"x": x}) for x in (0, 4, 5, 8)] == ["right", "right", "left", "left"]
    assert as_policy(policy, task) is policy


def test_a_class_is_no_policy():
    class Mine:
        def __call__(self, state):
            return "right"

    with pytest.raises(InputError) as caught:
        as_policy(Mine, corridor())
    assert caught.value.code == "not-a-policy"
    assert "Mine(...)" in caught.value.hint
    assert as_policy(Mine(), corridor()).decide({"x": 0}) == "right"


def test_table():
    task = corridor()
    policy = as_policy({task.state(x=0): "right", task.state(x=1): "left"}, task)
    assert policy.decide({"x": 1}) == "left"
    with pytest.raises(InputError) as caught:
        policy.decide({"x": 2})
    assert caught.value.code == "policy-no-decision"
    assert "in state x=2" in caught.value.message


def test_python_task():
    task = PythonTask(Walk())
    assert load_policy("first", task).decide((0,)) == "on"
    assert as_policy({(0,): "back"}, task).decide((0,)) == "back"
    assert as_policy(lambda state: "back", task).decide((1,)) == "back"
    assert code_of(as_policy(lambda state: "up", task).decide, (0,)) == "policy-unknown-action"


WRONG = {
    "unknown": ("lefft", "policy-unknown-action", 'did you mean "left"?'),
    "silent": ("tau", "policy-silent-action", "silent"),
    "not applicable": ("left", "policy-not-applicable", 'applicable is: "right"'),
    "never applicable": ("jump", "policy-not-applicable", 'applicable is: "right"'),
    "no name": (3, "policy-bad-action", "name of an action"),
    "nothing": (None, "policy-bad-action", "name of an action"),
    "not hashable": ([], "policy-bad-action", "name of an action"),
}


@pytest.mark.parametrize("decision, code, text", WRONG.values(), ids=WRONG)
def test_decisions_that_cannot_be_taken(decision, code, text):
    task = corridor()
    state = task.state(x=0)
    policy = as_policy(lambda state: decision, task)
    for ask in (
        lambda: policy.decide(state),
        lambda: Oracle(task, policy=policy, radius=1).decide(state),
        lambda: as_policy({state: decision}, task),
    ):
        with pytest.raises(InputError) as caught:
            ask()
        assert caught.value.code == code
        assert "in state x=0" in caught.value.message
        assert text in str(caught.value)


def test_decisions_that_cannot_be_taken_for_an_order():
    task = corridor()
    oracle = Oracle(task, policy=lambda state: "up", oracle="ipi", order="learn")
    assert code_of(oracle.decide, {"x": 0}) == "policy-unknown-action"


def test_nothing_to_decide():
    task = corridor()
    assert code_of(load_policy("first", task).decide, {"x": 9}) == "nothing-to-decide"


def test_errors_of_the_users_code_come_out():
    task = corridor()
    policy = as_policy(lambda state: 1 / 0, task)
    with pytest.raises(ZeroDivisionError):
        policy.decide({"x": 0})
    with pytest.raises(ZeroDivisionError):
        Oracle(task, policy=policy, radius=1).decide({"x": 0})


def test_policies_belong_to_their_task():
    policy = load_policy("first", corridor())
    assert code_of(as_policy, policy, corridor()) == "policy-other-task"
    assert code_of(as_policy, 3, corridor()) == "not-a-policy"
    assert code_of(as_policy, "first", "corridor.jani") == "not-a-task"


@pytest.mark.parametrize(
    "text", ["randm", "zzz", "", "first?seed=3", "random?seed=", "random?seed=x"]
)
def test_unknown_names(text):
    assert code_of(load_policy, text, corridor()) == "unknown-policy"


def test_seeds_that_are_none():
    assert code_of(load_policy, f"random?seed={2**64}", corridor()) == "unknown-policy"
    assert code_of(load_policy, "random", corridor(), seed=-1) == "bad-option"


@pytest.mark.parametrize("text", ["truck.onnx", "dir/truck.nnet", "a:b", "truck.pth"])
def test_files_that_are_not_there(text):
    with pytest.raises(InputError) as caught:
        load_policy(text, corridor())
    assert (caught.value.code, caught.value.file) == ("file-not-found", text)


def test_files_of_no_known_kind(tmp_path):
    (tmp_path / "policy.doc").write_text("go right")
    assert code_of(load_policy, str(tmp_path / "policy.doc"), corridor()) == "unknown-policy-format"
    (tmp_path / "policy.json").write_text('{"go": "right"}')
    assert (
        code_of(load_policy, str(tmp_path / "policy.json"), corridor()) == "unknown-policy-format"
    )


# -- files -------------------------------------------------------------------------------------

PYTHON = """
def right(state):
    return "right"

class Left:
    def __call__(self, state):
        return "left" if state["x"] else "right"

number = 3

def leaves():
    raise SystemExit

class Leaving:
    def __init__(self):
        raise SystemExit
"""


@pytest.fixture
def python_file(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(PYTHON)
    return file


def test_python_file(python_file):
    policy = load_policy(f"{python_file}:right", corridor())
    assert policy.decide({"x": 3}) == "right"
    assert policy.name == f"{python_file}:right"
    assert policy.sha256 == hashlib.sha256(PYTHON.encode()).hexdigest()
    assert load_policy(f"{python_file}:Left", corridor()).decide({"x": 3}) == "left"


def test_python_files_that_bring_none(python_file):
    for name, code in [
        ("riht", "unknown-name"),
        ("number", "not-a-policy"),
        ("Leaving", "python-error"),
    ]:
        assert code_of(load_policy, f"{python_file}:{name}", corridor()) == code
    assert code_of(load_policy, f"{python_file}", corridor()) == "missing-name"
    assert code_of(load_policy, "nowhere.py:x", corridor()) == "file-not-found"


def lines(*entries):
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def test_table_file(tmp_path):
    file = tmp_path / "table.jsonl"
    text = lines({"state": {"x": 0}, "action": "right"}, {"action": "left", "state": {"x": 1}})
    file.write_text(text + "\n")
    policy = load_policy(str(file), corridor())
    assert [policy.decide({"x": x}) for x in (0, 1)] == ["right", "left"]
    assert policy.name == str(file)
    assert policy.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    oracle = Oracle(corridor(), policy=str(file), radius=0)
    assert oracle.decide({"x": 0}).verdict == "safe"
    assert code_of(oracle.decide, {"x": 4}) == "policy-no-decision"


GOOD = {"state": {"x": 0}, "action": "right"}
BAD_TABLES = {
    "no JSON": ("{\n", "bad-json"),
    "no object": ("[]\n", "bad-policy-table"),
    "another member": (lines({**GOOD, "more": 1}), "bad-policy-table"),
    "no state": (lines({"state": 3, "action": "right"}), "bad-policy-table"),
    "unknown variable": (lines({"state": {"y": 0}, "action": "right"}), "unknown-variable"),
    "missing variable": (lines({"state": {}, "action": "right"}), "missing-variable"),
    "out of range": (lines({"state": {"x": 99}, "action": "right"}), "value-out-of-range"),
    "unknown action": (lines({"state": {"x": 0}, "action": "up"}), "policy-unknown-action"),
    "silent action": (lines({"state": {"x": 9}, "action": "tau"}), "policy-silent-action"),
    "not applicable": (lines({"state": {"x": 0}, "action": "left"}), "policy-not-applicable"),
    "twice": (lines(GOOD, GOOD), "duplicate-state"),
}


@pytest.mark.parametrize("text, code", BAD_TABLES.values(), ids=BAD_TABLES)
def test_bad_tables_name_the_line(tmp_path, text, code):
    file = tmp_path / "table.jsonl"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        load_policy(str(file), corridor())
    assert caught.value.code == code
    assert (caught.value.file, caught.value.place) == (str(file), str(text.count("\n")))


def test_table_file_that_is_not_there(tmp_path):
    assert code_of(load_policy, str(tmp_path / "no.jsonl"), corridor()) == "file-not-found"
