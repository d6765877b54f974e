"""The rows of benchmarks/verification.py: which policies are verified on which tasks.

A policy is *shipped* with Surefoot; *careful*: trees that imitate a driver who never drives faster
than what it can stop from; *rough*: trees from few runs with a lot of noise; *trained* here, in a
minute or two; or *repaired*: a shipped or trained one, or trees that imitate a driver in a hurry,
after ``surefoot.debug``; *repaired noisy*: the same where every twentieth decision of the driver
was at random. Those that are made here are kept in a folder, so that they are made once only.

The one-way line on ice without parking is left out: nobody can stay safe there, as packages may be
left behind and a truck that cannot park has to drive on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.imitation import careful_imitation, imitation

import surefoot
from surefoot.policies import builtin

SIZES = ("15-10", "17-10", "20-10", "30-20", "40-25")
REPAIRED_SIZES = SIZES[:3]
VARIANTS = {"one-way-line": ("det", "icy-park"), "two-way-line": ("det", "icy", "icy-park")}
ROADS = ("det", "drop")
BELUGA_STEPS = {3: 30_000, 5: 60_000, 6: 160_000}  # of training, by number of jigs
REPAIR_SECONDS = 1_800.0
SHIPPED = ("beluga", "blocksworld", "n-puzzle", "racetrack", "racetrack-slip", "transport-drop")
FITTED_RUNS, NOISE = 600, 0.05
REPAIR = {"evaluate_starts": 1_000, "findings": 0}
ROUGH_RUNS, ROUGH_NOISE = 60, 0.3
Make = Callable[[surefoot.Task], surefoot.Policy]


@dataclass(frozen=True)
class Row:
    """A task and a kind of policy."""

    instance: str
    task: str
    kind: str
    builtin: str | None = None

    @property
    def name(self) -> str:
        """What ``--only`` is held against."""
        return f"{self.instance}/{self.kind}"

    @property
    def is_line(self) -> bool:
        """Whether it is about a one-way or a two-way line."""
        return self.instance.startswith(tuple(VARIANTS))

    def has_size(self, *sizes: str) -> bool:
        """Return whether the task is of one of these sizes."""
        return any(f"-{size}-" in self.instance for size in sizes)


# -- the rows ----------------------------------------------------------------------------------


def rows() -> list[Row]:
    """Return all rows, small tasks first, then by size."""
    return [*_small(), *_roads(), *_lines()]


def _small() -> Iterator[Row]:
    for family in SHIPPED:
        for model in ("trees", "network"):
            yield _shipped(f"{family}-{model}")
        if family != "transport-drop":
            card = builtin.card(f"{family}-trees")
            yield Row(_instance(card), card.task, "repaired trees", card.policy)
    for jigs in BELUGA_STEPS:
        for kind in ("trained", "repaired"):
            yield Row(f"beluga-{jigs}-2", f"domain:beluga?size={jigs}-2", kind)


def _shipped(name: str) -> Row:
    card = builtin.card(name)
    kind = f"shipped {name.rpartition('-')[2]}"
    return Row(_instance(card), card.task, kind, card.policy)


def _instance(card: builtin.Card) -> str:
    """Return the name of the task that a policy is shipped for."""
    sizes = card.task.partition("?")[2].replace("size=", "").replace("variant=", "")
    return f"{card.task.removeprefix('domain:').partition('?')[0]}-{sizes.replace('&', '-')}"


def _roads() -> Iterator[Row]:
    for variant in ROADS:
        for kind in ("careful", "repaired", "rough"):
            yield _sized("transport", SIZES[0], variant, kind)


def _lines() -> Iterator[Row]:
    for model in ("trees", "network"):
        card = builtin.card(f"one-way-line-{model}")
        place = ("one-way-line-15-10-det", card.task)
        yield Row(*place, f"shipped {model}", card.policy)
        yield Row(*place, f"repaired {model}", card.policy)
    for size in SIZES:
        for family, variants in VARIANTS.items():
            for variant in variants:
                for kind in _kinds(family, size, variant):
                    yield _sized(family, size, variant, kind)


def _kinds(family: str, size: str, variant: str) -> Iterator[str]:
    yield "careful"
    if size in REPAIRED_SIZES:
        yield "repaired"
        yield "repaired noisy"
    if size == SIZES[0] or (family, size, variant) == ("one-way-line", "30-20", "icy-park"):
        yield "rough"


def _sized(family: str, size: str, variant: str, kind: str) -> Row:
    packages, locations = size.split("-")
    task = f"domain:{family}?packages={packages}&locations={locations}&variant={variant}"
    return Row(f"{family}-{size}-{variant}", task, kind)


# -- their policies ----------------------------------------------------------------------------


def policy_of(row: Row, folder: Path) -> str:
    """Return the policy of a row, as ``load_policy`` takes it; it is made if it is not there."""
    if row.kind.startswith("shipped"):
        assert row.builtin is not None
        return row.builtin
    if row.kind.startswith("repaired"):
        return str(_repaired(row, folder))
    return str(_kept(row, folder, row.kind, MAKERS[row.kind]))


def _kept(row: Row, folder: Path, kind: str, make: Make) -> Path:
    """Return the file of a policy, which is made unless it is there."""
    file = folder / f"{row.instance}-{kind.replace(' ', '-')}.json"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        surefoot.write_policy(make(surefoot.load_task(row.task)), file)
    return file


def _careful(task: surefoot.Task) -> surefoot.Policy:
    return careful_imitation(task)


def _rough(task: surefoot.Task) -> surefoot.Policy:
    return imitation(task, runs=ROUGH_RUNS, noise=ROUGH_NOISE)


def _fitted(task: surefoot.Task) -> surefoot.Policy:
    return imitation(task, runs=FITTED_RUNS, noise=0.0)


def _noisy(task: surefoot.Task) -> surefoot.Policy:
    return imitation(task, runs=FITTED_RUNS, noise=NOISE)


def _trained(task: surefoot.Task) -> surefoot.Policy:
    """Return trees that imitate a network which was trained on Beluga."""
    jigs = sum(name.startswith("jig_") for name in task.names)
    how = {"potential": "goal", "discount": 0.98, "learning_rate": 0.001}
    network = surefoot.train(task, steps=BELUGA_STEPS[jigs], **how).policy
    return surefoot.distill(task, network).policy


MAKERS: dict[str, Make] = {"careful": _careful, "rough": _rough, "trained": _trained}


def _repaired(row: Row, folder: Path) -> Path:
    """Return the file of a policy that was debugged; how that ended is in a file beside it."""
    suffix = ".safetensors" if row.kind.endswith("network") else ".json"
    file = (folder / f"{row.instance}-{row.kind.replace(' ', '-')}").with_suffix(suffix)
    if file.exists():
        return file
    task = surefoot.load_task(row.task)
    policy = surefoot.load_policy(_before_repair(row, folder), task)
    found = surefoot.debug(task, policy, max_seconds=REPAIR_SECONDS, **REPAIR)
    folder.mkdir(parents=True, exist_ok=True)
    surefoot.write_policy(found.policy, file)
    ended = {"outcome": found.outcome, "reason": found.reason, "seconds": found.seconds}
    _outcome_file(file).write_text(json.dumps(ended))
    return file


def _before_repair(row: Row, folder: Path) -> str:
    if row.builtin is not None:
        return row.builtin
    if row.instance.startswith("beluga"):
        return str(_kept(row, folder, "trained", _trained))
    if row.kind == "repaired noisy":
        return str(_kept(row, folder, "noisy", _noisy))
    return str(_kept(row, folder, "fitted", _fitted))


def outcome_of(policy: str) -> str | None:
    """Return how debugging ended that made this policy; None if it was not made so."""
    file = _outcome_file(Path(policy))
    return str(json.loads(file.read_text())["outcome"]) if file.exists() else None


def _outcome_file(policy: Path) -> Path:
    return policy.with_name(f"{policy.name}.outcome")
