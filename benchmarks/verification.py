"""Every engine of verification on many tasks: verdict, seconds, memory, certificate.

    python -m benchmarks.verification [--only NAME ...] [--engines box,auto] [--seconds 60]

One row for each task and policy (verification_rows.py says which there are). Every engine runs in a
process of its own, so that its memory is its own; that of ``auto`` is at most what is printed, as
its largest child is added. Seconds are those of the engine, without loading task and policy, and
without the certificate, which comes from a second run. ``explicit`` is not asked where there are
more than ``--explicit-starts`` start states. Then: how much faster ``box`` is than ``explicit`` in
the same run, and which claims hold. Policies are made where they are missing, some of them in
minutes, and kept below ``--keep``. A whole run takes hours: rows that are in the file of ``--json``
already are not measured again.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.verification_rows import Row, outcome_of, policy_of, rows

import surefoot
from surefoot.errors import OutOfBudget, Unsupported
from surefoot.options import VerifyOptions
from surefoot.text import counted
from surefoot.verify.auto import count_starts

GRACE_SECONDS = 90.0  # that a process may take beside the limit: to load, and to check
ENGINES = ("box", "ic3", "predicates", "explicit", "auto")
MOST_STATES = 200_000  # of a certificate that lists states
CHECK_SECONDS = 60.0
WHOLE = "15-10"
SOON, FASTER, LITTLE_MB = 10.0, 100.0, 500.0  # seconds, times, megabytes: what is claimed
PAPERS = "P-TREE's verifiers needed 2 minutes to 6 hours on the small lines, for other policies."


@dataclass(frozen=True)
class Measured:
    """What one engine found on a row. ``size``, ``file_bytes`` and ``check_seconds`` are those of
    the certificate; ``memory_mb`` is the peak of the process before the certificate is checked.
    """

    verdict: str
    seconds: float = 0.0
    memory_mb: float = 0.0
    method: str = ""
    reason: str = ""
    size: int = 0
    unit: str = ""
    file_bytes: int = 0
    check_seconds: float | None = None

    @property
    def is_decided(self) -> bool:
        """Whether it is safe or unsafe."""
        return self.verdict in ("safe", "unsafe")


@dataclass
class Line:
    """A row of the table."""

    row: Row
    starts: int | None
    ended: str | None = None
    found: dict[str, Measured] = field(default_factory=dict)

    def is_decided(self, engine: str, verdict: str | None = None) -> bool:
        """Return whether an engine decided it, with this verdict if one is given."""
        one = self.found.get(engine)
        return one is not None and one.is_decided and verdict in (None, one.verdict)


# -- one engine, in a process of its own ---------------------------------------------------------


def measured(job: dict[str, Any]) -> Measured:
    """Return what an engine finds, asked in another process."""
    command = [sys.executable, "-m", "benchmarks.verification", "--one", json.dumps(job)]
    limit = job["seconds"] + GRACE_SECONDS
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=True)
    except subprocess.TimeoutExpired:
        return Measured("unknown", limit, reason="the process was stopped")
    except subprocess.CalledProcessError as error:
        last = (error.stderr or "").strip().splitlines()[-1:]
        return Measured("error", reason="".join(last))
    return Measured(**json.loads(done.stdout))


def run_one(job: dict[str, Any]) -> Measured:
    """Return what an engine finds, in this process."""
    task = surefoot.load_task(job["task"])
    policy = surefoot.load_policy(job["policy"], task)
    how = VerifyOptions(method=job["engine"], max_seconds=job["seconds"])
    begin = time.perf_counter()
    try:
        found = surefoot.verify(task, policy, options=how)
    except Unsupported as error:
        return Measured("not read", reason=error.message)
    except OutOfBudget as error:
        return Measured("unknown", time.perf_counter() - begin, peak_mb(), reason=error.message)
    has_children = any(one.method == "ic3" for one in found.engines)
    about = {"memory_mb": peak_mb(with_children=has_children), "reason": found.reason or ""}
    if job["check"] and found.verdict == "safe":
        about |= _evidence(policy, replace(how, method=found.method))
    return Measured(found.verdict, found.seconds, method=found.method, **about)


def _evidence(policy: surefoot.Policy, how: VerifyOptions) -> dict[str, Any]:
    """Return how large the certificate is and how long it takes to check it. It comes from a second
    run of the method that decided: what is measured is without it, for all engines alike.
    """
    found = surefoot.verify(
        policy.task,
        policy,
        options=how,
        certificate=True,
        max_certificate_states=MOST_STATES,
    )
    certificate = found.certificate
    if certificate is None:
        return {}
    about = {"size": certificate.size, "unit": certificate.unit}
    if certificate.path is None:
        return about
    about["file_bytes"] = certificate.path.stat().st_size
    begin = time.perf_counter()
    try:
        certificate.check(max_seconds=CHECK_SECONDS)
    except OutOfBudget:
        return about
    return {**about, "check_seconds": time.perf_counter() - begin}


def peak_mb(*, with_children: bool = False) -> float:
    """Return the most memory this process has held, and the largest of its children if wanted.

    The kernel's own figure for a process begins with that of whoever started it: so it is read
    from the memory map where the system has one.
    """
    status = Path("/proc/self/status")
    unit = 1e6 if sys.platform == "darwin" else 1e6 / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    if status.exists():
        text = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        peak = int(text.split()[1]) / (1e6 / 1024)
    if with_children:
        peak += resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / unit
    return peak


# -- the table -----------------------------------------------------------------------------------


def line_of(row: Row, args: argparse.Namespace) -> Line:
    """Return a row with what the engines find."""
    policy = policy_of(row, args.keep)
    line = Line(row, count_starts(surefoot.load_task(row.task)), outcome_of(policy))
    for engine in args.engines:
        if engine == "explicit" and (line.starts or 0) > args.explicit_starts:
            continue
        is_checked = engine == "auto" or "auto" not in args.engines
        job = {"task": row.task, "policy": policy, "engine": engine, "seconds": args.seconds}
        line.found[engine] = measured({**job, "check": is_checked})
    return line


def head(engines: list[str]) -> list[str]:
    """Return the titles of the columns."""
    timed = [f"{one} s / MB" for one in engines]
    return ["task", "policy", "start states", *timed, "by", "certificate", "check s"]


def cells(line: Line, engines: list[str]) -> list[str]:
    """Return a row as text."""
    ended = f" ({line.ended})" if line.ended else ""
    starts = "?" if line.starts is None else short(line.starts)
    timed = [cell(line.found.get(one)) for one in engines]
    decided = [one for one in line.found.values() if one.is_decided]
    last = decided[-1] if decided else Measured("unknown")
    size = f"{counted(last.size, last.unit)}, {last.file_bytes:,} bytes" if last.size else "-"
    check = "-" if last.check_seconds is None else f"{last.check_seconds:.2f}"
    return [
        *(line.row.instance, line.row.kind + ended, starts),
        *(*timed, last.method or "-", size, check),
    ]


def cell(found: Measured | None) -> str:
    """Return what an engine found as text."""
    if found is None:
        return "-"
    if found.verdict in ("not read", "error"):
        return found.verdict
    digits = 3 if found.seconds < 1 else 1
    return f"{found.verdict} {found.seconds:.{digits}f} / {found.memory_mb:.0f}"


def short(count: int) -> str:
    """Return a count, rounded if it is large."""
    return f"{count:,}" if count < 10**8 else f"{count:.1e}"


def show(line: Line, engines: list[str]) -> None:
    """Print a row, with errors below it."""
    print("  ".join(cells(line, engines)), flush=True)
    for engine, one in line.found.items():
        if one.verdict == "error":
            print(f"    {engine}: {one.reason}", flush=True)


def markdown(lines: list[Line], engines: list[str], said: list[str]) -> str:
    """Return table, ratios and claims for the documentation."""
    titles = head(engines)
    table = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    table += ["| " + " | ".join(cells(line, engines)) + " |" for line in lines]
    return "\n".join([*table, "", *(f"- {one}" for one in said), ""])


# -- ratios and claims ---------------------------------------------------------------------------


def ratios(lines: list[Line]) -> dict[str, float]:
    """Return how many times faster ``box`` proves a (15,10) line safe than ``explicit``."""
    both = [
        one
        for one in lines
        if one.row.is_line
        and one.row.has_size(WHOLE)
        and all(one.is_decided(engine, "safe") for engine in ("box", "explicit"))
    ]
    return {
        one.row.name: one.found["explicit"].seconds / max(one.found["box"].seconds, 1e-9)
        for one in both
    }


def claims(lines: list[Line]) -> Iterator[str]:
    """Yield what the project claims about verification, and whether it holds in these rows."""
    times = ratios(lines)
    for name, factor in times.items():
        yield f"{name}: box is {factor:,.0f} times as fast as explicit"
    fast = [name for name, factor in times.items() if factor >= FASTER]
    yield one_of(f"box at least {FASTER:.0f} times faster on a (15,10) line", list(times), fast)
    repaired = [one for one in lines if _is_repaired_line(one)]
    text = f"every repaired (15,10)-(20,10) line proved safe by auto in under {SOON:.0f} s"
    yield all_of(text, repaired, [one for one in repaired if not _is_soon_safe(one)])
    for size in ("30-20", "40-25"):
        large = [one for one in lines if one.row.has_size(size)]
        safe = [one.row.name for one in large if _is_safe(one)]
        yield one_of(f"at least one ({size.replace('-', ',')}) line proved safe", large, safe)
    both = [one for one in lines if one.is_decided("explicit") and "auto" in one.found]
    other = [one for one in both if not one.is_decided("auto", one.found["explicit"].verdict)]
    yield all_of("auto decides all that explicit decides, with the same verdict", both, other)
    whole = [one for one in lines if one.row.has_size(WHOLE) and {"box", "auto"} & set(one.found)]
    greedy = [one for one in whole if _memory_mb(one) > LITTLE_MB]
    yield all_of(f"box and auto under {LITTLE_MB:.0f} MB on (15,10)", whole, greedy)


def one_of(text: str, asked: Sequence[object], good: list[str]) -> str:
    """Return whether a claim holds that one row is enough for, and those that are."""
    listed = f": {', '.join(good)}" if good else ""
    return f"{_holds(asked, is_true=bool(good))}: {text}{listed}"


def all_of(text: str, asked: Sequence[Line], bad: list[Line]) -> str:
    """Return whether a claim about all these rows holds, and those of which it does not."""
    listed = ", ".join(f"{one.row.name} ({one.ended or 'as it is'})" for one in bad)
    return f"{_holds(asked, is_true=not bad)}: {text}{': not ' + listed if bad else ''}"


def _holds(asked: Sequence[object], *, is_true: bool) -> str:
    if not asked:
        return "not measured"
    return "holds" if is_true else "does not hold"


def _memory_mb(line: Line) -> float:
    return max(
        (line.found[one].memory_mb for one in ("box", "auto") if one in line.found), default=0
    )


def _is_repaired_line(line: Line) -> bool:
    sizes = ("15-10", "17-10", "20-10")
    return line.row.is_line and line.row.kind.startswith("repaired") and line.row.has_size(*sizes)


def _is_soon_safe(line: Line) -> bool:
    return line.is_decided("auto", "safe") and line.found["auto"].seconds < SOON


def _is_safe(line: Line) -> bool:
    return any(line.is_decided(engine, "safe") for engine in line.found)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[], help="parts of names as TASK/POLICY")
    parser.add_argument("--engines", default=",".join(ENGINES), type=lambda text: text.split(","))
    parser.add_argument("--seconds", type=float, default=60.0, help="for each engine")
    parser.add_argument("--explicit-starts", type=int, default=12_000_000)
    parser.add_argument("--keep", type=Path, default=Path("build") / "verification")
    parser.add_argument("--markdown", type=Path, help="a file for table and claims")
    parser.add_argument(
        "--json",
        type=Path,
        help="a file for everything that was measured, and what is known from it",
    )
    parser.add_argument("--one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one is not None:
        print(json.dumps(asdict(run_one(json.loads(args.one)))))
        return
    lines = []
    known = read(args.json)
    print("  ".join(head(args.engines)), f"  ({os.cpu_count()} processors)")
    for row in rows():
        if not args.only or any(part in row.name for part in args.only):
            lines.append(known.get(row.name) or line_of(row, args))
            show(lines[-1], args.engines)
            write(lines, known, args)
    print("\n".join(claims(lines)))


def read(file: Path | None) -> dict[str, Line]:
    """Return what an earlier run has measured, by the names of the rows."""
    if file is None or not file.exists():
        return {}
    lines = [
        Line(
            Row(**one["row"]),
            one["starts"],
            one["ended"],
            {engine: Measured(**found) for engine, found in one["found"].items()},
        )
        for one in json.loads(file.read_text())
    ]
    return {one.row.name: one for one in lines}


def write(lines: list[Line], known: dict[str, Line], args: argparse.Namespace) -> None:
    """Write what is known so far to the files that were asked for; rows of earlier runs stay."""
    if args.json is not None:
        every = {**known, **{one.row.name: one for one in lines}}
        args.json.write_text(json.dumps([asdict(one) for one in every.values()], indent=1))
    if args.markdown is not None:
        args.markdown.write_text(markdown(lines, args.engines, [*claims(lines), PAPERS]))


if __name__ == "__main__":
    main()
