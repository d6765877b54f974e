"""Records, checker and JSON Schema say the same about which members evidence has.

The checker has a reader of its own. Evidence that is right is accepted by all three, whatever
stands in members that nothing follows from. With a member more, with one less, or with a value of
another type, records and schema agree on whether that is still evidence; where it is none, the
checker rejects it.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.json_schema import is_valid
from tests.support.ring import ring

from surefoot import Description, checker, load_policy, load_task
from surefoot.certificates import model_of
from surefoot.certificates.policies import decisions_of, scores_of
from surefoot.checker.repairs import check_repair
from surefoot.faults import find_faults
from surefoot.findings import finding_of
from surefoot.findings.repairs import repair_record
from surefoot.fuzz import fuzz
from surefoot.options import VerifyOptions
from surefoot.oracles import Oracle
from surefoot.policies import as_policy
from surefoot.records import Fault
from surefoot.records.schemas import files, schema_of
from surefoot.verify import verify
from surefoot.verify.certificate import write_box_certificate
from surefoot.verify.question import Question

LINE = "domain:one-way-line?packages=1&locations=3"
TIMES = 1_500


@dataclass(frozen=True)
class Document:
    """Evidence that is right, of which kind it is, and how the checker is asked about it."""

    kind: str
    content: dict[str, Any]
    check: Callable[[Any], object]

    def is_checked(self, content: object) -> bool:
        """Return whether the checker accepts this in place of the content."""
        try:
            self.check(content)
        except (checker.Rejected, checker.ModelError):
            return False
        return True

    def is_record(self, content: object) -> bool:
        """Return whether this is a record of the kind."""
        return any(_fits(content, record) for record in files()[self.kind])


def _fits(content: object, record: Any) -> bool:
    try:
        msgspec.convert(content, record)
    except msgspec.ValidationError:
        return False
    return True


def documents(folder: Path) -> Iterator[Document]:
    task = load_task(LINE)
    policy = load_policy("random", task)
    model = model_of(task, None)
    yield from _findings(task, policy, model)
    yield from _certificates(task, policy, model)
    yield from _heads(folder)
    yield _repair()


def _findings(task: Any, policy: Any, model: Any) -> Iterator[Document]:
    def check(content: Any) -> None:
        checker.check_finding(model, content)

    runs = fuzz(task, policy, runs=20).failing
    both = find_faults(task, policy, runs, deviations=True)
    within = find_faults(task, policy, runs, radius=2)
    made = next(
        run
        for seed in range(100)
        for run in fuzz(task, policy, runs=50, perturb="both", seed=seed).failing
        if run.made is not None
    )
    for thing in (both.faults[0], both.bugs[0], within.faults[0], runs[0], made):
        yield Document("finding", _plain(finding_of(task, policy, thing).to_dict()), check)


def _certificates(task: Any, policy: Any, model: Any) -> Iterator[Document]:
    def check(content: Any) -> None:
        checker.check_certificate(model, content)

    runs = fuzz(task, policy, runs=20).failing
    for oracle in (Oracle(task), Oracle(task, policy=policy, radius=1)):
        states = (state for run in runs for state in run.states)
        certificates = [oracle.decide(state).certificate for state in states]
        for claim in ("safe", "unsafe"):
            some = [each for each in certificates if each is not None and each.claim == claim]
            yield from (Document("certificate", _plain(c.to_dict()), check) for c in some[:1])
    faults = find_faults(task, policy, runs, deviations=True).faults
    finite = [c for f in faults for c in f.deviations.certificates if c.radius == "finite"]
    yield from (Document("certificate", _plain(c.to_dict()), check) for c in finite[:1])


def _heads(folder: Path) -> Iterator[Document]:
    task = ring()
    policy = as_policy("first", task)
    verify(task, policy, certificate=folder / "states.jsonl")
    boxes = [((0, 3), (0, 0), (False, True)), ((0, 3), (1, 2), (False, True))]
    blocked = [((0, 3), (3, 3), (False, True))]
    total = ({"x": 1, "y": 1}, 0, 5)
    for name, some in (("boxes", boxes), ("blocked", blocked)):
        question = Question(task, policy, VerifyOptions(), None, folder / f"{name}.jsonl")
        write_box_certificate(question, some, [total], blocked=name == "blocked")
    for name in ("states", "boxes", "blocked"):
        head, *rows = (folder / f"{name}.jsonl").read_text().splitlines()
        yield Document("policy-certificate", json.loads(head), _head_check(task, policy, rows))


def _head_check(task: Any, policy: Any, rows: list[str]) -> Callable[[Any], None]:
    model, scores = model_of(task, []), scores_of(policy)

    def check(head: Any) -> None:
        lines = [json.dumps(head), *rows]
        checker.check_policy_safety(model, lines, policy=decisions_of(policy), scores=scores)

    return check


def _repair() -> Document:
    d = Description("walk")
    x = d.int("x", 0, 5)
    for name, way in (("up", 1), ("down", -1), ("wait", 0)):
        d.edge(name, guard=(x + way >= 0) & (x + way <= 5), outcomes=[{x: x + way}])
    d.start(x == 0)
    d.fail(x == 5)
    task = d.compile()
    before, after = load_policy("first", task), load_policy("first", task)
    fault = Fault(task.state(x=4), "up", ("down", "wait"))
    record = repair_record(before, after, [fault], distance=0.75, any_other=False)
    content = _plain(record.content)
    content["faults"][0]["after"] = "down"
    model = model_of(task, None)
    return Document("repair-record", content, lambda given: check_repair(model, given))


def _plain(content: object) -> Any:
    return json.loads(json.dumps(content))


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> list[Document]:
    return list(documents(tmp_path_factory.mktemp("evidence")))


def test_there_is_evidence_of_every_kind(evidence: list[Document]) -> None:
    kinds = {"certificate", "finding", "policy-certificate", "repair-record"}
    assert {document.kind for document in evidence} == kinds
    radii = [d.content["radius"] for d in evidence if d.kind == "certificate"]
    claims = [d.content["claim"] for d in evidence if d.kind == "certificate"]
    assert {("safe", None), ("unsafe", None), ("unsafe", 1)} <= set(zip(claims, radii, strict=True))
    assert any("made" in d.content["run"] for d in evidence if d.kind == "finding")


FREE: dict[tuple[str, ...], Callable[[random.Random], object]] = {
    ("surefoot",): lambda rng: _text(rng),
    ("task", "name"): lambda rng: _text(rng),
    ("task", "source"): lambda rng: rng.choice((None, _text(rng))),
    ("task", "options"): lambda rng: {_text(rng): rng.choice((1, None, [1], {"a": "b"}))},
    ("policy", "sha256"): lambda rng: rng.choice((None, _text(rng))),
    ("policy", "interface"): lambda rng: rng.choice((None, _text(rng), {_text(rng): [1.5]})),
    ("run", "run"): lambda rng: rng.randrange(10**9),
    ("run", "seed"): lambda rng: rng.randrange(10**9),
    ("before", "name"): lambda rng: _text(rng),
    ("after", "unfiltered"): lambda rng: rng.random() < 0.5,
}
"""members that nothing follows from"""


def _text(rng: random.Random) -> str:
    return "".join(rng.choice("abc äß\n\"'\\{}<>0") for _ in range(rng.randrange(8)))


def test_right_evidence_is_accepted_by_all(evidence: list[Document]) -> None:
    rng = random.Random(1)
    for document in evidence:
        schema = schema_of(document.kind)
        for _ in range(50):
            content = copy.deepcopy(document.content)
            for path, value in FREE.items():
                _put(content, path, value(rng))
            assert is_valid(content, schema)
            assert document.is_record(content)
            assert document.is_checked(content)


def _put(content: Any, path: tuple[str, ...], value: object) -> None:
    for name in path[:-1]:
        content = content.get(name) if isinstance(content, dict) else None
    if isinstance(content, dict) and path[-1] in content:
        content[path[-1]] = value


VALUES: tuple[object, ...] = (None, True, -1, 7, 2.5, "text", [], [0], ["a"], {}, {"a": 1})


def test_other_evidence_is_refused_by_all(evidence: list[Document]) -> None:
    rng = random.Random(2)
    refused = 0
    for document in evidence:
        schema = schema_of(document.kind)
        for _ in range(TIMES // 3 if document.kind == "finding" else TIMES):
            content = copy.deepcopy(document.content)
            change = _change(rng.choice(list(_objects(content))), rng)
            is_right = is_valid(content, schema)
            assert document.is_record(content) is is_right, change
            if not is_right:
                refused += 1
                assert not document.is_checked(content), change
    assert refused > TIMES


def _objects(content: object) -> Iterator[dict[str, Any]]:
    """Yield all objects, those with the most members most often: they are the records."""
    if isinstance(content, list):
        for each in content[:20]:
            yield from _objects(each)
    if isinstance(content, dict):
        yield content
        for each in content.values():
            yield from _objects(each)


def _change(members: dict[str, Any], rng: random.Random) -> str:
    """Add a member, take one away, or give one another value; return what was done."""
    name = rng.choice(list(members)) if members else "further"
    what = rng.choice(("add", "remove", "retype", "retype"))
    if what == "add" or not members:
        members["further"] = rng.choice(VALUES)
        return "add"
    value = members.pop(name)
    if what == "retype":
        members[name] = rng.choice([v for v in VALUES if type(v) is not type(value)])
        return f"{name} becomes {members[name]!r}"
    return f"remove {name}"
