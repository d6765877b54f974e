"""Certificates: what is in them, how they are written and read, and who checks them on what."""

import json
import os
from pathlib import Path

import pytest

from surefoot import (
    CertificateRejected,
    Description,
    InputError,
    Oracle,
    OutOfBudget,
    PythonTask,
    Unsupported,
    checker,
    decide,
    domain,
    load_task,
    read_certificate,
)
from surefoot.certificates import Certificate, check_content, checking, rows
from surefoot.files import writing

MEMBERS = [
    *("surefoot", "certificate", "claim", "radius", "task", "policy"),
    *("variables", "actions", "state", "states"),
]


def fork():
    """0 goes on to 1 or 2 as the environment likes; 3 fails, and only ``left`` avoids it."""
    d = Description("fork")
    x = d.int("x", 0, 3, initial=0)
    wet = d.bool("wet", initial=False)
    deep = d.real("deep", 0.0, 1.0, initial=0.5)
    d.action("unused")
    d.edge("go", guard=x == 0, outcomes=[{x: 1, wet: True}, {x: 2}])
    d.edge("right", guard=x > 0, outcomes=[{x: 3, deep: deep / 2}])
    d.edge("left", guard=(x > 0) & (x < 3), outcomes=[{x: 0, wet: False}])
    d.fail(x == 3)
    return d


SAFE, UNSAFE = {"x": 0, "wet": False, "deep": 0.5}, {"x": 3, "wet": True, "deep": 0.25}


def test_content_of_a_safe_one():
    task = fork().compile()
    content = decide(task, SAFE).certificate.to_dict()
    assert list(content) == [*MEMBERS, "choices"]
    assert content["certificate"] == 1
    assert (content["claim"], content["radius"], content["policy"]) == ("safe", None, None)
    assert content["variables"] == ["x", "wet", "deep"]
    assert content["states"][content["state"]] == [0, False, 0.5]
    assert sorted(content["actions"]) == ["go", "left"]  # no others
    states = [tuple(state) for state in content["states"]]
    assert sorted(states) == [(0, False, 0.5), (1, True, 0.5), (2, False, 0.5)]
    chosen = {states[s][0]: content["actions"][a] for s, a in content["choices"]}
    assert chosen == {0: "go", 1: "left", 2: "left"}
    assert content["task"] == {
        "name": "fork",
        "sha256": task.sha256,
        "source": None,
        "options": {},
    }


def test_content_of_an_unsafe_one():
    content = decide(fork().compile(), UNSAFE).certificate.to_dict()
    assert list(content) == [*MEMBERS, "ranks"]
    assert content["states"] == [[3, True, 0.25]]
    assert content["ranks"] == [[0, 0]]
    assert content["actions"] == []


def test_content_with_a_radius():
    task = fork().compile()
    content = decide(task, SAFE, policy="first", radius=2).certificate.to_dict()
    assert list(content) == [*MEMBERS, "decisions", "ranks"]
    assert (content["claim"], content["radius"], content["policy"]) == ("unsafe", 2, "first")
    assert len(content["decisions"]) == len(content["states"])
    assert all(0 <= remaining <= 2 for _, remaining, _ in content["ranks"])
    decided = {s[0]: d for s, d in zip(content["states"], content["decisions"], strict=True)}
    assert decided[3] is None
    assert content["actions"][decided[0]] == "go"


def test_task_without_variables():
    d = Description("nothing")
    d.edge("wait", outcomes=[{}])
    content = decide(d.compile(), {}).certificate
    assert content.to_dict()["states"] == [[]]
    content.check()


def test_forced_steps_have_no_action(tmp_path):
    d = Description("tau")
    x = d.int("x", 0, 2, initial=0)
    d.silent.append("tau")
    d.edge("tau", guard=x == 0, outcomes=[{x: 1}])
    d.edge("stay", guard=x == 1, outcomes=[{}])
    task = d.compile()
    for how in ({}, {"policy": "first", "radius": 1}):
        certificate = decide(task, {"x": 0}, **how).certificate
        content = certificate.to_dict()
        assert sorted(entry[-1] is None for entry in content["choices"]) == [False, True]
        certificate.check()


