"""The rules of certificates, each with one certificate that breaks it and nothing else."""

import json
import math
import time

import pytest
from tests.support.jani import X, automaton, bounded, condition, edge, op, pa, var
from tests.support.jani import model as jani

from surefoot import checker
from surefoot.checker import ModelError, OutOfTime, Rejected, Variable, check_certificate
from surefoot.reference import ExplicitTask, certificate_of


def task(*table, **more):
    return ExplicitTask(table=table, names=("a0", "a1"), **more)


def certificate(claim, task, entries, *, radius=None, decisions=None, **changes):
    """Return a task and a certificate about its state 0 that lists all its states in order."""
    found = {
        "surefoot": "0.1.0",
        "certificate": 1,
        "claim": claim,
        "radius": radius,
        "task": {"name": "test", "sha256": "", "source": None, "options": {}},
        "policy": None if radius is None else "first",
        "variables": ["state"],
        "actions": ["a0", "a1"],
        "state": 0,
        "states": [[state] for state in task.states],
        "choices" if claim == "safe" else "ranks": [list(each) for each in entries],
    }
    if radius is not None:
        found["decisions"] = [(decisions or {}).get(state) for state in task.states]
    return task, found | changes


def safe(task, *entries, **more):
    return certificate("safe", task, entries, **more)


def unsafe(task, *entries, **more):
    return certificate("unsafe", task, entries, **more)


STAY = ((0,),)
STAY_OR_FAIL = task(((0,), (1,)), (), fail={1})
ONLY_FAIL = task(((1,),), (), fail={1})
FORCED = task((), (), silent_table=(((1,),), ()))
FORCED_TO_FAIL = task((), (), silent_table=(((0,), (1,)), ()), fail={1})
# From 0 over 1 and 2 to fail (4) by action 0; action 1 stops in 3. The policy goes on.
LINE = task(((1,), (3,)), ((2,), (3,)), ((4,), (3,)), (), (), fail={4})
GO_ON = {0: 0, 1: 0, 2: 0}
# Two differences from "always action 0", which fails (3), lead from 0 over 1 to the dead end 2.
TWICE = task(((3,), (1,)), ((3,), (2,)), (), (), fail={3})
# Action 0 goes over 1 to fail (2), action 1 stays in 0: safe, but with a difference on a cycle.
CYCLE = task(((1,), (0,)), ((2,),), (), fail={2})
TO_FAIL = {0: 0, 1: 0}
LOUD_AND_SILENT = task(STAY, (), silent_table=(((1,),), ()), fail={1})

