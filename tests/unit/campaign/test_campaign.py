"""The directory of a campaign: where one may begin, what is in it, and what strangers may send."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.support.networks import nnet_text, random_network, same_network
from tests.support.walk import always_go, kept, walk, written

import surefoot
from surefoot import load_policy, load_task, read_finding
from surefoot.campaign import debug, read_campaign, resume
from surefoot.campaign.journal import Journal, Read
from surefoot.errors import InputError, Unsupported
from surefoot.policies.models import Network
from surefoot.policies.writing import write_policy
from surefoot.replay import replay

QUICK: dict[str, Any] = {"keep": 50, "starts": 6, "seed": 1}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign of files, in the directory of these."""
    folder = tmp_path_factory.mktemp("files")
    written(folder)
    task = load_task(folder / "walk.jani")
    debug(task, load_policy(folder / "go.json", task), directory=folder / "out", **QUICK)
    return folder / "out"


# -- what is in it -----------------------------------------------------------------------------

MEMBERS = """
    surefoot campaign directory state outcome reason task policy options seed seconds starts before
    after iterations faults verification final_policy final_sha256 reproduce
"""


def test_the_contract_with_reports(whole: Path) -> None:
    content = read_campaign(whole).to_dict()
    assert set(content) == set(MEMBERS.split())
    assert json.loads(json.dumps(content)) == content
    assert (content["state"], content["outcome"], content["directory"]) == (
        "finished",
        "safe",
        "out",
    )
    assert set(content["task"]) == {"name", "sha256", "source", "options"}
    assert set(content["policy"]) == {"name", "sha256", "interface", "unfiltered", "model"}
    assert {"debugging", "evaluation", "all", "disjoint"} <= set(content["starts"])
    assert content["before"]["unsafe"] > content["after"]["unsafe"] == 0
    steps = [fault["steps"] for fault in content["faults"]]
    assert steps == sorted(steps)
    assert all(fault["checked"] is True for fault in content["faults"])
    assert content["verification"]["verdict"] == "safe"
    assert content["reproduce"][0].startswith("surefoot debug ")
    assert json.loads((whole / "result.json").read_text())["outcome"] == "safe"


def test_the_final_policy_is_that_of_the_last_repair(whole: Path) -> None:
    content = read_campaign(whole).to_dict()
    final = whole / content["final_policy"]
    assert hashlib.sha256(final.read_bytes()).hexdigest() == content["final_sha256"]
    last = [one for one in content["iterations"] if one["policy"] is not None][-1]
    assert final.read_bytes() == (whole / last["policy"]).read_bytes()
    task = load_task(whole.parent / "walk.jani")
    assert surefoot.evaluate(task, load_policy(final, task)).unsafe == 0


def test_the_policy_is_kept_as_it_was(whole: Path) -> None:
    assert (whole / "policy/policy.json").read_bytes() == (whole.parent / "go.json").read_bytes()


def test_a_policy_whose_file_changed_since_is_kept_as_it_was_read(tmp_path: Path) -> None:
    task, file = walk(), tmp_path / "go.json"
    write_policy(always_go(task), file)
    policy = load_policy(file, task)
    file.write_text("{}")
    result = debug(task, policy, directory=tmp_path / "campaign", **QUICK)
    assert result.outcome == "safe"
    again = load_policy(tmp_path / "campaign/policy/policy.json", task)
    states = [fault.state for fault in result.faults if fault.iteration == 1]
    assert again.decide_all(states) == policy.decide_all(states) == ["go"] * len(states) != []


def test_findings_are_about_the_policy_of_the_round_before(whole: Path) -> None:
    faults = read_campaign(whole).to_dict()["faults"]
    names = {}
    for fault in faults:
        finding = read_finding(whole / fault["finding"])
        names[fault["iteration"]] = finding.content["policy"]["name"]
        finding.check()
        assert replay(finding).still_fails
    assert names[1] == "../policy/policy.json"
    assert names[2] == "../policies/iteration-001.json"


