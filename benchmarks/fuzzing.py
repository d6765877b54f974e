"""What guiding the fuzzer is worth, and how fast it is.

    python -m benchmarks.fuzzing [--runs 1000] [--repeat 3] [--data ...] [TASK=POLICY ...]
    python -m benchmarks.fuzzing --shipped

For each task and policy, the five configurations of P-TEST: seconds, steps per second, failing
runs, how many of them differ, distinct faults on these, and the failing runs as a multiple of those
that uniform finds. POLICY is what the command line takes, or ``imitation`` (see imitation.py); by
default the lines and Flappy Bird with imitation policies. "Can fail" is the fraction of start
states from which runs of the policy can fail at all: no search finds more.

Then, on the published Blocksworld 6 with its 32-32 network if ``--data`` is there: policy steps per
second of one worker as the fuzzer takes them (decisions kept) and without keeping anything, and one
worker against two. The authors' program: 61-69 thousand steps per second there with one, and 25
when it is guided by the distance on Blocksworld 8.

With ``--shipped`` only a Markdown table of all policies that come with Surefoot: the failing runs
of each configuration, and in how many families with several outcomes guiding finds more of them.
"""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.imitation import TASKS, imitation

import surefoot
from surefoot import _core
from surefoot.evaluate import evaluate
from surefoot.faults import find_faults
from surefoot.fuzz import fuzz
from surefoot.options import MAX_INT
from surefoot.policies import Policy
from surefoot.policies.builtin import Card, cards
from surefoot.records import FuzzResult

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
    parser.add_argument("--shipped", action="store_true", help="a table of the built-in policies")
    options = parser.parse_args()
    if options.shipped:
        shipped_table(options)
        return
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
        result = fuzzed(task, policy, bias, lookahead, options)
        fails = result.counts.get("fail", 0)
        uniform = fails if bias == "uniform" else uniform
        most = max(most, fails)
        print(f"  {configuration(bias, lookahead):18} {shown(task, policy, result, uniform)}")
    if "icy" in task.name:
        print(f"  best: {times(most, uniform)} uniform (needed: {NEEDED_RATIO:g})")


def fuzzed(
    task: surefoot.Task,
    policy: Policy,
    bias: str,
    lookahead: int | None,
    options: argparse.Namespace,
) -> FuzzResult:
    """Return what one configuration finds."""
    return fuzz(
        task,
        policy,
        runs=options.runs,
        bias=bias,
        lookahead=steps_of(lookahead),
        max_steps=options.max_steps,
        max_seconds=options.max_seconds,
        seed=options.seed,
    )


def steps_of(lookahead: int | None) -> int:
    """Return a lookahead as fuzzing takes it."""
    return MAX_INT if lookahead is None else lookahead


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


# -- shipped policies ------------------------------------------------------------------------


@dataclass(frozen=True)
class Shipped:
    """What the configurations found for one policy: failing runs, and how many runs there were."""

    card: Card
    can_fail: str
    has_chance: bool
    """whether actions of the task have several outcomes, so that there is something to guide"""
    found: tuple[tuple[int, int], ...]

    @property
    def family(self) -> str:
        return self.card.task.removeprefix("domain:").partition("?")[0]

    @property
    def rates(self) -> list[float]:
        """The fraction of failing runs of each configuration."""
        return [fails / max(runs, 1) for fails, runs in self.found]

    @property
    def guided_wins(self) -> bool:
        """Whether a guided configuration finds more than uniform."""
        uniform, *guided = self.rates
        return max(guided) > uniform

    def cells(self, asked: int) -> list[str]:
        """Return the row as the table shows it; runs are told where time ran out before all."""
        counts = [f"{n:,}" if runs >= asked else f"{n:,} of {runs:,}" for n, runs in self.found]
        uniform, most = self.rates[0], max(self.rates)
        ratio = f"{most / uniform:.2f}" if uniform else "none before" if most else ""
        outcomes = "several" if self.has_chance else "one"
        return [f"`{self.card.name}`", outcomes, self.can_fail, *counts, ratio]


def shipped_table(options: argparse.Namespace) -> None:
    """Print a Markdown table of the policies that come with Surefoot."""
    titles = [configuration(bias, lookahead) for bias, lookahead in CONFIGURATIONS]
    header = ["policy", "outcomes", "can fail", *titles, "best / uniform"]
    for cells in (header, ["---"] * len(header)):
        print(f"| {' | '.join(cells)} |", flush=True)
    rows = []
    for card in cards():
        rows.append(shipped(card, options))
        print(f"| {' | '.join(rows[-1].cells(options.runs))} |", flush=True)
    print(f"\n{families_text(rows)}")


def shipped(card: Card, options: argparse.Namespace) -> Shipped:
    """Return what the configurations find for one policy."""
    task = surefoot.load_task(card.task)
    policy = surefoot.load_policy(card.policy, task)
    limits = {"max_seconds": options.max_seconds, "sample_runs": 20, "max_states": 5_000_000}
    can_fail = evaluate(task, policy, starts=options.runs, seed=options.seed, **limits)
    results = [fuzzed(task, policy, *how, options) for how in CONFIGURATIONS]
    return Shipped(
        card,
        f"{'' if can_fail.is_exact else 'at least '}{can_fail.unsafe_fraction:.1%}",
        has_chance(task),
        tuple((one.counts.get("fail", 0), sum(one.counts.values())) for one in results),
    )


def has_chance(task: surefoot.Task) -> bool:
    """Return whether an action may have several outcomes, by one edge or by several."""
    if any(len(edge.outcomes) > 1 for edge in task.description.edges):
        return True
    walks = surefoot.simulate(task, policy="random", runs=50, max_steps=50).runs
    steps = [pair for run in walks for pair in zip(run.states, run.actions, strict=False)]
    return any(len(task.outcomes(state, action)) > 1 for state, action in steps)


def families_text(rows: list[Shipped]) -> str:
    """Return in how many families guiding finds more failing runs."""
    families: dict[str, list[bool]] = {}
    for row in rows:
        if row.has_chance:
            families.setdefault(row.family, []).append(row.guided_wins)
    all_wins = [name for name, wins in families.items() if all(wins)]
    some_wins = [name for name, wins in families.items() if any(wins)]
    never = [name for name in families if name not in some_wins]
    return (
        f"guided finds more failing runs than uniform for every policy in {len(all_wins)} and for "
        f"some policy in {len(some_wins)} of {len(families)} families with several outcomes"
        + (f"; for none in {', '.join(never)}" if never else "")
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
        run = _core.simulate(
            task.core,
            start,
            policy=policy.core,
            max_steps=1000,
            seed=0,
            run=number,
            max_seconds=60.0,
            max_bytes=MEMORY,
        )
        steps += len(run.actions)
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
        how: dict[str, Any] = {"runs": runs, "bias": bias, "lookahead": steps_of(lookahead)}
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