ACCEPTED = {
    # Safe
    "dead end": safe(task(())),
    "goal": safe(task(((1,),), (), goal={0}, fail={1})),
    "loop": safe(STAY_OR_FAIL, (0, 0)),
    "states nobody lists": safe(task(((1, 2),), (), STAY, goal={2}), (0, 0), states=[[0]]),
    "entries nobody needs": safe(task((), ((1,),)), (1, 0)),
    "forced step": safe(FORCED, (0, None)),
    "silent steps are not taken": safe(LOUD_AND_SILENT, (0, 0)),
    # Unsafe
    "fail": unsafe(task((), fail={0}), (0, 7)),
    "fail and goal": unsafe(task((), fail={0}, goal={0}), (0, 0)),
    "fail with actions": unsafe(task(STAY, fail={0}), (0, 0)),
    "only fail": unsafe(ONLY_FAIL, (0, 5), (1, 3)),
    "one bad outcome": unsafe(task(((0, 1),), (), fail={1}), (0, 1), (1, 0)),
    "huge ranks": unsafe(ONLY_FAIL, (0, 10**5000), (1, 10**4999)),
    "forced to fail": unsafe(FORCED_TO_FAIL, (0, 1), (1, 0)),
    "silent steps are no escape": unsafe(
        task(((1,),), (), silent_table=(((0,),), ()), fail={1}), (0, 1), (1, 0)
    ),
    # Safe, with a radius
    "as the policy": safe(LINE, (0, 0, 1), radius=0, decisions={0: 1}),
    "one difference": safe(LINE, (0, 1, 1), radius=1, decisions=GO_ON),
    "at the last moment": safe(LINE, (0, 1, 0), (1, 1, 0), (2, 1, 1), radius=1, decisions=GO_ON),
    "two differences": safe(TWICE, (0, 2, 1), (1, 1, 1), radius=2, decisions=TO_FAIL),
    "few are good for more": safe(LINE, (0, 1, 1), radius=3, decisions=GO_ON),
    "huge radius": safe(LINE, (0, 1, 1), radius=10**5000, decisions=GO_ON),
    "two for one state": safe(LINE, (0, 2, 0), (0, 1, 1), (1, 2, 1), radius=2, decisions=GO_ON),
    "unknown decisions are differences": safe(LINE, (0, 1, 1), radius=1),
    "forced step is no difference": safe(FORCED, (0, 0, None), radius=0),
    # Unsafe, with a radius
    "as the policy, to fail": unsafe(
        LINE, (0, 0, 9), (1, 0, 8), (2, 0, 5), (4, 0, 1), radius=0, decisions=GO_ON
    ),
    "many are good for fewer": unsafe(
        CYCLE, (0, 1, 3), (0, 0, 2), (1, 1, 1), (2, 1, 0), radius=1, decisions=TO_FAIL
    ),
    "a rank found with more is better": unsafe(
        task(((2,), (1,)), ((2,),), (), fail={2}),
        *((0, 1, 3), (1, 0, 9), (1, 1, 2), (2, 1, 0)),
        radius=1,
        decisions=TO_FAIL,
    ),
    "forced to fail, within a radius": unsafe(FORCED_TO_FAIL, (0, 2, 1), (1, 2, 0), radius=2),
    "unsafe within every radius": unsafe(
        CYCLE, (0, 2), (1, 1), (2, 0), radius="finite", decisions=TO_FAIL
    ),
    "forced to fail, within every radius": unsafe(FORCED_TO_FAIL, (0, 1), (1, 0), radius="finite"),
}

