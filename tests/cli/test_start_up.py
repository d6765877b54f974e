"""Commands that only answer, and those that need nothing from outside, leave slow modules alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli.conftest import environment

CODE = """
import sys
from surefoot.cli import main
main(sys.argv[1:])
print("LOADED", *sys.modules)
"""
SLOW = {"dataclasses", "hashlib", "importlib.metadata", "inspect", "numpy", "secrets", "torch"}
NEEDED = {"--version": set(), "--help": {"dataclasses", "inspect"}}
EXPLORE = ("explore", "domain:layered")


def loaded(*arguments: str) -> set[str]:
    """Return the modules that a command imports."""
    command = [sys.executable, "-c", CODE, *arguments]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("LOADED ")[2].split())


@pytest.mark.parametrize("option", NEEDED)
def test_what_only_answers_imports_nothing_slow(option: str) -> None:
    assert loaded(option) & SLOW <= NEEDED[option]


def test_a_built_in_component_does_not_ask_for_installed_packages() -> None:
    assert "importlib.metadata" not in loaded(*EXPLORE)
