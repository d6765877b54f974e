"""Repair against the integer program solved outright: ``python -m benchmarks.repair``.

The program of dependencies.md: 20 trees of 32 leaves with values for 6 actions, 200 faults whose
action is the best-scored one, any other action will do. Ours is a linear program for the runner-up
action in each state, improved by flips; the peer is HiGHS on the whole integer program, with the
same tight factors and our first solution as its start, for ten minutes (``--seconds``).
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np

from surefoot.options import RepairOptions
from surefoot.policies.models import Trees
from surefoot.policies.trees.forest import Tree, assemble
from surefoot.repair.choosing import Chooser
from surefoot.repair.decisions import Demand
from surefoot.repair.integer import improved_by_integers
from surefoot.repair.linear import view_of

NUM_INPUTS = 8
DEPTH = 5
FLIPS = 400


def random_tree(rng: np.random.Generator, num_outputs: int) -> Tree:
    """Return a complete tree over inputs from 0 to 100, with values for each output."""
    inner = 2**DEPTH - 1
    count = 2 * inner + 1
    numbers = np.arange(count)
    leaf = numbers >= inner
    return Tree(
        leaf=leaf,
        features=rng.integers(0, NUM_INPUTS, count),
        thresholds=rng.integers(1, 100, count) + 0.5,
        left=np.where(leaf, 0, 2 * numbers + 1),
        right=np.where(leaf, 0, 2 * numbers + 2),
        places=numbers * num_outputs,
        values=rng.normal(size=count * num_outputs),
        output=-1,
    )


def random_model(seed: int, *, trees: int, num_outputs: int) -> Trees:
    """Return a random ensemble."""
    rng = np.random.default_rng(seed)
    return assemble(
        [random_tree(rng, num_outputs) for _ in range(trees)],
        num_inputs=NUM_INPUTS,
        base=np.zeros(num_outputs),
        input_precision="float32",
        sum_precision="float32",
    )


def chooser_of(model: Trees, seed: int, *, faults: int) -> Chooser:
    """Return the program of random faults, the policy's own decisions."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 101, (faults, NUM_INPUTS)).astype(float)
    view = view_of(model)
    scores = view.scores(rows)
    demands = []
    for row, decided in enumerate(scores.argmax(axis=1).tolist()):
        good = tuple(output for output in range(model.num_outputs) if output != decided)
        demands.append(Demand(None, row, good, (decided,)))
    margins = [RepairOptions.margin] * faults
    return Chooser(view, view.look_at(rows), scores, demands, margins, seconds_left=lambda: 1e6)


def measure(seed: int, *, seconds: float, args: argparse.Namespace) -> None:
    """Print one row of the table."""
    model = random_model(seed, trees=args.trees, num_outputs=args.actions)
    begin = time.perf_counter()
    chooser = chooser_of(model, seed, faults=args.faults)
    first = chooser.solve()
    assert first is not None
    first_seconds = time.perf_counter() - begin
    best = chooser.improve(first, FLIPS)
    ours_seconds = time.perf_counter() - begin
    peer = chooser_of(model, seed, faults=args.faults)
    start = peer.solve()
    assert start is not None
    how = replace(RepairOptions(), solver_seconds=seconds)
    begin = time.perf_counter()
    theirs, bound = improved_by_integers(peer, start, how, 1e6)
    peer_seconds = time.perf_counter() - begin
    above = best.objective / theirs.objective - 1
    print(
        f"{seed:>4} {first.objective:>9.3f} {first_seconds:>7.2f} {best.objective:>9.3f} "
        f"{ours_seconds:>7.2f} {theirs.objective:>9.3f} {peer_seconds:>7.0f} {bound or 0:>8.3f} "
        f"{above:>+8.2%} {peer_seconds / ours_seconds:>7.0f}",
        flush=True,
    )


def main() -> None:
    """Print a table of instances."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="for HiGHS, per instance")
    parser.add_argument("--instances", type=int, default=1)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--actions", type=int, default=6)
    args = parser.parse_args()
    print("seed     first       s      ours       s     HiGHS       s    bound    ours   times")
    print("      runner-up           +flips          best     given          above   faster")
    for seed in range(args.instances):
        measure(seed, seconds=args.seconds, args=args)


if __name__ == "__main__":
    main()