REJECTED = {
    # Safe
    "no choice": (safe(STAY_OR_FAIL), "state 0 .* not covered"),
    "the state fails": (safe(task((), fail={0})), "fails"),
    "fail beats goal": (safe(task((), fail={0}, goal={0})), "fails"),
    "choice in a fail state": (safe(task(STAY, fail={0}), (0, 0)), "fail or goal"),
    "choice in a goal state": (safe(task(STAY, goal={0}), (0, 0)), "fail or goal"),
    "choice in a dead end": (safe(task(()), (0, 0)), "a0 is not applicable"),
    "choice that is not applicable": (safe(task(STAY), (0, 1)), "a1 is not applicable"),
    "silent choice": (
        safe(task((), silent_table=(((0,),),)), (0, 0), actions=["silent0"]),
        "'silent0' is not known, or silent",
    ),
    "forced step where an action is applicable": (
        safe(task(STAY, silent_table=(((0,),),)), (0, None)),
        "forced step is not applicable",
    ),
    "forced step in a dead end": (safe(task(()), (0, None)), "forced step is not applicable"),
    "outcome without choice": (safe(task(((1,),), ((1,),)), (0, 0)), "not covered"),
    "outcome fails": (safe(ONLY_FAIL, (0, 0)), "fails"),
    "outcome fails, not listed": (safe(ONLY_FAIL, (0, 0), states=[[0]]), "fails"),
    "outcome is fail and goal": (safe(task(((1,),), (), fail={1}, goal={1}), (0, 0)), "fails"),
    "second outcome fails": (safe(task(((0, 1),), (), fail={1}), (0, 0)), "fails"),
    "second silent action fails": (safe(FORCED_TO_FAIL, (0, None)), "forced step .* fails"),
    "entry nobody needs is wrong": (safe(task((), ((2,),), (), fail={2}), (1, 0)), "state 1"),
    # Unsafe
    "no rank": (unsafe(ONLY_FAIL, (1, 0)), "state 0 .* has no rank"),
    "rank in a dead end": (unsafe(task(()), (0, 0)), "terminal"),
    "rank in a goal state": (
        unsafe(task(((1,),), (), fail={1}, goal={0}), (0, 1), (1, 0)),
        "terminal",
    ),
    "an action escapes": (
        unsafe(task(((1,), (2,)), (), (), fail={1}), (0, 1), (1, 0)),
        "a1 .* no outcome of smaller rank",
    ),
    "a loop escapes": (unsafe(STAY_OR_FAIL, (0, 1), (1, 0)), "a0 .* no outcome of smaller rank"),
    "equal rank": (unsafe(ONLY_FAIL, (0, 0), (1, 0)), "no outcome of smaller rank"),
    "larger rank": (unsafe(ONLY_FAIL, (0, 0), (1, 1)), "no outcome of smaller rank"),
    "ranks on a cycle": (unsafe(task(((1,),), ((0,),)), (0, 1), (1, 0)), "state 1"),
    "fail without rank": (unsafe(ONLY_FAIL, (0, 1)), "no outcome of smaller rank"),
    "forced step escapes": (unsafe(FORCED, (0, 1)), "forced step .* no outcome of smaller"),
    "silent step is not taken": (unsafe(LOUD_AND_SILENT, (0, 1), (1, 0)), "a0"),
    # Safe, with a radius
    "no choice within the radius": (safe(LINE, radius=1, decisions=GO_ON), "not covered"),
    "one difference too many": (safe(LINE, (0, 0, 1), radius=0, decisions=GO_ON), "difference"),
    "an unknown decision is a difference": (safe(LINE, (0, 0, 1), radius=0), "difference"),
    "more are not good for fewer": (
        safe(TWICE, (0, 1, 1), (1, 1, 1), radius=1, decisions=TO_FAIL),
        "a1 in state 0 .* not covered",
    ),
    "as the policy, to fail": (
        safe(LINE, (0, 1, 0), (1, 1, 0), (2, 1, 0), radius=1, decisions=GO_ON),
        "a0 in state 2",
    ),
    "more remaining than the radius": (
        safe(LINE, (0, 2, 1), radius=1, decisions=GO_ON),
        "remaining .* out of range",
    ),
    "less than nothing remains": (
        safe(LINE, (0, -1, 1), radius=1, decisions={0: 1}),
        "remaining .* out of range",
    ),
    "safe within some radius is not a claim": (
        safe(LINE, (0, 1), radius="finite", decisions=GO_ON),
        "radius",
    ),
    # Unsafe, with a radius
    "rank for fewer differences than claimed": (
        unsafe(CYCLE, (0, 0, 2), (1, 0, 1), (2, 0, 0), radius=1, decisions=TO_FAIL),
        "state 0 .* has no rank",
    ),
    "rank with a decision missing": (
        unsafe(CYCLE, (0, 0, 2), (1, 0, 1), (2, 0, 0), radius=0, decisions={1: 0}),
        "decision in state 0 .* missing",
    ),
    "the decision escapes": (
        unsafe(STAY_OR_FAIL, (0, 0, 1), (1, 0, 0), radius=0, decisions={0: 0}),
        "a0 in state 0",
    ),
    "the decision goes to equal rank": (
        unsafe(ONLY_FAIL, (0, 0, 1), (1, 0, 1), radius=0, decisions={0: 0}),
        "a0 in state 0",
    ),
    "a difference escapes": (
        unsafe(LINE, (0, 1, 9), (1, 1, 8), (2, 1, 5), (4, 1, 1), radius=1, decisions=GO_ON),
        "a1 in state 0",
    ),
    "a difference goes to equal rank": (
        unsafe(CYCLE, (0, 1, 3), (1, 1, 1), (2, 1, 0), radius=1, decisions=TO_FAIL),
        "a1 in state 0",
    ),
    "fewer are not good for more": (
        unsafe(CYCLE, (0, 1, 3), (0, 0, 2), (1, 0, 1), (2, 1, 0), radius=1, decisions=TO_FAIL),
        "a0 in state 0",
    ),
    "fewer are not good for more, also in a fail state": (
        unsafe(CYCLE, (0, 1, 3), (0, 0, 2), (1, 1, 1), (2, 0, 0), radius=1, decisions=TO_FAIL),
        "a0 in state 1",
    ),
    "forced step keeps what remains": (
        unsafe(FORCED_TO_FAIL, (0, 1, 1), (1, 0, 0), radius=1),
        "forced step in state 0",
    ),
    "rank in a dead end, within a radius": (unsafe(task(()), (0, 0, 0), radius=0), "terminal"),
    "rank in a goal state, within a radius": (
        unsafe(task(((1,),), (), fail={1}, goal={0}), (0, 0, 1), (1, 0, 0), radius=0),
        "terminal",
    ),
    # Unsafe, within every radius
    "no rank within every radius": (unsafe(CYCLE, radius="finite", decisions=TO_FAIL), "no rank"),
    "the decision need not shrink": (
        unsafe(STAY_OR_FAIL, (0, 1), (1, 0), radius="finite", decisions={0: 0}),
        "a0 in state 0",
    ),
    "a difference escapes every rank": (
        unsafe(LINE, (0, 3), (1, 2), (2, 1), (4, 0), radius="finite", decisions=GO_ON),
        "a1 in state 0",
    ),
    "rank with a decision missing, within every radius": (
        unsafe(CYCLE, (0, 2), (1, 1), (2, 0), radius="finite", decisions={1: 0}),
        "decision in state 0 .* missing",
    ),
    "the forced step must shrink": (
        unsafe(task((), silent_table=(((0,),),)), (0, 1), radius="finite"),
        "forced step",
    ),
    "rank in a dead end, within every radius": (
        unsafe(task(()), (0, 0), radius="finite"),
        "terminal",
    ),
    "rank in a goal state, within every radius": (
        unsafe(task(((1,),), (), fail={1}, goal={0}), (0, 1), (1, 0), radius="finite"),
        "terminal",
    ),
    # Decisions
    "decision that is not applicable": (
        safe(task(STAY), (0, 1, 0), radius=1, decisions={0: 1}),
        "a1 cannot be decided in state 0",
    ),
    "decision in a fail state": (
        unsafe(task(STAY, fail={0}), (0, 0, 0), radius=0, decisions={0: 0}),
        "a0 cannot be decided",
    ),
    "decision in a goal state": (
        safe(task(STAY, goal={0}), radius=0, decisions={0: 0}),
        "a0 cannot be decided",
    ),
    "decision in a dead end": (safe(task(()), radius=0, decisions={0: 0}), "a0 cannot be decided"),
    "decision where the step is forced": (
        safe(FORCED, (0, 0, None), radius=0, decisions={0: 0}),
        "a0 cannot be decided",
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name):
    check_certificate(*ACCEPTED[name])


@pytest.mark.parametrize("name", REJECTED)
def test_rejected(name):
    (task, certificate), why = REJECTED[name]
    with pytest.raises(Rejected, match=why):
        check_certificate(task, certificate)


# Policies


def first(state, applicable):
    return applicable[0]


def test_decisions_are_asked_for_again():
    as_said = safe(LINE, (0, 1, 1), radius=1, decisions=GO_ON)
    check_certificate(*as_said, policy=first)
    otherwise = safe(LINE, (0, 0, 1), radius=0, decisions={0: 1})
    check_certificate(*otherwise)
    with pytest.raises(Rejected, match=r"decides 'a0', not a1, in state 0 \(state = 0\)"):
        check_certificate(*otherwise, policy=first)


def test_decisions_that_nobody_needs_are_asked_for_too():
    with pytest.raises(Rejected, match="in state 2"):
        check_certificate(*safe(LINE, (0, 1, 1), radius=1, decisions={2: 1}), policy=first)


@pytest.mark.parametrize("decision", ["nonsense", None, 0, [], "a0 "])
def test_a_policy_that_talks_nonsense_decides_nothing(decision):
    with pytest.raises(Rejected, match="policy decides"):
        check_certificate(
            *safe(LINE, (0, 1, 1), radius=1, decisions=GO_ON), policy=lambda *_: decision
        )


def test_a_policy_sees_the_state_and_what_is_applicable():
    asked = []

    def policy(state, applicable):
        asked.append((dict(state), applicable))
        return applicable[0]

    silent = ((), ((2,),), ((0,),), (), ())
    line = task(*LINE.table, fail=LINE.fail, silent_table=silent)
    check_certificate(*safe(line, (0, 1, 1), radius=1, decisions=GO_ON), policy=policy)
    assert asked == [({"state": state}, ("a0", "a1")) for state in range(3)]


def test_a_policy_does_not_see_transient_variables(load):
    fleeting = var("t", bounded(0, 9), 0, transient=True)
    model = load(edge("a"), fail=op("=", "t", 1), variables=[X, fleeting])
    seen = []
    claim = about(model, "safe", [[0]], [[0, 0, 0]], radius=0, decisions={0: 0})
    check_certificate(model, claim, policy=lambda state, _: seen.append(state) or "a")
    assert seen == [{"x": 0}]


def test_errors_of_a_policy_are_its_own():
    def broken(state, applicable):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        check_certificate(*safe(LINE, (0, 1, 1), radius=1, decisions=GO_ON), policy=broken)


def test_claims_without_radius_are_about_no_policy():
    check_certificate(*safe(STAY_OR_FAIL, (0, 0)), policy=lambda *_: 1 / 0)


# The format

SHAPES = {
    "version 2": {"certificate": 2},
    "version true": {"certificate": True},
    "version 1.0": {"certificate": 1.0},
    "version as text": {"certificate": "1"},
    "claim unknown": {"claim": "unknown"},
    "claim of another kind": {"claim": ["safe"]},
    "radius negative": {"radius": -1},
    "radius true": {"radius": True},
    "radius as text": {"radius": "1"},
    "radius real": {"radius": 1.0},
    "radius infinite": {"radius": math.inf},
    "radius finite, and safe": {"radius": "finite"},
    "radius without decisions": {"radius": 1, "policy": "first"},
    "decisions without radius": {"decisions": [None, None]},
    "ranks beside choices": {"ranks": []},
    "member nobody knows": {"comment": "trust me"},
    "version of Surefoot missing": {"surefoot": None},
    "task is a name": {"task": "line"},
    "task without hash": {"task": {"name": "line", "source": None, "options": {}}},
    "task with more": {
        "task": {"name": "", "sha256": "", "source": None, "options": {}, "more": 1}
    },
    "task hash of another kind": {"task": {"name": "", "sha256": 7, "source": None, "options": {}}},
    "task options of another kind": {
        "task": {"name": "", "sha256": "", "source": None, "options": []}
    },
    "policy without radius": {"policy": "first"},
    "variable unknown": {"variables": ["speed"]},
    "variable twice": {"variables": ["state", "state"], "states": [[0, 0], [1, 1]]},
    "variable missing": {"variables": [], "states": [[]]},
    "variables as text": {"variables": "state"},
    "action unknown": {"actions": ["a0", "a2"]},
    "action twice": {"actions": ["a0", "a0"]},
    "action not a name": {"actions": [0]},
    "action unhashable": {"actions": [["a0"]]},
    "state out of range": {"state": 2},
    "state negative": {"state": -1},
    "state true": {"state": False},
    "state as value": {"state": [0]},
    "state null": {"state": None},
    "no states": {"states": []},
    "state twice": {"states": [[0], [0]]},
    "state too long": {"states": [[0, 0], [1, 1]]},
    "state too short": {"states": [[], [1]]},
    "state as object": {"states": [{"state": 0}, [1]]},
    "value above its bounds": {"states": [[0], [2]]},
    "value below its bounds": {"states": [[0], [-1]]},
    "value of another kind": {"states": [[0], [True]]},
    "value real": {"states": [[0], [1.0]]},
    "value huge": {"states": [[0], [10**5000]]},
    "value NaN": {"states": [[0], [math.nan]]},
    "value null": {"states": [[0], [None]]},
    "choices as object": {"choices": {"0": 0}},
    "choice too long": {"choices": [[0, 0, 0]]},
    "choice too short": {"choices": [[0]]},
    "choice of no state": {"choices": [[2, 0]]},
    "choice of a negative state": {"choices": [[0, 0], [-1, 0]]},
    "choice of no action": {"choices": [[0, 2]]},
    "choice of a negative action": {"choices": [[0, -2]]},
    "choice by name": {"choices": [[0, "a0"]]},
    "choice true": {"choices": [[0, False]]},
    "choice twice": {"choices": [[0, 0], [0, 0]]},
    "choice and another": {"choices": [[0, 0], [0, 1]]},
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name):
    task, good = ACCEPTED["loop"]
    with pytest.raises(Rejected):
        check_certificate(task, good | SHAPES[name])


@pytest.mark.parametrize("member", ACCEPTED["one difference"][1])
def test_missing_members(member):
    task, good = ACCEPTED["one difference"]
    with pytest.raises(Rejected, match=member):
        check_certificate(task, {name: good[name] for name in good if name != member})


WITH_RADIUS = {
    "decisions too short": {"decisions": [0, 0]},
    "decisions too long": {"decisions": [0, 0, 0, None, None, None]},
    "decision out of range": {"decisions": [2, 0, 0, None, None]},
    "decision negative": {"decisions": [-2, 0, 0, None, None]},
    "decision by name": {"decisions": ["a0", 0, 0, None, None]},
    "decision true": {"decisions": [False, 0, 0, None, None]},
    "policy missing": {"policy": None},
    "policy of another kind": {"policy": ["first"]},
    "remaining missing": {"choices": [[0, 1]]},
    "remaining real": {"choices": [[0, 1.0, 1]]},
    "remaining true": {"choices": [[0, True, 1]]},
    "remaining null": {"choices": [[0, None, 1]]},
    "twice for the same remaining": {"choices": [[0, 1, 1], [0, 1, 1]]},
}


@pytest.mark.parametrize("name", WITH_RADIUS)
def test_shapes_with_a_radius(name):
    task, good = ACCEPTED["one difference"]
    with pytest.raises(Rejected):
        check_certificate(task, good | WITH_RADIUS[name])


@pytest.mark.parametrize("rank", [-1, 0.5, 1.0, True, None, "1", math.nan, math.inf, [1]])
def test_ranks_are_whole_numbers(rank):
    task, good = ACCEPTED["only fail"]
    check_certificate(task, good | {"ranks": [[0, 2], [1, 1]]})
    with pytest.raises(Rejected, match="rank"):
        check_certificate(task, good | {"ranks": [[0, 2], [1, rank]]})


def test_the_better_of_two_ranks_is_not_taken():
    task, good = ACCEPTED["only fail"]
    with pytest.raises(Rejected, match="two entries"):
        check_certificate(task, good | {"ranks": [[0, 2], [1, 1], [1, 0]]})


# States and models


def test_variables_may_come_in_another_order():
    task = ExplicitTask(
        table=(((1,),), ()),
        fail={1},
        variables=(Variable("x", "int", 0, 1), Variable("y", "bool", False, True)),
        values=((0, True), (1, False)),
    )
    good = certificate_of(task, 0)
    check_certificate(task, good)
    turned = {"variables": ["y", "x"], "states": [[True, 0], [False, 1]]}
    check_certificate(task, good | turned)
    with pytest.raises(Rejected):
        check_certificate(task, good | {"variables": ["y", "x"]})


@pytest.fixture
def load(tmp_path):
    def load(*edges, fail, variables=(X,), **more):
        parts = {"reach": condition(fail)}
        document = jani(automaton(*edges), variables=variables, properties=[pa(**parts)], **more)
        (tmp_path / "model.jani").write_text(json.dumps(document))
        return checker.load(tmp_path / "model.jani")

    return load


def about(model, claim, states, entries, **more):
    """Return a certificate about states of a model."""
    _, found = certificate(claim, task(()), entries, **more)
    names = [variable.name for variable in model.variables]
    actions = [name for name in model.actions if name not in model.silent]
    return found | {"variables": names, "actions": actions, "states": states}


def test_an_error_of_the_model_is_passed_on(load):
    """Counting up leaves the range of x after 9: an error, and no verdict."""
    model = load(edge("a", ("x", op("+", "x", 1))), fail=op("=", op("%", 7, "x"), 9))
    with pytest.raises(ModelError, match="out-of-range"):
        check_certificate(model, about(model, "safe", [[9]], [[0, 0]]))
    with pytest.raises(ModelError, match="division-by-zero"):
        check_certificate(model, about(model, "safe", [[0]], [[0, 0]]))
    with pytest.raises(ModelError, match="division-by-zero"):
        check_certificate(model, about(model, "unsafe", [[0]], [[0, 0]]))


def test_only_chosen_actions_are_run(load):
    """The update of b is an error that the choice of a avoids."""
    steps = (edge("a"), edge("b", ("x", 10)))
    model = load(*steps, fail=False, actions=("a", "b"))
    check_certificate(model, about(model, "safe", [[0]], [[0, 0]]))
    with pytest.raises(ModelError, match="out-of-range"):
        check_certificate(model, about(model, "safe", [[0]], [[0, 1]]))


def test_reals(load):
    """Values are compared as they are; zero has one sign; whole numbers are reals too."""
    real = var("t", bounded(-5, 5, "real"), 0.0)
    model = load(edge("a", ("t", op("*", "t", -0.5))), fail=op(">", "t", 3), variables=[real])
    check_certificate(model, about(model, "safe", [[0.0]], [[0, 0]]))
    check_certificate(model, about(model, "safe", [[-0.0]], [[0, 0]]))
    check_certificate(model, about(model, "safe", [[0]], [[0, 0]]))
    for values in ([[0.0], [-0.0]], [[math.nan]], [[math.inf]], [[10**400]], [[5.5]], [[False]]):
        with pytest.raises(Rejected):
            check_certificate(model, about(model, "safe", values, [[0, 0]]))
    with pytest.raises(Rejected, match="not covered"):
        check_certificate(model, about(model, "safe", [[1.0]], [[0, 0]]))


def test_several_edges_with_one_label_are_one_action(load):
    """Only the first of them used, the state would be safe."""
    model = load(edge("a"), edge("a", ("x", 1)), fail=op("=", "x", 1))
    with pytest.raises(Rejected):
        check_certificate(model, about(model, "safe", [[0]], [[0, 0]]))
    check_certificate(model, about(model, "unsafe", [[0], [1]], [[0, 1], [1, 0]]))


def test_branches_of_probability_zero_are_no_outcomes(load):
    never = {"location": "l", "probability": {"exp": 0.0}}
    never["assignments"] = [{"ref": "x", "value": 1}]
    sure = {"location": "l", "probability": {"exp": 1.0}}
    step = edge("a") | {"destinations": [never, sure]}
    model = load(step, fail=op("=", "x", 1))
    check_certificate(model, about(model, "safe", [[0]], [[0, 0]]))
    with pytest.raises(Rejected):
        check_certificate(model, about(model, "unsafe", [[0], [1]], [[0, 1], [1, 0]]))


def test_messages_name_the_state(load):
    model = load(edge("a", ("x", 1)), fail=op("=", "x", 1), variables=[X, var("y", "bool", True)])
    with pytest.raises(Rejected) as caught:
        check_certificate(model, about(model, "safe", [[0, True]], [[0, 0]]))
    assert str(caught.value) == (
        "a in state 0 (x = 0, y = True) has an outcome that fails or is not covered"
    )


def test_messages_stay_short(load):
    many = [var(f"v{number}", bounded(0, 9), 0) for number in range(1_000)]
    model = load(edge("a"), fail=op("=", "v0", 0), variables=many)
    with pytest.raises(Rejected) as caught:
        check_certificate(model, about(model, "safe", [[0] * 1_000], []))
    assert len(str(caught.value)) < 300


class Named:
    """A variable of which nothing but the name is known."""

    name = "state"


class Bare:
    """The least that can be a model: a loop with a way out to fail."""

    variables = (Named(),)
    actions = ("stay", "out", "hidden")
    silent = ("hidden",)

    def applicable(self, state):
        return self.actions if state["state"] == 0 else ()

    def outcomes(self, state, action):
        return [{"state": 0 if action == "stay" else 1.5}] if state["state"] == 0 else []

    def is_fail(self, state):
        return state["state"] == 1.5

    def is_goal(self, state):
        return False


def test_any_model_will_do():
    model = Bare()
    check_certificate(model, about(model, "safe", [[0]], [[0, 0]]))
    for states, entries in (
        [[[0]], [[0, 1]]],
        [[[1.5]], []],
        [[["0"]], [[0, 0]]],
        [[[10**400]], []],
    ):
        with pytest.raises(Rejected):
            check_certificate(model, about(model, "safe", states, entries))


# Time


class Counting(ExplicitTask):
    """An explicit task that counts what it is asked."""

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "asked", {"outcomes": 0, "is_fail": 0, "applicable": 0})

    def outcomes(self, state, action):
        self.asked["outcomes"] += 1
        return super().outcomes(state, action)

    def is_fail(self, state):
        self.asked["is_fail"] += 1
        return super().is_fail(state)

    def applicable(self, state):
        self.asked["applicable"] += 1
        return tuple(each for each in self.actions if super(Counting, self).outcomes(state, each))


