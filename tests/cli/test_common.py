"""What all commands share: help, errors, exit codes, interruption, output that cannot hurt."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import surefoot as package
from surefoot.cli.progress import Progress, tell
from tests.cli.conftest import Surefoot, environment

COMMANDS = ("doctor", "explore", "simulate", "decide")
LINE = "domain:one-way-line?packages=3&locations=4"
LONG = "domain:one-way-line?packages=30&locations=20&variant=icy"
OPTIONS = """
    --property --property-name --start --goal --fail --const --int-range
    --json --seed --max-seconds --memory-mb
"""


def test_version(surefoot: Surefoot) -> None:
    done = surefoot("--version")
    assert (done.code, done.out.strip(), done.err) == (0, package.__version__, "")


def _seconds_of_children() -> float:
    """Return the processor time of finished processes: the machine may be busy with other tests."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def test_help_lists_the_commands_and_answers_at_once(program: Surefoot) -> None:
    program("--help")  # the first one may compile files
    begin = _seconds_of_children()
    done = program("--help")
    assert _seconds_of_children() - begin < 0.6
    assert done.code == 0
    assert all(command in done.out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example_and_every_common_option(surefoot: Surefoot, command: str) -> None:
    done = surefoot(command, "--help")
    assert done.code == 0
    assert f"For example:\n  surefoot {command} " in done.out
    for option in OPTIONS.split():
        assert f"{option} " in done.out
    assert max(len(line) for line in done.out.splitlines() if "  surefoot " in line) <= 79
    assert "--no-" not in done.out.replace("--no-check", "")
    assert "--empty-" not in done.out
    assert "stop" in done.out  # the texts of options.py


BAD = {
    "unknown option": (("explore", LINE, "--max-state", "3"), 2, "--max-states"),
    "bad number": (("explore", LINE, "--max-states", "x"), 2, "--max-states"),
    "negative number": (("explore", LINE, "--max-states", "-1"), 2, "--max-states"),
    "endless": (("explore", LINE, "--max-seconds", "inf"), 2, "--max-seconds"),
    "no task": (("explore",), 2, "TASK"),
    "unknown command": (("explor",), 2, '"explore"'),
    "unknown file": (("explore", "nothing.jani"), 2, "nothing.jani"),
    "unknown Python file": (("explore", "nothing.py:x"), 2, "nothing.py"),
    "unknown name": (("explore", "tasks.py:lam"), 2, 'did you mean "lamp"?'),
    "unknown domain": (("explore", "domain:one-way-lin"), 2, 'did you mean "one-way-line"?'),
    "unknown parameter": (
        ("explore", "domain:one-way-line?package=3"),
        2,
        'did you mean "packages"?',
    ),
    "bad constant": (("explore", "a.jani", "--const", "N"), 2, "NAME=VALUE"),
    "bad range": (("explore", "a.jani", "--int-range", "-3"), 2, "LO..HI"),
    "option of JANI": (("explore", LINE, "--const", "N=3"), 2, "--const"),
    "option of JANI beside Python": (("explore", "tasks.py:lamp", "--goal", "g"), 2, "--goal"),
    "too large": (("simulate", LINE, "--seed", str(2**64)), 2, "--seed"),
    "error in the user's code": (("explore", "tasks.py:Broken"), 2, "ZeroDivisionError"),
    "exit in the user's code": (("explore", "tasks.py:Leaving"), 2, "SystemExit"),
    "error in the model": (("explore", "tasks.py:leaves"), 2, "model-out-of-range"),
    "policy file": (("simulate", LINE, "--policy", "truck.onnx"), 2, "file-not-found"),
    "policy file for doctor": (("doctor", LINE, "--policy", "truck.onnx"), 2, "file-not-found"),
    "unknown policy for doctor": (("doctor", LINE, "--policy", "randm"), 2, "did you mean"),
    "unknown policy": (("simulate", LINE, "--policy", "randm"), 2, 'did you mean "random"?'),
}


@pytest.mark.parametrize("arguments, code, text", BAD.values(), ids=BAD)
def test_bad_input(surefoot: Surefoot, arguments: tuple[str, ...], code: int, text: str) -> None:
    done = surefoot(*arguments)
    assert done.code == code
    assert done.err.startswith("error: ")
    assert text in done.err
    assert "Traceback" not in done.err
    assert done.out == ""


def test_errors_are_documents_too(surefoot: Surefoot) -> None:
    done = surefoot("explore", "domain:nothing", "--json")
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert done.document["command"] == "explore"
    assert done.document["error"]["code"] == "unknown-domain"
    assert set(done.document["error"]) == {"code", "message", "file", "place", "hint"}


@pytest.mark.parametrize("command", COMMANDS)
def test_what_the_users_code_prints_is_not_the_result(surefoot: Surefoot, command: str) -> None:
    done = surefoot(command, "tasks.py:Talking", "--json")
    assert done.code == 0
    assert done.document["command"] == command
    assert "thinking about (0,)" in done.err


@pytest.mark.parametrize("command", ("", *COMMANDS))
def test_examples_can_be_copied_from_a_narrow_terminal(surefoot: Surefoot, command: str) -> None:
    arguments = (command, "--help") if command else ("--help",)
    wide, narrow = (surefoot(*arguments, COLUMNS=width).out for width in ("200", "30"))
    examples = [line for line in wide.splitlines() if line.startswith("  surefoot ")]
    assert examples
    assert set(examples) <= set(narrow.splitlines())


def test_value_of_a_boolean_constant(surefoot: Surefoot, tmp_path: Path) -> None:
    model = {
        "jani-version": 1,
        "name": "m",
        "type": "lts",
        "constants": [{"name": "wet", "type": "bool"}],
        "automata": [
            {
                "name": "a",
                "locations": [{"name": "here"}],
                "initial-locations": ["here"],
                "edges": [],
            }
        ],
        "system": {"elements": [{"automaton": "a"}]},
    }
    (tmp_path / "m.jani").write_text(json.dumps(model))
    done = surefoot("explore", "m.jani", "--const", "wet=1")
    assert done.code == 2
    assert "hint: it is true or false" in done.err
    assert surefoot("explore", "m.jani", "--const", "wet=true").code == 0


def test_debug_shows_the_traceback(surefoot: Surefoot) -> None:
    done = surefoot("explore", "domain:nothing", SUREFOOT_DEBUG="1")
    assert done.code == 2
    assert "Traceback" in done.err


INTERNAL = """
from surefoot.cli.failures import Guard
with Guard(["explore", "--json"]) as guard:
    raise {error}
raise SystemExit(guard.code)
"""


@pytest.mark.parametrize(
    "error, code, start",
    [
        ("ZeroDivisionError('x')", 70, "internal error: ZeroDivisionError: x\n"),
        ("MemoryError()", 4, "error: ran out of memory"),
        ("KeyboardInterrupt()", 130, "interrupted\n"),
        ("OSError('x') from KeyboardInterrupt()", 130, "interrupted\n"),
        ("BrokenPipeError()", 141, ""),
    ],
)
def test_unexpected_errors(error: str, code: int, start: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERNAL.format(error=error)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert done.stderr.startswith(start)
    assert "Traceback" not in done.stderr
    if code != 141:
        assert set(json.loads(done.stdout)["error"]) == {"code", "message", "file", "place", "hint"}


@pytest.mark.parametrize("command", COMMANDS)
def test_names_from_files_cannot_write_to_the_terminal(surefoot: Surefoot, command: str) -> None:
    for more in ((), ("--json",)):
        done = surefoot(command, "tasks.py:evil", *more)
        assert done.code == 0
        assert "\x1b" not in done.out + done.err
    assert "evil\\u001b[2J[bold]" in done.out


def test_names_in_errors_cannot_write_to_the_terminal(surefoot: Surefoot) -> None:
    for arguments in (("explore", "domain:\x1b[2J"), ("explore", LINE, "--\x1b[2J"), ("\x1b[2J",)):
        done = surefoot(*arguments)
        assert done.code == 2
        assert "\x1b" not in done.out + done.err


def test_interrupt_stops_within_a_second() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "surefoot", "explore", LONG],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as process:
        assert process.stderr is not None
        line = process.stderr.readline()  # the first sign of life: it works
        assert line.startswith(("exploring", "listing start states"))
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert time.monotonic() - begin < 5  # a tenth of a second, if the machine is idle
        assert (process.returncode, out, err) == (130, "", "interrupted\n")


def test_progress_goes_to_standard_error(surefoot: Surefoot) -> None:
    done = surefoot("explore", "tasks.py:Slow", "--max-seconds", "2.5", "--json")
    assert done.code == 4
    assert done.document["stopped"] == "seconds"
    first = done.err.splitlines()[0]
    assert first.startswith("exploring: ")
    assert "states" in first


def test_progress_while_start_states_are_listed() -> None:
    progress = Progress("exploring")
    progress.explored(1234, 0, 0, 0, 0.1)
    assert progress._text() == "listing start states: 1,234, 0 s"
    progress.explored(1234, 1, 0, 2_000_000, 0.1)
    assert progress._text() == "exploring: 1,234 states, 1 expanded, depth 0, 2 MB, 0 s"


def test_reading_a_policy_is_told_as_that() -> None:
    with Progress("reading the task") as progress:
        assert progress._text() == "reading the task, 0 s"
        tell("reading the policy")
        assert progress._text() == "reading the policy, 0 s"
    tell("nothing is shown any more")


def test_no_progress_on_short_work(surefoot: Surefoot) -> None:
    assert surefoot("explore", LINE).err == ""


def test_reader_that_leaves_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "surefoot", "simulate", LINE, "--runs", "200"],
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_full_disk_is_told(tmp_path: Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "surefoot", "explore", LINE],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: No space left")
    assert done.stderr.count(b"\n") == 1


def test_terminal_without_unicode(surefoot: Surefoot) -> None:
    done = surefoot("doctor", "tasks.py:lamp", PYTHONIOENCODING="ascii")
    assert done.code == 0
    assert "x \\u2264 1" in done.out
