"""Stages for tests of job runners, named as ``tests.support.job_stages:NAME``."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from surefoot.errors import InputError, OutOfBudget, Unsupported
from surefoot.jobs import Found, Note, Progress, Result

HOME = "tests.support.job_stages"


def echo(work):
    """Tell some events, print rubbish, and return what was given."""
    work.emit(Note("begins"))
    print('{"type": "done", "content": {}}', flush=True)
    os.write(1, b"\xff\xfe rubbish\n")
    work.emit(Progress("echo", {"states": 3, "share": 0.1}, 0.25))
    for number in range(5):
        work.emit(Found("number", {"number": number}))
    (work.scratch / "some").write_text("file")
    content = {"stage": work.job.stage, "options": work.job.options, "x": 0.1 + 0.2}
    return Result(content, {"bytes": bytes(range(256)) + work.job.files.get("more", b"")})


def fails(work):
    """Raise the error of the kind that is asked for."""
    kinds = {"input": InputError, "unsupported": Unsupported, "budget": OutOfBudget}
    kind = work.job.options["kind"]
    if kind == "memory":
        raise MemoryError
    if kind == "bug":
        raise ValueError("odd \x1b[1m number")
    if kind == "exit":
        sys.exit("ValueError: it exits")
    raise kinds[kind]("some-code", "a message", file="f", place="/p", hint="h")


def sleeps(work):
    """Write the numbers of this process and of one that it starts, then sleep."""
    child = os.fork() if work.job.options.get("fork") else 0
    if work.job.options.get("fork") and child == 0:
        time.sleep(600)
    Path(str(work.job.options["pids"])).write_text(f"{os.getpid()} {child}\n")
    begin = time.monotonic()
    while time.monotonic() < begin + 600:
        time.sleep(0.02)
        work.emit(Progress("sleeps", {"boxes": 7, "cuts": 2, "steps": 3, "bytes": 0}, 0.5))
    return Result({})


def ticks(work):
    """Tell something now and then."""
    for number in range(6):
        time.sleep(0.3)
        work.emit(Found("number", {"number": number}))
    return Result({})


def eats(work):
    """Take much memory."""
    block = bytearray(int(work.job.options["bytes"]))
    time.sleep(600)
    return Result({"bytes": len(block)})


def dies(work):
    """End the process without a word."""
    sys.stdout.flush()
    os._exit(3)


def forges(work):
    """Write to where answers go as if a worker did, which only code of strangers does."""
    for number in range(3, 20):
        try:
            os.write(number, b"rubbish\n")
        except OSError:
            continue
    time.sleep(600)
