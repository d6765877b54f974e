"""What oracles call safe are the states from which Storm finds the least probability of fail 0.

Storm finds them on the graph alone. Compared are sets of states, by the values of their variables:
all states reachable from the starts, the safe ones among them and the unsafe ones.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import pytest
from benchmarks.peers.storm import conditions_of, start_of, storm_safe_states
from tests.support.explicit_tasks import random_task
from tests.support.instances import DATA, needs_data
from tests.support.reachable import reachable

from surefoot import Description, Oracle, State, domain, explore, load_task

ORACLES = ("lazy_attractor", "propagate_unsafe", "value_iteration")
GOAL_AND_FAIL, FAIL, GOAL, OPEN = range(4)


# -- both sides --------------------------------------------------------------------------------


def compare(task, path, *, starts, fail, goal, start=None, constants=None):
    """Assert that both sides find the same states, safe and unsafe; return how many of each."""
    theirs = storm_safe_states(path, constants, 60, fail=fail, goal=goal, start=start)
    assert theirs["status"] == "done", theirs
    safe, unsafe = ({tuple(values) for values in theirs[name]} for name in ("safe", "unsafe"))
    names = {storm_name(name): name for name in task.names}

    def values_of(states):
        return {tuple(state[names[name]] for name in theirs["variables"]) for state in states}

    reached = reachable(task, starts)
    assert len(values_of(reached)) == len(reached)
    assert values_of(reached) == safe | unsafe
    for oracle in ORACLES:
        verdicts = ask(task, oracle, reached)
        assert values_of(verdicts["safe"]) == safe, oracle
        assert values_of(verdicts["unsafe"]) == unsafe, oracle
    return len(safe), len(unsafe)


def storm_name(name: str) -> str:
    """Return what Storm calls a variable."""
    element, _, local = name.partition(".")
    if local == "location":
        return f"_loc_{element}"
    return name.replace(".", "_").replace("[", "_at_").removesuffix("]")


def ask(task, name: str, states: list[State]) -> dict[str, list[State]]:
    """Return the states by verdict of one oracle, which is asked in random order."""
    oracle = Oracle(task, oracle=name)
    verdicts: dict[str, list[State]] = {"safe": [], "unsafe": [], "unknown": []}
    for state in random.Random(0).sample(states, len(states)):
        verdicts[oracle.decide(state).verdict].append(state)
    return verdicts


def compare_written(task, folder):
    """Compare on the file that we write of a task, from all its starts."""
    pytest.importorskip("stormpy", reason="needs the extra [storm]")
    path = folder / "task.jani"
    task.write_jani(path)
    fail, goal = conditions_of(path)
    starts = task.list_starts()
    return compare(task, path, starts=starts, fail=fail, goal=goal, start=start_of(path))


# -- built-in domains --------------------------------------------------------------------------

# How many states are safe and unsafe.
LINES = {
    ("one-way-line", 3, 6, "det"): (816, 4247),
    ("one-way-line", 3, 6, "icy"): (48, 5238),
    ("one-way-line", 3, 6, "icy-park"): (3224, 2398),
    ("two-way-line", 2, 5, "det"): (1204, 1160),
    ("two-way-line", 2, 5, "icy"): (940, 1535),
    ("two-way-line", 2, 5, "icy-park"): (1024, 1535),
}


@pytest.mark.parametrize("family, packages, locations, variant", LINES)
def test_lines(family, packages, locations, variant, tmp_path):
    task = domain(family, packages=packages, locations=locations, variant=variant)
    counts = compare_written(task, tmp_path)
    assert counts == LINES[family, packages, locations, variant]


BIRDS = {(50, 8, 10): (378, 22), (200, 10, 50): (1915, 85), (200, 10, 150): (1618, 379)}


@pytest.mark.parametrize("width, height, walls", BIRDS)
def test_flappy_bird(width, height, walls, tmp_path):
    task = domain("flappy-bird", width=width, height=height, walls=walls)
    assert compare_written(task, tmp_path) == BIRDS[width, height, walls]


# -- published files ---------------------------------------------------------------------------


@pytest.mark.data
@needs_data
def test_published_one_way_line_from_its_initial_values():
    compare_published("one_way_line_15_10_det/one_way_line_15_10.jani")


@pytest.mark.data
@needs_data
def test_published_one_way_line_with_three_packages_to_go(tmp_path):
    places = [*(f"location_load_{i}" for i in range(9)), "truck_load_0"]
    start = all_of(equal(total(places), 3), equal("location_load_9", 12), *at_rest())
    compare_published("one_way_line_15_10_det/one_way_line_15_10.jani", start, tmp_path)


@pytest.mark.data
@needs_data
def test_published_two_way_line_with_one_package(tmp_path):
    places = [*(f"location_load_{i}" for i in range(10)), "truck_load_0"]
    start = all_of(equal(total(places), 1), *at_rest())
    compare_published("two_way_line_15_10_det/model.jani", start, tmp_path)


@pytest.mark.data
@needs_data
def test_published_blocksworld():
    constants = {"failing_probability": 0.5, "item_cost_bound": 2}
    compare_published("blocksworld_4_3_legacy/model.jani", constants=constants)


def compare_published(file, start=None, folder=None, constants=None):
    """Compare on a published file, from its initial values or from a condition."""
    pytest.importorskip("stormpy", reason="needs the extra [storm]")
    path, files = DATA / file, {}
    if start is not None:
        files["start"] = folder / "start.jani"
        files["start"].write_text(json.dumps({"op": "state-condition", "exp": start}))
    task = load_task(path, constants=constants or {}, **files)
    starts = [task.initial_state()] if start is None else task.list_starts()
    fail, goal = conditions_of(path)
    given = {"fail": fail, "goal": goal, "start": start, "constants": constants}
    assert min(compare(task, path, starts=starts, **given)) > 0


def equal(left, right):
    return {"op": "=", "left": left, "right": right}


def total(names):
    first, *rest = names
    return {"op": "+", "left": first, "right": total(rest)} if rest else first


def all_of(first, *rest):
    return {"op": "∧", "left": first, "right": all_of(*rest)} if rest else first


def at_rest():
    return [equal("truck_0", 0), equal("truck_vel_0", 0), equal("aux_vel", 1)]


@pytest.mark.data
@needs_data
def test_published_racetrack_with_forced_steps(tmp_path):
    # No state has two silent steps, or one beside an action: so Storm cannot pick among them.
    pytest.importorskip("stormpy", reason="needs the extra [storm]")
    path, files = DATA / "racetrack_tiny_4automata/model.jani", {}
    names = {"fail": "car0_crashed", "goal": "car0_finished"}
    for part, name in names.items():
        files[part] = tmp_path / part
        files[part].write_text(json.dumps({"op": "state-condition", "exp": name}))
    task = load_task(path, **files)
    assert min(compare(task, path, starts=[task.initial_state()], **names)) > 0


# -- Beluga ------------------------------------------------------------------------------------


def test_beluga(tmp_path):
    task = domain("beluga", size="4-2")
    found = explore(task)
    # These are the figures of the published file.
    assert (found.states, found.pairs, found.outcomes) == (10_214, 34_486, 52_154)
    assert (found.fail, found.goal, found.dead_ends) == (1_500, 2, 0)
    assert compare_written(task, tmp_path) == (4_230, 5_984)
    oracle = Oracle(task)
    assert [oracle.decide(start).verdict for start in task.list_starts()] == ["safe"] * 24


# -- everything that can go wrong in small -----------------------------------------------------


def test_small_random_tasks_side_by_side(tmp_path):
    # Loops, dead ends, and states that are goal and fail. All states are starts.
    task = side_by_side(random.Random(1), 150).compile()
    assert min(compare_written(task, tmp_path)) > 150


def side_by_side(rng: random.Random, count: int) -> Description:
    """Return many small tasks as one; states are numbered so that fail and goal are intervals."""
    tasks = [random_task(rng, max_silent=0) for _ in range(count)]
    kinds = [(kind_of(task, s), t, s) for t, task in enumerate(tasks) for s in task.states]
    number = {(t, s): i for i, (_, t, s) in enumerate(sorted(kinds))}
    ends = [sum(kind <= last for kind, _, _ in kinds) for last in range(OPEN)]
    d = Description("side-by-side")
    at = d.int("state", 0, len(kinds) - 1)
    for t, s, action, outcomes in written_out(tasks):
        changes = [{at: number[t, outcome]} for outcome in outcomes]
        d.edge(action, guard=at == number[t, s], outcomes=changes)
    d.start(at >= 0)
    d.fail(at < ends[FAIL])
    d.goal((at < ends[GOAL_AND_FAIL]) | ((at >= ends[FAIL]) & (at < ends[GOAL])))
    return d


def kind_of(task, state: int) -> int:
    if state in task.fail:
        return GOAL_AND_FAIL if state in task.goal else FAIL
    return GOAL if state in task.goal else OPEN


def written_out(tasks) -> Iterator[tuple]:
    """Yield task, state, action and outcomes of everything applicable."""
    for t, task in enumerate(tasks):
        for s in task.states:
            for action, outcomes in zip(task.names, task.table[s], strict=True):
                if outcomes:
                    yield t, s, action, outcomes