def test_all_certificates_are_accepted_from_another_directory(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(whole, moved)
    monkeypatch.chdir(tmp_path)
    for file in sorted((moved / "findings").iterdir()):
        assert replay(read_finding(file)).still_fails


def test_nothing_is_kept_without_a_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    task = walk()
    result = debug(task, always_go(task), **QUICK)
    assert result.outcome == "safe"
    assert result.policy.file is None
    assert surefoot.evaluate(task, result.policy).unsafe == 0
    assert list(tmp_path.iterdir()) == []


def test_the_same_seed_gives_the_same_files(whole: Path, tmp_path: Path) -> None:
    task = load_task(whole.parent / "walk.jani")
    policy = load_policy(whole.parent / "go.json", task)
    debug(task, policy, directory=tmp_path / "again", workers=1, **QUICK)
    assert kept(tmp_path / "again") == kept(whole)


def test_a_network_with_an_interface_beside_it_is_kept_in_one_file(tmp_path: Path) -> None:
    task = walk()
    (tmp_path / "net.nnet").write_text(nnet_text(random_network(3, 4, 6, 2)))
    said = {"surefoot_interface": 1, "inputs": ["step", "odd", "track", "down"]}
    said["outputs"] = ["turn", "go"]
    (tmp_path / "beside.json").write_text(json.dumps(said))
    policy = load_policy(tmp_path / "net.nnet", task, interface=tmp_path / "beside.json")
    result = debug(task, policy, directory=tmp_path / "out", **QUICK)
    assert result.outcome == "safe"
    (tmp_path / "net.nnet").unlink()
    (tmp_path / "beside.json").unlink()
    again = resume(tmp_path / "out", task)
    assert again.outcome == result.outcome
    assert again.policy.interface is not None
    assert again.policy.interface.outputs == ("turn", "go")
    kept_copy = load_policy(tmp_path / "out/policy/policy.safetensors", task)
    assert isinstance(kept_copy.model, Network) and isinstance(policy.model, Network)
    assert same_network(kept_copy.model, policy.model)


# -- where one may begin -----------------------------------------------------------------------


def begun(directory: Path, **changes: Any) -> Any:
    task = walk()
    return debug(task, always_go(task), directory=directory, **{**QUICK, **changes})


def test_a_campaign_is_not_begun_twice(whole: Path) -> None:
    before = kept(whole)
    with pytest.raises(InputError, match="surefoot resume") as error:
        begun(whole)
    assert error.value.code == "campaign-exists"
    assert kept(whole) == before


def test_a_directory_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(InputError) as error:
        begun(tmp_path)
    assert error.value.code == "directory-not-empty"
    assert os.listdir(tmp_path) == ["thesis.tex"]


def test_an_empty_directory_will_do_and_what_is_left_of_a_beginning(tmp_path: Path) -> None:
    (tmp_path / "policy").mkdir()
    (tmp_path / "lock").touch()
    assert begun(tmp_path).outcome == "safe"


@pytest.mark.parametrize("kind", ["file", "below a file", "nul"])
def test_places_that_are_none(tmp_path: Path, kind: str) -> None:
    (tmp_path / "file").write_text("precious")
    place = {"file": "file", "below a file": "file/out", "nul": "a\0b"}[kind]
    with pytest.raises(InputError) as error:
        begun(tmp_path / place)
    assert error.value.code == "file-not-written"
    assert (tmp_path / "file").read_text() == "precious"


OPTIONS: dict[str, dict[str, Any]] = {
    "bias": {"bias": "upwards"},
    "method": {"method": "magic"},
    "verify": {"verify": "hope"},
    "starts": {"starts": 0},
    "evaluate_starts": {"evaluate_starts": 0},
    "workers": {"workers": 0},
    "lookahead": {"lookahead": 0},
    "unknown": {"start": 3},
}


@pytest.mark.parametrize("changes", OPTIONS.values(), ids=OPTIONS.keys())
def test_bad_options_are_refused_before_anything_is_written(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match=next(iter(changes))):
        begun(tmp_path / "out", **changes)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("policy", ["first", "random", lambda state: "go"])
def test_policies_that_cannot_be_repaired_are_refused_before_any_work(
    tmp_path: Path, policy: Any
) -> None:
    with pytest.raises(Unsupported):
        debug(walk(), policy, directory=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_directory_is_a_path() -> None:
    with pytest.raises(InputError, match="directory is a str or Path"):
        begun(3)  # type: ignore[arg-type]


# -- what strangers may send -------------------------------------------------------------------


@pytest.mark.parametrize("what", ["nothing", "a file", "empty", "another campaign.json"])
def test_what_is_no_campaign(tmp_path: Path, what: str) -> None:
    place = tmp_path / "place"
    if what == "a file":
        place.write_text("")
    elif what != "nothing":
        place.mkdir()
    if what == "another campaign.json":
        (place / "campaign.json").write_text('{"budget": 3}')
    for look in (read_campaign, resume):
        with pytest.raises(InputError) as error:
            look(place)
        assert error.value.code == "not-a-campaign"


def changed(whole: Path, directory: Path, change: Any) -> Path:
    """Return a copy of a campaign whose campaign.json says something else."""
    shutil.copytree(whole, directory)
    file = directory / "campaign.json"
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))
    return directory


