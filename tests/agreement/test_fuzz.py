"""Fuzzed runs against the reference: on random small tasks, with policies of every kind."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter

import numpy as np
import pytest
from tests.support.agreement import compare_calm_models
from tests.support.explicit_policies import (
    KINDS,
    LOWER,
    assert_failing_run,
    compiled,
    decisions_of,
    in_python,
    number,
    policy_of_kind,
    small_network,
    states_after,
    values,
)
from tests.support.explicit_tasks import random_policy, random_task

from surefoot import _core
from surefoot.fuzz import BIASES, fuzz
from surefoot.policies import as_policy
from surefoot.records import NOTHING_FAILS
from surefoot.reference.policies import (
    failing_states,
    outcomes_under,
    reached_under,
    steps_to_fail,
)

TASKS = 600
LOOKAHEADS = (1, 2, 5, None)
STEPS = (1, 2, 3, 1000)
PERTURBATIONS = ("values", "actions", "both")


def plain(result):
    """Return everything in a result that must not depend on the clock, as text."""
    content = result.to_dict()
    del content["summary"]["seconds"]
    return json.dumps(content)


class Game:
    """A random task with a policy, in the core and written out."""

    def __init__(self, seed, *, kind=None, max_states=8, may_be_silent=True):
        self.rng = random.Random(seed)
        self.explicit = random_task(
            self.rng, max_states=max_states, max_silent=2 if may_be_silent else 0
        )
        self.task = compiled(self.explicit)
        kind = kind or KINDS[seed % len(KINDS)]
        wish = random_policy(self.rng, self.explicit)
        self.policy = policy_of_kind(kind, self.explicit, self.task, self.rng, wish)
        self.decisions = decisions_of(self.explicit, self.policy)
        self.starts = [values(state) for state in self.explicit.states]
        self.failing = failing_states(self.explicit, self.decisions)

    def options(self):
        choose = self.rng.choice
        return {
            "bias": choose(BIASES.built_in),
            "lookahead": choose(LOOKAHEADS),
            "max_steps": choose(STEPS),
            "seed": self.rng.randrange(1000),
            "runs": 2 * len(self.starts),
        }

    def after(self, run):
        return states_after(self.explicit, self.decisions, number(run.start), run.steps)

    def is_open(self, state):
        return bool(self.explicit.choices(state))


def end_of(run):
    """Return how a run ended; those that were cut since nothing reachable fails by that reason."""
    return NOTHING_FAILS if run.reason == NOTHING_FAILS else run.result


def assert_right(game, run, *, max_steps):
    """Assert what the result of a run claims."""
    explicit = game.explicit
    assert run.steps <= max_steps
    after = game.after(run)
    assert after, "no run of the policy has so many steps"
    if run.result == "fail":
        assert_failing_run(explicit, game.decisions, run)
    elif run.reason == NOTHING_FAILS:
        assert number(run.start) not in game.failing
    elif run.result == "goal":
        assert after & (set(explicit.goal) - set(explicit.fail))
    elif run.result == "dead_end":
        terminal = set(explicit.goal) | set(explicit.fail)
        assert any(not game.is_open(state) and state not in terminal for state in after)
    elif run.result == "inapplicable":
        stuck = [state for state in after if game.is_open(state)]
        assert any(not outcomes_under(explicit, game.decisions, state) for state in stuck)
    else:
        assert run.result == "cut"
        assert any(game.is_open(state) for state in after)
        if run.reason == "steps":
            assert run.steps == max_steps
        else:  # what follows cannot fail; but something was seen elsewhere and left alone
            assert run.reason == "exhausted"
            assert after - game.failing


@pytest.mark.fuzz
def test_runs_are_what_they_claim_to_be():
    counts = dict.fromkeys(("fail", NOTHING_FAILS, "goal", "dead_end", "cut"), 0)
    for seed in range(TASKS):
        game = Game(seed)
        how = game.options()
        found = fuzz(game.task, game.policy, game.starts, workers=1, **how)
        assert len(found.runs) == how["runs"]
        complete = {run.run: run for run in found.failing}
        try:
            for run in found.runs:
                assert run.start == game.task.state(game.starts[run.run % len(game.starts)])
                assert_right(game, complete.get(run.run, run), max_steps=how["max_steps"])
                counts[end_of(run)] += 1
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {how}") from error
        assert found.states <= len(game.explicit.table)
        assert sum(found.counts.values()) == how["runs"]
        assert found.steps == sum(run.steps for run in found.runs)
    assert min(counts.values()) > 50, counts


@pytest.mark.fuzz
def test_unfiltered_policies_stop_where_their_decision_is_not_applicable():
    counts = Counter()
    for seed in range(200):
        game = Game(seed)
        outputs = len(game.explicit.names)
        network = small_network(np.random.default_rng(seed), outputs)
        game.policy = as_policy(network, game.task, unfiltered=True)
        game.decisions = [best_of_all(game, state) for state in game.explicit.states]
        game.failing = failing_states(game.explicit, game.decisions)
        how = game.options()
        found = fuzz(game.task, game.policy, game.starts, workers=1 + seed % 2, **how)
        complete = {run.run: run for run in found.failing}
        for run in found.runs:
            assert_right(game, complete.get(run.run, run), max_steps=how["max_steps"])
            counts[end_of(run)] += 1
    assert min(counts["inapplicable"], counts["fail"], counts[NOTHING_FAILS]) > 50, counts


def best_of_all(game, state):
    """Return the best-scored action, applicable or not; None where nothing is decided."""
    if set(game.explicit.choices(state)) <= {None}:
        return None
    scores = game.policy.scores(values(state))
    return game.explicit.names.index(max(scores, key=scores.get))


@pytest.mark.fuzz
@pytest.mark.parametrize("bias", BIASES.built_in)
def test_what_can_fail_is_found(bias):
    """With a lookahead without end every bias comes to fail, most of the time."""
    found, wanted = 0, 0
    for seed in range(200):
        game = Game(seed, kind="table")
        result = fuzz(game.task, game.policy, game.starts, runs=5 * len(game.starts), bias=bias)
        found += len({number(run.start) for run in result.failing})
        wanted += len(game.failing)
    assert found > 0.9 * wanted > 100


@pytest.mark.fuzz
def test_a_state_that_must_fail_is_found_to():
    """Where every run fails within the steps there are, every fuzzed run does, whatever the
    options.
    """
    surely = 0
    for seed in range(400):
        game = Game(seed, kind="table", max_states=6)
        doomed = doomed_states(game)
        if not doomed:
            continue
        how = game.options() | {"max_steps": 100}
        found = fuzz(game.task, game.policy, [values(s) for s in doomed], workers=1, **how)
        assert found.counts == {"fail": how["runs"]}, (seed, how)
        surely += how["runs"]
    assert surely > 500


def doomed_states(game):
    """Return the states from which every run of the policy fails."""
    doomed = set(game.explicit.fail)
    while True:
        more = {
            state
            for state in set(game.explicit.states) - doomed
            if (ends := outcomes_under(game.explicit, game.decisions, state))
            and set(ends) <= doomed
        }
        if not more:
            return sorted(doomed)
        doomed |= more


@pytest.mark.fuzz
@pytest.mark.parametrize("perturb", ("none", *PERTURBATIONS))
def test_workers_change_nothing(perturb):
    for seed in range(0, 140):
        game = Game(seed)
        how = {**game.options(), "perturb": perturb, "changes": 1 + seed % 3, "runs": 20}
        first = plain(fuzz(game.task, game.policy, game.starts, workers=1, **how))
        for workers in (2, 3, 1):
            again = fuzz(game.task, game.policy, game.starts, workers=workers, **how)
            assert plain(again) == first, (seed, how, workers)


@pytest.mark.fuzz
def test_a_run_does_not_depend_on_the_other_runs():
    for seed in range(150):
        game = Game(seed)
        how = {**game.options(), "runs": 30}
        if seed % 2:
            how |= {"perturb": game.rng.choice(PERTURBATIONS), "changes": 2}
        many = fuzz(game.task, game.policy, game.starts, workers=1, **how)
        few = fuzz(game.task, game.policy, game.starts, workers=1, **{**how, "runs": 7})
        assert [r.to_dict() for r in many.runs[:7]] == [r.to_dict() for r in few.runs]


@pytest.mark.fuzz
def test_equal_runs_are_merged():
    merged = 0
    for seed in range(150):
        game = Game(seed)
        found = fuzz(game.task, game.policy, game.starts, **{**game.options(), "runs": 25})
        failing = [run for run in found.runs if run.result == "fail"]
        by_content = {}
        for run in failing:
            by_content.setdefault((run.states, run.actions), []).append(run.run)
        assert [[r.run, *r.same] for r in found.failing] == list(by_content.values())
        assert found.summary["distinct"] == len(by_content)
        merged += len(failing) - len(by_content)
    assert merged > 100


@pytest.mark.fuzz
def test_python_tasks_have_the_same_verdicts():
    counts = {"fail": 0, NOTHING_FAILS: 0}
    for seed in range(120):
        game = Game(seed, may_be_silent=False)
        task = in_python(game.explicit)
        table = {
            (state + LOWER,): game.explicit.names[action]
            for state, action in enumerate(game.decisions)
            if action is not None
        }
        how = game.options()
        policy = as_policy(lambda state, table=table: table[tuple(state.values())], task)
        found = fuzz(task, policy, [(s + LOWER,) for s in game.explicit.states], **how)
        complete = {run.run: run for run in found.failing}
        for run in found.runs:
            assert_right(game, complete.get(run.run, run), max_steps=how["max_steps"])
            counts[end_of(run)] = counts.get(end_of(run), 0) + 1
    assert min(counts.values()) > 50


# -- perturbed starts --------------------------------------------------------------------------


@pytest.mark.fuzz
@pytest.mark.parametrize("perturb", PERTURBATIONS)
def test_perturbed_starts_are_made_as_recorded(perturb):
    seen = dict.fromkeys(("value", "action"), 0)
    for seed in range(250):
        game = Game(seed)
        opened = [state for state in game.explicit.states if game.is_open(state)]
        if not opened:
            continue
        how = {**game.options(), "perturb": perturb, "changes": game.rng.randint(1, 3)}
        found = fuzz(game.task, game.policy, [values(s) for s in opened], workers=1, **how)
        complete = {run.run: run for run in found.failing}
        for run in found.runs:
            start = opened[run.run % len(opened)]
            try:
                assert_made(game, run, start, how["changes"], seen)
                assert_right(game, complete.get(run.run, run), max_steps=how["max_steps"])
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {how}, {run}") from error
    assert seen["value"] > 300 or perturb == "actions"
    assert seen["action"] > 300 or perturb == "values"


def assert_made(game, run, start, changes, seen):
    """Assert that the changes lead from a state the policy reaches to the run's start."""
    made, explicit = run.made, game.explicit
    assert not run.is_known_reachable and run.to_dict()["known_reachable"] is False
    assert number(made.reached) in reached_under(explicit, game.decisions, [start])
    assert game.is_open(number(made.reached))
    assert len(made.changes) in (0, changes)
    state = number(made.reached)
    for change in made.changes:
        state = changed(explicit, state, change, seen)
    assert number(run.start) == state
    assert state not in explicit.fail and state not in explicit.goal


