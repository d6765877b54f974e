"""Trees that imitate a policy: what they learn from, that they are those of the library, and that
what is said about them is true.
"""

import json
import os
import sys

import numpy as np
import pytest
from tests.support.networks import random_network

from surefoot import (
    Description,
    DistillOptions,
    InputError,
    OutOfBudget,
    PythonTask,
    Unsupported,
    distill,
    load_policy,
    simulate,
)
from surefoot.errors import SurefootError
from surefoot.policies import as_policy
from surefoot.train.distilling import check_trees_file, write_trees
from surefoot.train.examples import num_applicable
from surefoot.train.fitting import fitted_booster

KINDS = ("xgboost", "forest", "tree")


def field():
    """Walk over a field: each step may slip. The goal is on one side, fail is on the other. Who has
    two loads can do nothing but rest.
    """
    d = Description("field")
    x, y, load = d.int("x", 0, 11), d.int("y", 0, 11), d.int("load", 0, 2)
    d.edge("east", guard=(x < 11) & (load < 2), outcomes=[{x: x + 1}, {}])
    d.edge("west", guard=(x > 0) & (load < 2), outcomes=[{x: x - 1}, {y: (y + 1) % 12}])
    d.edge("north", guard=(y < 11) & (load < 2), outcomes=[{y: y + 1}, {load: load + 1}])
    d.edge("south", guard=(y > 0) & (load < 2), outcomes=[{y: y - 1}])
    d.edge("rest", guard=load > 0, outcomes=[{load: load - 1}])
    d.start((x > 2) & (x < 9))
    d.goal(x == 11)
    d.fail(x == 0)
    return d.compile()


FIELD = field()


def error_of(call, *args, **options):
    with pytest.raises(SurefootError) as caught:
        call(*args, **options)
    return caught.value


@pytest.fixture(autouse=True)
def _libraries():
    pytest.importorskip("xgboost")
    pytest.importorskip("sklearn")


def teacher():
    """A network with random weights: its decisions depend on everything."""
    inputs = [{"variable": name, "mean": 5, "scale": 3} for name in FIELD.names]
    interface = {"surefoot_interface": 1, "inputs": inputs}
    return load_policy(random_network(11, 3, 16, 5), FIELD, interface=interface)


def imitated(policy, **changes):
    """Return trees that imitate a policy on the field."""
    return distill(FIELD, policy, **{"max_steps": 60, **changes})


def examples_by_hand(task, policy, *, runs, seed, max_steps=60):
    """Return states and decisions where there was a choice, state by state."""
    found = simulate(task, policy=policy, runs=runs, seed=seed, max_steps=max_steps)
    pairs = [
        (state, action)
        for run in found.runs
        for state, action in zip(run.states, run.actions, strict=False)
        if action not in task.silent
        and len([a for a in task.applicable(state) if a not in task.silent]) > 1
    ]
    return pairs, found.summary


def agreement_by_hand(pairs, policy):
    return sum(policy.decide(state) == action for state, action in pairs) / len(pairs)


# -- what is said about them -------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_agreement_and_ends_counted_by_hand(kind):
    policy = teacher()
    found = imitated(policy, kind=kind, runs=120, seed=5, depth=2)
    pairs, _ = examples_by_hand(FIELD, policy, runs=120, seed=5)
    fresh, ends = examples_by_hand(FIELD, policy, runs=120, seed=6)
    _, mine = examples_by_hand(FIELD, found.policy, runs=120, seed=6)
    assert (found.examples, found.fresh_examples) == (len(pairs), len(fresh))
    assert found.agreement == agreement_by_hand(pairs, found.policy)
    assert found.fresh_agreement == agreement_by_hand(fresh, found.policy)
    assert 0.5 < found.agreement < 1  # trees this small cannot get it all
    for counted, said in ((ends, found.teacher_ends), (mine, found.trees_ends)):
        assert {end: n for end, n in counted.items() if n and end != "runs"} == said
    taken = {name: sum(action == name for _, action in pairs) for name in FIELD.actions}
    assert found.taken == taken


def test_larger_trees_imitate_better():
    small, large = (imitated(teacher(), trees=n, depth=n, runs=300) for n in (1, 12))
    assert small.agreement < large.agreement
    assert large.fresh_agreement > 0.97
    assert large.policy.model.num_outputs == len(FIELD.actions)
    assert len(large.policy.model.roots) == 12 * len(FIELD.actions)


