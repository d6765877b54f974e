"""Commands that only answer, and those that need nothing from outside, leave slow modules alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from surefoot.cli.commands import COMMANDS, HELP
from tests.cli.conftest import Surefoot, environment

CODE = """
import sys
from surefoot.cli import main
main(sys.argv[1:])
print("LOADED", *sys.modules)
"""
SLOW = {"cyclopts", "dataclasses", "hashlib", "importlib.metadata", "inspect", "numpy", "rich",
        "secrets", "torch"}  # fmt: skip
ANSWERS = ("--version", "--help", "-h")
SHARED = {
    "compare": {"report"},
    "corpus": {"replay"},
    "debug": {"decide"},
    "faults": {"fuzz", "decide"},
    "minimise": {"replay"},
    "show": {"replay"},
    "status": {"resume"},
}
"""other commands whose files a command uses"""
EXPLORE = ("explore", "domain:layered")


def loaded(*arguments: str) -> set[str]:
    """Return the modules that a command imports."""
    command = [sys.executable, "-c", CODE, *arguments]
    plain = {name: value for name, value in environment().items() if name != "COLUMNS"}
    done = subprocess.run(command, env=plain, capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("LOADED ")[2].split())


@pytest.mark.parametrize("option", ANSWERS)
def test_what_only_answers_imports_nothing_slow(option: str) -> None:
    assert not loaded(option) & SLOW


def test_the_help_that_is_kept_is_what_the_parser_prints() -> None:
    command = [sys.executable, "-m", "surefoot", "--help"]
    made = subprocess.run(command, env=environment(COLUMNS="80"), capture_output=True, check=True)
    assert made.stdout.decode() == HELP.read_text("utf-8"), "COLUMNS=80 surefoot --help > help.txt"


def test_narrower_help_is_made_by_the_parser(program: Surefoot) -> None:
    lines = program("--help", COLUMNS="60").out.splitlines()
    assert max(map(len, lines[18:])) == 60


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_imported_without_the_others(command: str) -> None:
    """The help of a command needs its own options, and neither arrays nor other commands."""
    modules = loaded(command, "--help")
    others = {name for name in COMMANDS if f"surefoot.cli.{name}" in modules} - {command}
    assert not others - SHARED.get(command, set())
    assert not modules & {"numpy", "torch", "importlib.metadata"}


@pytest.mark.parametrize("first", ["exlpore", "--fial"])
def test_an_unknown_command_is_told_with_all_that_there_are(surefoot: Surefoot, first: str) -> None:
    done = surefoot(first, "domain:layered")
    assert done.code == 2
    assert all(f"{name}" in done.err for name in COMMANDS)
    assert ('did you mean "explore"?' in done.err) == (first == "exlpore")


def test_exploring_and_deciding_leave_alone_what_they_do_not_need() -> None:
    elsewhere = {"numpy", "torch", "xml", "urllib.request", "http.client", "importlib.metadata"}
    explored, decided = loaded(*EXPLORE), loaded("decide", "domain:layered", "--state", "node=root")
    assert not (explored | decided) & elsewhere
    assert not {name for name in explored if name.startswith(("surefoot.checker", "surefoot.pol"))}
    assert "surefoot.checker.certificates" in decided
    assert not {name for name in decided if name.startswith("surefoot.checker.box")}


def test_a_built_in_component_does_not_ask_for_installed_packages() -> None:
    assert "importlib.metadata" not in loaded(*EXPLORE)
