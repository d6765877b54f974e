"""Certificates of boxes: every rule, every message, reals, silent actions, unfiltered policies."""

from __future__ import annotations

import json

import numpy as np
import pytest

from surefoot import Description, InputError, PythonTask
from surefoot.certificates import model_of, scores_of
from surefoot.checker import OutOfTime, Rejected, check_policy_safety
from surefoot.checker.box_choices import Chooser
from surefoot.policies import as_policy
from surefoot.policies.models import Layer, Network

HEAD = {
    "surefoot": "0",
    "policy_certificate": 1,
    "claim": "policy-safe",
    "task": {"name": "t", "sha256": "", "source": None, "options": {}},
    "policy": {"name": "p", "sha256": None, "interface": None, "unfiltered": False},
}


def linear(weights, biases, precision="float32"):
    """Return a network of one layer, a row of weights for each output."""
    return Network(
        (Layer(np.array(weights, dtype=float), np.array(biases, dtype=float), "linear"),),
        precision,
    )


def verdict(task, boxes, constraints=(), *, policy="first", **more):
    """Return None if a certificate is accepted, else why not."""
    blocked, seconds = more.get("blocked", False), more.get("max_seconds", 60)
    who = policy if hasattr(policy, "core") else as_policy(policy, task)
    said = {**HEAD["policy"], "unfiltered": who.unfiltered}
    head = {**HEAD, "policy": said, "variables": list(task.names), "constraints": list(constraints)}
    head["blocked" if blocked else "boxes"] = len(boxes)
    lines = [json.dumps(each) for each in (head | more.get("members", {}), *boxes)]
    return outcome(task, lines, who, max_seconds=seconds)


def outcome(task, lines, policy, max_seconds=60):
    def decide(states):
        try:
            return [policy.decide(state) for state in states]
        except InputError as error:
            return [None] if error.code == "policy-not-applicable" else pytest.fail(str(error))

    try:
        check_policy_safety(
            model_of(task, []),
            lines,
            policy=lambda states: [decide([state])[0] for state in states],
            scores=scores_of(policy),
            max_seconds=max_seconds,
        )
    except Rejected as error:
        return str(error)
    return None


def slope():
    """Return a task where ``down`` and ``up`` move y against x, whose sum stays the same."""
    d = Description("slope")
    x, y = d.int("x", 0, 9), d.int("y", 0, 9)
    b = d.bool("b")
    d.edge("down", guard=y > 0, outcomes=[{x: x + 1, y: y - 1}, {b: True}])
    d.edge("up", guard=x > 0, outcomes=[{x: x - 1, y: y + 1}])
    d.start((x + y == 9) & (x <= 2) & ~b)
    d.fail((x + y != 9) | (y < 1) & ~b & (x < 5))
    d.goal(x == 9)
    return d.compile()


SUM = {"factors": {"x": 1, "y": 1}, "lower": 9, "upper": 9}
ALL = [[0, 9], [0, 9], [False, True]]


def test_sums_cut_boxes():
    assert verdict(slope(), [ALL], [SUM]) is None
    assert "fails" in verdict(slope(), [ALL])
    double = {"factors": {"x": -2, "y": -2}, "lower": -18, "upper": -18}
    assert verdict(slope(), [ALL], [double]) is None
    loose = {"factors": {"x": 1, "y": 1}, "lower": 8, "upper": 9}
    assert "fails" in verdict(slope(), [ALL], [loose])


def test_blocked_boxes():
    assert verdict(slope(), [], [SUM], blocked=True) is None
    assert verdict(slope(), [[9, [0, 9], True]], [SUM], blocked=True).endswith("not in the set")
    assert "fails" in verdict(slope(), [], blocked=True)
    others = [[x, [low, high], [False, True]] for x in range(10) for low, high in gaps(9 - x)]
    assert verdict(slope(), others, blocked=True) is None
    assert "fails" in verdict(slope(), others[1:], blocked=True)


def gaps(value):
    return [gap for gap in ((0, value - 1), (value + 1, 9)) if gap[0] <= gap[1]]


def test_every_rule():
    """The message names the state."""
    task = slope()
    assert verdict(task, [[[1, 9], [0, 8], [False, True]]], [SUM]) == (
        "the start state (x = 0, y = 9, b = False) is not in the set"
    )
    assert verdict(task, [[[0, 4], [0, 9], False], [[0, 9], [0, 9], True]], [SUM]).startswith(
        "down in (x = 4, y = 5, b = False) has the outcome (x = 5, y = 4, b = False), which is not"
    )
    assert verdict(task, [], [SUM]).startswith("the start state")
    other = {"factors": {"x": 1, "y": 1, "b": 1}, "lower": 9, "upper": 9}
    message = verdict(task, [ALL], [SUM, other])
    assert message.startswith("down in (x = ")
    assert message.endswith("b = True), which is not in the set")


