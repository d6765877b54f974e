"""Faults from files: every form is read, and what is damaged or of another task is named."""

import contextlib
import copy
import json
import os
import random
import time

import pytest
from tests.hostile.test_bad_certificates import junk, places
from tests.support.mutate import mutate

from surefoot import (
    InputError,
    SurefootError,
    find_faults,
    finding_of,
    fuzz,
    load_policy,
    load_task,
)
from surefoot.findings.faults import read_faults

LINE = "domain:one-way-line?packages=1&locations=6"
OTHER = "domain:one-way-line?packages=1&locations=5"
MAX_SECONDS = 5.0


@pytest.fixture(scope="module")
def task():
    return load_task(LINE)


@pytest.fixture(scope="module")
def found(task):
    policy = load_policy("first", task)
    return find_faults(task, policy, fuzz(task, policy, runs=100).failing)


@pytest.fixture
def finding(task, found):
    made = finding_of(task, load_policy("first", task), found.faults[0])
    return json.loads(json.dumps(made.to_dict()))


@pytest.fixture
def document(task, found):
    content = {"command": "faults", "task": {"name": task.name, "sha256": task.sha256}}
    return json.loads(json.dumps({**content, **found.to_dict()}))


def campaign(folder, task, found, *, sha256=None):
    """Write what the reader needs of a campaign."""
    (folder / "faults").mkdir(parents=True)
    member = {"name": task.name, "sha256": task.sha256 if sha256 is None else sha256}
    (folder / "campaign.json").write_text(json.dumps({"campaign": 1, "task": member}))
    half = len(found.faults) // 2
    for number, some in ((1, found.faults[:half]), (2, found.faults[half:])):
        lines = [json.dumps({**fault.to_dict(), "steps": 3}) + "\n" for fault in some]
        (folder / "faults" / f"iteration-00{number}.jsonl").write_text("".join(lines))
    return folder


def keys(faults):
    return [(fault.state, fault.action, set(fault.alternatives)) for fault in faults]


def refused(task, *paths):
    begin = time.process_time()
    with pytest.raises(SurefootError) as caught:
        read_faults(paths, task)
    assert time.process_time() - begin < MAX_SECONDS
    assert caught.value.exit_code in (2, 3)
    assert caught.value.file is not None
    return caught.value


# -- all forms ---------------------------------------------------------------------------------


def test_every_form_gives_the_same_faults(task, found, document, tmp_path):
    wanted = keys(found.faults)
    assert len(wanted) > 5
    policy = load_policy("first", task)
    (tmp_path / "findings").mkdir()
    for number, fault in enumerate(found.faults):
        finding_of(task, policy, fault).write(tmp_path / "findings" / f"fault-{number:03}.json")
    bug = finding_of(task, policy, found.bugs[0])
    bug.write(tmp_path / "findings" / "bug-1.json")  # passed over in a folder
    (tmp_path / "findings" / "notes.txt").write_text("nothing")
    (tmp_path / "faults.json").write_text(json.dumps(document))
    folder = campaign(tmp_path / "campaign", task, found)
    rounds = sorted((folder / "faults").iterdir())
    for paths in (
        [tmp_path / "findings"],
        sorted((tmp_path / "findings").glob("fault-*.json")),
        [tmp_path / "faults.json"],
        [folder],
        rounds,
        [folder, tmp_path / "findings", str(tmp_path / "faults.json")],
    ):
        assert keys(read_faults(paths, task)) == wanted
    assert refused(task, tmp_path / "findings" / "bug-1.json").code == "no-faults"


def busy(task, found):
    """Return a state with more than two applicable actions, and these."""
    states = (state for fault in found.faults for state in fault.run.states)
    state = next(state for state in states if len(task.applicable(state)) > 2)
    return state, task.applicable(state)


