"""No certificate, finding or record with a change in one place is accepted for a false claim.

Each member of a document of each kind is removed, made null, given another type or another value,
and one more is added. ``surefoot check``, told task and policy, may accept the mutant only if what
it then says is true, by brute force; and only by a change that ``HARMLESS`` lists.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.support.lamps import CONDITIONS, OPTIONS, POLICIES, TASK, Lamp, Truth, node
from tests.support.mutants import Mutant, mutants

from surefoot import find_faults, fuzz
from surefoot.findings import finding_of
from surefoot.findings.repairs import both_parameters
from surefoot.options import VerifyOptions
from surefoot.verify.certificate import write_box_certificate
from surefoot.verify.question import Question

FILES_AT_ONCE = 250

# -- what may be accepted ----------------------------------------------------------------------

FINDS_THE_TASK = {
    "surefoot": "value",
    "task/name": "value",
    "task/source": "null value",
    "task/options": "more",
    "task/options/const": "more null removed type",
    "task/options/const/*": "null removed type value",
    **{f"task/options/{name}": "null removed type value" for name in CONDITIONS},
}
"""which version wrote it, and where the task was: the one that is given must have the same hash"""
FINDS_THE_POLICY = {"policy/name": "value", "policy/interface": "value"}
"""paths, where the hash tells what stood there"""
PLAIN_POLICY = {"policy/name": "value", "policy/interface": "null value"}
"""the same, where the interface that is given is the one in the policy's own file"""
ORIGIN = {"run/run": "value", "run/seed": "value"}
"""where a run comes from, which nobody can check"""
WEAKER = {"run/known_reachable": "value"}
"""true made false: that it is not known whether the start is reachable"""
RANKS = {"ranks/*/*": "value"}
"""larger ranks"""
OTHER_STATE = {"state": "value"}
"""the claim for another state, for which it is true as well"""
CONSTRAINTS = {
    "constraints": "more",
    "constraints/*": "removed",
    "constraints/*/lower": "value",
    "constraints/*/upper": "value",
    "constraints/*/factors/x": "removed value",
    "constraints/*/factors/y": "removed value",
}
"""a constraint that these boxes do not need"""


def inside(place: str, *tables: Mapping[str, str]) -> dict[str, str]:
    """Return what is harmless in a certificate that stands in a finding."""
    return {f"{place}/{name}": what for table in tables for name, what in table.items()}


ORDER = {"choices": "value"}
"""the same choices in another order"""
DIFFERS = {"decisions/*": "null"}
"""a choice that is said to differ from the policy, where a difference is left"""
RUN = {**FINDS_THE_TASK, **ORIGIN, **WEAKER}
OTHER_RUN = {"run/states/*/*": "value"}
"""another run that the policy fails by"""
UNPROVED = {"fault/more_unknown": "value"}
"""whether other alternatives may be safe: no certificate is about that"""

HARMLESS: dict[str, dict[str, str]] = {
    "safe": {
        **FINDS_THE_TASK,
        **ORDER,
        **OTHER_STATE,
        "choices/*/*": "value",
        "states/*/*": "value",
    },
    "unsafe": {**FINDS_THE_TASK, **RANKS, **OTHER_STATE, "ranks": "value"},
    "safe within 1": {
        **FINDS_THE_TASK,
        **ORDER,
        **DIFFERS,
        **OTHER_STATE,
        "policy": "value",
        "radius": "value",
    },
    "unsafe within 1": {**FINDS_THE_TASK, **DIFFERS, "policy": "value", "radius": "value"},
    "unsafe within 0": {
        **FINDS_THE_TASK,
        **RANKS,
        **OTHER_STATE,
        "ranks": "value",
        "policy": "value",
    },
    "unsafe, finite": {
        **FINDS_THE_TASK,
        **RANKS,
        **OTHER_STATE,
        "ranks": "value",
        "policy": "value",
    },
    "run": {**RUN, **PLAIN_POLICY, **OTHER_RUN},
    "run of first": {**RUN, **OTHER_RUN},
    "run of code": {**RUN, **OTHER_RUN, "policy/name": "value"},
    "bug": {
        **RUN,
        "policy/name": "value",
        **inside("certificates/state", FINDS_THE_TASK, ORDER),
    },
    "fault": {
        **RUN,
        **PLAIN_POLICY,
        **UNPROVED,
        **inside("certificates/alternatives/down", FINDS_THE_TASK, ORDER),
        **inside("certificates/outcome", FINDS_THE_TASK, RANKS),
    },
    "fault within 1": {
        **RUN,
        **UNPROVED,
        **inside("certificates/alternatives/down", FINDS_THE_TASK, ORDER, DIFFERS),
        **inside("certificates/deviations/*", FINDS_THE_TASK, ORDER, DIFFERS, RANKS),
        "certificates/deviations/*/ranks": "value",
        **inside("certificates/outcome", FINDS_THE_TASK, RANKS),
    },
    "states": {**FINDS_THE_TASK, **FINDS_THE_POLICY},
    "states, unfiltered": {**FINDS_THE_TASK, **FINDS_THE_POLICY},
    "boxes": {**FINDS_THE_TASK, **FINDS_THE_POLICY, **CONSTRAINTS},
    "blocked": {**FINDS_THE_TASK, **FINDS_THE_POLICY, **CONSTRAINTS, "*/*": "value"},
    "repair": {
        **FINDS_THE_TASK,
        "before/name": "value",
        "before/unfiltered": "value",
        "after/name": "value",
        "after/interface": "null",
        "any_other": "value",
        "faults": "more",
    },
}
"""for each kind the places, and the changes there, by which a mutant is accepted"""


