"""The program ``surefoot``: in a process of its own, or, much quicker, in the one of the tests."""

from __future__ import annotations

import importlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, Any

MAX_SECONDS = 60


@dataclass(frozen=True)
class Finished:
    """What the program left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON document on standard output."""
        assert self.out.count("\n") == 1
        return dict(json.loads(self.out))


class TookTooLong(BaseException):
    """The program did not end. No command may take it for an error of its own."""


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a plain, wide terminal without colours."""
    return {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8", **more}


def run_process(arguments: Sequence[str], *, folder: Path, env: Mapping[str, str]) -> Finished:
    """Run ``surefoot ARGUMENTS`` as a user does: the real program, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "surefoot", *arguments],
        capture_output=True,
        encoding="utf-8",
        cwd=folder,
        env=env,
        timeout=MAX_SECONDS,
        check=False,
    )
    return Finished(done.returncode, done.stdout, done.stderr)


def run_here(arguments: Sequence[str], *, folder: Path, env: Mapping[str, str]) -> Finished:
    """Run ``surefoot ARGUMENTS`` in this process, as if it had one of its own.

    Working directory, environment, arguments, standard streams (for children and the core too),
    handlers of signals, and the modules that stand in ``folder`` are as in a new process, and as
    before afterwards. What the interpreter reads when it starts (``PYTHON...``), signals and pipes
    that break need the real one.
    """
    from surefoot.cli import main

    with ExitStack() as stack:
        stack.enter_context(_limited(MAX_SECONDS))
        stack.enter_context(_interpreter(arguments, folder=folder, env=env))
        out, err = (stack.enter_context(_redirected(number)) for number in (1, 2))
        code = _exit_code(main, list(arguments))
        sys.stdout.flush()
        sys.stderr.flush()
        return Finished(code, _read(out), _read(err))


def _exit_code(main: Any, arguments: list[str]) -> int:
    try:
        code = main(arguments)
    except SystemExit as error:
        code = error.code
        if isinstance(code, str):
            print(code, file=sys.stderr)
    return code if isinstance(code, int) else int(code is not None)


@contextmanager
def _interpreter(
    arguments: Sequence[str], *, folder: Path, env: Mapping[str, str]
) -> Iterator[None]:
    """Make directory, environment, arguments and paths those of ``python -m surefoot``."""
    here, before, argv, path = os.getcwd(), dict(os.environ), sys.argv, list(sys.path)
    stdin, modules = sys.stdin, set(sys.modules)
    importlib.invalidate_caches()
    try:
        os.chdir(folder)
        _replace_environment(env)
        sys.argv = ["surefoot", *arguments]
        sys.path[:] = [str(folder), *path]
        with open(os.devnull) as sys.stdin:
            yield
    finally:
        os.chdir(here)
        _replace_environment(before)
        sys.argv, sys.path[:], sys.stdin = argv, path, stdin
        _forget(set(sys.modules) - modules, folder)


def _replace_environment(env: Mapping[str, str]) -> None:
    for name in set(os.environ) - set(env):
        del os.environ[name]
    os.environ.update(env)


def _forget(names: set[str], folder: Path) -> None:
    """Unload modules that stand in ``folder``: the next test has others of the same name."""
    for name in names:
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is not None and Path(file).resolve().is_relative_to(folder.resolve()):
            del sys.modules[name]


@contextmanager
def _redirected(number: int) -> Iterator[IO[bytes]]:
    """Send standard output (1) or error (2) to a file, also where it is written to by number."""
    name = {1: "stdout", 2: "stderr"}[number]
    before = getattr(sys, name)
    before.flush()
    kept = os.dup(number)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), number)
        stream = io.TextIOWrapper(
            io.FileIO(os.dup(number), "w"), encoding="utf-8", line_buffering=number == 2
        )
        setattr(sys, name, stream)
        try:
            yield file
        finally:
            setattr(sys, name, before)
            stream.close()
            os.dup2(kept, number)
            os.close(kept)


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


@contextmanager
def _limited(seconds: int) -> Iterator[None]:
    """Raise `TookTooLong` inside if it takes longer; handlers of signals are as before after it."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TookTooLong(f"the program did not end within {seconds} seconds")

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)
    before = {number: signal.getsignal(number) for number in numbers}
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        for number, handler in before.items():
            signal.signal(number, handler)
