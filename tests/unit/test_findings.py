"""Findings: what is in them, how they are written and read, and what they are held against."""

import json
import os
import random
import shutil
from dataclasses import replace

import numpy as np
import pytest
from tests.support.explicit_policies import (
    KINDS,
    compiled,
    in_python,
    lively_task,
    policy_of_kind,
)
from tests.support.explicit_tasks import random_policy

from surefoot import (
    CertificateRejected,
    Description,
    InputError,
    OutOfBudget,
    Unsupported,
    load_policy,
    load_task,
)
from surefoot import faults as faults_module
from surefoot.faults import find_faults
from surefoot.findings import Finding, finding_from, finding_of, read_finding, run_from
from surefoot.fuzz import fuzz
from surefoot.policies import as_policy
from surefoot.policies.models import Layer, Network
from surefoot.policies.safetensors import to_bytes
from surefoot.records.faults import Lazy

LINE = "domain:one-way-line?packages=2&locations=6&variant=icy-park"


def lamp(*, top=3):
    """Going up from 2 may fail; ``down`` and ``stay`` are safe."""
    d = Description("lamp")
    x = d.int("x", 0, top, initial=0)
    d.edge("up", guard=x < 3, outcomes=[{x: x + 1}, {}])
    d.edge("down", guard=x > 0, outcomes=[{x: x - 1}])
    d.edge("stay", outcomes=[{}])
    d.start(x <= 1)
    d.fail(x == 3)
    return d


@pytest.fixture
def line():
    task = load_task(LINE)
    return task, load_policy("first", task)


def faults_of(task, policy, *, runs=10, **options):
    failing = fuzz(task, policy, runs=runs).failing
    return find_faults(task, policy, failing, **options)


def lamp_finding(**options):
    task = lamp().compile()
    policy = load_policy("first", task)
    return finding_of(task, policy, faults_of(task, policy, **options).faults[0])


def reread(finding, tmp_path):
    """Return the finding after it was written and read."""
    finding.write(tmp_path / "finding.json")
    return read_finding(tmp_path / "finding.json")


# -- content -----------------------------------------------------------------------------------


def test_content_of_a_fault():
    finding = lamp_finding(deviations=True)
    content = finding.to_dict()
    assert list(content) == [
        *("surefoot", "finding", "kind", "task", "policy", "run", "fault", "certificates")
    ]
    assert (content["finding"], content["kind"]) == (1, "fault")
    assert content["task"] == {
        "name": "lamp",
        "sha256": finding.task.sha256,
        "source": None,
        "options": {},
    }
    assert content["policy"] == {
        "name": "first",
        "sha256": None,
        "interface": None,
        "unfiltered": False,
    }
    run = content["run"]
    assert run["variables"] == ["x"]
    assert run["states"][-1] == [3]
    assert set(run["actions"]) == {"up"}
    assert (run["known_reachable"], "made" in run) == (True, False)
    fault = content["fault"]
    assert (fault["state"], fault["action"], fault["outcome"]) == ([2], "up", [3])
    assert fault["alternatives"] == ["down", "stay"]
    assert (fault["uncertified"], fault["more_unknown"], fault["radius"]) == ([], False, None)
    assert fault["deviations"] == "inf"  # going down once is not enough: it goes up again
    certificates = content["certificates"]
    assert certificates["outcome"]["claim"] == "unsafe"
    assert list(certificates["alternatives"]) == ["down", "stay"]
    assert [each["radius"] for each in certificates["deviations"]] == ["finite"]
    assert finding.size == 4
    finding.check()


def test_content_of_a_bug_and_of_a_run():
    task = lamp().compile()
    policy = load_policy("first", task)
    found = faults_of(task, policy, bugs_only=True)
    bug = finding_of(task, policy, found.bugs[0])
    assert bug.kind == "bug"
    assert set(bug.about) == {"step", "state", "radius", "deviations"}
    assert bug.to_dict()["certificates"]["state"]["claim"] == "safe"
    run = finding_of(task, policy, found.bugs[0].failing)
    assert (run.kind, run.about, run.size, run.radius) == ("run", {}, 0, None)
    assert "certificates" not in run.to_dict()
    bug.check()
    run.check()


