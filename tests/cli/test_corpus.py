"""``surefoot corpus``, and ``--save``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Surefoot
from tests.cli.test_replay import lamp, table

OPTIONS = {
    "list": "--corpus --json --seed --max-seconds --memory-mb",
    "add": "--corpus --policy --interface --unfiltered --property --const --json --max-seconds",
    "prune": "--corpus --dry-run --policy --interface --unfiltered --property --const --json",
}
FAULTS = ("faults", "lamp.jani", "--policy", "table.jsonl", "--runs", "1")


@pytest.fixture
def lamps(tmp_path: Path) -> Path:
    """The folder in which commands run, with lamp.jani and table.jsonl."""
    lamp().compile().write_jani(tmp_path / "lamp.jani")
    (tmp_path / "table.jsonl").write_text(table())
    return tmp_path


def entries(folder: Path) -> list[Path]:
    return sorted((folder / ".surefoot").iterdir())


@pytest.mark.parametrize("action", OPTIONS)
def test_help_shows_an_example_and_every_option(surefoot: Surefoot, action: str) -> None:
    done = surefoot("corpus", action, "--help")
    assert done.code == 0
    assert f"For example:\n  surefoot corpus {action}" in done.out
    assert all(f"{option} " in done.out for option in OPTIONS[action].split())
    assert "For example:\n  surefoot faults" in surefoot("corpus", "--help").out


def test_nothing_puts_a_finding_there_but_save_and_add(surefoot: Surefoot, lamps: Path) -> None:
    assert surefoot(*FAULTS, "-o", "found").code == 1
    assert not (lamps / ".surefoot").exists()
    assert surefoot("corpus", "list").out == "0 findings in .surefoot\n"
    assert not (lamps / ".surefoot").exists()


def test_add_list_and_replay(surefoot: Surefoot, lamps: Path) -> None:
    surefoot(*FAULTS, "-o", "found")
    done = surefoot("corpus", "add", "found")
    assert (done.code, done.err) == (0, "")
    (entry,) = entries(lamps)
    line = f".surefoot/{entry.name}: fault: up in x=2, 3 steps"
    assert done.out == f"new       {line}\ncorpus .surefoot: 1 new\n"
    assert surefoot("corpus", "add", "found").out.endswith("corpus .surefoot: 1 known\n")
    listed = surefoot("corpus", "list").out
    assert listed == f"{line}; policy table.jsonl, task lamp\n1 finding in .surefoot\n"
    assert surefoot("replay", ".surefoot").code == 1
    assert surefoot("check", str(entry)).code == 0


def test_documents(surefoot: Surefoot, lamps: Path) -> None:
    surefoot(*FAULTS, "-o", "found")
    (added,) = surefoot("corpus", "add", "found", "--json").document["entries"]
    assert (added["status"], added["state"], added["action"]) == ("new", {"x": 2}, "up")
    document = surefoot("corpus", "list", "--json").document
    assert (document["action"], document["folder"]) == ("list", ".surefoot")
    assert document["entries"] == [{**added, "status": "kept"}]
    (pruned,) = surefoot("corpus", "prune", "--json").document["entries"]
    assert pruned == {**added, "status": "fails"}


def test_another_folder(surefoot: Surefoot, lamps: Path) -> None:
    surefoot(*FAULTS, "--save", "--corpus", "kept")
    assert not (lamps / ".surefoot").exists()
    assert surefoot("corpus", "list").out == "0 findings in .surefoot\n"
    done = surefoot("corpus", "list", "--corpus", "kept")
    assert done.out.endswith("1 finding in kept\n")
    surefoot("corpus", "add", "kept")
    assert len(entries(lamps)) == 1


@pytest.mark.parametrize(
    "command",
    [
        FAULTS,
        ("fuzz", *FAULTS[1:]),
        ("verify", *FAULTS[1:4]),
    ],
)
def test_save(surefoot: Surefoot, lamps: Path, command: tuple[str, ...]) -> None:
    done = surefoot(*command, "--save")
    assert (done.code, done.out.splitlines()[-1]) == (1, "saved to the corpus .surefoot: 1 new")
    (entry,) = entries(lamps)
    assert json.loads(entry.read_text())["run"]["actions"] == ["up", "up", "up"]
    again = surefoot(*command, "--save", "--json").document
    assert [each["status"] for each in again["saved"]] == ["known"]
    assert "saved" not in surefoot(*command, "--json").document


def test_save_of_minimise(surefoot: Surefoot, lamps: Path) -> None:
    surefoot(*FAULTS, "-o", "found")
    (finding,) = (lamps / "found").glob("*.json")
    done = surefoot("minimise", str(finding), "-o", "small.json", "--save", "--corpus", "kept")
    assert done.out.splitlines()[-1] == "saved to the corpus kept: 1 new"
    assert len(list((lamps / "kept").iterdir())) == 1


def test_a_corpus_for_nothing(surefoot: Surefoot, lamps: Path) -> None:
    done = surefoot(*FAULTS, "--corpus", "kept")
    assert (done.code, "has no effect without --save" in done.err) == (2, True)


def test_prune(surefoot: Surefoot, lamps: Path) -> None:
    surefoot(*FAULTS, "--save")
    (entry,) = entries(lamps)
    done = surefoot("corpus", "prune")
    assert (done.code, done.out.splitlines()[-1]) == (0, "corpus .surefoot: 1 finding, 0 removed")
    (lamps / "mended.jsonl").write_text(table(last="stay"))
    mended = ("corpus", "prune", "lamp.jani", "--policy", "mended.jsonl")
    done = surefoot(*mended, "--dry-run")
    assert done.out.splitlines()[-1] == "corpus .surefoot: 1 finding, 1 would be removed"
    assert entry.exists()
    done = surefoot("corpus", "prune", "domain:layered", "--policy", "first")
    assert done.out == "corpus .surefoot: 0 findings, 0 removed\n"
    done = surefoot(*mended)
    assert done.out.splitlines()[-1] == "corpus .surefoot: 1 finding, 1 removed"
    assert not entry.exists()


def test_what_changed_stays(surefoot: Surefoot, lamps: Path) -> None:
    surefoot(*FAULTS, "--save")
    (lamps / "table.jsonl").write_text(table(last="stay"))
    done = surefoot("corpus", "prune")
    assert (done.code, "[finding-other-policy]" in done.out) == (2, True)
    assert len(entries(lamps)) == 1


def test_python_code_is_not_run(surefoot: Surefoot, lamps: Path) -> None:
    surefoot(*FAULTS, "--save")
    (entry,) = entries(lamps)
    (lamps / "evil.py").write_text("open('ran', 'w')\nclimb = lambda state: 'up'\n")
    content = json.loads(entry.read_text())
    content["policy"] |= {"name": "evil.py:climb", "sha256": None}
    entry.write_text(json.dumps(content))
    for command in (("list",), ("prune",), ("add", str(entry))):
        done = surefoot("corpus", *command)
        assert not (lamps / "ran").exists()
        assert ("[finding-runs-code]" in done.out) == (command != ("list",))
        assert done.code == (0 if command == ("list",) else 2)
    assert surefoot("corpus", "prune", "--policy", "evil.py:climb", "--dry-run").code == 0
    assert (lamps / "ran").exists()


def test_what_no_longer_fails_is_not_added(surefoot: Surefoot, lamps: Path) -> None:
    surefoot(*FAULTS, "-o", "found")
    (finding,) = (lamps / "found").glob("*.json")
    content = json.loads(finding.read_text())
    content["run"]["actions"][0] = "stay"
    finding.write_text(json.dumps(content))
    done = surefoot("corpus", "add", str(finding))
    assert (done.code, "[not-a-failing-run]" in done.out) == (2, True)
    assert not (lamps / ".surefoot").exists()


def test_a_damaged_entry_is_told(surefoot: Surefoot, lamps: Path) -> None:
    surefoot(*FAULTS, "--save")
    (entry,) = entries(lamps)
    entry.write_text(entry.read_text()[:100])
    done = surefoot("corpus", "list")
    assert (done.code, entry.name in done.err) == (2, True)