# -- files -------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [SAFE, UNSAFE])
@pytest.mark.parametrize("how", [{}, {"policy": "first", "radius": 1}])
def test_written_and_read(tmp_path, state, how):
    task = fork().compile()
    certificate = decide(task, state, **how).certificate
    certificate.write(tmp_path / "c.json")
    content = read_certificate(tmp_path / "c.json")
    assert content == certificate.to_dict()
    assert list(content) == list(certificate.to_dict())
    check_content(task, content)
    Certificate(task, content).check()
    Certificate(task, content).write(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "c.json").read_bytes()


def test_another_task_is_refused():
    content = decide(fork().compile(), SAFE).certificate.to_dict()
    for other in (domain("one-way-line", packages=2, locations=3), PythonTask(Scalar())):
        for check in (check_content, lambda task, given: Certificate(task, given).check()):
            with pytest.raises(InputError) as caught:
                check(other, content)
            assert caught.value.code == "certificate-other-task"


def test_many_states_are_written_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "ROWS_PER_PIECE", 7)
    d = Description("line")
    x = d.int("x", 0, 100, initial=0)
    d.edge("up", guard=x < 100, outcomes=[{x: x + 1}])
    certificate = decide(d.compile(), {"x": 0}).certificate
    assert certificate.size == 100
    certificate.write(tmp_path / "c.json")
    content = read_certificate(tmp_path / "c.json")
    assert sorted(s[0] for s in content["states"])[:100] == list(range(100))
    assert content == certificate.to_dict()


def test_what_cannot_be_written_leaves_what_was_there(tmp_path, monkeypatch):
    certificate = decide(fork().compile(), SAFE).certificate
    file = tmp_path / "c.json"
    file.write_text("before")
    monkeypatch.setattr(writing, "MAX_BYTES", 100)
    with pytest.raises(Unsupported):
        certificate.write(file)
    assert file.read_text() == "before"
    assert os.listdir(tmp_path) == ["c.json"]
    with pytest.raises(InputError) as caught:
        certificate.write(tmp_path / "nowhere" / "c.json")
    assert caught.value.code == "file-not-written"


NO_CERTIFICATES = {
    "no JSON": ("{", "json-syntax"),
    "no object": ("[]", "not-a-certificate"),
    "another document": ('{"surefoot": "0.1.0"}', "not-a-certificate"),
    "another version": ('{"certificate": 2}', "certificate-version"),
    "version of another type": ('{"certificate": true}', "certificate-version"),
    "no task": ('{"certificate": 1}', "not-a-certificate"),
    "odd task": ('{"certificate": 1, "task": {"name": "x"}}', "not-a-certificate"),
    "odd source": (
        '{"certificate": 1, "task": {"name": "x", "sha256": "", "source": 3, "options": {}}}',
        "not-a-certificate",
    ),
    "duplicate": ('{"certificate": 1, "certificate": 1}', "json-duplicate-key"),
}


@pytest.mark.parametrize("text, code", NO_CERTIFICATES.values(), ids=NO_CERTIFICATES)
def test_what_is_no_certificate(tmp_path, text, code):
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(InputError) as caught:
        read_certificate(tmp_path / "c.json")
    assert caught.value.code == code
    assert caught.value.file == str(tmp_path / "c.json")


# -- checking ----------------------------------------------------------------------------------

MUTATIONS = {
    "claim": lambda c: c.update(claim="unsafe", ranks=[[0, 0]], choices=c.pop("choices")),
    "choice": lambda c: c["choices"][-1].__setitem__(1, 0),
    "no choice": lambda c: c["choices"].pop(),
    "a state out of range": lambda c: c["states"][0].__setitem__(0, 9),
    "a state of another type": lambda c: c["states"][0].__setitem__(1, 0),
    "an unknown action": lambda c: c["actions"].__setitem__(0, "fly"),
    "an unknown member": lambda c: c.update(extra=1),
    "a missing member": lambda c: c.pop("states"),
    "a number out of range": lambda c: c.update(state=99),
}