def test_no_start_state():
    d = Description("none")
    x = d.int("x", 0, 5)
    d.start((x > 3) & (x < 2))
    d.edge("go", outcomes=[{}])
    assert verdict(d.compile(), [[[0, 5]]]) == "there is no start state"


def test_errors_of_the_task():
    d = Description("errors")
    x = d.int("x", 0, 5)
    d.edge("go", guard=6 / (4 - x) > 0, outcomes=[{x: x + 1}])
    d.start(x == 0)
    task = d.compile()
    message = verdict(task, [[[0, 5]]])
    assert message.startswith("the task has an error in (x = 4): ")
    assert verdict(task, [[[0, 3]]]).endswith("(x = 4), which is not in the set")


def test_forced_steps():
    d = Description("forced", silent=["tick"])
    x = d.int("x", 0, 9)
    d.edge("go", guard=x < 2, outcomes=[{x: x + 1}])
    d.edge("tick", guard=x < 5, outcomes=[{x: x + 1}])
    d.start(x == 0)
    d.fail(x > 6)
    task = d.compile()
    assert verdict(task, [[[0, 5]]]) is None
    assert verdict(task, [[[6, 9]]], blocked=True) is None
    assert verdict(task, [[[0, 4]]]) == (
        "the forced step in (x = 4) has the outcome (x = 5), which is not in the set"
    )
    assert verdict(task, [[[0, 9]]]) == "the state (x = 7) fails"


def test_unfiltered_policies_stop():
    d = Description("stop")
    x = d.int("x", 0, 20)
    d.edge("go", guard=x < 8, outcomes=[{x: x + 1}])
    d.edge("run", guard=x < 20, outcomes=[{x: x + 1}])
    d.start(x == 0)
    d.fail(x > 10)
    task = d.compile()
    network = linear([[0.0], [1.0]], [10.5, 0.0])  # go up to 10, and run from 11 on
    unfiltered = as_policy(network, task, unfiltered=True)
    assert verdict(task, [[[0, 8]]], policy=unfiltered) is None
    assert "fails" in verdict(task, [[[0, 11]]], policy=unfiltered)
    assert verdict(task, [[[0, 8]]], policy=as_policy(network, task)).startswith("run in (x = 8)")


def test_ties_go_to_the_lower_output():
    d = Description("ties")
    x = d.int("x", 0, 500_000)
    d.edge("stay", guard=x <= 400_000, outcomes=[{}])
    d.edge("leave", guard=x <= 400_000, outcomes=[{x: 500_000}])
    d.start(x <= 400_000)
    d.fail(x == 500_000)
    task = d.compile()
    from tests.support.boxes import random_trees

    trees = random_trees(np.random.default_rng(1), 1, 2, top=9)
    trees.values[:] = 0.25
    trees.base[:] = 1.0
    assert verdict(task, [[[0, 400_000]]], policy=trees) is None
    policy = as_policy(
        trees, task, interface={"surefoot_interface": 1, "outputs": ["leave", "stay"]}
    )
    assert verdict(task, [[[0, 400_000]]], policy=policy).startswith("leave in (x = ")


def test_actions_without_output():
    """One alone is taken; of several none can be decided for."""
    d = Description("outputs")
    x = d.int("x", 0, 9)
    d.edge("a", guard=x < 3, outcomes=[{x: x + 1}])
    d.edge("b", guard=x >= 3, outcomes=[{}])
    d.edge("c", guard=x > 5, outcomes=[{}])
    d.start(x == 0)
    task = d.compile()
    interface = {"surefoot_interface": 1, "outputs": ["a"]}
    policy = as_policy(linear([[1.0]], [0.0]), task, interface=interface)
    assert verdict(task, [[[0, 5]]], policy=policy) is None
    lines = [
        json.dumps({**HEAD, "variables": ["x"], "boxes": 1, "constraints": []}),
        json.dumps([[0, 6]]),
    ]
    from surefoot.certificates.policies import decisions_of

    with pytest.raises(Rejected, match="does not decide"):
        check_policy_safety(
            model_of(task, []), lines, policy=decisions_of(policy), scores=scores_of(policy)
        )


