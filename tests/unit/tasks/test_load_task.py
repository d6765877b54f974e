"""Getting a task by name: what fits a source, and what does not."""

import sys
from pathlib import Path

import pytest

from surefoot import Description, InputError, PythonTask, load_task
from surefoot.tasks import require_task

OPTIONS = {
    "properties": "a.jani",
    "property_name": "a",
    "start": "a.jani",
    "goal": "a.jani",
    "fail": "a.jani",
    "constants": {"N": 3},
    "int_range": (0, 3),
}


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("source", ["domain:one-way-line?packages=1", "nothing.py:task"])
def test_options_of_jani_files_are_refused_elsewhere(source, name):
    with pytest.raises(InputError) as caught:
        load_task(source, **{name: OPTIONS[name]})
    assert caught.value.code == "bad-option"
    assert caught.value.message.startswith(name)


def test_no_constants_are_none():
    assert load_task("domain:one-way-line?packages=1&locations=2", constants={}).actions


@pytest.mark.parametrize("wrong", [3, (1,), (0, 1, 2), (3, 0), (0.0, 1.0), ("0", "1"), "01", True])
def test_int_range_is_a_pair(wrong):
    with pytest.raises(InputError) as caught:
        load_task("nothing.jani", int_range=wrong)
    assert caught.value.code == "bad-option"


USER_FILE = """
import sys
from surefoot import Description

seen = list(sys.argv)
lamp = Description("lamp")
lamp.bool("lit", initial=False)


class Walk:
    def __init__(self, length=3):
        self.length = length

    def start(self):
        return [0]

    def actions(self, state):
        return ["on"] if state < self.length else []

    def outcomes(self, state, action):
        return [state + 1]

    def is_goal(self, state):
        return False

    is_fail = is_goal

    def __call__(self, needed):
        raise AssertionError("nobody calls an object with the five methods")


class Long(Walk):
    def __init__(self, length):
        self.length = length


walk = Walk()


def made():
    lamp.name = ",".join(sys.argv)
    return lamp


def leaving():
    sys.exit("bye")


def needy(length, *, width):
    return lamp
"""


@pytest.fixture
def user_file(tmp_path):
    file = tmp_path / "user.py"
    file.write_text(USER_FILE)
    return file


def code_of(source):
    with pytest.raises(InputError) as caught:
        load_task(source)
    assert caught.value.hint
    return caught.value.code


@pytest.mark.parametrize("name", ["Walk", "walk"])
def test_classes_and_objects_with_the_five_methods(user_file, name):
    task = load_task(f"{user_file}:{name}")
    assert isinstance(task, PythonTask)
    assert task.applicable(0) == ("on",)


def test_the_file_sees_its_own_name_as_only_argument(user_file, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["surefoot", "explore", "--json"])
    assert load_task(f"{user_file}:made").name == str(user_file)
    assert sys.argv == ["surefoot", "explore", "--json"]
    assert sys.modules["surefoot_user_user"].seen == [str(user_file)]


def test_leaving_python_is_an_error_of_the_file(user_file, tmp_path):
    before = sys.argv
    assert code_of(f"{user_file}:leaving") == "python-error"
    (tmp_path / "script.py").write_text("raise SystemExit")
    assert code_of(f"{tmp_path / 'script.py'}:task") == "python-error"
    assert sys.argv is before


@pytest.mark.parametrize("name", ["needy", "Long"])
def test_what_needs_arguments_is_no_task(user_file, name):
    assert code_of(f"{user_file}:{name}") == "not-a-task"


@pytest.mark.parametrize("end", ["", ":"])
def test_python_files_need_a_name(user_file, end):
    assert code_of(f"{user_file}{end}") == "missing-name"
    assert code_of(f"nothing.py{end}") == "missing-name"


def test_a_task_is_required():
    d = Description("d")
    d.bool("lit", initial=False)
    task = d.compile()
    assert require_task(task) is task
    for thing, hint in [(d, "compile()"), ("a.jani", "load_task"), (Path("a"), "load_task")]:
        with pytest.raises(InputError) as caught:
            require_task(thing)
        assert caught.value.code == "not-a-task"
        assert hint in caught.value.hint
    for thing in (None, 3, Description):
        with pytest.raises(InputError, match="is not a task"):
            require_task(thing)