@pytest.mark.parametrize("mutate", MUTATIONS.values(), ids=MUTATIONS)
def test_mutated_ones_are_rejected(mutate):
    task = fork().compile()
    content = decide(task, SAFE).certificate.to_dict()
    mutate(content)
    with pytest.raises(CertificateRejected) as caught:
        check_content(task, content)
    assert (caught.value.code, caught.value.exit_code) == ("certificate-rejected", 5)


@pytest.mark.parametrize("content", [{}, {"certificate": 1}, {"claim": "safe", "choices": 3}])
def test_almost_everything_may_be_missing(content):
    for task in (fork().compile(), PythonTask(Scalar())):
        with pytest.raises(CertificateRejected):
            check_content(task, content)
        with pytest.raises(CertificateRejected):
            Certificate(task, content).check(max_seconds=5.0)


def test_time_runs_out(monkeypatch):
    task = domain("one-way-line", packages=5, locations=6, variant="icy")
    certificate = decide(task, task.sample_starts(1)[0]).certificate
    certificate.check()
    with pytest.raises(OutOfBudget) as caught:
        certificate.check(max_seconds=0.0)
    assert caught.value.code == "out-of-seconds"
    monkeypatch.setattr(checking, "FASTEST_CHECK", 1)
    monkeypatch.setattr(checker, "check_certificate", None)  # not even tried
    with pytest.raises(OutOfBudget):
        certificate.check(max_seconds=1.0)


def test_errors_of_the_model_in_the_checker(monkeypatch):
    def fails(*args, **options):
        raise checker.ModelError("overflow", "x + 1")

    certificate = decide(fork().compile(), SAFE).certificate
    monkeypatch.setattr(checker, "check_certificate", fails)
    with pytest.raises(InputError) as caught:
        certificate.check()
    assert caught.value.code == "model-overflow"


@pytest.fixture
def loads(monkeypatch):
    """Note which files the checker loads."""
    seen = []
    real = checker.load

    def load(path, **options):
        seen.append((Path(path), options))
        return real(path, **options)

    monkeypatch.setattr(checker, "load", load)
    return seen


@pytest.fixture
def jani_files(tmp_path):
    """A model whose constant is not set and whose integer has no bounds."""
    model = {
        "jani-version": 1,
        "name": "m",
        "type": "lts",
        "constants": [{"name": "N", "type": "int"}],
        "variables": [{"name": "x", "type": "int", "initial-value": 1}],
        "actions": [{"name": "up"}],
        "automata": [
            {
                "name": "a",
                "locations": [{"name": "here"}],
                "initial-locations": ["here"],
                "edges": [
                    {
                        "location": "here",
                        "action": "up",
                        "guard": {"exp": {"op": "<", "left": "x", "right": "N"}},
                        "destinations": [
                            {
                                "location": "here",
                                "assignments": [
                                    {"ref": "x", "value": {"op": "+", "left": "x", "right": 1}}
                                ],
                            }
                        ],
                    }
                ],
            }
        ],
        "system": {
            "elements": [{"automaton": "a"}],
            "syncs": [{"synchronise": ["up"], "result": "up"}],
        },
    }
    (tmp_path / "m.jani").write_text(json.dumps(model))
    fail = {"op": "=", "left": "x", "right": "N"}
    (tmp_path / "fail.jani").write_text(json.dumps(fail))
    return tmp_path


