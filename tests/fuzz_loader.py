"""Feeds damaged model files to the loader until the time is over or something goes wrong.

    python tests/fuzz_loader.py --seconds 600 --seed 0 [--checker] [--save DIRECTORY]

A file must be loaded, or refused with an error made for that; a loaded task must give a start state
and its applicable actions, or refuse that in the same way. Anything else is a finding: another
exception, more than five seconds for one file, or memory growth beyond 1 GB. The file of a finding
is kept in the ``--save`` directory and the script exits with 1. The file under test is always there
as ``current.jani``, so it survives a crash of the interpreter, too.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import random
import resource
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from tests.support.mutate import mutate  # noqa: E402
from tests.support.random_models import random_model  # noqa: E402

PUBLISHED = ROOT.parent / "shared" / "data" / "jani"
MAX_PUBLISHED_BYTES = 300_000
MAX_FILE_SECONDS = 5.0
MAX_GROWTH_MB = 1024
HANG_SECONDS = 60
"""after this long in one file the script dumps all stacks and exits: compiled code is stuck"""
PROGRESS_SECONDS = 10.0


@dataclass(frozen=True)
class Loader:
    """A loader under test: what to do with a file, and the errors it may refuse it with."""

    use: Callable[[Path], None]
    refusals: tuple[type[Exception], ...]


@dataclass
class Summary:
    """What happened to the files; ``finding`` tells what went wrong, if anything did."""

    files: int = 0
    loaded: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    slowest_seconds: float = 0.0
    finding: str | None = None
    saved: Path | None = None

    def __str__(self) -> str:
        codes = ", ".join(f"{code} {count}" for code, count in self.refused.most_common())
        return (
            f"{self.files} files, {self.loaded} loaded, {self.refused.total()} refused ({codes}), "
            f"slowest {self.slowest_seconds:.2f} s"
        )


class _TooSlow(BaseException):
    """The file took too long; not an Exception, so that the loader cannot catch it by accident."""


def package_loader() -> Loader:
    """Return the loader of the package: a task, a start state, and what is applicable in it."""
    import surefoot

    def use(path: Path) -> None:
        task = surefoot.load_task(path)
        for state in task.sample_starts(1, seed=0, max_seconds=2.0):
            task.applicable(state)

    return Loader(use, (surefoot.InputError, surefoot.Unsupported, surefoot.OutOfBudget))


def checker_loader() -> Loader:
    """Return the loader of the independent checker."""
    from surefoot import checker
    from surefoot.checker import errors

    def use(path: Path) -> None:
        checker.load(path)

    return Loader(use, (errors.ReadError, errors.NotSupported, errors.ModelError))


def fuzz(
    seconds: float,
    seed: int = 0,
    *,
    loader: Loader | None = None,
    save: Path | None = None,
    max_files: int | None = None,
    hang_seconds: float | None = None,
    report: Callable[[str], None] | None = None,
) -> Summary:
    """Return what the loader made of damaged files, up to the first finding.

    File ``k`` depends on the seed and ``k`` only. ``save`` is where files are written (a temporary
    directory if None, and then the file of a finding is lost with it).
    """
    loader = loader or package_loader()
    published = _published_models()
    summary = Summary()
    with tempfile.TemporaryDirectory() as temporary:
        directory = save or Path(temporary)
        directory.mkdir(parents=True, exist_ok=True)
        started = reported = time.monotonic()
        memory_before = _peak_memory_mb()
        while time.monotonic() < started + seconds and summary.finding is None:
            if max_files is not None and summary.files >= max_files:
                break
            path = directory / "current.jani"
            path.write_bytes(_damaged_file(seed, summary.files, published))
            if hang_seconds is not None:
                faulthandler.dump_traceback_later(hang_seconds, exit=True)
            _try_file(loader, path, summary)
            growth = _peak_memory_mb() - memory_before
            if summary.finding is None and growth > MAX_GROWTH_MB:
                summary.finding = f"memory grew by {growth:.0f} MB"
            if report is not None and time.monotonic() > reported + PROGRESS_SECONDS:
                reported = time.monotonic()
                report(str(summary))
        if hang_seconds is not None:
            faulthandler.cancel_dump_traceback_later()
        _keep_finding(summary, directory, seed)
    return summary


def _published_models() -> list[Any]:
    """Return the published models that are small enough, if they are there."""
    documents = []
    for path in sorted(PUBLISHED.glob("**/*.jani")) if PUBLISHED.is_dir() else ():
        if path.stat().st_size < MAX_PUBLISHED_BYTES:
            document = json.loads(path.read_text("utf-8-sig"))
            if isinstance(document, dict) and "automata" in document:
                documents.append(document)
    return documents


def _damaged_file(seed: int, number: int, published: list[Any]) -> bytes:
    rng = random.Random(f"{seed}/{number}")
    if published and rng.random() < 0.1:
        return mutate(rng.choice(published), rng)
    return mutate(random_model(rng.randrange(2**32)), rng)


def _try_file(loader: Loader, path: Path, summary: Summary) -> None:
    """Load one file and add what happened to the summary."""
    summary.files += 1
    started = time.monotonic()
    try:
        with _alarm(MAX_FILE_SECONDS):
            loader.use(path)
        summary.loaded += 1
    except loader.refusals as refusal:
        summary.refused[str(getattr(refusal, "code", type(refusal).__name__))] += 1
    except _TooSlow:
        summary.finding = "".join(traceback.format_exc(limit=-5))
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        summary.finding = "".join(traceback.format_exception(error, limit=-5))
    seconds = time.monotonic() - started
    summary.slowest_seconds = max(summary.slowest_seconds, seconds)
    if summary.finding is None and seconds > MAX_FILE_SECONDS:
        summary.finding = f"took {seconds:.1f} seconds"


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise _TooSlow in the block after so many seconds; only possible in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise _TooSlow(f"took more than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _peak_memory_mb() -> float:
    unit = 1024 if sys.platform != "darwin" else 1024 * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _keep_finding(summary: Summary, directory: Path, seed: int) -> None:
    current = directory / "current.jani"
    if summary.finding is None:
        current.unlink(missing_ok=True)
        return
    summary.saved = directory / f"finding-{seed}-{summary.files - 1}.jani"
    current.replace(summary.saved)


def main() -> int:
    parser = argparse.ArgumentParser(description="Feed damaged model files to the loader.")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checker", action="store_true", help="test the checker's loader")
    parser.add_argument("--save", type=Path, default=Path("fuzz-findings"))
    options = parser.parse_args()
    faulthandler.enable()
    summary = fuzz(
        options.seconds,
        options.seed,
        loader=checker_loader() if options.checker else package_loader(),
        save=options.save,
        hang_seconds=HANG_SECONDS,
        report=lambda line: print(line, flush=True),
    )
    print(summary)
    if summary.finding is None:
        return 0
    print(f"finding, saved as {summary.saved}:\n{summary.finding}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
