"""``surefoot compare``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Surefoot
from tests.cli.test_replay import lamp, table

OPTIONS = """
    --interface --unfiltered --runs --bias --visits --starts --max-states --max-steps
    --state-seconds --workers --markdown --json --seed --max-seconds --memory-mb
    --property --property-name --start --goal --fail --const --int-range
"""


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """The folder in which commands run: bad.jsonl fails on lamp.jani, good.jsonl does not."""
    lamp().compile().write_jani(tmp_path / "lamp.jani")
    (tmp_path / "bad.jsonl").write_text(table())
    (tmp_path / "good.jsonl").write_text(table(last="stay"))
    return tmp_path


def test_help_shows_an_example_and_every_option(surefoot: Surefoot) -> None:
    done = surefoot("compare", "--help")
    assert done.code == 0
    assert "For example:\n  surefoot compare " in done.out
    assert all(f"{option} " in done.out for option in OPTIONS.split())


def test_a_worse_policy(surefoot: Surefoot, tables: Path) -> None:
    done = surefoot("compare", "lamp.jani", "good.jsonl", "bad.jsonl")
    assert (done.code, done.err) == (1, "")
    lines = done.out.splitlines()
    assert lines[0] == "lamp"
    assert lines[1].startswith("old    good.jsonl: unsafe 0.0000, goal 0.0000 [0.0000, ")
    assert lines[2].startswith("new    bad.jsonl: unsafe 1.0000, goal 0.0000 [0.0000, ")
    assert lines[3:7] == [
        "bad.jsonl: 1 new, 0 mended, 0 common",
        "  new: up in x=2",
        "    before stay; safe alternative: stay",
        "  1 of 3 visited states decided otherwise",
    ]
    assert lines[7] == "    stay -> up in x=2"
    assert lines[8].startswith("1 new fault; ")


def test_a_better_policy(surefoot: Surefoot, tables: Path) -> None:
    done = surefoot("compare", "lamp.jani", "bad.jsonl", "good.jsonl")
    assert done.code == 0
    assert "good.jsonl: 0 new, 1 mended, 0 common" in done.out
    assert "  mended: up in x=2\n    now stay; safe alternative: stay\n" in done.out
    assert done.out.splitlines()[-1].startswith("no new fault; ")


def test_document(surefoot: Surefoot, tables: Path) -> None:
    command = ("compare", "lamp.jani", "good.jsonl", "bad.jsonl", "first", "--runs", "10")
    document = surefoot(*command, "--json").document
    assert document["options"]["policies"] == ["good.jsonl", "bad.jsonl", "first"]
    assert "policy" not in document
    assert [each["name"] for each in document["policies"]] == ["good.jsonl", "bad.jsonl", "first"]
    assert [each["unsafe"] for each in document["fractions"]] == [0.0, 1.0, 1.0]
    bad, first = document["changes"]
    assert (bad["policy"], first["policy"]) == (1, 2)
    (new,) = bad["new"]
    assert (new["state"], new["action"], new["instead"]) == ({"x": 2}, "up", "stay")
    assert bad["differing"]["changed"] == 1


def test_markdown(surefoot: Surefoot, tables: Path) -> None:
    command = ("compare", "lamp.jani", "good.jsonl", "bad.jsonl")
    done = surefoot(*command, "--markdown", "summary.md")
    assert (done.code, done.out.startswith("lamp\n")) == (1, True)
    text = (tables / "summary.md").read_text("utf-8")
    assert text.startswith("### ❌ Surefoot: 1 new fault\n\n`lamp`, against `good.jsonl`.\n")
    assert "| `good.jsonl` | 0 % | 0 % (0 % to 79.35 %) | 0 |\n" in text
    assert "- New: `up` in `x=2`; before `stay`; safe alternative: `stay`\n" in text
    assert surefoot(*command, "--markdown", "-").out == text
    done = surefoot(*command, "--markdown", "-", "--json")
    assert (done.code, "[bad-option]" in done.err) == (2, True)


def test_names_cannot_break_the_table(surefoot: Surefoot, tables: Path) -> None:
    (tables / "a|b.jsonl").write_text(table())
    text = surefoot("compare", "lamp.jani", "good.jsonl", "a|b.jsonl", "--markdown", "-").out
    assert "| `a\\|b.jsonl` | 100 % |" in text


def test_out_of_time(surefoot: Surefoot, tables: Path) -> None:
    command = ("compare", "lamp.jani", "good.jsonl", "good.jsonl", "--max-seconds", "0.2")
    done = surefoot(*command, "--runs", "200000")
    assert done.code == 4
    assert "cut: not everything that was planned was done" in done.err


@pytest.mark.parametrize("policies", [[], ["first"]])
def test_too_few_policies(surefoot: Surefoot, tables: Path, policies: list[str]) -> None:
    done = surefoot("compare", "lamp.jani", *policies)
    assert (done.code, "two policies" in done.err) == (2, True)
