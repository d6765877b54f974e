"""Faults and bugs against their definitions: thousands of small tasks, every radius and oracle."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest
from tests.support.agreement import compare_calm_models
from tests.support.explicit_policies import (
    KINDS,
    compiled,
    decisions_of,
    in_python,
    lively_task,
    number,
    policy_of_kind,
    values,
)
from tests.support.explicit_tasks import random_policy, random_task

from surefoot.faults import find_faults
from surefoot.fuzz import fuzz
from surefoot.oracles import ORACLES, with_radius
from surefoot.policies import as_policy
from surefoot.reference import deviations
from surefoot.reference.faults import bugs, faults, safe_states

BDD = "propagate_unsafe_bdd"

TASKS = 1500
PARTS = 5
RADII = (None, 0, 1, 2)
MODELS = 1_100
POLICIES = 4  # on each model


class Case:
    """A random task, a policy, and failing runs of it."""

    def __init__(self, seed, *, kind=None, max_silent=2):
        self.rng = random.Random(seed)
        make = random_task if self.rng.random() < 0.3 else lively_task
        self.explicit = make(self.rng, max_silent=max_silent)
        self.task = compiled(self.explicit)
        wish = random_policy(self.rng, self.explicit)
        kind = kind or KINDS[seed % len(KINDS)]
        self.policy = policy_of_kind(kind, self.explicit, self.task, self.rng, wish)
        self.decisions = decisions_of(self.explicit, self.policy)
        self.runs = self.fuzzed()

    def fuzzed(self):
        starts = [values(state) for state in self.explicit.states]
        bias = self.rng.choice(("uniform", "greedy", "weighted"))
        found = fuzz(
            self.task, self.policy, starts, runs=2 * len(starts), bias=bias, lookahead=1, workers=1
        )
        return found.failing

    @property
    def on_runs(self):
        return {number(state) for run in self.runs for state in run.states}

    @property
    def decided_on_runs(self):
        return {number(state) for run in self.runs for state in run.states[:-1]}


def found_faults(explicit, found, number=number):
    """Return the faults by state, in the form of the reference but for their outcomes."""
    by_state = {}
    for fault in found.faults:
        assert number(fault.state) not in by_state
        assert not fault.has_unknown_alternatives
        alternatives = tuple(sorted(map(explicit.names.index, fault.alternatives)))
        by_state[number(fault.state)] = (explicit.names.index(fault.action), alternatives)
    return by_state


def assert_equal(case, found, radius):
    """Assert that what was found is what the definitions say."""
    explicit = case.explicit
    wanted = faults(explicit, case.decisions, radius)
    assert found_faults(explicit, found) == {
        state: (wanted[state].action, wanted[state].alternatives)
        for state in case.decided_on_runs & set(wanted)
    }
    safe = safe_states(explicit, case.decisions, radius)
    assert {number(bug.state) for bug in found.bugs} == case.on_runs & safe
    assert case.on_runs & safe <= bugs(explicit, case.decisions, radius)
    assert len(found.bugs) == len(case.on_runs & safe)
    assert not found.unknown and not found.undecided and found.stopped is None
    unavoidable = [r for r in case.runs if number(r.start) not in safe]
    assert list(found.unavoidable) == [n for r in unavoidable for n in (r.run, *r.same)]
    for fault in found.faults:
        assert number(fault.outcome) in wanted[number(fault.state)].outcomes
        assert_on_run(case, fault, wanted)
    for run in case.runs:  # who leaves the safe region does it by a decision
        if number(run.start) in safe:
            assert any(run.run in fault.runs for fault in found.faults)


def assert_on_run(case, fault, wanted):
    """Assert where the fault was found, and on which other runs it is."""
    key = (fault.state, fault.action)
    assert (fault.run.states[fault.step], fault.run.actions[fault.step]) == key
    there = [r for r in case.runs if key in zip(r.states, r.actions, strict=False)]
    assert fault.run is there[0]
    assert list(fault.runs) == [n for r in there for n in (r.run, *r.same)]
    after = fault.run.states[fault.step + 1]
    assert fault.outcome == after or number(after) not in wanted[number(fault.state)].outcomes


@pytest.mark.fuzz
@pytest.mark.parametrize("part", range(PARTS))
def test_faults_are_those_of_the_definition(part):
    counts = Counter()
    for seed in range(part, TASKS, PARTS):
        case = Case(seed)
        for radius in RADII:
            oracle = case.rng.choice(ORACLES.built_in if radius is None else with_radius())
            oracle = "lazy_attractor" if oracle == BDD else oracle
            found = find_faults(case.task, case.policy, case.runs, radius=radius, oracle=oracle)
            try:
                assert_equal(case, found, radius)
                if seed % 10 == part:
                    assert_proved(case, found, radius)
            except Exception as error:
                raise AssertionError(f"seed {seed}, radius {radius}, {oracle}") from error
            counts[radius] += len(found.faults)
            counts["alternatives", radius] += sum(len(f.alternatives) for f in found.faults)
            counts["bugs", radius] += len(found.bugs)
            counts["unavoidable"] += len(found.unavoidable)
    assert counts[0] == counts["bugs", 0] == 0  # the policy itself fails there
    assert counts["unavoidable"] > 200
    for radius in (None, 1, 2):
        assert min(counts[radius], counts["bugs", radius]) > 50, counts
        assert counts["alternatives", radius] > 30, counts


def assert_proved(case, found, radius):
    """Assert that the checker accepts the evidence for every fault, and that it is about it."""
    for fault in found.faults:
        made = fault.certificates
        made.outcome.check()
        assert_about(made.outcome, "unsafe", fault.outcome, radius)
        assert tuple(made.alternatives) == fault.alternatives
        for action, certificate in made.alternatives.items():
            certificate.check()
            assert_about(certificate, "safe", fault.state, radius)
            assert first_choice(certificate) == action


def assert_about(certificate, claim, state, radius):
    assert (certificate.claim, certificate.radius) == (claim, radius)
    assert certificate.question()["state"] == list(state.values())


def first_choice(certificate):
    """Return the name of the action that a certificate chooses in the state it is about."""
    content = certificate.to_dict()
    left = [] if content["radius"] is None else [content["radius"]]
    (choice,) = [row[-1] for row in content["choices"] if row[:-1] == [content["state"], *left]]
    return content["actions"][choice]


@pytest.mark.fuzz
@pytest.mark.parametrize("radius", RADII)
def test_all_oracles_find_the_same_and_prove_it(radius):
    counts = Counter()
    oracles = [
        name for name in (ORACLES.built_in if radius is None else with_radius()) if name != BDD
    ]
    for seed in range(40):
        case = Case(seed, kind="table")
        if not case.runs:
            continue
        results = {
            name: find_faults(case.task, case.policy, case.runs, radius=radius, oracle=name, seed=3)
            for name in oracles
        }
        for name, found in results.items():
            try:
                assert_equal(case, found, radius)
                if seed % 4 == 0:
                    assert_proved(case, found, radius)
            except Exception as error:
                raise AssertionError(f"seed {seed}, {name}") from error
            counts[name] += len(found.faults)
    assert min(counts.values()) > 8 or radius == 0, counts


@pytest.mark.fuzz
def test_deviations_are_those_of_the_reference():
    seen = Counter()
    for seed in range(150):
        case = Case(seed, kind="table")
        least = deviations(case.explicit, case.decisions)
        found = find_faults(case.task, case.policy, case.runs, deviations=True)
        for fault in found.faults:
            wanted = least[number(fault.state)]
            assert fault.deviations.least == (math.inf if wanted is None else wanted)
            seen[wanted] += 1
            if seed % 10 == 0:
                for certificate in fault.deviations.certificates:
                    certificate.check()
    assert {1, 2, None} <= set(seen), seen


@pytest.mark.fuzz
def test_one_run_at_a_time_or_all_at_once():
    """What the oracle learned from other runs does not change the faults of a run."""
    total = 0
    for seed in range(120):
        case = Case(seed)
        together = find_faults(case.task, case.policy, case.runs)
        alone = {}
        for run in case.runs:
            for fault in find_faults(case.task, case.policy, [run]).faults:
                alone.setdefault((fault.state, fault.action), fault.alternatives)
        assert {(f.state, f.action): f.alternatives for f in together.faults} == alone
        only = find_faults(case.task, case.policy, case.runs, bugs_only=True)
        assert only.bugs == together.bugs
        assert not only.faults and not only.unknown and not only.undecided
        total += len(alone)
    assert total > 80


# -- limits ------------------------------------------------------------------------------------

TIGHT = (
    {"max_states": 1},
    {"max_states": 2},
    {"max_states": 4},
    {"state_seconds": 0.0},
    {"max_seconds": 0.0},
    {"memory_mb": 0},
)


@pytest.mark.fuzz
@pytest.mark.parametrize("limits", TIGHT, ids=str)
def test_tight_limits_give_unknowns_and_no_lies(limits):
    counts = Counter()
    for seed in range(150):
        case = Case(seed, kind="callable" if seed % 2 else "table")
        radius = RADII[seed % 4]
        oracle = case.rng.choice(with_radius())
        found = find_faults(
            case.task, case.policy, case.runs, radius=radius, oracle=oracle, **limits
        )
        wanted = faults(case.explicit, case.decisions, radius)
        safe = safe_states(case.explicit, case.decisions, radius)
        for fault in found.faults:
            right = wanted[number(fault.state)]
            assert number(fault.outcome) in right.outcomes
            named = {case.explicit.names.index(name) for name in fault.alternatives}
            assert named <= set(right.alternatives)
            assert fault.has_unknown_alternatives or named == set(right.alternatives)
        assert {number(bug.state) for bug in found.bugs} <= safe
        for run in case.runs:
            has_fault = any(run.run in fault.runs for fault in found.faults)
            if number(run.start) in safe and not has_fault:
                assert run.run in found.undecided
            if run.run in found.unavoidable:
                assert number(run.start) not in safe
        for one in found.unknown:
            assert one.reason in ("states", "seconds", "memory")
            assert one.what in ("state", "decision")
        counts["unknown"] += len(found.unknown)
        counts["known"] += len(found.faults) + len(found.unavoidable)
    if "max_states" in limits:
        assert counts["unknown"] > 30, counts


# -- other tasks -------------------------------------------------------------------------------


@pytest.mark.fuzz
def test_python_tasks_have_the_same_faults():
    total = 0
    for seed in range(60):
        case = Case(seed, kind="table", max_silent=0)
        task = in_python(case.explicit)
        decide = {values(s)["x"]: a for s, a in enumerate(case.decisions) if a is not None}
        names = case.explicit.names
        policy = as_policy(lambda s, decide=decide, names=names: names[decide[s["x"]]], task)
        starts = [(values(s)["x"],) for s in case.explicit.states]
        runs = fuzz(task, policy, starts, runs=2 * len(starts)).failing
        case.runs = runs
        for radius in RADII:
            found = find_faults(task, policy, runs, radius=radius)
            assert_equal(case, found, radius)
            total += len(found.faults)
    assert total > 50


@pytest.mark.fuzz
def test_random_models(tmp_path):
    how = {"max_starts": 20, "max_states": 60}
    assert compare_calm_models(tmp_path, range(MODELS), compare_model, **how) > 10


def compare_model(task, explicit, _, seed):
    """Return how many faults were compared."""
    rng = random.Random(seed)
    return sum(
        compare_policy(task, explicit, random_policy(rng, explicit)) for _ in range(POLICIES)
    )


def compare_policy(task, explicit, decisions):
    table = {
        task.state(explicit.state(state)): explicit.names[action]
        for state, action in enumerate(decisions)
        if action is not None
    }
    policy = as_policy(table, task)
    states = [explicit.state(state) for state in explicit.states]
    runs = fuzz(task, policy, states, runs=2 * len(states), workers=1).failing
    on_runs = {explicit.number(state) for run in runs for state in run.states[:-1]}
    total = 0
    for radius in RADII:
        found = find_faults(task, policy, runs, radius=radius)
        wanted = faults(explicit, decisions, radius)
        assert found_faults(explicit, found, explicit.number) == {
            state: (wanted[state].action, wanted[state].alternatives)
            for state in on_runs & set(wanted)
        }
        for fault in found.faults:
            fault.certificates.outcome.check()
            for certificate in fault.certificates.alternatives.values():
                certificate.check()
        total += len(found.faults)
    return total