def test_policies_that_are_asked():
    """A table may have nothing to say in a state, so it is asked in each of them."""
    d = Description("asked")
    x = d.int("x", 0, 30)
    d.edge("go", guard=x < 30, outcomes=[{x: x + 1}])
    d.start(x == 0)
    task = d.compile()
    asked = []

    def decide(states):
        asked.extend(state["x"] for state in states)
        return ["go" for _ in states]

    head = {**HEAD, "variables": ["x"], "boxes": 1, "constraints": []}
    lines = [json.dumps(head), "[[0, 30]]"]
    check_policy_safety(model_of(task, []), lines, policy=decide)
    assert set(asked) == set(range(30))
    asked.clear()
    check_policy_safety(model_of(task, []), lines, policy=decide, scores={"rule": "first"})
    assert not asked
    assert verdict(task, [[[0, 30]]], policy="random?seed=3") is None


# -- reals -------------------------------------------------------------------------------------


def decay():
    d = Description("decay")
    r, s = d.real("r", -100.0, 100.0), d.real("s", -100.0, 100.0)
    n = d.int("n", 0, 3)
    d.edge("halve", guard=r - s < 50.0, outcomes=[{r: r * 0.5 + 1.0, s: s * 0.5, n: (n + 1) % 4}])
    d.edge("jump", guard=r > 1.5, outcomes=[{r: r + 50.0}])
    d.start((r >= 0.0) & (r <= 2.0) & (s == 0.25))
    d.fail(r > 2.5)
    return d.compile()


def test_boxes_of_reals():
    task = decay()
    weights = [[-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    careful = as_policy(linear(weights, [3.0, 0.0], "float64"), task)
    box = [[0.0, 2.0], [0, 0.25], [0, 3]]
    assert verdict(task, [box], policy=careful) is None
    assert verdict(task, [[[-3.5, 2.0], [0.0, 0.5], [0, 3]]], policy=careful) is None
    halves = [[[0.0, 1.0], [0.0, 0.25], [0, 3]], [[1.0, 2.0], [0.0, 0.25], [0, 3]]]
    assert verdict(task, halves, policy=careful) is None
    assert "start state (r = " in verdict(task, [[[0.0, 1.9], [0.0, 1.0], [0, 3]]], policy=careful)
    assert "fails" in verdict(task, [[[0.0, 2.6], [0.0, 0.25], [0, 3]]], policy=careful)
    reckless = as_policy(linear(weights, [1.75, 0.0], "float64"), task)
    message = verdict(task, [box], policy=reckless)
    assert message.startswith("jump in (r = 1.") or message.startswith("jump in (r = 2.0")
    gap = [[[0.0, 1.0], [0.0, 0.25], [0, 3]], [[1.0000000000000004, 2.0], [0.0, 0.25], [0, 3]]]
    assert verdict(task, gap, policy=careful) is not None


def test_reals_that_only_single_states_could_show():
    d = Description("fine")
    r, s = d.real("r", 0.0, 1.0), d.real("s", -1.0, 1.0)
    d.edge("go", outcomes=[{s: r - r}])
    d.start((r <= 1.0) & (s == 0.0))
    task = d.compile()
    message = verdict(task, [[[0.0, 1.0], 0.0]])
    assert message.startswith("it is not shown of the box (r = ")
    assert message.endswith("that the policy stays in the set")
    assert verdict(task, [[[0.0, 1.0], [-1.0, 1.0]]]) is None


def test_blocked_boxes_are_not_for_reals():
    assert verdict(decay(), [], blocked=True) == (
        "blocked boxes are for tasks without real variables"
    )


# -- reading -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "message"),
    {
        "no list": (3, "box 0 must be a list of length 3, not 3"),
        "object": ({"x": 1}, "box 0 must be a list of length 3, not a dict"),
        "short": ([[0, 9], [0, 9]], "box 0 must be a list of length 3, not a list"),
        "long": ([*ALL, 0], "box 0 must be a list of length 3, not a list"),
        "empty": ([[], [0, 9], False], "box 0: x must be a list of length 2, not a list"),
        "three ends": ([[0, 1, 2], 0, False], "box 0: x must be a list of length 2, not a list"),
        "upside down": ([[5, 2], 0, False], "box 0: x is from 5 to 2"),
        "Booleans upside down": ([1, 0, [True, False]], "box 0: b is from True to False"),
        "out of range": ([[0, 10], 0, False], "box 0: x cannot be 10"),
        "real": ([[0.0, 9], 0, False], "box 0: x cannot be 0.0"),
        "Boolean": ([True, 0, False], "box 0: x cannot be True"),
        "number": ([0, 0, 1], "box 0: b cannot be 1"),
        "nothing": ([None, 0, True], "box 0: x cannot be None"),
        "text": (["0", 0, True], "box 0: x cannot be '0'"),
        "nested": ([[[0], 1], 0, True], "box 0: x cannot be a list"),
    }.values(),
)
def test_bad_boxes(row, message):
    assert verdict(slope(), [row], [SUM]) == message


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (3, "constraints must be a list, not 3"),
        ([3], "constraint 0 must have the members factors, lower, upper"),
        ([SUM, {**SUM, "more": 1}], "constraint 1 must have the members factors, lower, upper"),
        ([{**SUM, "factors": [1]}], "constraint 0: factors must be an object, not a list"),
        ([{**SUM, "factors": {"z": 1}}], "constraint 0: 'z' is not known, or silent"),
        ([{**SUM, "factors": {"x": 1.0}}], "constraint 0: factors and bounds are integers"),
        ([{**SUM, "factors": {"x": True}}], "constraint 0: factors and bounds are integers"),
        ([{**SUM, "lower": None}], "constraint 0: factors and bounds are integers"),
        ([{**SUM, "upper": "9"}], "constraint 0: factors and bounds are integers"),
    ],
)
def test_bad_constraints(constraints, message):
    assert verdict(slope(), [ALL], members={"constraints": constraints}) == message