def test_the_same_fault_with_other_alternatives_is_one(task, found, tmp_path):
    state, actions = busy(task, found)
    lines = [{"state": dict(state), "action": actions[0], "alternatives": [a]} for a in actions[1:]]
    (tmp_path / "f.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (fault,) = read_faults([tmp_path / "f.jsonl"], task)
    assert fault.alternatives == actions[1:]


def test_alternatives_with_a_certificate_come_first(task, found, finding, tmp_path):
    state, (action, *others) = busy(task, found)
    finding["fault"] |= {"state": list(state.values_tuple), "action": action}
    finding["fault"]["alternatives"] = others
    finding["fault"]["uncertified"] = others[:1]
    (tmp_path / "f.json").write_text(json.dumps(finding))
    (fault,) = read_faults([tmp_path / "f.json"], task)
    assert fault.alternatives == (*others[1:], *others[:1])


# -- another task ------------------------------------------------------------------------------


def test_faults_of_another_task(task, found, finding, document, tmp_path):
    other = load_task(OTHER)
    (tmp_path / "finding.json").write_text(json.dumps(finding))
    (tmp_path / "document.json").write_text(json.dumps(document))
    folder = campaign(tmp_path / "campaign", task, found)
    lines = folder / "faults" / "iteration-001.jsonl"
    (tmp_path / "alone.jsonl").write_text(lines.read_text())
    for path in ("finding.json", "document.json", "campaign", lines):
        error = refused(other, tmp_path / path)
        assert (error.code, error.place) == ("fault-other-task", "/task")
    error = refused(other, tmp_path / "alone.jsonl")  # says no SHA-256: by its variables
    assert (error.file, error.place) == (str(tmp_path / "alone.jsonl"), "1")


def test_actions_that_do_not_fit(task, document, tmp_path):
    file = tmp_path / "f.json"
    action = document["faults"][1]["action"]
    for change, code in (
        ({"action": "fly"}, "fault-other-task"),
        ({"alternatives": ["fly"]}, "fault-other-task"),
        ({"alternatives": [action]}, "bad-fault"),
        ({"alternatives": "up"}, "bad-fault"),
        ({"alternatives": [7]}, "bad-fault"),
        ({"action": None}, "bad-fault"),
        ({"action": {}}, "bad-fault"),
    ):
        changed = copy.deepcopy(document)
        changed["faults"][1] |= change
        file.write_text(json.dumps(changed))
        error = refused(task, file)
        assert (error.code, error.place) == (code, "/faults/1"), change


def test_actions_that_are_not_applicable(task, document, tmp_path):
    fault = document["faults"][0]
    missing = [a for a in task.actions if a not in task.applicable(fault["state"])]
    fault["alternatives"] = missing[:1]
    (tmp_path / "f.json").write_text(json.dumps(document))
    assert refused(task, tmp_path / "f.json").code == "bad-fault"


# -- damaged files -----------------------------------------------------------------------------


def test_damaged_lines_are_named(task, found, tmp_path):
    folder = campaign(tmp_path / "c", task, found)
    file = folder / "faults" / "iteration-002.jsonl"
    good = file.read_text()
    for bad in ("{", "[]", "7", '{"state": {}}', "null", '{"state": [1], "state": 2}', "NaN"):
        file.write_text(good + bad + "\n")
        error = refused(task, folder)
        assert (error.file, error.place) == (str(file), str(good.count("\n") + 1)), bad
    file.write_bytes(b"\xff\xfe")
    assert refused(task, folder).file == str(file)


@pytest.mark.parametrize("content", ["", "{", "[]", "7", "{}", '{"faults": 3}', '{"faults": []}'])
def test_files_without_faults(task, tmp_path, content):
    (tmp_path / "f.json").write_text(content)
    assert refused(task, tmp_path / "f.json").file == str(tmp_path / "f.json")


def test_places_where_no_file_is(task, tmp_path):
    refused(task, tmp_path / "gone.json")
    refused(task, "\0")
    os.symlink(tmp_path / "loop.json", tmp_path / "loop.json")
    refused(task, tmp_path / "loop.json")
    refused(task, tmp_path)  # the folder has a link that leads nowhere
    (tmp_path / "loop.json").unlink()
    assert read_faults([tmp_path], task) == []
    (tmp_path / "campaign.json").write_text("{}")
    assert refused(task, tmp_path).file == str(tmp_path / "campaign.json")
    refused(task, "/dev/zero")


def test_huge_and_deep(task, document, tmp_path):
    text = json.dumps(document)
    value = '"truck_0": '
    assert value in text
    for depth in (3_000, 100_000):
        deep = "[" * depth + "]" * depth
        (tmp_path / "f.json").write_text(text.replace(value, f'{value}{deep}, "z": ', 1))
        refused(task, tmp_path / "f.json")
    (tmp_path / "f.json").write_text(text.replace(value, f"{value}{'9' * 100_000}", 1))
    refused(task, tmp_path / "f.json")


def try_it(task, file):
    begin = time.process_time()
    try:
        read_faults([file], task)
    except SurefootError as error:
        assert str(error)
        assert error.file is not None
    assert time.process_time() - begin < MAX_SECONDS


def test_anything_in_any_place(task, finding, document, tmp_path):
    rng = random.Random(5)
    document["faults"] = document["faults"][:2]
    document |= {"bugs": [], "runs": []}
    finding["certificates"] = {}
    finding["run"]["states"] = finding["run"]["states"][:1]
    for content in (finding, document, {**document["faults"][0]}):
        for number in range(len(places(content))):
            for _ in range(4):
                changed = copy.deepcopy(content)
                container, key = places(changed)[number]
                container[key] = junk(rng)
                name = "f.jsonl" if "state" in content else "f.json"
                with contextlib.suppress(ValueError):  # numbers that Python does not write
                    (tmp_path / name).write_text(json.dumps(changed))
                    try_it(task, tmp_path / name)


@pytest.mark.fuzz
def test_mutated_files(task, finding, document, tmp_path):
    rng = random.Random(2)
    document["faults"] = document["faults"][:3]
    for content in (finding, document):
        for _ in range(100):
            (tmp_path / "f.json").write_bytes(mutate(content, rng))
            try_it(task, tmp_path / "f.json")


def test_input_error_is_what_everybody_gets(task, tmp_path):
    with pytest.raises(InputError):
        read_faults([tmp_path / "gone.json"], task)
