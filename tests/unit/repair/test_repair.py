"""Repair: every fault gone in the evaluated policy, the least change, decisions kept."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from tests.support.networks import grid, random_network

import surefoot
from surefoot.errors import InputError, OutOfBudget, Unsupported
from surefoot.options import RepairOptions
from surefoot.policies import as_policy
from surefoot.policies.models import Corrected, Layer, Network, Trees
from surefoot.policies.trees.forest import assemble
from surefoot.records import Fault
from surefoot.repair import check_repairable, draw_keep_states, repair
from surefoot.repair.choosing import Chooser
from surefoot.repair.decisions import Demand
from surefoot.repair.integer import improved_by_integers
from surefoot.repair.linear import view_of

ACTIONS = 4


def random_trees(rng, *, vector=True, trees=3, float32=True, divide_by=1.0, depth=2):
    """Return an ensemble of random complete trees over three inputs from 0 to 9."""
    from surefoot.policies.trees.forest import Tree

    def tree(output):
        inner = 2**depth - 1
        count = 2 * inner + 1
        numbers = np.arange(count)
        leaf = numbers >= inner
        width = ACTIONS if output == -1 else 1
        values = rng.normal(size=count * width)
        if float32:
            values = values.astype(np.float32).astype(float)
        return Tree(
            leaf=leaf,
            features=rng.integers(0, 3, count),
            thresholds=rng.integers(0, 9, count) + 0.5,
            left=np.where(leaf, 0, 2 * numbers + 1),
            right=np.where(leaf, 0, 2 * numbers + 2),
            places=numbers * width,
            values=values,
            output=output,
        )

    outputs = [-1] * trees if vector else [o for _ in range(trees) for o in range(ACTIONS)]
    return assemble(
        [tree(output) for output in outputs],
        num_inputs=3,
        base=np.zeros(ACTIONS),
        input_precision="float32",
        sum_precision="float32" if float32 else "float64",
        divide_by=divide_by,
    )


def models(rng):
    """Return models of every kind that can be repaired."""
    trees = random_trees(rng)
    return {
        "vector leaves": trees,
        "a tree per action": random_trees(rng, vector=False),
        "forest": random_trees(rng, float32=False, divide_by=3.0),
        "network": random_network(int(rng.integers(1000)), 3, 8, ACTIONS),
        "single layer": random_network(int(rng.integers(1000)), 3, ACTIONS),
        "tanh": _with_last(random_network(1, 3, 8, ACTIONS), "tanh"),
        "relu at the end": _with_last(random_network(2, 3, 8, ACTIONS), "relu"),
        "corrected": Corrected(
            random_network(3, 3, 8, ACTIONS),
            replace(random_trees(rng, float32=False), input_precision="float32"),
        ),
    }


def _with_last(network, activation):
    last = network.layers[-1]
    new = Layer(last.weights, last.biases, activation)
    return Network((*network.layers[:-1], new), network.precision)


KINDS = list(models(np.random.default_rng(0)))


@pytest.fixture(scope="module")
def task():
    return grid(3, ACTIONS)


def policy_of(model, task):
    return as_policy(model, task)


def random_states(task, count, seed):
    """Return different states anywhere in the grid."""
    rows = np.random.default_rng(seed).integers(0, 10, (count, len(task.names)))
    states = [task.state(dict(zip(task.names, row.tolist(), strict=True))) for row in rows]
    return list(dict.fromkeys(states))


def random_faults(task, policy, rng, count):
    """Return decisions of the policy as faults, with one to three others as alternatives."""
    states = random_states(task, count, int(rng.integers(10**6)))
    found = []
    for state, action in zip(states, policy.decide_all(states), strict=True):
        others = [name for name in task.applicable(state) if name != action]
        number = int(rng.integers(1, len(others) + 1))
        some = rng.choice(len(others), size=number, replace=False)
        found.append(Fault(state, action, tuple(others[i] for i in sorted(some))))
    return found


def check_repaired(result, faults, *, any_other=False):
    """Assert that the policy itself decides as the faults ask for."""
    for fault in faults:
        decided = result.policy.decide(fault.state)
        assert decided != fault.action
        assert any_other or decided in fault.alternatives


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_every_fault_is_gone(task, kind, seed):
    rng = np.random.default_rng(seed)
    policy = policy_of(models(rng)[kind], task)
    faults = random_faults(task, policy, rng, 1 + 6 * seed)
    result = repair(task, policy, faults, keep=20)
    check_repaired(result, faults)
    assert result.faults == len(faults)
    assert result.policy.interface == policy.interface


@pytest.mark.parametrize("kind", KINDS)
def test_any_other_action_will_do(task, kind):
    rng = np.random.default_rng(7)
    policy = policy_of(models(rng)[kind], task)
    faults = random_faults(task, policy, rng, 6)
    result = repair(task, policy, faults, keep=0, any_other=True)
    check_repaired(result, faults, any_other=True)
    assert result.keep_states == 0


@pytest.mark.parametrize("kind", KINDS)
def test_penalties_change_the_states_of_faults_only(task, kind):
    rng = np.random.default_rng(8)
    model = models(rng)[kind]
    policy = policy_of(model, task)
    faults = random_faults(task, policy, rng, 5)
    result = repair(task, policy, faults, method="penalty", keep=0)
    check_repaired(result, faults)
    guilty = {fault.state for fault in faults}
    others = [state for state in random_states(task, 300, 3) if state not in guilty]
    assert result.policy.decide_all(others) == policy.decide_all(others)
    assert result.trees_added == len(faults)


def parameters_of(model):
    return view_of(model).parameters


@pytest.mark.parametrize("kind", KINDS)
def test_distance_and_counts_are_those_of_the_models(task, kind):
    rng = np.random.default_rng(9)
    policy = policy_of(models(rng)[kind], task)
    faults = random_faults(task, policy, rng, 8)
    result = repair(task, policy, faults, keep=0)
    before, after = parameters_of(policy.model), parameters_of(result.policy.model)
    # a network that got trees has their values behind its own parameters
    padded = np.concatenate([before, np.zeros(len(after) - len(before))])
    change = np.abs(after - padded)
    assert result.distance == pytest.approx(change.sum())
    assert result.changed_parameters == (change > 0).sum()
    assert result.added_parameters == (change[len(before) :] > 0).sum()


def test_values_are_in_the_precision_of_the_model(task):
    rng = np.random.default_rng(3)
    policy = policy_of(random_trees(rng), task)
    result = repair(task, policy, random_faults(task, policy, rng, 10), keep=0)
    values = result.policy.model.values
    assert (values == values.astype(np.float32)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_same_question_same_answer(task, kind):
    def once():
        rng = np.random.default_rng(5)
        policy = policy_of(models(rng)[kind], task)
        return repair(task, policy, random_faults(task, policy, rng, 12), keep=30).policy.model

    one, other = parameters_of(once()), parameters_of(once())
    assert one.tobytes() == other.tobytes()


# -- the least change --------------------------------------------------------------------------


def chooser_for(model, rows, demands, margin=0.001):
    view = view_of(model)
    scores = view.scores(rows)
    return Chooser(
        view, view.look_at(rows), scores, demands, [margin] * len(demands), seconds_left=lambda: 60
    )


def least_by_trying_all(model, rows, demands):
    """Return the least cost over all choices of an alternative for each demand."""
    best = math.inf
    for choice in itertools.product(*(demand.good for demand in demands)):
        fixed = [replace(d, good=(c,)) for d, c in zip(demands, choice, strict=True)]
        found = chooser_for(model, rows, fixed).solve()
        if found is not None:
            best = min(best, found.objective)
    return best


def random_demands(rng, model, count):
    rows = np.unique(rng.integers(0, 10, (count, 3)), axis=0).astype(float)
    scores = model.scorer().scores(rows)
    demands = []
    for row, decided in enumerate(scores.argmax(axis=1).tolist()):
        good = tuple(o for o in range(ACTIONS) if o != decided)[: int(rng.integers(1, 4))]
        bad = tuple(o for o in range(ACTIONS) if o not in good)
        demands.append(Demand(None, row, good, bad))
    return rows, demands


@pytest.mark.parametrize("seed", range(12))
def test_integer_program_finds_the_least_change(seed):
    rng = np.random.default_rng(seed)
    model = random_trees(rng) if seed % 2 else random_network(seed, 3, 6, ACTIONS)
    rows, demands = random_demands(rng, model, 5)
    least = least_by_trying_all(model, rows, demands)
    chooser = chooser_for(model, rows, demands)
    first = chooser.solve()
    if first is None:
        if chooser.conflict(50):
            assert least == math.inf
            return
        first = chooser.solve()
    flipped = chooser.improve(first, 50)
    assert least - 1e-6 <= flipped.objective <= first.objective + 1e-6
    how = replace(RepairOptions(), solver_seconds=20.0)
    best, bound = improved_by_integers(chooser, flipped, how, 20.0)
    assert best.objective == pytest.approx(least, abs=1e-6)
    assert bound <= best.objective + 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_a_single_alternative_is_solved_to_the_end(task, seed):
    rng = np.random.default_rng(seed)
    policy = policy_of(random_trees(rng, trees=5), task)
    faults = [replace(f, alternatives=f.alternatives[:1]) for f in
              random_faults(task, policy, rng, 3)]  # fmt: skip
    result = repair(task, policy, faults, keep=0)
    check_repaired(result, faults)
    assert result.gap == pytest.approx(0.0, abs=1e-9)


def test_solver_seconds_never_make_it_worse(task):
    rng = np.random.default_rng(11)
    policy = policy_of(random_trees(rng, trees=6), task)
    faults = random_faults(task, policy, rng, 12)
    quick = repair(task, policy, faults, keep=0, any_other=True)
    slow = repair(task, policy, faults, keep=0, any_other=True, solver_seconds=5.0)
    assert slow.distance <= quick.distance + 1e-6
    assert slow.gap is not None and slow.gap >= 0


# -- keeping -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_decisions_are_kept_where_possible(task, kind):
    rng = np.random.default_rng(13)
    policy = policy_of(models(rng)[kind], task)
    faults = random_faults(task, policy, rng, 6)
    guilty = {fault.state for fault in faults}
    states = [s for s in random_states(task, 400, 5) if s not in guilty]
    keep = list(zip(states, policy.decide_all(states), strict=True))
    result = repair(task, policy, faults, keep)
    check_repaired(result, faults)
    decided = result.policy.decide_all(states)
    lost = sum(new != old for new, (_, old) in zip(decided, keep, strict=True))
    assert lost == result.keep_lost
    assert lost == 0, "all states have other inputs, so trees can tell them apart"
    careless = repair(task, policy, faults, keep=0)
    assert careless.distance <= result.distance + 1e-6


def test_keep_states_are_those_of_goal_runs(task):
    line = surefoot.load_task("domain:one-way-line?packages=4&locations=6")
    policy = as_policy("first", line)
    found = draw_keep_states(policy, 50, seed=1)
    assert len(found) == len({state for state, _ in found}) <= 50
    assert all(policy.decide(state) == action for state, action in found)


# -- conflicts ---------------------------------------------------------------------------------


def test_states_in_the_same_leaves_are_separated(task):
    one_leaf = Trees(
        num_inputs=3,
        num_outputs=ACTIONS,
        roots=np.array([0], dtype=np.int32),
        features=np.array([-1], dtype=np.int32),
        thresholds=np.zeros(1),
        left=np.zeros(1, dtype=np.int32),
        right=np.array([-1], dtype=np.int32),
        values=np.array([1.0, 0.0, 0.0, 0.0]),
        base=np.zeros(ACTIONS),
        input_precision="float32",
        sum_precision="float32",
    )
    policy = policy_of(one_leaf, task)
    states = random_states(task, 9, 2)
    names = task.actions
    faults = [
        Fault(state, names[0], (names[1 + number % 2],)) for number, state in enumerate(states)
    ]
    result = repair(task, policy, faults, keep=0)
    check_repaired(result, faults)
    assert result.trees_added >= 1


def test_a_network_gets_trees_where_its_layer_does_not_suffice(task):
    network = random_network(4, 3, 2, ACTIONS)
    policy = policy_of(network, task)
    rng = np.random.default_rng(1)
    faults = [replace(f, alternatives=f.alternatives[:1]) for f in
              random_faults(task, policy, rng, 40)]  # fmt: skip
    result = repair(task, policy, faults, keep=0)
    check_repaired(result, faults)
    assert isinstance(result.policy.model, Corrected)
    assert result.trees_added >= 1


def test_same_inputs_with_different_actions_contradict_each_other(task):
    """The policy sees the first variable only."""
    names = task.actions
    interface = {"surefoot_interface": 1, "inputs": [task.names[0]], "outputs": list(names)}
    network = random_network(5, 1, ACTIONS)
    policy = surefoot.load_policy(network, task, interface=interface)
    value = dict.fromkeys(task.names, 0)
    one, other = task.state(value), task.state({**value, task.names[1]: 1})
    action = policy.decide(one)
    first, second = [name for name in task.applicable(one) if name != action][:2]
    faults = [Fault(one, action, (first,)), Fault(other, action, (second,))]
    with pytest.raises(InputError) as error:
        repair(task, policy, faults)
    assert error.value.code == "contradictory-faults"
    assert str(one) in error.value.message and str(other) in error.value.message


def test_nothing_left_to_take(task):
    policy = policy_of(random_trees(np.random.default_rng(0)), task)
    state = random_states(task, 1, 0)[0]
    faults = [Fault(state, name, task.actions) for name in task.actions]
    with pytest.raises(InputError) as error:
        repair(task, policy, faults)
    assert error.value.code == "contradictory-faults"


# -- bad input ---------------------------------------------------------------------------------


def test_policies_that_cannot_be_repaired(task):
    for policy in ("first", lambda state: task.actions[0]):
        with pytest.raises(Unsupported) as error:
            check_repairable(as_policy(policy, task))
        assert "networks and tree ensembles" in error.value.hint


def test_bad_options(task):
    policy = policy_of(random_trees(np.random.default_rng(0)), task)
    fault = Fault(random_states(task, 1, 0)[0], task.actions[0], task.actions[1:])
    for option, value in (("method", "maximal"), ("solver", "cplex")):
        with pytest.raises(InputError) as error:
            repair(task, policy, [fault], **{option: value})
        assert error.value.code == "bad-option"
    with pytest.raises(InputError) as error:
        repair(task, policy, [])
    assert error.value.code == "no-faults"
    with pytest.raises(InputError) as error:
        repair(task, policy, ["fault"])
    assert error.value.code == "not-a-fault"


def test_no_time_is_no_repair(task):
    policy = policy_of(random_trees(np.random.default_rng(0)), task)
    state = random_states(task, 1, 0)[0]
    fault = Fault(state, policy.decide(state), task.actions)
    with pytest.raises(OutOfBudget):
        repair(task, policy, [fault], max_seconds=0)


def test_missing_solvers_are_named(task, monkeypatch):
    policy = policy_of(random_trees(np.random.default_rng(0)), task)
    state = random_states(task, 1, 0)[0]
    fault = Fault(state, policy.decide(state), task.actions)
    for solver, module in (("gurobi", "gurobipy"), ("highs", "highspy")):
        monkeypatch.setitem(__import__("sys").modules, module, None)
        with pytest.raises(Unsupported) as error:
            repair(task, policy, [fault], solver=solver)
        assert error.value.code == "solver-missing" and "pip install" in error.value.hint
        monkeypatch.undo()


def test_actions_of_another_task(task):
    policy = policy_of(random_trees(np.random.default_rng(0)), task)
    fault = Fault(random_states(task, 1, 0)[0], "no such action", ())
    with pytest.raises(InputError) as error:
        repair(task, policy, [fault])
    assert error.value.code == "fault-other-task"


# -- diffs -------------------------------------------------------------------------------------


def test_diff_counts_changed_decisions_on_visited_states(task):
    rng = np.random.default_rng(21)
    policy = policy_of(random_trees(rng), task)
    faults = random_faults(task, policy, rng, 5)
    result = repair(task, policy, faults, keep=0, diff_states=200)
    assert 0 < result.diff.states <= 200
    for change in result.diff.examples:
        assert policy.decide(change.state) == change.before
        assert result.policy.decide(change.state) == change.after != change.before
    assert result.diff.changed >= len(result.diff.examples)