def ring(length, **more):
    """Return a ring with a way out to one fail state."""
    table = [(((state + 1) % length,), (length,)) for state in range(length)]
    return Counting(table=(*table, ()), fail={length}, **more)


def test_each_choice_is_run_once():
    task = ring(50)
    check_certificate(task, safe(task, *((state, 0) for state in range(50)))[1])
    assert task.asked == {"outcomes": 50, "is_fail": 50, "applicable": 0}


def test_entries_of_one_state_share_its_steps():
    task = ring(5)
    entries = [(state, left, 0) for state in range(5) for left in range(100)]
    decisions = dict.fromkeys(range(5), 0)
    check_certificate(*safe(task, *entries, radius=99, decisions=decisions))
    assert task.asked == {"outcomes": 5, "is_fail": 5, "applicable": 5}


def test_each_terminal_outcome_is_looked_at_once():
    table = (*(((50,),) for _ in range(50)), ())
    task = Counting(table=table)
    check_certificate(*safe(task, *((state, 0) for state in range(50)), actions=["a0"]))
    assert task.asked == {"outcomes": 50, "is_fail": 51, "applicable": 1}


def test_ranks_look_at_each_action_once():
    table = (*(((state + 1,), (50,)) for state in range(50)), ())
    task = Counting(table=table, fail={50})
    check_certificate(*unsafe(task, *((state, 50 - state) for state in range(51))))
    assert task.asked == {"outcomes": 100, "is_fail": 51, "applicable": 50}


