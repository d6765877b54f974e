"""The names of the commands, and what can be told without the parser, which is slow to import."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from surefoot.errors import InputError, listed_hint, quoted

COMMANDS = (
    *("doctor", "explore", "simulate", "fuzz", "evaluate", "compare", "decide"),
    *("debug", "resume", "status", "show"),
    *("repair", "export"),
    *("faults", "minimise", "replay", "corpus", "check", "convert", "domains", "train", "distill"),
    *("report", "schema", "verify"),
)
"""each is a function in a file of its name"""
HELP = Path(__file__).parent / "help.txt"
"""what ``surefoot --help`` prints in 80 columns; ``COLUMNS=80 surefoot --help`` writes it anew"""
HELP_FLAGS: tuple[list[str], ...] = ([], ["--help"], ["-h"])
FLAGS = ("--help", "-h", "--version")
_COLUMNS = 80
_WISHES = ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
"""variables by which users say how the parser shall print its text"""


def help_text(given: Sequence[str]) -> str | None:
    """Return the help on the whole program if that is asked for, and is to look as in the file."""
    if list(given) not in HELP_FLAGS or any(name in os.environ for name in _WISHES):
        return None
    if not (sys.stdout.encoding or "").lower().startswith("utf"):
        return None
    if sys.stdout.isatty() and os.get_terminal_size(sys.stdout.fileno()).columns < _COLUMNS:
        return None
    return HELP.read_text("utf-8")


def command_in(given: Sequence[str]) -> str | None:
    """Return the first word that is the name of a command."""
    return next((word for word in given if word in COMMANDS), None)


def check_command(given: Sequence[str]) -> None:
    """Raise InputError if the first word is neither a command nor an option for itself."""
    name = given[0] if given else "--help"
    if name not in (*COMMANDS, *FLAGS):
        hint = listed_hint(name, sorted(COMMANDS), "the commands")
        raise InputError("bad-option", f"there is no command {quoted(name)}", hint=hint)
