"""What every oracle costs on the families that tell them apart.

    python -m benchmarks.oracles [--quick] [--starts 100] [--max-seconds 10] [--only NAME ...]

For each instance all oracles answer the same start states, each oracle one after the other and
keeping what it learned. Printed are the verdicts, the states expanded, the seconds (best of several
fresh oracles where one takes less than a second; without checking certificates), expansions per
second, and the bytes per stored state beyond its packed bits. An oracle that runs out of its
seconds on a state is not asked for further ones. Then: how expanded states grow when a family
doubles, and how lazy_attractor compares with the fastest other oracle.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import surefoot
from surefoot import _core
from surefoot.oracles import ORACLES

LAYERED = [10, 12, 14, 16, 18, 20, 20_000]
STAIRS = [100, 200, 400, 800, 1600, 3200]
BIRDS = [(50, 8, 12), (200, 10, 50), (1000, 10, 250)]
MEMORY = 8_000_000_000
ENOUGH_SECONDS = 0.5  # of repeated measurements
MOST_REPEATS = 300


@dataclass
class Instance:
    """A task of a family, and how its start states are drawn."""

    family: str
    size: int
    parameters: dict[str, Any]

    def task(self) -> surefoot.Task:
        """Return the task."""
        return surefoot.domain(self.family, **self.parameters)

    def starts(self, task: surefoot.Task, count: int) -> list[bytes]:
        """Return packed start states, with repetition."""
        return [state.packed for state in task.sample_starts(count, seed=0)]


@dataclass
class Cost:
    """What one oracle needed for all start states."""

    oracle: str
    verdicts: dict[str, int] = field(default_factory=dict)
    expanded: int = 0
    seconds: float = 0.0
    beyond: float = 0.0
    states: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether every start state got a verdict."""
        return "unknown" not in self.verdicts


def instances(*, is_quick: bool) -> Iterator[Instance]:
    """Yield the instances of the table; with ``is_quick`` without the largest."""
    for depth in LAYERED:
        yield Instance("layered", depth, {"depth": depth})
    for steps in STAIRS:
        yield Instance("staircase", steps, {"steps": steps})
    for width, height, walls in BIRDS:
        parameters = {"width": width, "height": height, "walls": walls}
        yield Instance("flappy-bird", width, parameters)
    sizes = [("icy", 15, 10), ("icy", 30, 20), ("icy-park", 15, 10), ("icy-park", 40, 25)]
    for variant, packages, locations in sizes:
        if is_quick and packages > 15:
            continue
        yield line("one-way-line", variant, packages, locations)
    for packages, locations in [(15, 10), (40, 25)]:
        for variant in ("det", "icy"):
            if is_quick and packages > 15:
                continue
            yield line("two-way-line", variant, packages, locations)


def line(family: str, variant: str, packages: int, locations: int) -> Instance:
    """Return a line instance."""
    parameters = {"variant": variant, "packages": packages, "locations": locations}
    return Instance(family, packages, parameters)


def make(task: surefoot.Task, oracle: str) -> Any:
    """Return a fresh oracle."""
    if oracle == "propagate_unsafe_bdd":
        from surefoot.oracles.propagate_unsafe_bdd import PropagateUnsafeBdd

        return PropagateUnsafeBdd(task)
    return _core.Oracle(task.core, oracle, order="app", seed=0, policy=None, radius=None)


def ask(task: surefoot.Task, oracle: str, starts: list[bytes], max_seconds: float) -> Cost:
    """Return what a fresh oracle needs for the start states."""
    made, cost = make(task, oracle), Cost(oracle)
    for start in starts:
        answer = made.decide(
            start, max_seconds=max_seconds, max_bytes=MEMORY, max_states=2**32, progress=None
        )
        verdict = answer.verdict
        cost.verdicts[verdict] = cost.verdicts.get(verdict, 0) + 1
        cost.expanded += answer.expanded
        cost.seconds += answer.seconds
        cost.states = answer.states
        cost.beyond = answer.bytes / max(answer.states, 1) - task.core.bits / 8
        if verdict == "unknown":
            break
    return cost


def best(task: surefoot.Task, oracle: str, starts: list[bytes], max_seconds: float) -> Cost:
    """Return the fastest of several costs, if one costs little."""
    found, spent, repeats = ask(task, oracle, starts, max_seconds), 0.0, 1
    spent = found.seconds
    while spent < ENOUGH_SECONDS and repeats < MOST_REPEATS and found.is_complete:
        again = ask(task, oracle, starts, max_seconds)
        spent, repeats = spent + again.seconds, repeats + 1
        found = min(found, again, key=lambda cost: cost.seconds)
    return found


