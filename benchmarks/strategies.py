"""What mixing strategies of fuzzing is worth: distinct faults against those of each single bias.

    python -m benchmarks.strategies [--runs 1000] [--seed 0] [--max-seconds 60] [POLICY ...]

For each policy that comes with Surefoot: the distinct faults on the failing runs of each bias with
its default lookahead, in the same number of runs, and the failing runs that differ. One oracle
answers for all of them, and gives up by states and not by seconds, so that all are asked alike.
Then in how many families the mix finds at least as many faults as the best single bias, summed over
the policies of the family, and whether it ever finds none where another finds some.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import surefoot
from surefoot.faults import FaultFinder
from surefoot.fuzz import fuzz
from surefoot.policies import Policy
from surefoot.policies.builtin import Card, cards
from surefoot.records import Run
from surefoot.records.runs import shortest_first

SINGLE = ("uniform", "greedy", "weighted")
MIXED = "mixed"
MAX_STATES = 3_000  # for one question about a state


@dataclass(frozen=True)
class Row:
    """What was found on one policy, by bias."""

    card: Card
    faults: dict[str, int]
    failing: dict[str, int]
    is_cut: bool

    @property
    def family(self) -> str:
        """The family of the task."""
        return self.card.task.removeprefix("domain:").partition("?")[0]

    def cells(self) -> list[str]:
        """Return the row as the table shows it."""
        found = [f"{self.faults[each]:,} ({self.failing[each]:,})" for each in (*SINGLE, MIXED)]
        return [f"`{self.card.name}`{' (cut)' if self.is_cut else ''}", *found]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("policies", nargs="*", metavar="POLICY")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-seconds", type=float, default=60.0, help="for each bias")
    options = parser.parse_args()
    header = ["policy", *SINGLE, MIXED]
    for cells in (header, ["---"] * len(header)):
        print(f"| {' | '.join(cells)} |", flush=True)
    rows = []
    for card in cards():
        if options.policies and card.name not in options.policies:
            continue
        rows.append(row_of(card, options))
        print(f"| {' | '.join(rows[-1].cells())} |", flush=True)
    print(f"\n{families_text(rows)}")


def row_of(card: Card, options: argparse.Namespace) -> Row:
    """Return what each bias finds for one policy."""
    task = surefoot.load_task(card.task)
    policy = surefoot.load_policy(card.policy, task)
    results = {
        bias: fuzz(
            *(task, policy),
            runs=options.runs,
            bias=bias,
            seed=options.seed,
            max_seconds=options.max_seconds,
        )
        for bias in (*SINGLE, MIXED)
    }
    finder = Faults(policy)
    faults = {bias: finder.count(result.failing) for bias, result in results.items()}
    failing = {bias: result.distinct for bias, result in results.items()}
    return Row(card, faults, failing, any(result.stopped for result in results.values()))


class Faults:
    """The faults on runs; a run that several biases made is looked at once."""

    def __init__(self, policy: Policy) -> None:
        self._finder = FaultFinder(
            policy.task, policy, max_states=MAX_STATES, state_seconds=60.0, max_seconds=1e6
        )
        self._known: dict[tuple[bytes, ...], frozenset[tuple[bytes, str]]] = {}

    def count(self, runs: tuple[Run, ...]) -> int:
        """Return how many distinct faults are on these runs."""
        return len(frozenset().union(*map(self._of, shortest_first(runs))))

    def _of(self, run: Run) -> frozenset[tuple[bytes, str]]:
        path = tuple(state.packed for state in run.states)
        if path not in self._known:
            faults = self._finder.add(run)
            self._known[path] = frozenset((each.state.packed, each.action) for each in faults)
        return self._known[path]


def families_text(rows: list[Row]) -> str:
    """Return in how many families the mix does as well as the best single bias."""
    families: dict[str, list[Row]] = {}
    for row in rows:
        families.setdefault(row.family, []).append(row)
    behind = [name for name, members in families.items() if not is_as_good(members)]
    missed = [row.card.name for row in rows if not row.faults[MIXED] and any(row.faults.values())]
    text = (
        f"the mix finds at least as many faults as the best single bias in "
        f"{len(families) - len(behind)} of {len(families)} families"
    )
    text += f"; not in {', '.join(behind)}" if behind else ""
    return f"{text}; it misses all faults of {', '.join(missed) or 'no policy'}"


def is_as_good(rows: list[Row]) -> bool:
    """Return whether the mix finds as many faults in a family as each single bias."""
    totals = {bias: sum(row.faults[bias] for row in rows) for bias in (*SINGLE, MIXED)}
    return all(totals[MIXED] >= totals[bias] for bias in SINGLE)


if __name__ == "__main__":
    main()