def test_what_is_no_finding():
    task = lamp().compile()
    with pytest.raises(InputError, match="neither a fault") as caught:
        finding_of(task, "first", fuzz(task, "first", runs=1))
    assert caught.value.code == "not-a-finding"


# -- files -------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"deviations": True}, {"radius": 4}])
def test_round_trip(line, tmp_path, options):
    task, policy = line
    found = faults_of(task, policy, **options)
    for each in (*found.faults, *found.bugs[:3]):
        finding = finding_of(task, policy, each, seed=7)
        read = reread(finding, tmp_path)
        assert read.to_dict() == finding.to_dict()
        assert read.question() == finding.question()
        assert (read.task, read.policy) == (None, None)
        read.check(task)
        assert read.content["run"]["seed"] == 7
        run = each.run if hasattr(each, "outcome") else each.failing
        assert read.run(task).states == run.states
        assert str(read).startswith(f"{read.kind} of policy first on one-way-line-2-6-icy-park")
        again = tmp_path / "again.json"
        read.write(again)
        assert again.read_text() == (tmp_path / "finding.json").read_text()
    assert sorted(os.listdir(tmp_path)) == ["again.json", "finding.json"]


def test_it_names_its_task_and_policy(line, tmp_path):
    task, policy = line
    finding = finding_of(task, policy, faults_of(task, policy).faults[0])
    read = reread(finding, tmp_path)
    read.check()  # loads them
    assert read.find_task().sha256 == task.sha256
    assert read.find_policy(task).name == "first"


def test_other_files_are_not_replaced(tmp_path):
    finding = lamp_finding()
    file = tmp_path / "mine.json"
    file.write_text('{"important": true}')
    with pytest.raises(InputError) as caught:
        finding.write(file)
    assert caught.value.code == "file-exists"
    assert file.read_text() == '{"important": true}'
    finding.write(tmp_path / "ours.json")
    finding.write(tmp_path / "ours.json")
    with pytest.raises(InputError) as caught:
        finding.write(tmp_path / "nowhere" / "x.json")
    assert caught.value.code == "file-not-written"
    assert sorted(os.listdir(tmp_path)) == ["mine.json", "ours.json"]


NOT_FINDINGS = {
    "no object": [],
    "no version": {"kind": "fault"},
    "kind": {"finding": 1, "kind": "trace"},
    "nothing else": {"finding": 1, "kind": "run"},
}


@pytest.mark.parametrize("content", NOT_FINDINGS.values(), ids=NOT_FINDINGS)
def test_what_is_not_read(tmp_path, content):
    file = tmp_path / "x.json"
    file.write_text(json.dumps(content))
    with pytest.raises(InputError) as caught:
        read_finding(file)
    assert (caught.value.code, caught.value.file) == ("not-a-finding", str(file))


def test_every_member_of_the_frame_is_needed():
    content = json.loads(json.dumps(lamp_finding().to_dict()))
    finding_from(content, "x.json")
    for name in ("task", "policy", "run", "fault", "certificates"):
        for broken in ({**content, name: 3}, {k: v for k, v in content.items() if k != name}):
            with pytest.raises(InputError):
                finding_from(broken, "x.json")
        for key in content[name]:
            optional = ("radius", "deviations", "uncertified", "more_unknown")
            if key in optional or name == "certificates":
                continue
            rest = {k: v for k, v in content[name].items() if k != key}
            for broken in (rest, {**rest, key: 3.5}):
                with pytest.raises(InputError):
                    finding_from({**content, name: broken}, "x.json")
    for radius in (-1, "1", True, 1.0):
        with pytest.raises(InputError):
            finding_from({**content, "fault": {**content["fault"], "radius": radius}}, "x.json")


def test_other_versions(tmp_path):
    file = tmp_path / "x.json"
    for version in (2, True, None, "1"):
        file.write_text(json.dumps({**lamp_finding().to_dict(), "finding": version}))
        with pytest.raises(InputError) as caught:
            read_finding(file)
        assert caught.value.code == "finding-version"