def test_constraints_that_nothing_satisfies():
    for impossible in ({**SUM, "lower": 10}, {"factors": {}, "lower": 1, "upper": 2}):
        assert verdict(slope(), [ALL], [impossible]).startswith("the start state")
    assert verdict(slope(), [ALL], [SUM, {"factors": {"x": 0}, "lower": 0, "upper": 0}]) is None
    assert "real" not in verdict(decay(), [[0.0, 0.0, 0]], [{**SUM, "factors": {"r": 1}}])


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"states": 1}, "the first line has states and boxes, of which there may be one only"),
        ({"blocked": 1}, "the first line has boxes and blocked, of which there may be one only"),
        ({"boxes": -1}, "the version of Surefoot is a string, the number of boxes a whole number"),
        ({"boxes": 2}, "there are 1 boxes, not 2"),
        ({"boxes": 0}, "there are more than 0 boxes"),
        ({"extra": 0}, "'extra' has no place in the first line"),
        ({"variables": ["x", "y"]}, "there are 3 variables, not 2"),
        ({"variables": ["x", "y", "y"]}, "variables: a name is listed twice"),
    ],
)
def test_bad_first_lines(members, message):
    assert verdict(slope(), [ALL], [SUM], members=members) == message


def test_missing_members():
    task, policy = slope(), as_policy("first", slope())
    head = {**HEAD, "variables": ["x", "y", "b"], "boxes": 1, "constraints": [SUM]}
    assert outcome(task, [json.dumps(head), json.dumps(ALL)], policy) is None
    for name, message in {
        "constraints": "'constraints' is missing",
        "boxes": "'states' is missing",
        "task": "'task' is missing",
    }.items():
        less = {key: value for key, value in head.items() if key != name}
        assert outcome(task, [json.dumps(less), json.dumps(ALL)], policy) == message
    states = {**head, "states": 1}
    del states["boxes"]
    assert outcome(task, [json.dumps(states)], policy).startswith("'constraints' has no place")
    assert outcome(task, [json.dumps(head), "[[0, 9"], policy) == "box 0 is not JSON"
    assert outcome(task, [json.dumps(head), "[" * 100_000], policy) == "box 0 is not JSON"
    assert outcome(task, [json.dumps(head), "[NaN, 0, true]"], policy) == "box 0 is not JSON"


def test_order_of_variables_is_free():
    row = [[False, True], [0, 9], [0, 9]]
    assert verdict(slope(), [row], [SUM], members={"variables": ["b", "y", "x"]}) is None


def test_tasks_in_python():
    class Still:
        def start(self):
            return [(0,)]

        def actions(self, state):
            return ["stay"]

        def outcomes(self, state, action):
            return [state]

        def is_goal(self, state):
            return False

        def is_fail(self, state):
            return False

    task = PythonTask(Still(), names=["x"])
    assert verdict(task, [[0]]) == "boxes of a task that Python code defines cannot be checked"


def test_time_bound():
    d = Description("long")
    x, y = d.int("x", 0, 5000), d.int("y", 0, 5000)
    d.edge("go", outcomes=[{x: (x * y + 1) % 5001}])
    d.start(x == y)
    with pytest.raises(OutOfTime):
        verdict(d.compile(), [[[0, 5000], [0, 5000]]], policy=lambda s: "go", max_seconds=0.2)