def test_result_as_text_and_data():
    found = imitated(teacher(), runs=50)
    data = found.to_dict()
    assert data["teacher"]["goal_fraction"] == found.teacher_ends.get("goal", 0) / 50
    assert data["trees"]["fail_fraction"] == found.trees_ends.get("fail", 0) / 50
    assert json.loads(json.dumps(data)) == data
    assert f"agree on {found.agreement:.4f} of {found.examples:,} decisions" in str(found)
    assert f"{found.fresh_agreement:.4f} of {found.fresh_examples:,} fresh ones" in str(found)


# -- fidelity ----------------------------------------------------------------------------------


def random_states(task, count=2000, seed=9):
    rng = np.random.default_rng(seed)
    rows = np.stack([rng.integers(v.lower, v.upper + 1, count) for v in task.variables], axis=1)
    return rows, [task.state(dict(zip(task.names, row, strict=True))) for row in rows.tolist()]


def decided_by(scores, task, states):
    """Return the best applicable action of each state; of equal ones the first."""
    found = []
    for row, state in zip(scores, states, strict=True):
        best = max(
            task.applicable(state),
            key=lambda a: (row[task.actions.index(a)], -task.actions.index(a)),
        )
        found.append(best)
    return found


def fitted_by_hand(kind, rows, labels, outputs):
    """Return the scores of the library itself: a function of rows."""
    if kind == "xgboost":
        import xgboost

        parameters = {"objective": "multi:softprob", "num_class": outputs, "max_depth": 4}
        parameters |= {"learning_rate": 0.3, "nthread": 1}
        booster = xgboost.train(parameters, xgboost.DMatrix(rows, labels), num_boost_round=6)
        return lambda x: booster.predict(xgboost.DMatrix(x), output_margin=True)
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    grown = DecisionTreeClassifier(max_depth=4, random_state=2)
    if kind == "forest":
        grown = RandomForestClassifier(n_estimators=6, max_depth=4, random_state=2)
    grown.fit(rows, labels)

    def scores(x):
        found = np.zeros((len(x), outputs))
        found[:, grown.classes_] = grown.predict_proba(x)
        return found

    return scores


OPTIONS = {
    "xgboost": {"trees": 6, "depth": 4, "rate": 0.3},
    "forest": {"trees": 6, "depth": 4},
    "tree": {"depth": 4},
}
FILES = [("xgboost", "t.json"), ("xgboost", "t.ubj"), ("forest", "t.json"), ("tree", "t.json")]


@pytest.mark.parametrize("kind, name", FILES)
def test_the_written_file_decides_as_the_library_does(tmp_path, kind, name):
    policy = teacher()
    found = imitated(policy, kind=kind, runs=200, seed=2, **OPTIONS[kind])
    files = write_trees(found, tmp_path / name)
    pairs, _ = examples_by_hand(FIELD, policy, runs=200, seed=2)
    rows = np.array([list(state.values()) for state, _ in pairs], dtype=np.float32)
    labels = np.array([FIELD.actions.index(action) for _, action in pairs])
    library = fitted_by_hand(kind, rows, labels, len(FIELD.actions))
    asked, states = random_states(FIELD)
    keep = [i for i, state in enumerate(states) if FIELD.applicable(state)]
    asked, states = asked[keep], [states[i] for i in keep]
    scores = library(asked.astype(np.float32))
    written = load_policy(str(files[0]), FIELD)
    assert written.decide_all(states) == decided_by(scores, FIELD, states)
    assert np.array_equal(written.scorer.scores(asked.astype(np.float64)), scores)
    assert len(set(written.decide_all(states))) > 2
    assert sorted(os.listdir(tmp_path)) == sorted(file.name for file in files)


def test_xgboost_reads_its_own_file(tmp_path):
    import xgboost

    found = imitated(teacher(), runs=50)
    file, interface = write_trees(found, tmp_path / "t.ubj")
    booster = xgboost.Booster(model_file=str(file))
    asked, _ = random_states(FIELD, 50)
    theirs = booster.predict(xgboost.DMatrix(asked.astype(np.float32)), output_margin=True)
    assert np.array_equal(theirs, found.policy.scorer.scores(asked.astype(np.float64)))
    assert interface.name == "t.ubj.interface.json"
    assert json.loads(interface.read_text())["outputs"] == list(FIELD.actions)


@pytest.mark.parametrize("kind", KINDS)
def test_actions_that_are_never_taken_are_outputs_all_the_same(kind):
    found = imitated(teacher(), kind=kind, runs=60)
    never = [name for name, count in found.taken.items() if not count]
    assert never
    assert found.policy.interface.outputs == FIELD.actions
    asked, _ = random_states(FIELD, 200)
    best = found.policy.scorer.scores(asked.astype(np.float64)).argmax(axis=1)
    assert not {FIELD.actions[i] for i in best} & set(never)
    assert found.agreement > 0.9