def test_values_that_json_does_not_have(tmp_path):
    class Odd:
        def start(self):
            return [(frozenset(),)]

        def actions(self, state):
            return ["go"]

        def outcomes(self, state, action):
            return [(frozenset({1}),)]

        def is_goal(self, state):
            return False

        def is_fail(self, state):
            return bool(state[0])

    from surefoot import PythonTask

    task = PythonTask(Odd())
    run = fuzz(task, "first", runs=1).failing[0]
    finding = finding_of(task, "first", run)
    with pytest.raises(Unsupported):
        finding.write(tmp_path / "x.json")
    assert os.listdir(tmp_path) == []


# -- the policy and the task -------------------------------------------------------------------


def network(task, seed):
    generator = np.random.default_rng(seed)
    count = len([name for name in task.actions if name not in task.silent])
    hidden = Layer(generator.normal(size=(8, len(task.names))), generator.normal(size=8), "relu")
    last = Layer(generator.normal(size=(count, 8)), generator.normal(size=count), "linear")
    return Network((hidden, last), "float32")


@pytest.mark.parametrize("interface", ["none", "beside", "given", "itself"])
def test_policies_in_files(tmp_path, monkeypatch, interface):
    """A finding brings back exactly the policy that it is about, wherever its interface stood."""
    monkeypatch.chdir(tmp_path)
    task = load_task(LINE)
    (tmp_path / "net.safetensors").write_bytes(to_bytes(network(task, 1)))
    order = list(reversed([name for name in task.actions if name not in task.silent]))
    said = {"surefoot_interface": 1, "inputs": list(task.names), "outputs": order}
    name, more = "net.safetensors", {}
    if interface == "beside":
        (tmp_path / "net.interface.json").write_text(json.dumps(said))
    elif interface == "given":
        (tmp_path / "elsewhere.json").write_text(json.dumps(said))
        more = {"interface": "elsewhere.json"}
    elif interface == "itself":
        name = "whole.interface.json"
        (tmp_path / name).write_text(json.dumps({**said, "file": "net.safetensors"}))
    policy = load_policy(name, task, **more)
    assert policy.interface.outputs[0] == (order[-1] if interface == "none" else order[0])
    run = min(fuzz(task, policy, runs=50).failing, key=lambda run: run.steps)
    finding_of(task, policy, run).write("finding.json")
    read = read_finding("finding.json")
    again = read.find_policy(read.find_task())
    assert again.sha256 == policy.sha256
    assert again.interface == policy.interface
    read.check()
    (tmp_path / "there").mkdir()
    for file in list(tmp_path.glob("*.*")):
        shutil.move(str(file), str(tmp_path / "there"))
    read_finding("there/finding.json").check()  # paths are also looked for beside it


def test_a_changed_policy_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    task = load_task(LINE)
    (tmp_path / "net.safetensors").write_bytes(to_bytes(network(task, 1)))
    policy = load_policy("net.safetensors", task)
    finding = finding_of(task, policy, fuzz(task, policy, runs=50).failing[0])
    finding.write("finding.json")
    (tmp_path / "net.safetensors").write_bytes(to_bytes(network(task, 2)))
    with pytest.raises(InputError) as caught:
        read_finding("finding.json").check()
    assert caught.value.code == "finding-other-policy"
    read_finding("finding.json").check(recompute=False)
    read_finding("finding.json").check(task, policy)
    os.unlink("net.safetensors")
    with pytest.raises(InputError) as caught:
        read_finding("finding.json").check()
    assert caught.value.code == "unknown-policy"


def test_a_changed_task_is_refused(tmp_path):
    lamp().compile().write_jani(tmp_path / "lamp.jani")
    task = load_task(tmp_path / "lamp.jani")
    policy = load_policy("first", task)
    finding_of(task, policy, faults_of(task, policy).faults[0]).write(tmp_path / "x.json")
    read_finding(tmp_path / "x.json").check()
    lamp(top=4).compile().write_jani(tmp_path / "lamp.jani")
    with pytest.raises(InputError) as caught:
        read_finding(tmp_path / "x.json").check()
    assert caught.value.code == "finding-other-task"