def test_many_ranks_of_one_state_are_no_burden():
    """Looking through all of them for each outcome would take minutes."""
    count = 20_000
    ranks = [(0, left, 2 * left + 2) for left in range(count)]
    task, found = unsafe(
        CYCLE, *ranks, (1, count, 1), (2, count, 0), radius=count, decisions=TO_FAIL
    )
    begin = time.process_time()
    check_certificate(task, found | {"ranks": [*found["ranks"], [0, count, 2 * count + 2]]})
    assert time.process_time() - begin < 5


def test_time_may_run_out():
    task, found = safe(ring(1_000), *((state, 0) for state in range(1_000)))
    check_certificate(task, found, max_seconds=60)
    with pytest.raises(OutOfTime):
        check_certificate(task, found, max_seconds=0)


def check_for_a_moment(certificate, *, policy=None):
    """Assert that the checker stops when the time is over."""
    with pytest.raises(OutOfTime):
        check_certificate(*certificate, policy=policy, max_seconds=0.05)


def test_time_is_looked_at_while_steps_are_made():
    class Slow(Counting):
        def outcomes(self, state, action):
            time.sleep(0.001)
            return super().outcomes(state, action)

    task = Slow(table=ring(1_000).table, fail={1_000})
    check_for_a_moment(safe(task, *((state, 0) for state in range(1_000))))


def test_time_is_looked_at_while_a_policy_is_asked():
    def slow(state, applicable):
        time.sleep(0.001)
        return applicable[0]

    loops = ExplicitTask(table=((), *(((state,),) for state in range(1, 1_000))))
    decisions = dict.fromkeys(range(1, 1_000), 0)
    check_for_a_moment(safe(loops, radius=0, decisions=decisions, actions=["a0"]), policy=slow)


def test_time_is_looked_at_at_each_entry_of_a_state():
    """The last state leads to all others, and has thousands of entries."""
    last, radius = 300, 5_000
    loops = [((state,),) for state in range(last)]
    task = ExplicitTask(table=(*loops, (tuple(range(last)),)))
    entries = [(state, 0, 0) for state in range(last)]
    entries += [(last, left, 0) for left in range(radius)]
    decisions = dict.fromkeys(task.states, 0)
    more = {"decisions": decisions, "actions": ["a0"], "state": last}
    check_for_a_moment(safe(task, *entries, radius=radius, **more))


def test_long_ways_do_not_recurse():
    length = 20_000
    task = ring(length)
    check_certificate(*safe(task, *((state, 0) for state in range(length))))
