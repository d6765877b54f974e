"""Evaluation against the reference: fractions of start states, and probabilities of the goal."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest
from tests.support.explicit_policies import (
    KINDS,
    compiled,
    decisions_of,
    in_python,
    lively_task,
    policy_of_kind,
    values,
)
from tests.support.explicit_tasks import random_policy, random_task

from surefoot import Description, _core
from surefoot.evaluate import evaluate
from surefoot.policies import as_policy
from surefoot.reference.policies import failing_states, outcomes_under

TASKS = 400
RUNS = 3000


class Case:
    """A random task with some of its states as start states, and a policy."""

    def __init__(self, seed, *, max_silent=2, kind=None):
        self.rng = random.Random(seed)
        make = random_task if self.rng.random() < 0.5 else lively_task
        self.explicit = make(self.rng, max_silent=max_silent)
        count = self.rng.randint(1, len(self.explicit.table))
        self.starts = self.rng.sample(list(self.explicit.states), count)
        self.task = compiled(self.explicit, starts=self.starts)
        wish = random_policy(self.rng, self.explicit)
        kind = kind or KINDS[seed % len(KINDS)]
        self.policy = policy_of_kind(kind, self.explicit, self.task, self.rng, wish)
        self.decisions = decisions_of(self.explicit, self.policy)
        self.unsafe = failing_states(self.explicit, self.decisions) & set(self.starts)


@pytest.mark.fuzz
def test_unsafe_fraction_is_exact():
    seen = Counter()
    for seed in range(TASKS):
        case = Case(seed)
        found = evaluate(case.task, case.policy, workers=1)
        assert found.all_starts and found.is_exact
        assert found.starts == found.exhaustive == found.runs == len(case.starts)
        assert found.unsafe == len(case.unsafe), seed
        assert found.unsafe_fraction == len(case.unsafe) / len(case.starts)
        assert found.fail <= found.unsafe
        assert found.goal + found.fail <= found.runs
        assert found.stopped is None
        kinds = ("none", "some", "all")
        seen[kinds[(found.unsafe > 0) + (found.unsafe == found.starts)]] += 1
    assert min(seen.values()) > 40 and len(seen) == 3, seen


@pytest.mark.fuzz
@pytest.mark.parametrize(
    "limits", [{"max_states": 0}, {"max_states": 3}, {"memory_mb": 0}], ids=str
)
def test_tight_limits_give_a_lower_bound(limits):
    undecided = missed = 0
    for seed in range(200):
        case = Case(seed)
        found = evaluate(case.task, case.policy, workers=1, sample_runs=1 + seed % 3, **limits)
        truth = len(case.unsafe)
        assert found.unsafe <= truth
        assert found.exhaustive <= found.starts == len(case.starts)
        assert truth - found.unsafe <= found.starts - found.exhaustive, (
            "an unsafe state called safe"
        )
        assert not found.is_exact or found.unsafe == truth
        assert ("at least" in str(found)) == (not found.is_exact)
        undecided += found.starts - found.exhaustive
        missed += truth - found.unsafe
    assert undecided > 20
    assert missed < undecided


@pytest.mark.fuzz
def test_answers_of_the_enumeration_are_never_wrong():
    """State by state: what is decided within the limits is as without them."""
    counts = Counter()
    for seed in range(TASKS):
        case = Case(seed)
        packed = b"".join(case.task.packed(values(state)) for state in case.starts)
        for max_states in (0, 2, 4):
            found = _core.can_fail(
                case.task.core,
                case.policy.core,
                packed,
                max_seconds=10.0,
                max_bytes=10**9,
                max_states=max_states,
                progress=None,
            )
            for state, answer in zip(case.starts, found.answers, strict=True):
                assert answer == 2 or answer == (state in case.unsafe)
                assert answer != 2 or found.stopped == "states"
                counts[answer] += 1
    assert min(counts.values()) > 100, counts


@pytest.mark.fuzz
def test_workers_change_nothing():
    for seed in range(60):
        case = Case(seed)
        results = [evaluate(case.task, case.policy, workers=workers) for workers in (1, 2, 3)]
        contents = [{**result.to_dict(), "seconds": 0} for result in results]
        assert contents[0] == contents[1] == contents[2]


@pytest.mark.fuzz
def test_python_tasks():
    for seed in range(60):
        case = Case(seed, max_silent=0, kind="table")
        task = in_python(case.explicit, starts=case.starts)
        names = case.explicit.names
        decide = {values(s)["x"]: names[a] for s, a in enumerate(case.decisions) if a is not None}
        policy = as_policy(lambda state, decide=decide: decide[state["x"]], task)
        found = evaluate(task, policy)
        assert found.all_starts and found.is_exact
        assert (found.starts, found.unsafe) == (len(case.starts), len(case.unsafe))


# -- the goal ----------------------------------------------------------------------------------


def goal_probability(explicit, decisions, start):
    """Return how likely a run reaches the goal, if outcomes are equally likely.

    Starts from 0 and goes on until nothing changes.
    """
    goal = set(explicit.goal) - set(explicit.fail)
    likely = [float(state in goal) for state in explicit.states]
    for _ in range(300):
        for state in explicit.states:
            outcomes = outcomes_under(explicit, decisions, state)
            if outcomes:
                likely[state] = math.fsum(likely[end] for end in outcomes) / len(outcomes)
    return likely[start]


def uncertain_case(seed, *, has_self_loops):
    """Return the first random case from a seed on with a start state whose runs reach the goal or
    not, and these two; has_self_loops: they may stand still.
    """
    for number in range(seed, seed + 10_000):
        case = Case(number, kind="table")
        if bool(self_loops(case)) != has_self_loops or not case.explicit.goal:
            continue
        for start in case.explicit.states:
            likely = goal_probability(case.explicit, case.decisions, start)
            if 0.05 < likely < 0.95:
                return case, start, likely
    raise AssertionError


def self_loops(case):
    explicit, decisions = case.explicit, case.decisions
    return [s for s in explicit.states if s in outcomes_under(explicit, decisions, s)]


@pytest.mark.fuzz
@pytest.mark.parametrize("has_self_loops", [False, True])
@pytest.mark.parametrize("seed", [0, 10_000, 20_000])
def test_goal_fraction_is_the_probability(seed, has_self_loops):
    """With many copies of one start state, the fraction comes near what it should be."""
    case, start, wanted = uncertain_case(seed, has_self_loops=has_self_loops)
    task = compiled(case.explicit, starts=[start], copies=RUNS)
    names = case.explicit.names
    decide = {values(s)["x"]: names[a] for s, a in enumerate(case.decisions) if a is not None}
    policy = as_policy(lambda state: decide[state["x"]], task)
    found = evaluate(task, policy, seed=seed, workers=1)
    assert found.runs == found.starts == RUNS
    spread = math.sqrt(wanted * (1 - wanted) / RUNS)
    assert abs(found.goal_fraction - wanted) <= 4.5 * spread, (seed, wanted)


def test_a_policy_that_always_reaches_the_goal():
    d = Description("walk")
    x = d.int("x", 0, 3, initial=0)
    d.edge("go", guard=x < 2, outcomes=[{x: x + 1}])
    d.edge("fall", guard=x < 2, outcomes=[{x: 3}])
    d.goal(x == 2)
    d.fail(x == 3)
    found = evaluate(d.compile(), "first")
    assert (found.goal_fraction, found.unsafe_fraction) == (1.0, 0.0)


def test_a_goal_that_some_runs_reach():
    """Half of the runs end in a dead end, a quarter each in goal and fail."""
    d = Description("fork")
    x = d.int("x", 0, 4)
    copy = d.int("copy", 0, RUNS - 1)
    d.edge("go", guard=x == 0, outcomes=[{x: 1}, {x: 2}])
    d.edge("on", guard=x == 1, outcomes=[{x: 3}, {x: 4}])
    d.start((x == 0) & (copy >= 0))
    d.goal(x == 3)
    d.fail(x == 4)
    found = evaluate(d.compile(), "first", workers=1)
    assert found.starts == found.unsafe == found.runs == RUNS
    spread = math.sqrt(0.25 * 0.75 / RUNS)
    assert abs(found.goal_fraction - 0.25) < 4.5 * spread
    assert abs(found.fail / RUNS - 0.25) < 4.5 * spread