# -- documents ---------------------------------------------------------------------------------


def decided(lamp: Lamp, *arguments: str) -> Path:
    (row,) = lamp.run("decide", *TASK, *arguments, "-o", "kept")["states"]
    return lamp.folder / str(row["certificate"])


def no_radius(lamp: Lamp, state: str) -> Path:
    return decided(lamp, "--state", state)


def within(lamp: Lamp, policy: str, state: str, radius: str) -> Path:
    return decided(lamp, "--state", state, "--radius", radius, *POLICIES[policy])


def finite(lamp: Lamp) -> Path:
    """Without goal the policy has to go down again and again."""
    arguments = (*TASK, "--state", "x=0,y=0", "--deviations", *POLICIES["plain"])
    (row,) = lamp.run("decide", *arguments, "-o", "kept")["states"]
    return lamp.folder / str(row["deviations_certificates"][0])


def fault(lamp: Lamp, policy: str, *arguments: str) -> Path:
    common = ("--runs", "20", "-o", f"found-{policy}-{len(arguments)}", *POLICIES[policy])
    return lamp.folder / lamp.run("faults", *TASK, *common, *arguments)["faults"][0]["finding"]


def made_finding(lamp: Lamp, kind: str, policy: str) -> Path:
    who, file = lamp.policy(policy), lamp.folder / f"{kind}-{policy}.json"
    run = fuzz(lamp.task, who, runs=20).failing[0]
    found: Any = run
    if kind == "bug":
        found = find_faults(lamp.task, who, [run], bugs_only=True).bugs[0]
    finding_of(lamp.task, who, found).write(file)
    return file


def verified(lamp: Lamp, policy: str) -> Path:
    name = f"states-{policy}.jsonl"
    arguments = (*POLICIES[policy], "--method", "explicit", "--certificate", name)
    assert lamp.run("verify", *TASK, *arguments)["verdict"] == "safe"
    return lamp.folder / name


def boxes(lamp: Lamp, *, blocked: bool) -> Path:
    file = lamp.folder / ("blocked.jsonl" if blocked else "boxes.jsonl")
    question = Question(lamp.task, lamp.policy("fed"), VerifyOptions(), None, file)
    spans = [((3, 3), (0, 1)), ((0, 3), (1, 1))] if blocked else [((0, 2), (0, 0))]
    write_box_certificate(question, spans, [({"x": 1, "y": 1}, 0, 4)], blocked=blocked)
    return file


def repaired(lamp: Lamp) -> Path:
    file = fault(lamp, "plain")
    policy = (*POLICIES["plain"], "-o", "repaired.safetensors", "--record", "repair.json")
    lamp.run("repair", *TASK, "--faults", str(file), *policy)
    return lamp.folder / "repair.json"


DOCUMENTS: dict[str, tuple[str | None, Any]] = {
    "safe": (None, lambda lamp: no_radius(lamp, "x=0,y=0")),
    "unsafe": (None, lambda lamp: no_radius(lamp, "x=2,y=1")),
    "safe within 1": ("table", lambda lamp: within(lamp, "table", "x=2,y=0", "1")),
    "unsafe within 1": ("plain", lambda lamp: within(lamp, "plain", "x=1,y=0", "1")),
    "unsafe within 0": ("first", lambda lamp: within(lamp, "first", "x=1,y=0", "0")),
    "unsafe, finite": ("plain", finite),
    "run": ("plain", lambda lamp: made_finding(lamp, "run", "plain")),
    "run of first": ("first", lambda lamp: made_finding(lamp, "run", "first")),
    "run of code": ("code", lambda lamp: made_finding(lamp, "run", "code")),
    "bug": ("table", lambda lamp: made_finding(lamp, "bug", "table")),
    "fault": ("plain", lambda lamp: fault(lamp, "plain")),
    "fault within 1": ("table", lambda lamp: fault(lamp, "table", "--radius", "1", "--deviations")),
    "states": ("fed", lambda lamp: verified(lamp, "fed")),
    "states, unfiltered": ("unfiltered", lambda lamp: verified(lamp, "unfiltered")),
    "boxes": ("fed", lambda lamp: boxes(lamp, blocked=False)),
    "blocked": ("fed", lambda lamp: boxes(lamp, blocked=True)),
    "repair": ("repaired", repaired),
}