def test_the_checker_reads_the_same_files(jani_files, loads, monkeypatch):
    monkeypatch.chdir(jani_files)
    task = load_task("m.jani", fail="fail.jani", constants={"N": 3}, int_range=(0, 5))
    oracle = Oracle(task)
    certificate = oracle.decide(task.initial_state()).certificate
    assert certificate.claim == "unsafe"
    assert certificate.to_dict()["task"] == {
        "name": "m",
        "sha256": task.sha256,
        "source": "m.jani",
        "options": {"fail": "fail.jani", "const": ["N=3"], "int_range": "0..5"},
    }
    monkeypatch.chdir("/")
    certificate.check()
    oracle.decide(task.state(x=2)).certificate.check()
    ((path, options),) = loads  # once per task
    assert path == jani_files / "m.jani"
    assert options["fail"] == jani_files / "fail.jani"
    assert (options["constants"], options["int_range"]) == ({"N": 3}, (0, 5))


def test_other_tasks_are_handed_to_the_checker_as_text(loads, monkeypatch):
    texts = []
    real = checker.load_text
    monkeypatch.setattr(checker, "load_text", lambda *given: texts.append(given) or real(*given))
    for task, state in (
        (fork().compile(), SAFE),
        (load_task("domain:one-way-line?packages=1&locations=3"), None),
    ):
        start = state or task.list_starts()[0]
        decide(task, start).certificate.check()
    assert loads == []
    assert [json.loads(text)["name"] for text, _ in texts] == [name for _, name in texts]
    assert len(texts) == 2


def test_what_the_checker_cannot_read(monkeypatch):
    def refuse(text, name):
        raise checker.NotSupported("clocks")

    monkeypatch.setattr(checker, "load_text", refuse)
    with pytest.raises(Unsupported) as caught:
        decide(fork().compile(), SAFE).certificate.check()
    assert caught.value.code == "checker-cannot-read"


# -- tasks that Python code defines ------------------------------------------------------------


class Scalar:
    """A walk from 0 to 3 in which ``slip`` fails; states are numbers."""

    def start(self):
        return [self.make(0)]

    def make(self, number):
        return number

    def number(self, state):
        return state

    def actions(self, state):
        return ["slip", "step"] if 0 <= self.number(state) < 3 else []

    def outcomes(self, state, action):
        return [self.make(self.number(state) + 1 if action == "step" else -1)]

    def is_goal(self, state):
        return False

    def is_fail(self, state):
        return self.number(state) < 0


class Named(Scalar):
    def make(self, number):
        return {"at": number, "name": f"place {number}"} if number else {"name": "home", "at": 0}

    def number(self, state):
        return state["at"]


class Nested(Scalar):
    def make(self, number):
        return ("at", (number, None))

    def number(self, state):
        return state[1][0]


class Listed(Scalar):
    def make(self, number):
        return [number, "x"]

    def number(self, state):
        return state[0]


class Odd(Scalar):
    def make(self, number):
        return (number, complex(number))

    def number(self, state):
        return state[0]


@pytest.mark.parametrize("kind", [Scalar, Named, Nested, Listed])
@pytest.mark.parametrize("how", [{}, {"policy": lambda state: "slip", "radius": 2}])
def test_python_task(tmp_path, kind, how):
    definition = kind()
    task = PythonTask(definition)
    certificate = decide(task, definition.start()[0], **how).certificate
    assert certificate.claim == ("unsafe" if how else "safe")
    assert certificate.to_dict()["task"]["sha256"] == ""
    certificate.check()
    certificate.write(tmp_path / "c.json")
    content = read_certificate(tmp_path / "c.json")
    check_content(PythonTask(kind()), content)  # which has met no action yet
    wrong = "choices" if certificate.claim == "safe" else "ranks"
    content[wrong].pop()
    with pytest.raises(CertificateRejected):
        check_content(PythonTask(kind()), content)


def test_values_that_json_does_not_have(tmp_path):
    certificate = decide(PythonTask(Odd()), (0, 0j)).certificate
    certificate.check()
    with pytest.raises(Unsupported) as caught:
        certificate.write(tmp_path / "c.json")
    assert caught.value.code == "certificate-values"
    assert os.listdir(tmp_path) == []
