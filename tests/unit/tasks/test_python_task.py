"""Tasks in Python: the same counts as the same task written down."""

import pickle
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from surefoot import Description, InputError, PythonTask, evaluate, explore, simulate
from surefoot.errors import Unsupported
from surefoot.tasks.python_task import REQUIRED_METHODS

TOP = 6


class Tuples:
    """A walk on a grid, over tuples."""

    def start(self):
        return [(0, 0), (1, 0)]

    def actions(self, state):
        x, y = state
        return [
            name
            for name, possible in (("right", x < TOP), ("up", y < TOP), ("stay", x == y))
            if possible
        ]

    def outcomes(self, state, action):
        x, y = state
        if action == "right":
            return [(x + 1, y), (x, y), (x + 1, y)]
        return [(x, y + 1)] if action == "up" else [state]

    def is_goal(self, state):
        return state[0] == TOP

    def is_fail(self, state):
        return state[0] - state[1] >= 3


class Dicts:
    """The same over dictionaries, written in any order of keys."""

    inner = Tuples()

    def start(self):
        return [{"x": x, "y": y} for x, y in self.inner.start()]

    def actions(self, state):
        return self.inner.actions((state["x"], state["y"]))

    def outcomes(self, state, action):
        return [{"y": y, "x": x} for x, y in self.inner.outcomes((state["x"], state["y"]), action)]

    def is_goal(self, state):
        return state["x"] == TOP

    def is_fail(self, state):
        return state["x"] - state["y"] >= 3


def declared():
    d = Description("grid")
    x, y = d.int("x", 0, TOP), d.int("y", 0, TOP)
    d.edge("right", guard=x < TOP, outcomes=[{x: x + 1}, {}, {x: x + 1}])
    d.edge("up", guard=y < TOP, outcomes=[{y: y + 1}])
    d.edge("stay", guard=x == y, outcomes=[{}])
    d.start((y == 0) & (x <= 1))
    d.goal(x == TOP)
    d.fail(x - y >= 3)
    return d.compile()


def counts_of(task):
    counts = explore(task)
    assert counts.complete
    names = (
        "states",
        "starts",
        "expanded",
        "pairs",
        "outcomes",
        "fail",
        "goal",
        "dead_ends",
        "depth",
    )
    return {name: getattr(counts, name) for name in names}


@pytest.mark.parametrize("definition", [Tuples, Dicts])
def test_same_counts_as_the_declared_task(definition):
    assert counts_of(PythonTask(definition())) == counts_of(declared())


def test_answers_about_single_states():
    task = PythonTask(Tuples(), names=("x", "y"))
    state = task.state((2, 2))
    assert state == {"x": 2, "y": 2}
    assert task.applicable(state) == ("right", "up", "stay")
    assert [s.values_tuple for s in task.outcomes(state, "right")] == [(3, 2), (2, 2)]
    assert task.outcomes((2, 1), "stay") == ()
    assert (task.is_fail((4, 1)), task.is_goal((TOP, 5)), task.is_goal((TOP, 0))) == (
        True,
        True,
        False,
    )
    assert task.initial_state() == {"x": 0, "y": 0}
    with pytest.raises(InputError) as caught:
        task.outcomes(state, "rihgt")
    assert caught.value.hint == 'did you mean "right"?'
    assert PythonTask(Dicts()).state(x=1, y=2) == {"x": 1, "y": 2}
    assert PythonTask(Tuples()).state((1, 2)) == {"x0": 1, "x1": 2}


def test_runs_go_where_the_definition_says():
    task = PythonTask(Tuples(), names=("x", "y"))
    for run in simulate(task, runs=30, seed=2).runs:
        assert run.states[0].values_tuple in Tuples().start()
        for state, action, after in zip(run.states, run.actions, run.states[1:], strict=False):
            assert action in Tuples().actions(state.values_tuple)
            assert after.values_tuple in Tuples().outcomes(state.values_tuple, action)
        last = run.states[-1].values_tuple
        if run.result == "cut":  # a policy that is a function may go round in a circle
            assert run.steps == 100
            assert Tuples().actions(last)
            continue
        expected = (
            "fail" if Tuples().is_fail(last) else "goal" if Tuples().is_goal(last) else "dead_end"
        )
        assert run.result == expected


def test_same_runs_for_the_same_seed_on_a_fresh_task():
    first, second = (simulate(PythonTask(Tuples()), runs=5, seed=4) for _ in range(2))
    assert first.runs == second.runs


def test_no_start_and_no_outcome():
    class Empty(Tuples):
        def start(self):
            return []

    class Stuck(Tuples):
        def outcomes(self, state, action):
            return []

    for call in (
        explore,
        simulate,
        lambda task: task.sample_starts(1),
        lambda task: task.initial_state(),
    ):
        with pytest.raises(InputError) as caught:
            call(PythonTask(Empty()))
        assert caught.value.code == "no-start-state"
    for call in (explore, simulate):
        with pytest.raises(InputError) as caught:
            call(PythonTask(Stuck()))
        assert caught.value.code == "no-outcome"
        assert any(f'"{name}"' in caught.value.message for name in Tuples().actions((0, 0)))


NOT_CALLABLE = type("NotCallable", (Tuples,), {"actions": ["up"]})
NOT_A_TASK = {"list": [], "attribute": NOT_CALLABLE(), "class": Tuples, "None": None}


@pytest.mark.parametrize("thing", NOT_A_TASK.values(), ids=NOT_A_TASK)
def test_definitions_without_the_five_methods_are_refused(thing):
    with pytest.raises(InputError) as caught:
        PythonTask(thing)
    assert caught.value.code == "not-a-task"
    assert caught.value.hint