def changed(explicit, state, change, seen):
    """Return the state after a change that was possible."""
    after = number(change.state)
    assert after in explicit.states
    if change.action is None:
        assert change.variable == "x"
        assert change.value == after + LOWER
        seen["value"] += 1
        return after
    seen["action"] += 1
    choices = explicit.choices(state)
    assert choices, "an action was taken in a terminal state"
    if None in choices:
        ends = explicit.silent_table[state][explicit.silent.index(change.action)]
    else:
        ends = choices[explicit.names.index(change.action)]
    assert after in ends
    return after


# -- the nearest fail state --------------------------------------------------------------------


def ask(call, task, policy, states, **limits):
    packed = b"".join(task.packed(state) for state in states)
    limits = {"max_seconds": 10.0, "max_bytes": 10**9, "max_states": 10**6, **limits}
    return call(task.core, policy.core, packed, progress=None, **limits)


@pytest.mark.fuzz
def test_no_failing_run_is_shorter_than_the_nearest():
    lengths = set()
    for seed in range(TASKS):
        game = Game(seed)
        size = game.rng.randint(1, len(game.starts))
        starts = game.rng.sample(list(game.explicit.states), size)
        least = steps_to_fail(game.explicit, game.decisions, starts)
        nearest = ask(_core.nearest_fail, game.task, game.policy, [values(s) for s in starts])
        found = nearest.run
        assert not nearest.stopped
        assert (found is None) == (least is None)
        lengths.add(least)
        if found is None:
            continue
        actions = found.actions
        states = game.task.unpack_all(found.states)
        assert len(actions) == least == len(states) - 1
        assert number(states[0]) in starts
        named = tuple(game.task.actions[a] for a in actions)
        assert_failing_run(game.explicit, game.decisions, FoundRun(states, named))
    assert {None, 0, 1, 2, 3, 4} <= lengths


