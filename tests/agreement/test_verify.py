"""Explicit verification against the reference: verdicts, shortest runs, counts, certificates."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from tests.support.agreement import compare_calm_models
from tests.support.explicit_policies import (
    KINDS,
    assert_failing_run,
    compiled,
    decisions_of,
    in_python,
    lively_task,
    number,
    policy_of_kind,
    small_network,
    small_trees,
    states_after,
    values,
)
from tests.support.explicit_tasks import random_policy, random_task

from surefoot import CertificateRejected, Description, _core, explore
from surefoot.certificates import check_policy_certificate
from surefoot.faults import find_faults
from surefoot.findings import finding_of
from surefoot.policies import as_policy
from surefoot.reference.policies import failing_states, reached_under, steps_to_fail
from surefoot.verify import verify as verify_by

verify = partial(verify_by, method="explicit")
TASKS = 400
MODELS = 400
WORKERS = (1, 2, 3)


class Case:
    """A random task with some of its states as start states, and a policy."""

    def __init__(self, seed, *, max_silent=2, kind=None, is_python=False, unfiltered=False):
        self.rng = random.Random(seed)
        make = random_task if self.rng.random() < 0.5 else lively_task
        self.explicit = make(self.rng, max_silent=max_silent)
        count = self.rng.randint(1, len(self.explicit.table))
        self.starts = self.rng.sample(list(self.explicit.states), count)
        made = in_python if is_python else compiled
        self.task = made(self.explicit, starts=self.starts)
        if unfiltered:
            self._decide_unfiltered()
            return
        wish = random_policy(self.rng, self.explicit)
        kind = kind or KINDS[seed % len(KINDS)]
        self.policy = policy_of_kind(kind, self.explicit, self.task, self.rng, wish)
        self.decisions = decisions_of(self.explicit, self.policy)

    def _decide_unfiltered(self):
        generator = np.random.default_rng(self.rng.randrange(2**32))
        names = self.explicit.names
        if self.rng.random() < 0.5:
            model = small_network(generator, len(names))
        else:
            model = small_trees(generator, len(names), len(self.explicit.table))
        self.policy = as_policy(model, self.task, unfiltered=True)
        scores = [self.policy.scores(values(state)) for state in self.explicit.states]
        self.decisions = [max(range(len(names)), key=lambda a: s[names[a]]) for s in scores]

    @property
    def reached(self):
        return reached_under(self.explicit, self.decisions, self.starts)


def same(results):
    """Return the one result that all of these are, but for the time they took."""
    first, *others = [replace(result, seconds=0.0, certificate=None) for result in results]
    assert all(other == first for other in others)
    return first


def check_result(case, found):
    """Hold a result against the reference."""
    steps = steps_to_fail(case.explicit, case.decisions, case.starts)
    assert found.verdict == ("safe" if steps is None else "unsafe")
    assert (found.all_starts, found.starts, found.reason) == (True, len(case.starts), None)
    if steps is None:
        assert found.states == len(case.reached)
        assert found.run is None
        assert found.depth == depth_of(case)
        return
    assert (found.run.steps, found.depth) == (steps, steps)
    assert number(found.run.start) in case.starts
    assert_failing_run(case.explicit, case.decisions, found.run)


def depth_of(case):
    """Return how many steps away the state is that takes longest to come to."""
    seen, layer, depth = set(case.starts), set(case.starts), -1
    while layer:
        depth += 1
        ends = [states_after(case.explicit, case.decisions, state, 1) for state in layer]
        layer = set().union(*ends) - seen
        seen |= layer
    return depth


@pytest.mark.fuzz
def test_verdict_run_and_states():
    seen = Counter()
    for seed in range(TASKS):
        case = Case(seed)
        found = same(verify(case.task, case.policy, workers=w) for w in WORKERS)
        check_result(case, found)
        seen[found.verdict] += 1
    assert min(seen["safe"], seen["unsafe"]) > 100, seen


@pytest.mark.fuzz
def test_python_tasks():
    seen = Counter()
    for seed in range(TASKS // 4):
        case = Case(seed, max_silent=0, is_python=True, kind=("table", "callable")[seed % 2])
        found = verify(case.task, case.policy, certificate=True, workers=3)
        check_result(case, found)
        if found.verdict == "safe":
            found.certificate.check()
        seen[found.verdict] += 1
    assert min(seen["safe"], seen["unsafe"]) > 20, seen


@pytest.mark.fuzz
def test_runs_end_where_an_unfiltered_policy_cannot_go_on():
    ended = Counter()
    for seed in range(TASKS):
        case = Case(seed, unfiltered=True)
        found = same(verify(case.task, case.policy, workers=w) for w in WORKERS)
        check_result(case, found)
        stuck = any(
            case.explicit.choices(s)
            and None not in case.explicit.choices(s)
            and case.decisions[s] not in case.explicit.choices(s)
            for s in case.reached
        )
        ended[found.verdict, stuck] += 1
        if found.verdict == "safe":
            verify(case.task, case.policy, certificate=True).certificate.check()
    assert ended["safe", True] > 30 and ended["unsafe", False] + ended["unsafe", True] > 30, ended


@pytest.mark.fuzz
def test_agrees_with_evaluation_of_all_start_states():
    for seed in range(TASKS):
        case = Case(seed)
        packed = b"".join(case.task.packed(values(s)) for s in case.starts)
        limits = {"max_seconds": 60, "max_bytes": 10**9, "max_states": 10**6, "progress": None}
        answers = _core.can_fail(case.task.core, case.policy.core, packed, **limits).answers
        found = verify(case.task, case.policy)
        assert (found.verdict == "unsafe") == (1 in answers)


@pytest.mark.fuzz
def test_failing_runs_are_findings_and_are_looked_at_for_faults():
    checked = 0
    for seed in range(TASKS // 4):
        case = Case(seed)
        found = verify(case.task, case.policy)
        if found.run is None:
            continue
        finding_of(case.task, case.policy, found.run).check()
        assert find_faults(case.task, case.policy, [found.run]).runs == 1
        checked += 1
    assert checked > 20


@pytest.mark.fuzz
def test_random_models(tmp_path):
    """Models as files: transient variables, conditions, silent actions, several elements."""

    def compare(task, explicit, starts, seed):
        policy = as_policy(f"random?seed={seed}", task)
        found = same(verify(task, policy, workers=w) for w in WORKERS)
        decisions = [
            None
            if set(explicit.choices(state)) <= {None}
            else explicit.names.index(policy.decide(explicit.state(state)))
            for state in explicit.states
        ]
        own = range(len(starts))
        steps = steps_to_fail(explicit, decisions, own)
        assert found.verdict == ("safe" if steps is None else "unsafe")
        if steps is not None:
            assert found.run.steps == steps
            finding_of(task, policy, found.run).check()
            return 1
        assert found.states == len(reached_under(explicit, decisions, own))
        verify(task, policy, certificate=True).certificate.check()
        return 1

    count = compare_calm_models(tmp_path, range(MODELS), compare, max_starts=2000, max_states=500)
    assert count > 60, count


# -- certificates ------------------------------------------------------------------------------


def is_accepted(case, file, lines):
    file.write_text("".join(lines), encoding="utf-8")
    try:
        check_policy_certificate(case.task, file, policy=case.policy)
    except CertificateRejected:
        return False
    return True


@pytest.mark.fuzz
def test_every_certificate_is_accepted_and_none_that_lacks_a_state(tmp_path):
    file, accepted, removed, added = tmp_path / "certificate.jsonl", 0, 0, 0
    for seed in range(TASKS):
        case = Case(seed)
        found = verify(case.task, case.policy, certificate=file)
        if found.verdict != "safe":
            assert found.certificate is None
            continue
        found.certificate.check()
        accepted += 1
        head, *rows = file.read_text().splitlines(keepends=True)
        said = json.loads(head)
        for row in rows:
            fewer = json.dumps({**said, "states": said["states"] - 1}) + "\n"
            others = [each for each in rows if each != row]
            assert not is_accepted(case, file, [fewer, *others]), (seed, row)
            removed += 1
        for state in set(case.explicit.fail) - case.reached:
            more = json.dumps({**said, "states": said["states"] + 1}) + "\n"
            assert not is_accepted(case, file, [more, *rows, f"[{values(state)['x']}]\n"])
            added += 1
    assert min(accepted, removed, added) > 40, (accepted, removed, added)


@pytest.mark.fuzz
def test_certificate_of_another_policy_is_rejected(tmp_path):
    """A policy that leaves the set, or fails, must not get away with the certificate."""
    file, rejected = tmp_path / "certificate.jsonl", 0
    for seed in range(2 * TASKS):
        case = Case(seed, kind="table")
        found = verify(case.task, case.policy, certificate=file)
        if found.verdict != "safe":
            continue
        wish = random_policy(random.Random(seed + 1), case.explicit)
        other = policy_of_kind("table", case.explicit, case.task, case.rng, wish)
        decisions = decisions_of(case.explicit, other)
        is_closed = reached_under(case.explicit, decisions, case.reached) == case.reached
        try:
            check_policy_certificate(case.task, file, policy=other)
        except CertificateRejected:
            assert not is_closed
            rejected += 1
        else:
            assert is_closed
            assert not failing_states(case.explicit, decisions) & set(case.starts)
    assert rejected > 20


# -- large ones: many parts, blocks and layers -------------------------------------------------


def grid(side, fail_sum):
    """Return a task of one action that goes one step along any of three axes."""
    d = Description("grid")
    x, y, z = (d.int(name, 0, side) for name in "xyz")
    for axis in (x, y, z):
        d.edge("go", guard=axis < side, outcomes=[{axis: axis + 1}])
    d.start((x + y + z) <= 3)
    d.fail((x + y + z) >= fail_sum)
    return d.compile()


def test_layers_of_many_parts():
    task = grid(40, 200)
    found = same(verify(task, "first", workers=w) for w in (1, 2, 3, 7))
    counts = explore(task)
    assert found.verdict == "safe"
    assert (found.states, found.depth, found.starts) == (41**3, counts.depth, counts.starts)
    assert counts.states == 41**3


def test_shortest_run_among_layers_of_many_parts():
    found = same(verify(grid(40, 70), "first", workers=w) for w in (1, 2, 3, 7))
    assert found.verdict == "unsafe"
    assert (found.run.steps, found.depth) == (67, 67)
    assert sum(found.run.start.values()) == 3


@pytest.mark.parametrize("policy", ["first", "random?seed=3"])
def test_line(policy):
    from surefoot import load_task

    task = load_task("domain:one-way-line?packages=6&locations=6&variant=icy-park")
    found = same(verify(task, policy, workers=w) for w in WORKERS)
    who = as_policy(policy, task)
    packed = b"".join(state.packed for state in task.list_starts())
    limits = {"max_seconds": 60, "max_bytes": 10**9, "max_states": 10**6, "progress": None}
    run = _core.nearest_fail(task.core, who.core, packed, **limits).run
    assert found.verdict == "unsafe"
    assert found.run.steps == len(run.actions)
    assert found.starts == len(packed) // (8 * task.core.words)