# -- models ------------------------------------------------------------------------------------


def test_arrays_and_positions():
    d = Description("shelves")
    at = d.int("at", 0, 4, initial=0)
    load = d.array("load", "int", 5, 0, 9, initial=[9, 0, 0, 0, 0])
    held = d.int("held", 0, 9, initial=0)
    d.edge(
        "take",
        guard=(load[at] > 0) & (held < 9),
        outcomes=[{load[at]: load[at] - 1, held: held + 1}],
    )
    d.edge(
        "put",
        guard=(held > 0) & (load[at] < 9),
        outcomes=[{load[at]: load[at] + 1, held: held - 1}],
    )
    d.edge("move", guard=at < 4, outcomes=[{at: at + 1}, {}])
    d.start((at == 0) & (held == 0) & (load[0] + load[1] + load[2] + load[3] + load[4] == 9))
    d.fail(held + load[0] + load[1] + load[2] + load[3] + load[4] != 9)
    task = d.compile()
    cells = [f"load[{i}]" for i in range(5)]
    whole = {"factors": dict.fromkeys([*cells, "held"], 1), "lower": 9, "upper": 9}
    box = [[0, 4], *([[0, 9]] * 5), [0, 9]]
    assert verdict(task, [box], [whole], policy="random?seed=1") is None
    less = {**whole, "factors": dict.fromkeys(cells, 1), "lower": 0}
    assert verdict(task, [box], [less], policy="random?seed=1") is not None


def test_several_automata(tmp_path):
    """Locations, a synchronised action and a silent edge, from a file."""
    from surefoot import load_task

    def edge(location, to, action=None, assignments=()):
        made = {"location": location, "destinations": [{"location": to}]}
        made["destinations"][0]["assignments"] = list(assignments)
        return made | ({"action": action} if action else {})

    count = {"op": "+", "left": "n", "right": 1}
    small = {"op": "<", "left": "n", "right": 5}
    step = edge("a", "b", "go", [{"ref": "n", "value": count}]) | {"guard": {"exp": small}}
    model = {
        "jani-version": 1,
        "name": "two",
        "type": "lts",
        "actions": [{"name": "go"}],
        "variables": [
            {
                "name": "n",
                "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 9},
                "initial-value": 0,
            }
        ],
        "properties": [
            {"name": "p", "expression": {"op": "PA", "reach": {"op": ">", "left": "n", "right": 5}}}
        ],
        "automata": [
            {
                "name": "left",
                "locations": [{"name": "a"}, {"name": "b"}],
                "initial-locations": ["a"],
                "edges": [step, edge("b", "a")],
            },
            {
                "name": "right",
                "locations": [{"name": "c"}],
                "initial-locations": ["c"],
                "edges": [edge("c", "c", "go")],
            },
        ],
        "system": {
            "elements": [{"automaton": "left"}, {"automaton": "right"}],
            "syncs": [{"synchronise": ["go", "go"], "result": "go"}],
        },
    }
    file = tmp_path / "two.jani"
    file.write_text(json.dumps(model))
    task = load_task(file)
    assert task.names == ("n", "left.location")
    assert verdict(task, [[[0, 5], [0, 1]]]) is None
    assert verdict(task, [[[0, 5], 0], [[1, 5], 1]]) is None
    assert verdict(task, [[[0, 5], 0], [[1, 4], 1]]).startswith("go in (n = 4, left.location = 0)")
    assert verdict(task, [[[0, 3], 0], [[1, 5], 1]]).startswith("the forced step in (n = ")


def test_a_rule_that_is_not_known_is_named():
    model = model_of(slope(), [])
    with pytest.raises(Rejected, match="the rule 'best-of-two', by which the policy decides, is"):
        Chooser(model, {"rule": "best-of-two"}, is_unfiltered=False)
    scores = {"inputs": [], "outputs": [], "model": {"kind": "forest"}}
    with pytest.raises(Rejected, match="policies of the kind 'forest' are not known"):
        Chooser(model, scores, is_unfiltered=False)


def test_evidence_of_a_kind_that_is_not_known_is_named():
    task = slope()
    head = {**HEAD, "variables": list(task.names), "polytopes": 3}
    text = "evidence of the kind 'polytopes' is not known"
    assert outcome(task, [json.dumps(head)], as_policy("first", task)) == text
    assert "'states' is missing" in outcome(
        task, [json.dumps({**HEAD, "variables": []})], as_policy("first", task)
    )