@pytest.mark.parametrize("kind", KINDS)
def test_a_single_action_is_learned_too(kind):
    def always(state):
        return "b"

    d = Description("choice")
    x = d.int("x", 0, 9, initial=0)
    for name in "abc":
        d.edge(name, guard=x < 9, outcomes=[{x: x + 1}])
    task = d.compile()
    found = distill(task, always, kind=kind, runs=3)
    assert (found.agreement, found.fresh_agreement) == (1.0, 1.0)
    assert found.taken == {"a": 0, "b": 27, "c": 0}
    assert set(found.policy.scores(task.initial_state())) == {"a", "b", "c"}


# -- the same seed -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind, name", FILES)
def test_the_same_seed_gives_the_same_bytes(tmp_path, kind, name):
    contents = []
    for seed in (4, 4, 7):
        found = imitated(teacher(), kind=kind, runs=60, seed=seed)
        contents.append(b"".join(f.read_bytes() for f in write_trees(found, tmp_path / name)))
    assert contents[0] == contents[1]
    assert contents[0] != contents[2]


def test_options_and_keywords():
    given = DistillOptions(runs=40, trees=3, depth=2)
    one = imitated(teacher(), options=given, seed=1)
    two = imitated(teacher(), runs=40, trees=3, depth=2, seed=1)
    assert {**one.to_dict(), "seconds": 0} == {**two.to_dict(), "seconds": 0}
    assert one.original == two.original
    assert error_of(imitated, "first", tree=3).code == "unknown-option"


# -- what they learn from ----------------------------------------------------------------------


def with_silent_steps():
    """``left`` or ``right`` where the clock is off; then the clock ticks, silently."""
    d = Description("ticking")
    x = d.int("x", 0, 20, initial=10)
    on = d.bool("on", initial=False)
    d.edge("left", guard=~on & (x > 0), outcomes=[{x: x - 1, on: True}, {on: True}])
    d.edge("right", guard=~on & (x < 20), outcomes=[{x: x + 1, on: True}])
    d.silent.append("tick")
    d.edge("tick", guard=on, outcomes=[{on: False}])
    d.goal(x == 20)
    d.fail(x == 0)
    return d.compile()


def test_silent_steps_are_no_examples():
    task = with_silent_steps()
    policy = load_policy(lambda state: "left" if state["x"] % 3 == 0 else "right", task)
    found = distill(task, policy, runs=30, max_steps=50)
    pairs, ends = examples_by_hand(task, policy, runs=30, seed=0, max_steps=50)
    assert pairs and found.examples == len(pairs)
    assert not any(state["on"] for state, _ in pairs)
    assert found.policy.interface.outputs == ("left", "right")
    assert found.agreement == 1.0
    assert sum(ends.values()) == 60


def test_how_many_actions_are_applicable():
    states = FIELD.sample_starts(50, seed=1)
    actions = np.array([FIELD.actions.index(FIELD.applicable(state)[0]) for state in states])
    packed = b"".join(state.packed for state in states)
    counts = num_applicable(FIELD, packed, actions)
    assert counts.tolist() == [len(FIELD.applicable(state)) for state in states]
    assert num_applicable(FIELD, b"", actions[:0]).tolist() == []


def test_long_runs_are_cut():
    policy = teacher()
    found = imitated(policy, runs=20, max_steps=2)
    assert found.examples <= 40
    pairs, _ = examples_by_hand(FIELD, policy, runs=20, seed=0, max_steps=2)
    assert found.examples == len(pairs)


class Walk:
    """A task that Python code defines."""

    def start(self):
        return [(3, 0), (5, 1)]

    def actions(self, state):
        return ["left", "right"] if 0 < state[0] < 8 else []

    def outcomes(self, state, action):
        return [(state[0] + (1 if action == "right" else -1), state[1])]

    def is_goal(self, state):
        return state[0] == 8

    def is_fail(self, state):
        return state[0] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_tasks_that_python_defines(tmp_path, kind):
    task = PythonTask(Walk())
    policy = as_policy(lambda state: "left" if state["x1"] else "right", task)
    found = distill(task, policy, kind=kind, runs=10)
    assert (found.agreement, found.fresh_agreement) == (1.0, 1.0)
    assert found.teacher_ends == found.trees_ends
    write_trees(found, tmp_path / "t.json")
    again = load_policy(str(tmp_path / "t.json"), task)
    assert [again.decide({"x0": 4, "x1": x}) for x in (0, 1)] == ["right", "left"]


