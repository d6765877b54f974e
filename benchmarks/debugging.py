"""The papers' Table 1 on our families: ``python -m benchmarks.debugging [NAME ...]``.

Every shipped policy, Beluga with 5 and 6 jigs (trained here in a minute) and trees that imitate a
driver on larger lines (both kept in build/) are debugged in four ways: as Surefoot does it, as
P-TREE does (any other action will do, nothing is kept), with penalty trees, and as Surefoot does it
but verified by enumeration only. Printed are unsafe and goal fraction before and after, faults,
trees added, rounds, seconds per stage, and the outcome with its reason. ``--markdown`` prints the
table of docs/debugging.md, ``--json FILE`` keeps everything.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.imitation import imitation

import surefoot
from surefoot.options import DebugOptions
from surefoot.policies import builtin

WAYS: dict[str, dict[str, Any]] = {
    "ours": {},
    "paper": {"any_other": True, "keep": 0},
    "penalty": {"method": "penalty", "keep": 0},
    "explicit": {"verify": "explicit"},
}
BELUGA = {f"beluga-{jigs}-{kind}": (jigs, kind) for jigs in (5, 6) for kind in ("network", "trees")}
BELUGA_STEPS = {5: 60_000, 6: 160_000}
LINES = {
    f"{family}-{packages}-10-{variant}-fitted": (
        f"domain:{family}?packages={packages}&locations=10&variant={variant}"
    )
    for family, packages, variant in (
        ("one-way-line", 20, "det"),
        ("one-way-line", 20, "icy-park"),
        ("two-way-line", 20, "det"),
        ("transport", 15, "det"),
        ("transport", 15, "drop"),
    )
}
FOLDER = Path("build") / "debugging"
STAGES = ("fuzz", "faults", "repair", "verify")
MAX_STATES = 20_000  # of tasks that are looked at for a safe way to the goal


@dataclass(frozen=True)
class Instance:
    """A task and a policy of it."""

    name: str
    task: str
    policy: str


def instances(names: list[str]) -> list[Instance]:
    """Return the instances of these names, or all, trees first."""
    known = [Instance(card.name, card.task, card.policy) for card in builtin.cards()]
    known.sort(key=lambda one: (one.name.endswith("-network"), one.name))
    wanted = [one for one in known if not names or one.name in names]
    wanted += [beluga(name) for name in BELUGA if not names or name in names]
    wanted += [line(name) for name in LINES if not names or name in names]
    return wanted


def beluga(name: str) -> Instance:
    """Return Beluga of another size than the shipped one, with a policy that is trained once."""
    jigs, kind = BELUGA[name]
    task = f"domain:beluga?size={jigs}-2"
    network, trees = FOLDER / f"beluga-{jigs}.safetensors", FOLDER / f"beluga-{jigs}.json"
    if not trees.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        loaded = surefoot.load_task(task)
        how = {"potential": "goal", "discount": 0.98, "learning_rate": 0.001}
        trained = surefoot.train(loaded, steps=BELUGA_STEPS[jigs], **how)
        surefoot.write_policy(trained.policy, network)
        surefoot.write_policy(surefoot.distill(loaded, trained.policy).policy, trees)
    return Instance(name, task, str(network if kind == "network" else trees))


def line(name: str) -> Instance:
    """Return a line with trees that imitate a driver, which are fitted once."""
    task, file = LINES[name], FOLDER / f"{name}.json"
    if not file.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        surefoot.write_policy(imitation(surefoot.load_task(task), noise=0.0), file)
    return Instance(name, task, str(file))


# -- one row -----------------------------------------------------------------------------------


def row_of(instance: Instance, way: str, seconds: float) -> dict[str, Any]:
    """Return what debugging an instance in one way gives."""
    task = surefoot.load_task(instance.task)
    policy = surefoot.load_policy(instance.policy, task)
    options = DebugOptions(max_seconds=seconds, findings=0, **WAYS[way])
    begin = time.perf_counter()
    result = surefoot.debug(task, policy, options=options)
    spent: Counter[str] = Counter()
    for one in result.iterations:
        spent.update(one.seconds)
    return {
        "instance": instance.name,
        "way": way,
        "unsafe_before": result.before.unsafe_fraction,
        "unsafe_after": result.after.unsafe_fraction,
        "goal_before": result.before.goal_fraction,
        "goal_after": result.after.goal_fraction,
        "faults": len(result.faults),
        "trees_added": sum(one.trees_added for one in result.iterations),
        "rounds": len(result.iterations),
        "seconds": {stage: spent.get(stage, 0.0) for stage in STAGES},
        "all_seconds": time.perf_counter() - begin,
        "outcome": result.outcome,
        "reason": result.reason,
        "unsafe_starts": result.iterations[-1].unavoidable if result.iterations else 0,
        "note": note_of(task, result),
    }


def note_of(task: surefoot.Task, result: surefoot.DebugResult) -> str:
    """Return what else is to be said: why the goal fraction fell, if it did."""
    if result.after.goal_fraction >= result.before.goal_fraction - 0.01:
        return ""
    found = safe_ways_to_goal(task)
    if found is None:
        return "the goal fraction fell"
    reached, starts = found
    if not reached:
        return "the goal fraction fell: no safe policy reaches the goal at all"
    return f"the goal fraction fell: a safe policy can reach the goal from {reached} of {starts}"


def safe_ways_to_goal(task: surefoot.Task) -> tuple[int, int] | None:
    """Return from how many start states actions that stay safe can lead to the goal, and how many
    there are; None if the task is too large. Plain and slow, by enumeration.
    """
    try:
        starts = task.list_starts(max_states=MAX_STATES, max_seconds=10.0)
    except surefoot.SurefootError:
        return None
    table = _table(task, starts)
    if table is None:
        return None
    unsafe = {packed for packed, (kind, _) in table.items() if kind == "fail"}
    _spread(table, unsafe, lambda actions: all(_hits(outs, unsafe) for outs in actions))
    good = {packed for packed, (kind, _) in table.items() if kind == "goal"}
    _spread(
        table,
        good,
        lambda actions: any(not _hits(outs, unsafe) and _hits(outs, good) for outs in actions),
    )
    return sum(start.packed in good - unsafe for start in starts), len(starts)


Table = dict[bytes, tuple[str, list[list[bytes]]]]


def _table(task: surefoot.Task, starts: list[surefoot.State]) -> Table | None:
    found: Table = {}
    todo = list(starts)
    seen = {state.packed for state in starts}
    while todo:
        state = todo.pop()
        if len(seen) > MAX_STATES:
            return None
        kind = "fail" if task.is_fail(state) else "goal" if task.is_goal(state) else "open"
        actions: list[list[bytes]] = []
        for action in task.applicable(state) if kind == "open" else ():
            outcomes = task.outcomes(state, action)
            actions.append([outcome.packed for outcome in outcomes])
            new = [outcome for outcome in outcomes if outcome.packed not in seen]
            seen.update(outcome.packed for outcome in new)
            todo += new
        found[state.packed] = (kind, actions)
    return found


def _hits(outcomes: list[bytes], some: set[bytes]) -> bool:
    return any(outcome in some for outcome in outcomes)


def _spread(table: Table, some: set[bytes], holds: Any) -> None:
    """Add states to ``some`` for which ``holds`` is true of the outcomes of their actions."""
    while True:
        new = {
            packed
            for packed, (kind, actions) in table.items()
            if kind == "open" and actions and packed not in some and holds(actions)
        }
        if not new:
            return
        some |= new


# -- tables ------------------------------------------------------------------------------------

HEAD = "instance  way  unsafe  goal  faults  trees  rounds  fuzz  faults  repair  verify  outcome"


def cells(row: dict[str, Any]) -> list[str]:
    """Return a row as text."""
    return [
        row["instance"],
        row["way"],
        f"{row['unsafe_before']:.4f} -> {row['unsafe_after']:.4f}",
        f"{row['goal_before']:.3f} -> {row['goal_after']:.3f}",
        f"{row['faults']:,}",
        str(row["trees_added"]),
        str(row["rounds"]),
        *(f"{row['seconds'][stage]:.1f}" for stage in STAGES),
        row["outcome"],
        "; ".join(text for text in (row["reason"], row["note"]) if text),
    ]


def show(row: dict[str, Any], *, markdown: bool) -> None:
    """Print a row."""
    text = cells(row)
    print("| " + " | ".join(text) + " |" if markdown else "  ".join(text), flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="instances; all if none are given")
    parser.add_argument("--seconds", type=float, default=300.0, help="for each way of each one")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    if args.markdown:
        columns = [*HEAD.split("  "), "why"]
        print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    else:
        print(HEAD)
    rows = []
    for instance in instances(args.names):
        for way in args.ways.split(","):
            rows.append(row_of(instance, way, args.seconds))
            show(rows[-1], markdown=args.markdown)
            if args.json is not None:
                args.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