def test_a_class_of_static_methods_is_a_definition():
    methods = {m: staticmethod(getattr(Tuples(), m)) for m in REQUIRED_METHODS}
    assert counts_of(PythonTask(type("Static", (), methods))) == counts_of(declared())


RETURNED = {
    "actions None": ("actions", None, "bad-actions"),
    "actions text": ("actions", "up", "bad-actions"),
    "actions number": ("actions", 3, "bad-actions"),
    "action is a number": ("actions", ["up", 3], "bad-actions"),
    "action is a list": ("actions", [["up"]], "bad-actions"),
    "action is empty": ("actions", [""], "bad-actions"),
    "outcomes None": ("outcomes", None, "bad-outcomes"),
    "outcomes text": ("outcomes", "ab", "bad-outcomes"),
    "outcomes one dictionary": ("outcomes", {"x": 1}, "bad-outcomes"),
    "outcomes number": ("outcomes", 7, "bad-outcomes"),
    "outcomes one tuple": ("outcomes", (1, 1), "bad-state"),
    "outcome longer": ("outcomes", [(1, 1, 1)], "bad-state"),
    "outcome of another type": ("outcomes", ["crash"], "bad-state"),
    "outcome None": ("outcomes", [None], "bad-state"),
    "outcome dictionary": ("outcomes", [{"x": 1, "y": 1}], "bad-state"),
    "outcome unhashable": ("outcomes", [(1, [1])], "bad-state"),
    "start None": ("start", None, "bad-start"),
    "start one dictionary": ("start", {"x": 0}, "bad-start"),
    "starts of two shapes": ("start", [(0, 0), (0,)], "bad-state"),
}


@pytest.mark.parametrize("method, returned, code", RETURNED.values(), ids=RETURNED)
def test_wrong_answers_of_the_definition_are_named(method, returned, code):
    definition = type("Wrong", (Tuples,), {method: lambda self, *args: returned})()
    with pytest.raises(InputError) as caught:
        explore(PythonTask(definition))
    assert caught.value.code == code
    if method == "actions":
        assert "in state (0, 0)" in caught.value.message


def test_dictionaries_have_the_same_keys():
    class Growing(Dicts):
        def outcomes(self, state, action):
            return [{**state, "z": 1}]

    with pytest.raises(InputError) as caught:
        explore(PythonTask(Growing()))
    assert caught.value.code == "bad-state"
    assert "'z'" in caught.value.message


@pytest.mark.parametrize(
    "given, code",
    [({"x": 1}, "missing-variable"), ({"x": 1, "y": 1, "z": 1}, "unknown-variable")],
)
@pytest.mark.parametrize("task", [PythonTask(Dicts()), PythonTask(Tuples(), names=("x", "y"))])
def test_states_by_name_are_complete(task, given, code):
    with pytest.raises(InputError) as caught:
        task.state(given)
    assert caught.value.code == code
    assert task.state(declared().state(x=1, y=2)) == {"x": 1, "y": 2}


@pytest.mark.parametrize("wrong", [3, "x=3", (1, 2, 3)])
def test_what_is_no_state_is_refused_before_anything_else(wrong):
    with pytest.raises(InputError) as caught:
        PythonTask(Tuples()).applicable(wrong)
    assert caught.value.code == "bad-state"


def test_names_must_fit_the_states():
    with pytest.raises(InputError) as caught:
        PythonTask(Tuples(), names=("x",)).initial_state()
    assert caught.value.code == "bad-option"


class Own(Exception):
    """An exception of the user."""


@pytest.mark.parametrize("method", ["start", "actions", "outcomes", "is_goal", "is_fail"])
@pytest.mark.parametrize("call", [explore, simulate])
@pytest.mark.parametrize("error", [Own("mine"), KeyboardInterrupt(), RecursionError("deep")])
def test_exceptions_of_the_definition_come_out_unchanged(method, call, error):
    def broken(self, *args):
        raise error

    definition = type("Broken", (Tuples,), {method: broken})()
    with pytest.raises(type(error)) as caught:
        call(PythonTask(definition))
    assert caught.value is error


def test_keyboard_interrupt_stops_at_once():
    class Endless(Tuples):
        calls = 0

        def is_fail(self, state):
            Endless.calls += 1
            if Endless.calls == 100:
                raise KeyboardInterrupt
            return False

        def actions(self, state):
            return ["on"]

        def outcomes(self, state, action):
            return [(state[0] + 1, 0)]

        def is_goal(self, state):
            return False

    with pytest.raises(KeyboardInterrupt):
        explore(PythonTask(Endless()))
    assert Endless.calls == 100
    Endless.calls = -(10**9)
    counts = explore(PythonTask(Endless()), max_states=500)
    assert (counts.complete, counts.states) == (False, 500)


class Slow(tuple):
    """A state whose hash lets another thread run."""

    def __hash__(self):
        time.sleep(0)
        return super().__hash__()


class SlowTuples(Tuples):
    """The walk over such states."""

    def start(self):
        return [Slow((x, 0)) for x in range(4)]

    def outcomes(self, state, action):
        return [Slow(each) for each in super().outcomes(state, action)]


@pytest.mark.parametrize("round", range(10))
def test_threads_that_share_a_task_meet_each_state_once(round):
    policies = ("first", "random?seed=4")
    alone = [evaluate(PythonTask(SlowTuples()), policy).unsafe for policy in policies]
    task = PythonTask(SlowTuples())
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda policy: evaluate(task, policy).unsafe, policies * 6))
    assert answers == alone * 6
    assert len(set(task._states)) == len(task._states)


def test_a_task_says_that_it_cannot_be_pickled():
    with pytest.raises(Unsupported, match=r'"grid" cannot be pickled: it is Python code'):
        pickle.dumps(PythonTask(Tuples(), name="grid"))
