"""Certificates of safe policies: written, read, checked, removed."""

from __future__ import annotations

import gc
import json

import pytest

from surefoot import (
    CertificateRejected,
    Description,
    InputError,
    OutOfBudget,
    PythonTask,
    Unsupported,
)
from surefoot.certificates import check_policy_certificate, read_policy_head
from surefoot.files import writing
from surefoot.options import VerifyOptions
from surefoot.policies import as_policy
from surefoot.verify import verify
from surefoot.verify.certificate import write_box_certificate
from surefoot.verify.question import Question


def grid(side=5, name="grid"):
    d = Description(name)
    x, y = d.int("x", 0, side), d.int("y", 0, side)
    d.edge("go", guard=x < side, outcomes=[{x: x + 1}, {}])
    d.start(x == 0)
    d.fail(x > y + side)
    return d.compile()


def test_file(tmp_path):
    file, task = tmp_path / "c.jsonl", grid()
    found = verify(task, "first", certificate=file)
    assert (found.certificate.path, found.certificate.size) == (file, 36)
    head, *rows = map(json.loads, file.read_text().splitlines())
    assert head["policy_certificate"] == 1
    assert (head["claim"], head["states"]) == ("policy-safe", 36)
    assert head["variables"] == ["x", "y"]
    assert head["task"]["sha256"] == task.sha256
    assert head["policy"]["name"] == "first"
    assert sorted(rows) == [[x, y] for x in range(6) for y in range(6)]
    assert [each.name for each in tmp_path.iterdir()] == ["c.jsonl"]


def test_file_is_the_same_for_any_number_of_workers(tmp_path):
    files = [tmp_path / f"{workers}.jsonl" for workers in (1, 2, 3)]
    for workers, file in enumerate(files, 1):
        verify(grid(100), "first", certificate=file, workers=workers)
    assert len({file.read_bytes() for file in files}) == 1


def test_temporary_file_goes_with_the_certificate():
    found = verify(grid(), "first", certificate=True)
    path = found.certificate.path
    found.certificate.check()
    assert path.is_file()
    del found
    gc.collect()
    assert not path.exists()


def test_too_large(monkeypatch, tmp_path):
    monkeypatch.setattr(writing, "MAX_BYTES", 500)
    found = verify(grid(50), "first", certificate=tmp_path / "c.jsonl")
    assert (found.verdict, found.certificate.path) == ("safe", None)
    assert "it could not be read again" in found.certificate.missing
    assert not list(tmp_path.iterdir())
    with pytest.raises(Unsupported):
        found.certificate.check()


def test_time_bound():
    found = verify(grid(50), "first", certificate=True)
    with pytest.raises(OutOfBudget):
        found.certificate.check(max_seconds=0)
    task, path, who = found.certificate.task, found.certificate.path, found.certificate.policy
    with pytest.raises(OutOfBudget):  # while it works, not before
        check_policy_certificate(task, path, policy=who, max_seconds=0.001)
    found.certificate.check(max_seconds=100)


def test_other_task_and_policy(tmp_path):
    file = tmp_path / "c.jsonl"
    verify(grid(), "first", certificate=file)
    other = grid(6)
    with pytest.raises(InputError) as error:
        check_policy_certificate(other, file, policy=as_policy("first", other))
    assert error.value.code == "certificate-other-task"
    table = tmp_path / "t.jsonl"
    table.write_text('{"state": {"x": 0, "y": 0}, "action": "go"}\n')
    task = grid()
    content = file.read_text().replace('"sha256": null', '"sha256": "0123"')
    file.write_text(content)
    with pytest.raises(InputError) as error:
        check_policy_certificate(task, file, policy=as_policy(str(table), task))
    assert error.value.code == "certificate-other-policy"


def test_python_task_with_values_of_many_kinds(tmp_path):
    class Turns:
        def start(self):
            return [("a", (1, 2), True)]

        def actions(self, state):
            return ["turn"]

        def outcomes(self, state, action):
            word, (left, right), flag = state
            return [(word, (right, left), not flag)]

        def is_goal(self, state):
            return False

        def is_fail(self, state):
            return False

    found = verify(PythonTask(Turns(), name="turns"), "first", certificate=tmp_path / "c.jsonl")
    assert found.states == 2
    found.certificate.check()