def test_task_options_come_back(tmp_path, monkeypatch):
    """Constants, ranges and property files of the task are recorded, and read again."""
    monkeypatch.chdir(tmp_path)
    lamp().compile().write_jani("lamp.jani")
    document = json.loads((tmp_path / "lamp.jani").read_text())
    document["constants"] = [{"name": "N", "type": "int"}, {"name": "B", "type": "bool"}]
    x = next(each for each in document["variables"] if each["name"] == "x")
    x["type"] = "int"
    (tmp_path / "safety.jani").write_text(json.dumps({"properties": document.pop("properties")}))
    (tmp_path / "lamp.jani").write_text(json.dumps(document))
    task = load_task(
        "lamp.jani",
        properties="safety.jani",
        constants={"N": 3, "B": True},
        int_range=(-5, 5),
    )
    policy = load_policy("first", task)
    finding_of(task, policy, faults_of(task, policy).faults[0]).write("x.json")
    read = read_finding("x.json")
    assert read.content["task"]["options"] == {
        "property": "safety.jani",
        "const": ["N=3", "B=true"],
        "int_range": "-5..5",
    }
    read.check()


def test_nothing_that_is_named_is_run(tmp_path):
    content = lamp_finding().to_dict()
    bad = tmp_path / "evil.py"
    bad.write_text("import pathlib\npathlib.Path(__file__).with_name('ran').touch()\nlamp = None\n")
    content["task"] = {**content["task"], "source": f"{bad}:lamp"}
    finding = finding_from(json.loads(json.dumps(content)), tmp_path / "x.json")
    with pytest.raises(InputError) as caught:
        finding.check()
    assert caught.value.code == "finding-runs-code"
    content["policy"] = {**content["policy"], "name": f"{bad}:lamp"}
    finding = finding_from(json.loads(json.dumps(content)), tmp_path / "x.json")
    with pytest.raises(InputError) as caught:
        finding.check(lamp().compile())
    assert caught.value.code == "finding-runs-code"
    assert not (tmp_path / "ran").exists()
    content["task"]["source"] = None
    with pytest.raises(InputError) as caught:
        finding_from(content, "x.json").check()
    assert caught.value.code == "finding-no-task"


BAD_OPTIONS = (
    {"const": "N=3"},
    {"const": ["N"]},
    {"const": ["N=[1]"]},
    {"const": [3]},
    {"int_range": "1"},
    {"int_range": "1..2..3"},
    {"property": 3},
    {"odd": 1},
)


@pytest.mark.parametrize("options", BAD_OPTIONS)
def test_options_that_mean_nothing(options):
    content = lamp_finding().to_dict()
    content["task"] = {**content["task"], "source": "lamp.jani", "options": options}
    with pytest.raises(InputError) as caught:
        finding_from(content, "x.json").check()
    assert caught.value.code == "not-a-finding"


# -- checking ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_every_finding_of_random_tasks_is_accepted(kind, tmp_path):
    rng = random.Random(KINDS.index(kind))
    count = 0
    for seed in range(12):
        explicit = lively_task(rng, max_silent=0 if seed % 2 else 2)
        starts = sorted(rng.sample(explicit.states, 3))
        is_python = seed % 2 == 1 and kind in ("table", "callable", "first", "random")
        task = (in_python if is_python else compiled)(explicit, starts=starts)
        policy = policy_of_kind(kind, explicit, task, rng, random_policy(rng, explicit))
        found = faults_of(task, policy, deviations=True)
        for each in (*found.faults, *found.bugs):
            finding = finding_of(task, policy, each)
            finding.check()
            reread(finding, tmp_path).check(task, policy)
            count += 1
    assert count > 5


def test_a_finding_that_was_changed_is_rejected(tmp_path):
    content = json.loads(json.dumps(lamp_finding().to_dict()))
    content["fault"]["alternatives"] = ["down", "stay", "up"]
    task = lamp().compile()
    with pytest.raises(CertificateRejected, match="up is not an alternative to itself"):
        finding_from(content, "x.json").check(task)


def test_a_policy_that_does_not_decide_is_no_error(tmp_path):
    """A state that a table does not have shows that the run is not of this policy."""
    task = lamp().compile()
    policy = as_policy({task.state(x=x): "up" for x in range(3)}, task)
    finding = finding_of(task, policy, faults_of(task, policy).faults[0])
    finding.check()
    poor = as_policy({task.state(x=0): "up"}, task)
    with pytest.raises(CertificateRejected, match="the policy does not decide"):
        finding.check(task, poor)