class FoundRun:
    """A run as the core gives it."""

    def __init__(self, states, actions):
        self.states, self.actions, self.steps = states, actions, len(actions)


@pytest.mark.fuzz
def test_can_fail_equals_the_reference():
    counts = [0, 0, 0]
    for seed in range(TASKS):
        game = Game(seed)
        found = ask(_core.can_fail, game.task, game.policy, game.starts)
        assert not found.stopped
        answers = list(found.answers)
        assert answers == [int(state in game.failing) for state in game.explicit.states]
        limited = ask(_core.can_fail, game.task, game.policy, game.starts[:1], max_states=1)
        (one,) = limited.answers
        assert one in (2, answers[0])
        counts[one] += 1
    assert min(counts[:2]) > 50


# -- models ------------------------------------------------------------------------------------


@pytest.mark.fuzz
def test_random_models(tmp_path):
    """Runs of random policies on random JANI models are those of the checker."""
    how = {"max_starts": 20, "max_states": 100}
    assert compare_calm_models(tmp_path, range(300), compare_model, **how) > 30


def compare_model(task, explicit, starts, seed):
    """Return how many runs failed."""
    policy = as_policy(f"random?seed={seed}", task)
    decisions = [
        None
        if set(explicit.choices(state)) <= {None}
        else explicit.names.index(policy.decide(explicit.state(state)))
        for state in explicit.states
    ]
    failing = failing_states(explicit, decisions)
    bias = BIASES.built_in[seed % 3]
    found = fuzz(task, policy, starts, runs=3 * len(starts), bias=bias, workers=1, seed=seed)
    for run in found.runs:
        start = explicit.number(run.start)
        assert run.reason != NOTHING_FAILS or start not in failing
        assert run.result != "fail" or start in failing
    for run in found.failing:
        numbers = [explicit.number(state) for state in run.states]
        assert numbers[-1] in explicit.fail
        for one, end in itertools.pairwise(numbers):
            assert end in outcomes_under(explicit, decisions, one)
    return len(found.failing)
