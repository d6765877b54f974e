"""Certificates from the reference's own answers, in the format that the checker reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .explicit import Choice, ExplicitTask
from .safety import Pair, Policy, deviations, left_after, unsafe_pairs, unsafe_ranks


def certificate_of(
    task: ExplicitTask,
    state: int,
    *,
    policy: Policy | None = None,
    radius: int | str | None = None,
) -> dict[str, object]:
    """Return a certificate that the state is safe or that it is unsafe, as the reference finds.

    Without a radius the claim is about any policy; a radius, or "finite", needs a `policy`. Lists
    what the claim depends on and nothing else. Raises ValueError for "finite" if the state is safe
    with a finite number of differences.
    """
    if (radius is None) != (policy is None):
        raise ValueError("a radius needs a policy, and a policy a radius")
    game = _Game(task, policy, radius, _ranks(task, policy, radius))
    start = (state, radius if isinstance(radius, int) else 0)
    is_safe = start not in game.ranks
    if is_safe and radius == "finite":
        raise ValueError(f"state {state} is safe with a finite number of differences")
    entries, states = _collect(game, start, is_safe=is_safe)
    number_of = {each: number for number, each in enumerate(states)}
    certificate: dict[str, object] = {
        "surefoot": "reference",
        "certificate": 1,
        "claim": "safe" if is_safe else "unsafe",
        "radius": radius,
        "task": {"name": "explicit", "sha256": "", "source": None, "options": {}},
        "policy": None if radius is None else "policy",
        "variables": [variable.name for variable in task.variables],
        "actions": list(task.names),
        "state": 0,
        "states": [list(task.values[each]) for each in states],
        "choices" if is_safe else "ranks": [
            [number_of[each], *([left] if isinstance(radius, int) else []), value]
            for (each, left), value in entries.items()
        ],
    }
    if policy is not None:
        has_decision = [any(key is not None for key in task.choices(each)) for each in states]
        pairs = zip(states, has_decision, strict=True)
        certificate["decisions"] = [policy[each] if has else None for each, has in pairs]
    return certificate


@dataclass(frozen=True)
class _Game:
    """What a certificate is about; ``ranks`` has the unsafe pairs (state, differences left).

    Where differences are not counted, each state has one pair, with 0 left.
    """

    task: ExplicitTask
    policy: Policy | None
    radius: int | str | None
    ranks: Mapping[Pair, int]

    def steps(self, pair: Pair) -> Mapping[Choice, Sequence[Pair]]:
        """Return the pairs that each choice may lead to; those too many left out."""
        state, left = pair
        steps = {}
        for action, outcomes in self.task.choices(state).items():
            after = left
            if self.policy is not None and isinstance(self.radius, int):
                after = left_after(action, decision=self.policy[state], left=left)
            if after >= 0:
                steps[action] = [(outcome, after) for outcome in outcomes]
        return steps


def _ranks(
    task: ExplicitTask, policy: Policy | None, radius: int | str | None
) -> Mapping[Pair, int]:
    """Return the ranks of the unsafe pairs.

    For "finite": those of a radius that leaves no fewer states unsafe than the one below.
    """
    if policy is None:
        return {(state, 0): rank for state, rank in unsafe_ranks(task).items()}
    if isinstance(radius, int):
        return unsafe_pairs(task, policy, radius)
    enough = 1 + max((each for each in deviations(task, policy) if each is not None), default=0)
    pairs = unsafe_pairs(task, policy, enough)
    return {(state, 0): rank for (state, left), rank in pairs.items() if left == enough}


def _collect(game: _Game, start: Pair, *, is_safe: bool) -> tuple[dict[Pair, object], list[int]]:
    """Return the entries that the claim depends on, and the states they mention."""
    entries: dict[Pair, object] = {}
    waiting, seen = [start], {start}
    for pair in waiting:  # which grows
        steps = game.steps(pair)
        if is_safe:
            good = [each for each, ends in steps.items() if not game.ranks.keys() & set(ends)]
            if good:
                entries[pair] = good[0]
            ends = steps[good[0]] if good else []
        else:
            entries[pair] = game.ranks[pair]
            bad = [[end for end in ends if end in game.ranks] for ends in steps.values()]
            ends = [min(each, key=lambda end: game.ranks[end]) for each in bad]
        waiting += [end for end in dict.fromkeys(ends) if end not in seen]
        seen.update(ends)
    return entries, list(dict.fromkeys(state for state, _ in waiting))
