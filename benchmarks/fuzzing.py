"""What guiding the fuzzer is worth, and how fast it is.

    python -m benchmarks.fuzzing [--runs 1000] [--repeat 3] [--data ...] [TASK=POLICY ...]

For each task and policy, the five configurations of P-TEST: seconds, steps per second, failing
runs, how many of them differ, distinct faults on these, and the failing runs as a multiple of those
that uniform finds. POLICY is what the command line takes, or ``imitation`` (see imitation.py); by
default the lines and Flappy Bird with imitation policies. "Can fail" is the fraction of start
states from which runs of the policy can fail at all: no search finds more.

Then, on the published Blocksworld 6 with its 32-32 network if ``--data`` is there: policy steps per
second of one worker as the fuzzer takes them (decisions kept) and without keeping anything, and one
worker against two. The authors' program: 61-69 thousand steps per second there with one, and 25
when it is guided by the distance on Blocksworld 8.
"""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.imitation import TASKS, imitation

import surefoot
from surefoot import _core
from surefoot.evaluate import evaluate
from surefoot.faults import find_faults
from surefoot.fuzz import fuzz
from surefoot.policies import Policy
from surefoot.results import FuzzResult

DATA = Path(__file__).parent.parent.parent / "shared/data/jani"
BLOCKSWORLD = "blocksworld_6_5_cost05"
CONFIGURATIONS = [
    ("uniform", 1),
    ("greedy", 1),
    ("greedy", None),
    ("weighted", 1),
    ("weighted", None),
]
"""bias and lookahead (None: unlimited), those of P-TEST"""
FAULT_SECONDS = 20.0
MEMORY = 4_000_000_000
NEEDED_STEPS, NEEDED_RATIO = 1_000_000, 2.0


