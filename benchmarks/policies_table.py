"""How good the policies are that come with Surefoot, as a table for the documentation.

    python -m benchmarks.policies_table [--starts 10000] [--json FILE] [NAME ...]

For every policy, or those named: the size of its task and of itself, how long it was trained (its
card says so), from which fraction of the start states it may fail, which fraction of its runs
reaches the goal, how long its runs are where there is no goal, how many of 1,000 greedy runs fail,
and how many distinct faults are on these. "at least" stands where not everything could be decided
within the limits, which keep a row under two minutes.

At the end: in how many families there is a policy that mostly reaches its goal but is not safe.
The policies were picked for just that among several seeds and checkpoints (scripts/policies.py,
with seed 0), so the count says what is shipped, not what training gives. The default seed is
another one: where start states are a sample, they are not those on which the policies were picked.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import surefoot
from surefoot.domains import DOMAINS
from surefoot.evaluate import evaluate
from surefoot.faults import find_faults
from surefoot.fuzz import fuzz
from surefoot.options import MAX_INT
from surefoot.policies import Policy
from surefoot.policies.builtin import PREFIX, Card, card, cards
from surefoot.policies.models import Network, Trees

GOAL_OVER, UNSAFE_FROM, UNSAFE_TO = 0.6, 0.001, 0.9
PICKED = (
    "The policies were picked for this among several seeds and checkpoints; the time is that of "
    "all tries together."
)
HEADER = (
    *("policy", "task", "variables", "actions", "edges", "made of", "trained"),
    *("goal", "unsafe", "steps", "failing of {runs:,}", "faults"),
)


@dataclass(frozen=True)
class Row:
    """What was measured about one policy. ``mean_steps`` is None where the task has a goal."""

    policy: str
    family: str
    task: str
    variables: int
    actions: int
    edges: int
    model: str
    training_seconds: float | None
    goal_fraction: float | None
    unsafe_fraction: float
    unsafe_is_exact: bool
    starts: int
    mean_steps: float | None
    runs: int
    failing: int
    faults: int
    faults_are_all: bool
    stopped: str | None
    """what ran out while start states were evaluated, if something did"""

    @property
    def is_unsafe_enough(self) -> bool:
        """Whether there is something to find, but not everywhere."""
        return UNSAFE_FROM <= self.unsafe_fraction <= UNSAFE_TO

    @property
    def is_wanted(self) -> bool:
        """Whether the policy mostly reaches its goal, but is not safe."""
        return (self.goal_fraction or 0.0) > GOAL_OVER and self.is_unsafe_enough

    def cells(self) -> list[str]:
        """Return the row as the table shows it."""
        trained = "" if self.training_seconds is None else f"{self.training_seconds:,.0f} s"
        unsafe = bounded(f"{self.unsafe_fraction:.2%}", is_exact=self.unsafe_is_exact)
        return [
            f"`{self.policy}`",
            f"`{self.task.removeprefix('domain:')}`",
            *(f"{count:,}" for count in (self.variables, self.actions, self.edges)),
            self.model,
            trained,
            "" if self.goal_fraction is None else f"{self.goal_fraction:.2%}",
            unsafe,
            "" if self.mean_steps is None else f"{self.mean_steps:,.1f}",
            f"{self.failing:,}",
            bounded(f"{self.faults:,}", is_exact=self.faults_are_all),
        ]


def bounded(text: str, *, is_exact: bool) -> str:
    """Return a number that may be a lower bound only."""
    return text if is_exact else f"at least {text}"


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--starts", type=int, default=10_000)
    parser.add_argument("--evaluate-seconds", type=float, default=60.0)
    parser.add_argument("--max-states", type=int, default=5_000_000)
    parser.add_argument("--sample-runs", type=int, default=20)
    parser.add_argument("--runs", type=int, default=1000, help="of the fuzzer")
    parser.add_argument("--fuzz-seconds", type=float, default=20.0)
    parser.add_argument("--fault-seconds", type=float, default=25.0)
    parser.add_argument("--max-steps", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    print_line([title.format(runs=options.runs) for title in HEADER])
    print_line(["---"] * len(HEADER))
    rows = []
    for one in chosen(options.names):
        rows.append(measured(one, options))
        print_line(rows[-1].cells())
    print(f"\n{families_text(rows)}\n\n{PICKED}")
    if options.json is not None:
        content = {"options": vars(options) | {"json": None}, "rows": [asdict(r) for r in rows]}
        options.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def chosen(names: list[str]) -> tuple[Card, ...]:
    """Return the cards of these policies, with or without ``builtin:``; of all if none is named."""
    return tuple(card(name.removeprefix(PREFIX)) for name in names) or cards()


def print_line(cells: Iterable[str]) -> None:
    """Print a line of a Markdown table."""
    print(f"| {' | '.join(cells)} |", flush=True)


def families_text(rows: list[Row]) -> str:
    """Return in how many families there is a policy as it is wanted."""
    every = [name for name in DOMAINS if any(row.family == name for row in rows)]
    wanted = {row.family for row in rows if row.is_wanted}
    goalless = {row.family for row in rows if row.goal_fraction is None and row.is_unsafe_enough}
    range_text = f"an unsafe fraction from {UNSAFE_FROM:g} to {UNSAFE_TO:g}"
    text = (
        f"{len(wanted)} of {len(every)} families have a policy with a goal fraction over "
        f"{GOAL_OVER:g} and {range_text}"
    )
    if more := [name for name in every if name in goalless - wanted]:
        text += f"; without a goal, but with {range_text}: {', '.join(more)}"
    if others := [name for name in every if name not in wanted | goalless]:
        text += f"; not {', '.join(others)}"
    return text


# -- measuring -------------------------------------------------------------------------------


def measured(found: Card, options: argparse.Namespace) -> Row:
    """Return what there is to say about one policy."""
    task = surefoot.load_task(found.task)
    policy = surefoot.load_policy(found.policy, task)
    has_goal = task.description.goal_condition is not None
    return Row(
        policy=found.name,
        family=found.task.removeprefix("domain:").partition("?")[0],
        task=found.task,
        variables=len(task.names),
        actions=len(task.actions) - len(task.silent),
        edges=len(task.description.edges),
        model=model_text(policy),
        training_seconds=found.training_seconds,
        mean_steps=None if has_goal else mean_steps(task, policy, options),
        **evaluated(task, policy, options, has_goal=has_goal),
        **fuzzed(task, policy, options),
    )


def model_text(policy: Policy) -> str:
    """Return kind and size of a policy: ``network 64-64``, or how many trees how deep."""
    model = policy.model
    if isinstance(model, Trees):
        return f"{len(model.roots):,} trees, {len(model.features):,} nodes"
    if isinstance(model, Network):
        return "network " + "-".join(str(len(layer.biases)) for layer in model.layers[:-1])
    return re.sub(r",.*", "", str(model))


def mean_steps(task: surefoot.Task, policy: Policy, options: argparse.Namespace) -> float:
    """Return the mean length of runs whose outcomes are drawn uniformly."""
    result = fuzz(
        task,
        policy,
        runs=options.runs,
        bias="uniform",
        lookahead=1,
        max_steps=options.max_steps,
        max_seconds=options.fuzz_seconds,
        seed=options.seed,
    )
    return result.steps / max(sum(result.counts.values()), 1)


def evaluated(
    task: surefoot.Task, policy: Policy, options: argparse.Namespace, *, has_goal: bool
) -> dict[str, Any]:
    """Return from where the policy may fail and how often it reaches the goal."""
    result = evaluate(
        task,
        policy,
        starts=options.starts,
        max_states=options.max_states,
        sample_runs=options.sample_runs,
        max_steps=options.max_steps,
        max_seconds=options.evaluate_seconds,
        seed=options.seed,
    )
    return {
        "unsafe_fraction": result.unsafe_fraction,
        "unsafe_is_exact": result.is_exact,
        "goal_fraction": result.goal_fraction if has_goal else None,
        "starts": result.starts,
        "stopped": result.stopped,
    }


def fuzzed(task: surefoot.Task, policy: Policy, options: argparse.Namespace) -> dict[str, Any]:
    """Return how many greedy runs fail, and how many distinct faults are on these."""
    result = fuzz(
        task,
        policy,
        runs=options.runs,
        bias="greedy",
        lookahead=MAX_INT,
        max_steps=options.max_steps,
        max_seconds=options.fuzz_seconds,
        seed=options.seed,
    )
    found = find_faults(task, policy, result.failing, max_seconds=options.fault_seconds)
    return {
        "runs": sum(result.counts.values()),
        "failing": result.counts.get("fail", 0),
        "faults": len(found.faults),
        "faults_are_all": not (found.unknown or found.stopped or result.stopped),
    }


if __name__ == "__main__":
    main()