HOSTILE: dict[str, Any] = {
    "version": lambda c: c.update(campaign=2),
    "a flag for the version": lambda c: c.update(campaign=True),
    "no task": lambda c: c.pop("task"),
    "task is a list": lambda c: c.update(task=[]),
    "no policy": lambda c: c.update(policy=None),
    "path of the policy": lambda c: c["policy"].update(file="/etc/passwd"),
    "way up to the policy": lambda c: c["policy"].update(file="policy/../../policy.json"),
    "no options": lambda c: c.pop("options"),
    "an option more": lambda c: c["options"].update(shell="rm"),
    "a bad option": lambda c: c["options"].update(starts="many"),
    "where it began": lambda c: c.update({"from": 3}),
    "a member more": lambda c: c.update(shell="rm"),
    "a member more of the policy": lambda c: c["policy"].update(shell="rm"),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE.keys())
def test_other_descriptions_are_refused(whole: Path, tmp_path: Path, change: Any) -> None:
    directory = changed(whole, tmp_path / "campaign", change)
    for look in (read_campaign, resume):
        with pytest.raises(InputError) as error:
            look(directory)
        assert error.value.code != "file-not-written"


def test_a_description_that_is_wrong_is_refused_with_the_place(whole: Path, tmp_path: Path) -> None:
    directory = changed(whole, tmp_path / "a", lambda c: c["policy"].update(unfiltered="no"))
    with pytest.raises(InputError) as error:
        read_campaign(directory)
    assert error.value.code == "not-a-campaign"
    assert error.value.file == str(directory / "campaign.json")
    assert error.value.place == "/policy/unfiltered"
    assert 'expected "bool", got "str"' in error.value.message


def forged(whole: Path, directory: Path, change: Any) -> Path:
    """Return a copy of a campaign whose lines say something else, with the right checks."""
    shutil.copytree(whole, directory)
    path = directory / "journal.jsonl"
    lines = [json.loads(text) for text in path.read_text().splitlines()]
    change(lines)
    first = hashlib.sha256((directory / "campaign.json").read_bytes()).hexdigest()
    path.unlink()
    journal = Journal(path, Read((), 0, first))
    for line in lines:
        content = {name: value for name, value in line.items() if name not in ("n", "check")}
        journal.append_plain(content)
    return directory


FORGED: dict[str, Any] = {
    "a file elsewhere": lambda lines: lines[2]["files"].update({"../victim": "00"}),
    "faults elsewhere": lambda lines: lines[2].update(faults="/etc/passwd"),
    "finding elsewhere": lambda lines: lines[2]["findings"][0].update(file="../../victim"),
    "finding of no fault": lambda lines: lines[2]["findings"][0].update(fault=77),
    "policy elsewhere": lambda lines: lines[3].update(policy="../victim"),
    "lines in another order": lambda lines: lines.insert(1, lines.pop(2)),
    "a round missing": lambda lines: lines.pop(3),
    "other start states": lambda lines: lines[0]["starts"].update(debugging=99),
    "the best is none": lambda lines: lines[-3].update(best=99),
    "the final policy elsewhere": lambda lines: lines[-1].update(final_policy="/etc/passwd"),
}


@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED.keys())
def test_forged_lines_are_refused(whole: Path, tmp_path: Path, change: Any) -> None:
    (tmp_path / "victim").write_text("precious")
    directory = forged(whole, tmp_path / "campaign", change)
    task = load_task(whole.parent / "walk.jani")
    with pytest.raises(InputError):
        resume(directory, task)
    assert (tmp_path / "victim").read_text() == "precious"
    try:
        read_campaign(directory).to_dict()
    except InputError as error:
        assert error.code in ("campaign-damaged", "bad-faults")


def test_a_campaign_of_python_code_does_not_run_it(whole: Path, tmp_path: Path) -> None:
    (tmp_path / "evil.py").write_text("raise SystemExit('ran')")
    source = str(tmp_path / "evil.py:task")
    directory = changed(whole, tmp_path / "campaign", lambda c: c["task"].update(source=source))
    with pytest.raises(InputError, match="surefoot resume DIR TASK") as error:
        resume(directory)
    assert error.value.code == "finding-runs-code"
