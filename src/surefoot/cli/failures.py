"""From exceptions to messages on standard error and exit codes; see docs for the table of codes."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from typing import TextIO

from surefoot.cli.commands import command_in
from surefoot.errors import InputError, OutOfBudget, SurefootError, printable
from surefoot.python_file import is_outside

INTERNAL_ERROR = 70
INTERRUPTED = 130
BROKEN_PIPE = 141
REPORT_TO = "please report it to the Surefoot engineers with the command and its input"


class Guard:
    """Tells the user of whatever a command raises, and lets nothing out of its ``with`` block but
    what asks Python itself to exit. ``code`` is the exit code then.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self.code = INTERNAL_ERROR
        self._arguments = arguments

    def __enter__(self) -> Guard:
        _never_fail_to_encode(sys.stdout, sys.stderr)
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        if error is not None:
            self.code = _told(self._arguments, error)
        return True


def _told(arguments: Sequence[str], error: BaseException) -> int:
    """Return the exit code of an error after telling the user."""
    if isinstance(error, BrokenPipeError):
        _silence(sys.stdout)
        return BROKEN_PIPE
    if isinstance(error, KeyboardInterrupt):
        return _tell_interrupt(arguments)
    if isinstance(error, SystemExit):
        return _tell_exit(arguments, error)
    if not isinstance(error, Exception):
        raise error
    return _tell_interrupt(arguments) if _is_interrupt(error) else _tell_error(arguments, error)


def _is_interrupt(error: BaseException | None) -> bool:
    """Return whether Ctrl-C is behind an error: clean-up code may raise one of its own."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def _tell_interrupt(arguments: Sequence[str]) -> int:
    error = SurefootError("interrupted", "interrupted")
    return _tell(arguments, "interrupted", error, INTERRUPTED)


def _tell_exit(arguments: Sequence[str], error: SystemExit) -> int:
    """Return the exit code where somebody called ``sys.exit``: rich does when its reader leaves."""
    if isinstance(error.__context__, BrokenPipeError):
        _silence(sys.stdout)
        return BROKEN_PIPE
    in_users_code = _users_code(error)
    if in_users_code is None:
        raise error
    return _tell(arguments, f"error: {in_users_code}", in_users_code, in_users_code.exit_code)


def _tell_error(arguments: Sequence[str], error: Exception) -> int:
    if os.environ.get("SUREFOOT_DEBUG"):
        traceback.print_exception(error)
    known = error if isinstance(error, SurefootError) else _translated(arguments, error)
    if known is not None:
        return _tell(arguments, f"error: {known}", known, known.exit_code)
    message = printable(f"{type(error).__name__}: {error}", limit=500)
    text = f"internal error: {message}\n  {REPORT_TO}; SUREFOOT_DEBUG=1 shows where it happened"
    return _tell(arguments, text, SurefootError("internal-error", message), INTERNAL_ERROR)


def _translated(arguments: Sequence[str], error: Exception) -> SurefootError | None:
    """Return an error of the parser, of the system or of the user's Python code as one of ours."""
    from cyclopts import CycloptsError

    if isinstance(error, CycloptsError):
        message = printable(" ".join(str(error).split()), limit=1000)
        command = command_in(arguments)
        hint = f"see surefoot {command} --help" if command else "see surefoot --help"
        return InputError("bad-option", message, hint=hint)
    if isinstance(error, MemoryError):
        return OutOfBudget("out-of-memory", "ran out of memory", hint="give less with --memory-mb")
    in_users_code = _users_code(error)
    if in_users_code is not None:
        return in_users_code
    if isinstance(error, OSError) and error.strerror:
        name = None if error.filename is None else str(error.filename)
        return InputError("system-error", error.strerror, file=name)
    return None


def _users_code(error: BaseException) -> InputError | None:
    """Return an error that code from outside raised, a FILE.py:NAME or a package, with its line;
    None if it is another.
    """
    lines = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        lines.append((error.filename or "", error.lineno))
    for file, line in reversed(lines):
        if is_outside(file):
            message = printable(f"{type(error).__name__}: {error}", limit=500)
            return InputError("python-error", message, file=file, place=str(line))
    return None


def _tell(arguments: Sequence[str], text: str, error: SurefootError, code: int) -> int:
    """Write the text to standard error and, with --json, a document to standard output."""
    _write(sys.stderr, text + "\n")
    document = ""
    if "--json" in arguments:
        from surefoot import __version__
        from surefoot.cli.output import json_text

        content = {"surefoot": __version__, "command": command_in(arguments)}
        document = json_text({**content, "error": error.to_dict()}) + "\n"
    _write(sys.stdout, document)
    return code


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except OSError:
        _silence(stream)


def _never_fail_to_encode(*streams: object) -> None:
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _silence(stream: TextIO) -> None:
    """Let what is still buffered vanish: Python would complain about it at exit."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, stream.fileno())
    os.close(devnull)