def test_out_of_time():
    finding = lamp_finding()
    long = finding.to_dict()
    long["run"] = {
        **long["run"],
        "states": [[0]] * 2000 + long["run"]["states"],
        "actions": ["up"] * 2000 + long["run"]["actions"],
    }
    with pytest.raises(OutOfBudget):
        finding_from(long, "x.json").check(finding.task, max_seconds=0.0)


def test_huge_certificates_of_further_alternatives_are_left_out(monkeypatch, tmp_path):
    monkeypatch.setattr(faults_module, "MAX_VALUES", 0)
    finding = lamp_finding()
    fault = finding.about
    assert (fault["alternatives"], fault["uncertified"]) == (["down", "stay"], ["stay"])
    assert list(finding.content["certificates"]["alternatives"]) == ["down"]
    reread(finding, tmp_path).check(finding.task)


def test_where_no_alternative_was_settled_the_certificate_has_one():
    task = lamp().compile()
    policy = load_policy("first", task)
    fault = faults_of(task, policy).faults[0]
    (run,) = [fault.run]
    finder = faults_module.FaultFinder(task, policy)
    (fault,) = finder.add(run)
    made = finder._certificates(fault.state, fault.outcome, ())
    bare = replace(fault, alternatives=(), has_unknown_alternatives=True)
    bare = replace(bare, make_certificates=Lazy(lambda: made))
    finding = finding_of(task, policy, bare)
    assert len(finding.about["alternatives"]) == 1
    assert finding.about["alternatives"][0] in ("down", "stay")
    finding.check()


# -- runs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("perturb", ["values", "actions", "both"])
def test_runs_from_made_starts(line, tmp_path, perturb):
    task, policy = line
    runs = fuzz(task, policy, runs=20, perturb=perturb, changes=2).failing
    run = next(run for run in runs if run.made.changes)
    finding = reread(finding_of(task, policy, run), tmp_path)
    assert finding.run(task).made == run.made
    finding.check()
    content = finding.to_dict()
    del content["run"]["made"]
    content["run"]["known_reachable"] = True
    if not task.is_start(run.start):
        with pytest.raises(CertificateRejected, match="not a start state"):
            finding_from(content, "x.json").check()


def test_runs_as_fuzzing_writes_them(line):
    task, policy = line
    for run in fuzz(task, policy, runs=20, perturb="both").failing:
        assert run_from(json.loads(json.dumps(run.to_dict())), task) == replace(run, num_steps=None)
    plain = {"states": [run.start.to_dict()], "actions": []}
    assert run_from(plain, task).is_known_reachable
    assert not run_from({**plain, "known_reachable": False}, task).is_known_reachable


def test_runs_that_0_1_0_called_safe_are_read():
    d = Description("line")
    x = d.int("x", 0, 3, initial=0)
    d.edge("up", guard=x < 3, outcomes=[{x: x + 1}])
    d.fail(x > 3)
    old = {"run": 4, "states": [{"x": 0}], "actions": [], "result": "safe", "steps": 3}
    run = run_from(old, d.compile())
    assert (run.run, [dict(state) for state in run.states], run.actions) == (4, [{"x": 0}], ())


BAD_RUNS = {
    "no object": 3,
    "no states": {"actions": []},
    "too many actions": {"states": [{"x": 0}], "actions": ["up"]},
    "no state": {"states": [3], "actions": []},
    "another variable": {"states": [{"y": 0}], "actions": []},
    "out of range": {"states": [{"x": 7}], "actions": []},
    "list without variables": {"states": [[0]], "actions": []},
    "odd variables": {"states": [[0]], "actions": [], "variables": [3]},
    "unknown action": {"states": [{"x": 0}, {"x": 1}], "actions": ["hop"]},
    "action of another kind": {"states": [{"x": 0}, {"x": 1}], "actions": [["up"]]},
}


@pytest.mark.parametrize("content", BAD_RUNS.values(), ids=BAD_RUNS)
def test_bad_runs(content):
    with pytest.raises(InputError) as caught:
        run_from(content, lamp().compile(), file="runs.json")
    assert caught.value.file == "runs.json"


def test_a_finding_needs_no_task_to_be_shown():
    content = lamp_finding().to_dict()
    assert repr(Finding(content)) == "<Finding: fault of policy first on lamp, a run of 2 steps>"