def shown(cost: Cost) -> str:
    """Return one row of the table."""
    verdicts = ", ".join(f"{count} {name}" for name, count in sorted(cost.verdicts.items()))
    rate = cost.expanded / max(cost.seconds, 1e-9)
    return (
        f"  {cost.oracle:22} {verdicts:24} {cost.expanded:>13,} expanded {cost.seconds:>11.5f} s"
        f" {rate / 1e6:>8.2f} M/s {cost.states:>11,} states {cost.beyond:>8.1f} bytes beyond"
    )


def measure(instance: Instance, options: argparse.Namespace) -> list[Cost]:
    """Print and return the costs of all oracles on an instance."""
    task = instance.task()
    starts = instance.starts(task, options.starts)
    print(task.name, flush=True)
    costs = []
    for oracle in options.only or ORACLES.built_in:
        try:
            cost = best(task, oracle, starts, options.max_seconds)
        except surefoot.SurefootError as error:
            print(f"  {oracle:22} {error.code}: {error.message}")
            continue
        costs.append(cost)
        print(shown(cost), flush=True)
    print_ratio(costs)
    check_agreement(costs)
    return costs


def ratio(costs: list[Cost]) -> tuple[float, str] | None:
    """Return lazy_attractor's seconds as a multiple of the fastest other's, and who that is."""
    ours = [cost for cost in costs if cost.oracle == "lazy_attractor" and cost.is_complete]
    others = [cost for cost in costs if cost.oracle != "lazy_attractor" and cost.is_complete]
    if not ours or not others:
        return None
    fastest = min(others, key=lambda cost: cost.seconds)
    return ours[0].seconds / max(fastest.seconds, 1e-9), fastest.oracle


def print_ratio(costs: list[Cost]) -> None:
    """Print how lazy_attractor compares."""
    found = ratio(costs)
    if found is not None:
        print(f"  lazy_attractor takes {found[0]:.2f} times the seconds of {found[1]}")


def check_agreement(costs: list[Cost]) -> None:
    """Print if two oracles that answered everything disagree."""
    complete = {tuple(sorted(c.verdicts.items())) for c in costs if c.is_complete}
    if len(complete) > 1:
        print("  DISAGREE")


def print_growth(all_costs: list[tuple[Instance, list[Cost]]]) -> None:
    """Print, per family, expanded states by size."""
    print("growth of expanded states")
    for family in ("layered", "staircase", "flappy-bird"):
        of_family = [(i, costs) for i, costs in all_costs if i.family == family]
        for oracle in ORACLES.built_in:
            row = [(i.size, c) for i, costs in of_family for c in costs if c.oracle == oracle]
            texts = [f"{size:,}: {'over ' * (not c.is_complete)}{c.expanded:,}" for size, c in row]
            if texts:
                print(f"  {family:12} {oracle:22} {', '.join(texts)}")


def print_summary(all_costs: list[tuple[Instance, list[Cost]]]) -> None:
    """Print the worst ratio and the rates on the lines."""
    ratios = [(found[0], i) for i, costs in all_costs if (found := ratio(costs)) is not None]
    if ratios:
        worst, where = max(ratios, key=lambda pair: pair[0])
        print(
            f"lazy_attractor, at worst: {worst:.2f} times the fastest other ({where.family} "
            f"{where.size})"
        )
    rates = [
        c.expanded / max(c.seconds, 1e-9)
        for i, costs in all_costs
        for c in costs
        if "line" in i.family and c.oracle == "lazy_attractor"
    ]
    if rates:
        print(f"lazy_attractor, slowest on the lines: {min(rates) / 1e6:.2f} M expansions/s")


def main() -> None:
    """Measure and print all tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="leave out the largest lines")
    parser.add_argument("--starts", type=int, default=100)
    parser.add_argument("--max-seconds", type=float, default=10.0, help="per state")
    parser.add_argument("--only", nargs="*", choices=ORACLES.built_in, help="only these oracles")
    options = parser.parse_args()
    all_costs = [(i, measure(i, options)) for i in instances(is_quick=options.quick)]
    print_growth(all_costs)
    print_summary(all_costs)


if __name__ == "__main__":
    main()
