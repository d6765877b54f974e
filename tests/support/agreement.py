"""Hold the core against the checker, state by state."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from surefoot import InputError, State, SurefootError, Task, checker, load_task
from surefoot.reference import ExplicitTask, explicit_of
from tests.support.random_models import is_calm, random_model

Found = tuple[Task, ExplicitTask, list[Any]]


def answer(call: Callable[[], Any]) -> Any:
    """Return what the call returns, or ``"error"`` if the model has an error there."""
    try:
        return call()
    except checker.ModelError:
        return "error"
    except InputError as error:
        assert error.code.startswith("model-"), error
        return "error"


def frozen(states: Iterable[Any]) -> frozenset[Any]:
    """Return states of either side as a comparable set."""
    return frozenset(tuple(sorted(dict(state).items())) for state in states)


def compare_state(task: Task, model: Any, state: State) -> list[Any]:
    """Assert that core and checker agree on everything about one state; return its outcomes."""
    plain = state.to_dict()
    applicable = answer(lambda: task.applicable(state))
    assert applicable == answer(lambda: model.applicable(plain)), plain
    found = []
    for action in task.actions:
        ours = answer(lambda action=action: task.outcomes(state, action))
        theirs = answer(lambda action=action: model.outcomes(plain, action))
        if ours == "error" or theirs == "error":
            assert ours == theirs, (action, plain, ours, theirs)
            continue
        assert len(theirs) == len(ours), (action, plain)
        assert frozen(ours) == frozen(theirs), (action, plain)
        found += ours
    fail = answer(lambda: model.is_fail(plain))
    assert answer(lambda: task.is_fail(state)) == fail, plain
    if fail is False:
        assert answer(lambda: task.is_goal(state)) == answer(lambda: model.is_goal(plain)), plain
    return found


def compare_declarations(task: Task, model: Any) -> None:
    """Assert that both sides see the same variables and actions."""
    ours = [(v.name, v.type, v.lower, v.upper) for v in task.variables]
    assert ours == [(v.name, v.kind, v.lower, v.upper) for v in model.variables]
    assert task.actions == model.actions
    assert task.silent == model.silent


def compare_with_published(
    ours: Task, published: Task, states: Iterable[State], *, at_least: int
) -> None:
    """Compare steps, fail, goal and start of a built-in task and a published one on these states,
    of which so many must fail, be goals, and be start states.
    """
    counts = dict.fromkeys(("fail", "goal", "start"), 0)
    for state in states:
        compare_state(ours, published, state)
        is_start = ours.is_start(state)
        assert is_start == published.is_start(state.to_dict())
        counts["fail"] += ours.is_fail(state)
        counts["goal"] += ours.is_goal(state)
        counts["start"] += is_start
    assert min(counts.values()) > at_least, counts


def compare_reachable(
    task: Task, model: Any, starts: Iterable[State], *, count: int, rng: random.Random
) -> int:
    """Compare up to ``count`` states met on the way from ``starts``; return how many."""
    frontier, seen = list(starts), set()
    while frontier and len(seen) < count:
        state = frontier.pop(rng.randrange(len(frontier)))
        if state in seen:
            continue
        seen.add(state)
        frontier += compare_state(task, model, state)
    return len(seen)


def reachable_counts(model: Any, starts: list[Any], *, limit: int) -> dict[str, int] | None:
    """Return the counts of ``explore`` found by a plain breadth-first search; None beyond ``limit``
    states.
    """
    counts = dict.fromkeys(("states", "pairs", "outcomes", "fail", "goal", "dead_ends"), 0)
    depth_of = {tuple(sorted(state.items())): 0 for state in starts}
    queue = list(depth_of)
    for key in queue:
        state = dict(key)
        kind = _kind(model, state)
        applicable = model.applicable(state) if kind == "open" else ()
        counts["states"] += 1
        counts["pairs"] += len(applicable)
        if kind != "open" or not applicable:
            counts["dead_ends" if kind == "open" else kind] += 1
        for action in applicable:
            outcomes = frozen(model.outcomes(state, action))
            counts["outcomes"] += len(outcomes)
            for outcome in outcomes - depth_of.keys():
                depth_of[outcome] = depth_of[key] + 1
                queue.append(outcome)
        if len(queue) > limit:
            return None
    return {**counts, "depth": max(depth_of.values(), default=0)}


def _kind(model: Any, state: dict[str, Any]) -> str:
    if model.is_fail(state):
        return "fail"
    return "goal" if model.is_goal(state) else "open"


def compare_calm_models(
    folder: Path,
    seeds: Iterable[int],
    compare: Callable[[Task, ExplicitTask, list[Any], int], int],
    *,
    max_starts: int,
    max_states: int,
) -> int:
    """Return the sum of what ``compare(task, explicit, starts, seed)`` returns for random models.

    They are the calm ones among the seeds with some start states, of which all states are few
    enough to be listed. What goes wrong names the model.
    """
    file, total = folder / "model.jani", 0
    for seed in filter(is_calm, seeds):
        file.write_text(json.dumps(random_model(seed)), encoding="utf-8")
        try:
            found = _small_model(file, max_starts, max_states)
            total += compare(*found, seed) if found else 0
        except Exception as error:
            raise AssertionError(f"random_model({seed})") from error
    return total


def _small_model(file: Path, max_starts: int, max_states: int) -> Found | None:
    try:
        task = load_task(file)
    except SurefootError:
        return None
    model = checker.load(file)
    starts = answer(lambda: model.starts(max_starts))
    if not starts or starts == "error":
        return None
    try:
        return task, explicit_of(model, starts, max_states=max_states), starts
    except ValueError:
        return None