def test_values_that_json_does_not_have(tmp_path):
    class Odd:
        def start(self):
            return [(1j,)]

        def actions(self, state):
            return []

        def outcomes(self, state, action):
            return []

        def is_goal(self, state):
            return False

        def is_fail(self, state):
            return False

    found = verify(PythonTask(Odd()), "first", certificate=tmp_path / "c.jsonl")
    assert found.verdict == "safe"
    assert found.certificate.path is None
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["", "{}", "[1]", "\x00", "[" * 5000, '{"finding": 1}'])
def test_other_files_are_no_certificates_of_policies(tmp_path, text):
    file = tmp_path / "x.jsonl"
    file.write_text(text)
    assert read_policy_head(file) is None
    task = grid()
    with pytest.raises(InputError) as error:
        check_policy_certificate(task, file, policy=as_policy("first", task))
    assert error.value.code == "not-a-certificate"
    assert read_policy_head(tmp_path) is None


# -- boxes -------------------------------------------------------------------------------------


def job_of(task, file, policy="first"):
    return Question(task, as_policy(policy, task), VerifyOptions(), None, file)


def test_file_of_boxes(tmp_path):
    file, task = tmp_path / "c.jsonl", grid()
    boxes = [[(0, 4), (0, 5)], [(5, 5), (0, 5)]]
    made = write_box_certificate(job_of(task, file), boxes, [({"x": 1, "y": 1}, 0, 10)])
    assert (made.path, made.size, made.unit) == (file, 2, "box")
    assert repr(made) == "<PolicyCertificate policy-safe, 2 boxes>"
    made.check(max_seconds=100)
    head, *rows = map(json.loads, file.read_text().splitlines())
    assert rows == [[[0, 4], [0, 5]], [5, [0, 5]]]
    assert head["boxes"] == 2 and "states" not in head
    assert head["constraints"] == [{"factors": {"x": 1, "y": 1}, "lower": 0, "upper": 10}]
    assert head["variables"] == ["x", "y"]
    assert [each.name for each in tmp_path.iterdir()] == ["c.jsonl"]


def test_file_of_blocked_boxes(tmp_path):
    file, task = tmp_path / "c.jsonl", grid()
    made = write_box_certificate(job_of(task, file), [], [], blocked=True)
    made.check()
    assert (made.size, json.loads(file.read_text())["blocked"]) == (0, 0)
    made = write_box_certificate(job_of(task, file), [[(2, 3), (0, 5)]], [], blocked=True)
    with pytest.raises(CertificateRejected, match="which is not in the set"):
        made.check()


def test_lists_of_states_have_another_unit():
    found = verify(grid(), "first", certificate=True, method="explicit")
    assert found.certificate.unit == "state"
    assert repr(found.certificate) == "<PolicyCertificate policy-safe, 36 states>"


def test_temporary_file_of_boxes_goes_with_the_certificate():
    made = write_box_certificate(job_of(grid(), True), [[(0, 5), (0, 5)]], [])
    path = made.path
    made.check()
    assert path.is_file()
    del made
    gc.collect()
    assert not path.exists()


def test_too_many_boxes(monkeypatch, tmp_path):
    monkeypatch.setattr(writing, "MAX_BYTES", 900)
    boxes = [[(0, 5), (y, y)] for y in range(6)] * 100
    made = write_box_certificate(job_of(grid(), tmp_path / "c.jsonl"), boxes, [])
    assert (made.path, made.size) == (None, 600)
    assert "it could not be read again" in made.missing


def test_time_bound_of_boxes():
    d = Description("long")
    x, y = d.int("x", 0, 5000), d.int("y", 0, 5000)
    d.edge("go", outcomes=[{x: (x * y + 1) % 5001}])
    d.start(x == y)
    d.fail((x * y) % 5003 == 5002)
    task = d.compile()
    made = write_box_certificate(job_of(task, True), [[(0, 5000), (0, 5000)]], [])
    with pytest.raises((OutOfBudget, CertificateRejected)):
        made.check(max_seconds=0.1)
