"""How fast explicit verification is, beside ``explore`` and the enumeration of ``evaluate``.

    python -m benchmarks.explicit [--size 15-10] [--max-states 10000000] [--repeat 3]

All three look at the one-way line. Verification and evaluation follow a policy from all start
states, exploration follows every action from all of them. Everything is measured in one run, best
of ``--repeat``. Rates are states per second, of wall time and of processor time: on a busy machine
the latter says more. Ratios say more than rates.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import surefoot
from surefoot import _core

POLICIES = ("first", "builtin:one-way-line-trees", "builtin:one-way-line-network")


@dataclass(frozen=True)
class Measured:
    """What one run took."""

    states: int
    bytes_per_state: float
    wall: float
    processor: float

    @property
    def rate(self) -> float:
        """Million states per second."""
        return self.states / self.wall / 1e6

    @property
    def processor_rate(self) -> float:
        """Million states per second of processor time, of all threads together."""
        return self.states / self.processor / 1e6


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", default="15-10")
    parser.add_argument("--max-states", type=int, default=10_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    task = surefoot.load_task(f"domain:one-way-line?size={options.size}")
    print(f"{task.name}, at most {options.max_states:,} states, {task.core.words * 8} bytes packed")
    limits = {"max_seconds": 600.0, "max_bytes": 4 * 10**9, "progress": None}
    limits["max_states"] = options.max_states
    base = best(lambda: _core.explore_starts(task.core, **limits), options.repeat)
    show("explore", base, base)
    for name in POLICIES:
        policy_rows(task, name, limits, options.repeat, base)


def policy_rows(task: Any, name: str, limits: Any, repeat: int, base: Measured) -> None:
    """Print the rows of one policy."""
    policy = surefoot.load_policy(name, task)
    short = name.removeprefix("builtin:one-way-line-")
    for workers in (1, 2):
        found = best(lambda workers=workers: verified(policy, workers, limits), repeat)  # type: ignore[misc]
        show(f"verify {short}, {workers} worker{'s' * (workers > 1)}", found, base)
    starts = task.draw_starts(100_000)
    found = best(lambda: _core.can_fail(task.core, policy.core, starts, **limits), repeat)
    show(f"evaluate {short}", found, base)


def verified(policy: Any, workers: int, limits: Any) -> Any:
    """Return the counts of one verification."""
    core = policy.task.core
    return _core.verify_explicit(core, policy.core, None, workers=workers, max_runs=1, **limits)


def best(call: Callable[[], Any], repeat: int) -> Measured:
    """Return the run that took the least processor time."""
    return min((measured(call) for _ in range(repeat)), key=lambda each: each.processor)


def measured(call: Callable[[], Any]) -> Measured:
    """Return what a call took; it returns states and bytes."""
    wall, processor = time.perf_counter(), time.process_time()
    found = call()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return Measured(found.states, found.bytes / found.states, wall, processor)


def show(what: str, found: Measured, base: Measured) -> None:
    """Print a row."""
    print(
        f"  {what:28} {found.states:>11,} states  {found.rate:6.2f} M/s"
        f"  {found.processor_rate:6.2f} M/s of processor time"
        f"  x{found.processor_rate / base.processor_rate:4.2f} of explore"
        f"  {found.bytes_per_state:5.1f} bytes per state",
        flush=True,
    )


if __name__ == "__main__":
    main()