def main() -> None:
    """Measure and print all tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pairs", nargs="*", metavar="TASK=POLICY")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--max-steps", type=int, default=1000)
    parser.add_argument("--max-seconds", type=float, default=60.0, help="for each configuration")
    parser.add_argument("--repeat", type=int, default=3, help="of measurements of speed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    for task, policy in pairs(options.pairs or [f"{task}=imitation" for task in TASKS]):
        bias_table(task, policy, options)
    if (options.data / BLOCKSWORLD).is_dir():
        speed_tables(*blocksworld(options.data / BLOCKSWORLD), options)


def pairs(texts: list[str]) -> Iterator[tuple[surefoot.Task, Policy]]:
    """Yield the tasks and policies of the command line.

    They are divided by the last ``=`` that does not belong to the policy ``random?seed=3``.
    """
    for text in texts:
        found = re.fullmatch(r"(.+?)=([^=]+|random\?seed=\d+)", text)
        if found is None:
            raise SystemExit(f"{text} is not TASK=POLICY")
        task = surefoot.load_task(found[1])
        if found[2] == "imitation":
            yield task, imitation(task)
        else:
            yield task, surefoot.load_policy(found[2], task)


# -- bias ------------------------------------------------------------------------------------


def bias_table(task: surefoot.Task, policy: Policy, options: argparse.Namespace) -> None:
    """Print what each configuration finds."""
    can_fail = evaluate(task, policy, starts=options.runs, seed=options.seed)
    bound = "" if can_fail.is_exact else "at least "
    print(f"{task.name}, {policy.model or policy.name}")
    print(f"  can fail from {bound}{can_fail.unsafe_fraction:.1%} of the start states")
    uniform, most = 0, 0
    for bias, lookahead in CONFIGURATIONS:
        result = fuzz(
            task,
            policy,
            runs=options.runs,
            bias=bias,
            lookahead=lookahead,
            max_steps=options.max_steps,
            max_seconds=options.max_seconds,
            seed=options.seed,
        )
        fails = result.counts.get("fail", 0)
        uniform = fails if bias == "uniform" else uniform
        most = max(most, fails)
        print(f"  {configuration(bias, lookahead):18} {shown(task, policy, result, uniform)}")
    if "icy" in task.name:
        print(f"  best: {times(most, uniform)} uniform (needed: {NEEDED_RATIO:g})")


def configuration(bias: str, lookahead: int | None) -> str:
    """Return the name of a configuration."""
    return f"{bias}, {'unlimited' if lookahead is None else f'depth {lookahead}'}"


def times(count: int, base: int) -> str:
    """Return a count as a multiple of another one."""
    return f"{count / base:.2f} times" if base else f"{count:,} against none of"


def shown(task: surefoot.Task, policy: Policy, result: FuzzResult, uniform: int) -> str:
    """Return one row of the table."""
    fails = result.counts.get("fail", 0)
    found = find_faults(task, policy, result.failing, max_seconds=FAULT_SECONDS)
    others = {name: n for name, n in sorted(result.counts.items()) if name != "fail"}
    stopped = f"; ran out of {result.stopped}" if result.stopped else ""
    partly = "at least " if found.unknown or found.stopped else ""
    return (
        f"{result.seconds:7.3f} s {result.steps / result.seconds / 1e6:6.2f} M steps/s "
        f"{fails:>6,} failing ({times(fails, uniform)} uniform) {len(result.failing):>6,} distinct "
        f"{partly}{len(found.faults):,} faults, {len(found.unavoidable):,} from unsafe states; "
        + ", ".join(f"{n:,} {name}" for name, n in others.items())
        + stopped
    )


# -- speed -----------------------------------------------------------------------------------


def blocksworld(folder: Path) -> tuple[surefoot.Task, Policy]:
    """Return the published Blocksworld with six blocks, and its network."""
    task = surefoot.load_task(
        folder / "model.jani",
        start=folder / "start.jani",
        goal=folder / "objective.jani",
        fail=folder / "reach.jani",
    )
    return task, surefoot.load_policy(folder / "blocksworld_6_5_32_32.jani2nnet", task)


def speed_tables(task: surefoot.Task, policy: Policy, options: argparse.Namespace) -> None:
    """Print steps per second, and what a second worker is worth."""
    print(f"speed on {BLOCKSWORLD}, {policy.model}")
    print(f"  load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    plain = max(simulated_rate(task, policy, runs=20_000) for _ in range(options.repeat))
    print(f"  nothing kept (simulate), 20,000 runs: {rate_text(plain)}")
    for runs in (1000, 10_000, 100_000):
        result = best(task, policy, options, runs=runs, bias="uniform", lookahead=1, workers=1)
        kept = result.steps / max(result.policy_calls, 1)
        rate = rate_text(result.steps / result.seconds)
        print(f"  fuzz, uniform, {runs:,} runs: {rate}, {kept:.1f} steps per decision")
    worker_table(task, policy, options)


def rate_text(steps_per_second: float) -> str:
    """Return a rate beside the one that is needed."""
    return f"{steps_per_second / 1e6:.2f} M steps/s (needed: {NEEDED_STEPS / 1e6:g})"


def simulated_rate(task: surefoot.Task, policy: Policy, *, runs: int) -> float:
    """Return the steps per second of runs in which every decision is made anew."""
    starts = [state.packed for state in task.sample_starts(runs, seed=0)]
    begin, steps = time.perf_counter(), 0
    for number, start in enumerate(starts):
        _, actions, *_ = _core.simulate(
            task.core,
            start,
            policy=policy.core,
            max_steps=1000,
            seed=0,
            run=number,
            max_seconds=60.0,
            max_bytes=MEMORY,
        )
        steps += len(actions)
    return steps / (time.perf_counter() - begin)


def best(
    task: surefoot.Task, policy: Policy, options: argparse.Namespace, **how: Any
) -> FuzzResult:
    """Return the fastest of several equal results."""
    results = [fuzz(task, policy, seed=options.seed, **how) for _ in range(options.repeat)]
    return min(results, key=lambda result: result.seconds)


def worker_table(task: surefoot.Task, policy: Policy, options: argparse.Namespace) -> None:
    """Print one worker against two, and if they found the same.

    Each worker keeps decisions of its own, so two make some twice. That costs processor time, which
    tells it apart from what others do on the machine.
    """
    for bias, lookahead, runs in (
        ("uniform", 1, 100_000),
        ("greedy", 1, 100_000),
        ("greedy", None, 300),
    ):
        how: dict[str, Any] = {"runs": runs, "bias": bias, "lookahead": lookahead}
        processor = time.process_time()
        one = best(task, policy, options, workers=1, **how)
        between = time.process_time()
        two = best(task, policy, options, workers=2, **how)
        more = (time.process_time() - between) / (between - processor)
        print(
            f"  {configuration(bias, lookahead)}, {runs:,} runs: {one.seconds:.3f} s and "
            f"{one.steps / one.seconds:,.0f} steps/s with one worker, {two.seconds:.3f} s with two:"
            f" {one.seconds / two.seconds:.2f} times as fast for {more:.2f} times the processor "
            f"time, the runs are {'the same' if plain(one) == plain(two) else 'NOT THE SAME'}",
            flush=True,
        )


def plain(result: FuzzResult) -> list[Any]:
    """Return what must not depend on the number of workers."""
    return [(run.result, run.steps, run.start.packed) for run in result.runs]


if __name__ == "__main__":
    main()