def content_of(file: Path) -> Any:
    text = file.read_text()
    return (
        [json.loads(line) for line in text.splitlines()]
        if file.suffix == ".jsonl"
        else (json.loads(text))
    )


def written(file: Path, content: Any) -> None:
    is_lines = file.suffix == ".jsonl" and isinstance(content, list)
    rows = content if is_lines else [content]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def answers(
    lamp: Lamp, file: Path, made: list[Mutant], *arguments: str
) -> Iterator[tuple[Mutant, dict[str, Any]]]:
    """Yield what ``check`` says about each mutant of a file."""
    names = [f"mutant-{number}{file.suffix}" for number in range(FILES_AT_ONCE)]
    for begin in range(0, len(made), FILES_AT_ONCE):
        some = made[begin : begin + FILES_AT_ONCE]
        for name, mutant in zip(names, some, strict=False):
            written(lamp.folder / name, mutant.document)
        document = lamp.run("check", *names[: len(some)], names[0], *arguments)
        yield from zip(some, document["certificates"], strict=False)


def is_true(lamp: Lamp, truth: Truth, said: Mapping[str, Any], document: Any) -> bool:
    """Return whether what an answer says is so."""
    if said.get("claim") == "policy-safe":
        return truth.is_policy_safe()
    if "claim" in said:
        is_safe = truth.is_safe(truth.number(said["state"]), said["radius"])
        return is_safe == (said["claim"] == "safe")
    if "kind" in said:
        return truth.is_failing_run(document["run"]) and (
            said["kind"] == "run" or truth.is_fault(said)
        )
    return is_repair(lamp, document)


def is_repair(lamp: Lamp, record: Mapping[str, Any]) -> bool:
    """Return whether the record of a repair tells what both policies decide, and how far apart
    they are.
    """
    before, after = lamp.policy("plain"), lamp.policy("repaired")
    parameters = both_parameters(before, after)
    assert not isinstance(parameters, str)
    distance = sum(abs(new - old) for old, new in zip(*parameters, strict=True))
    return record["distance"] == pytest.approx(distance) and all(
        fault["before"]
        == before.decide(dict(zip(record["variables"], fault["state"], strict=True)))
        and fault["after"]
        == after.decide(dict(zip(record["variables"], fault["state"], strict=True)))
        and fault["after"] != fault["action"]
        and (record["any_other"] or fault["after"] in fault["alternatives"])
        for fault in record["faults"]
    )


@pytest.fixture(scope="module")
def lamps(tmp_path_factory: pytest.TempPathFactory) -> tuple[Lamp, Lamp]:
    """One lamp with a goal, one without."""
    never = node("=", "x", "TOP")
    folder = tmp_path_factory.mktemp("endless")
    return Lamp(tmp_path_factory.mktemp("lamp")), Lamp(folder, goal=never)


@pytest.mark.slow
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_only_harmless_mutants_are_accepted(kind: str, lamps: tuple[Lamp, Lamp]) -> None:
    policy, make = DOCUMENTS[kind]
    lamp = lamps[kind == "unsafe, finite"]
    file = make(lamp)
    truth = lamp.truth(policy or "plain")
    given = () if policy is None else POLICIES[policy]
    arguments = ("--task", "lamp.jani", *OPTIONS, *given)
    original = Mutant("", "none", content_of(file))
    accepted: set[tuple[str, str]] = set()
    for mutant, said in answers(lamp, file, [original, *mutants(original.document)], *arguments):
        if said["accepted"]:
            assert is_true(lamp, truth, said, mutant.document), (mutant, said)
            accepted.add((mutant.place, mutant.change))
        else:
            assert said["error"]["code"] != "internal-error", (mutant, said)
            assert mutant is not original, said
    accepted.remove(("", "none"))
    by_place: dict[str, set[str]] = {}
    for place, change in accepted:
        by_place.setdefault(place.removeprefix("*/"), set()).add(change)
    assert {place: " ".join(sorted(names)) for place, names in by_place.items()} == HARMLESS[kind]


@pytest.mark.slow
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_mutants_about_named_tasks_and_policies(kind: str, lamps: tuple[Lamp, Lamp]) -> None:
    """Without TASK and --policy the document says where they are, and hashes what they are."""
    policy, make = DOCUMENTS[kind]
    lamp = lamps[kind == "unsafe, finite"]
    file = make(lamp)
    truth = lamp.truth(policy or "plain")
    made = [
        mutant
        for mutant in mutants(content_of(file))
        if any(name in mutant.place.split("/") for name in ("task", "policy", "before", "after"))
    ]
    for mutant, said in answers(lamp, file, made):
        if said["accepted"]:
            assert is_true(lamp, truth, said, mutant.document), (mutant, said)
        else:
            assert said["error"]["code"] != "internal-error", (mutant, said)