def test_progress_is_told():
    told = []
    imitated("first", runs=5, trees=3, progress=lambda *one: told.append(one))
    assert [one for one in told if one[0] == "fitting"] == [("fitting", i, 3) for i in (1, 2, 3)]
    assert [what for what, done, total in told if done == total == 5] == [
        "runs of the policy",
        "fresh runs of the policy",
        "runs of the trees",
    ]


def test_ctrl_c_ends_it():
    def interrupt(what, done, total):
        if what == "fitting":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        imitated("first", runs=5, progress=interrupt)


# -- what is refused ---------------------------------------------------------------------------


BAD = {
    "unknown kind": ({"kind": "bush"}, "kind must be one of xgboost, forest, tree"),
    "no trees": ({"trees": 0}, "trees must be at least 1"),
    "no depth": ({"depth": 0}, "depth must be at least 1"),
    "too deep": ({"depth": 31}, "depth must be at most 30"),
    "no runs": ({"runs": 0}, "runs must be at least 1"),
    "no steps": ({"max_steps": 0}, "max_steps must be at least 1"),
    "rate 0": ({"rate": 0}, "rate must be from"),
    "rate above 1": ({"rate": 1.1}, "rate must be from"),
    "rate of a forest": ({"kind": "forest", "rate": 0.1}, "rate has no effect"),
    "trees of a tree": ({"kind": "tree", "trees": 3}, "trees has no effect"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_options(case):
    options, text = BAD[case]
    error = error_of(imitated, "first", **options)
    assert (error.code, text in error.message) == ("bad-option", True)


def test_a_policy_that_never_has_a_choice():
    d = Description("corridor")
    x = d.int("x", 0, 5, initial=0)
    d.edge("on", guard=x < 5, outcomes=[{x: x + 1}])
    error = error_of(distill, d.compile(), "first", runs=7)
    assert (error.code, "in 7 runs" in error.message) == ("no-examples", True)
    assert isinstance(error, InputError)


@pytest.mark.parametrize("kind, module", [("xgboost", "xgboost"), ("tree", "sklearn.tree")])
def test_a_library_that_is_not_installed(monkeypatch, kind, module):
    monkeypatch.setitem(sys.modules, module, None)
    error = error_of(imitated, "first", kind=kind)
    assert isinstance(error, Unsupported)
    assert (error.code, error.hint) == ("missing-library", "pip install 'surefoot[trees]'")
    assert module.partition(".")[0] in error.message


@pytest.mark.parametrize("limits", [{"max_seconds": 0.0}, {"memory_mb": 0}])
def test_budgets(limits):
    assert isinstance(error_of(imitated, teacher(), **limits), OutOfBudget)


def test_no_time_for_fitting():
    def slow(what, done, total):
        if what == "runs of the policy" and done == total:
            import time

            time.sleep(1.2)

    error = error_of(imitated, "first", runs=5, max_seconds=1.0, progress=slow)
    assert isinstance(error, OutOfBudget)


def test_values_beyond_float32():
    d = Description("large")
    x = d.real("x", 0.0, 1e300, initial=1e200)
    d.edge("a", outcomes=[{}])
    d.edge("b", outcomes=[{x: x / 2}])
    error = error_of(distill, d.compile(), "first", runs=1, max_steps=3)
    assert error.code == "value-too-large"


def test_files_for_trees(tmp_path):
    found = imitated("first", kind="tree", runs=5)
    assert error_of(write_trees, found, tmp_path / "t.ubj").code == "wrong-suffix"
    assert error_of(check_trees_file, tmp_path / "t.onnx", "xgboost").code == "unknown-suffix"
    gone = tmp_path / "no" / "t.json"
    assert error_of(check_trees_file, gone, "xgboost").code == "file-not-written"
    assert os.listdir(tmp_path) == []


def test_the_booster_is_that_of_xgboost():
    import xgboost

    rng = np.random.default_rng(1)
    rows = rng.integers(0, 9, (500, 4)).astype(np.float32)
    labels = (rows[:, 0] * 2 + rows[:, 1]).astype(np.int64) % 3
    ours = fitted_booster(rows, labels, 5, DistillOptions(trees=7))
    parameters = {"objective": "multi:softprob", "num_class": 5, "max_depth": 5}
    parameters |= {"learning_rate": 0.4, "nthread": 1}
    theirs = xgboost.train(parameters, xgboost.DMatrix(rows, labels), num_boost_round=7)
    assert ours.save_raw("ubj") == theirs.save_raw("ubj")
