"""What the doctor sees, one small task per symptom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.support.networks import grid, random_network

from surefoot import Description, PythonTask, domain
from surefoot.doctor import DoctorReport, examine
from surefoot.doctor.policy import used_inputs
from surefoot.policies import as_policy
from surefoot.policies.interface import Input, Interface
from surefoot.policies.models import Layer, Network, Rules, Trees


def healthy() -> Description:
    d = Description("healthy")
    x = d.int("x", 0, 3, initial=0)
    d.edge("up", guard=x < 3, outcomes=[{x: x + 1}, {}])
    d.edge("down", guard=x > 0, outcomes=[{x: x - 1}])
    d.start(x <= 1)
    d.goal(x == 2)
    d.fail(x == 3)
    return d


def without_goal() -> Description:
    d = healthy()
    d.goal_condition = None
    return d


def without_fail() -> Description:
    d = healthy()
    d.fail_condition = None
    return d


def idle_action() -> Description:
    d = healthy()
    d.action("idle")
    return d


def free_variable() -> Description:
    d = healthy()
    y = d.int("y", 0, 1, initial=0)
    d.edge("flip", outcomes=[{y: 1 - y}])
    return d


def free_cells() -> Description:
    d = healthy()
    cells = d.array("a", "int", 2, 0, 1)
    d.edge("set", outcomes=[{cells[0]: 1, cells[1]: 0}])
    return d


def free_real() -> Description:
    d = healthy()
    y = d.real("y", 0.0, 1.0, initial=0.0)
    d.edge("set", outcomes=[{y: 0.5}])
    return d


def no_initial_value() -> Description:
    d = healthy()
    y = d.int("y", 0, 1)
    d.edge("flip", outcomes=[{y: 1 - y}])
    d.start_condition = None
    return d


def never_assigned() -> Description:
    d = healthy()
    y = d.int("y", 0, 1, initial=0)
    x = d.int("i", 0, 0, initial=0)
    d.edge("noop", outcomes=[{x: 0}])
    assert d.start_condition is not None
    d.start(d.start_condition & (y == 0))
    return d


def overlapping_edges() -> Description:
    d = healthy()
    d.edge("up", outcomes=[{}])
    return d


def goal_and_fail() -> Description:
    d = healthy()
    d.fail(d.goal_condition)  # type: ignore[arg-type]
    return d


def dead_end() -> Description:
    d = Description("dead end")
    x = d.int("x", 0, 3, initial=0)
    d.edge("up", guard=x < 2, outcomes=[{x: x + 1}])
    d.start({"x": 0})
    d.goal(x == 3)
    d.fail(x == 3)
    return d


def failing_start() -> Description:
    d = healthy()
    d.start({"x": 3}, {"x": 0})
    return d


def no_start() -> Description:
    d = healthy()
    x = d.edges[0].guard
    assert x is not None
    d.start(x & ~x)
    return d


def leaves_range() -> Description:
    d = healthy()
    x = next(iter(d.variables))
    d.edge("jump", outcomes=[{x: 4}], place="/edges/2")
    return d


def silent_beside_others() -> Description:
    d = healthy()
    d.silent.append("tick")
    d.edge("tick", outcomes=[{}])
    return d


SYMPTOMS: dict[Callable[[], Description], set[str]] = {
    healthy: set(),
    without_goal: {"no-goal"},
    without_fail: {"no-fail"},
    idle_action: {"action-without-edge"},
    free_variable: {"start-leaves-free"},
    free_cells: {"start-leaves-free"},
    free_real: {"start-leaves-free", "start-not-finite"},
    no_initial_value: {"start-leaves-free"},
    never_assigned: {"never-assigned"},
    overlapping_edges: {"overlapping-edges"},
    goal_and_fail: {"goal-and-fail"},
    dead_end: {"dead-end"},
    failing_start: {"start-fails"},
    no_start: {"no-start-state"},
    leaves_range: {"model-out-of-range"},
    silent_beside_others: {"silent-beside-others"},
}


@pytest.mark.parametrize("make", SYMPTOMS, ids=lambda make: make.__name__)
def test_symptom_is_found_and_no_other(make: Callable[[], Description]) -> None:
    report = examine(make().compile())
    assert {finding.code for finding in report.findings} == SYMPTOMS[make]
    for finding in report.findings:
        assert f"[{finding.code}]" in str(report)


def test_error_of_the_model_names_its_place() -> None:
    (finding,) = examine(leaves_range().compile()).findings
    assert finding.place == "/edges/2"
    assert "would become 4" in finding.message


def test_samples_are_counted() -> None:
    (finding,) = examine(overlapping_edges().compile()).findings
    assert '"up" in 2 of 3 sampled states' in finding.message or '"up" in 2 of 4' in finding.message


def test_facts() -> None:
    d = healthy()
    d.constants["N"] = 3
    d.warn("odd", "/a")
    report = examine(d.compile())
    assert (report.name, report.edges, report.outcomes, report.bits, report.words) == (
        "healthy",
        2,
        3,
        2,
        1,
    )
    assert (report.start, report.goal, report.fail) == ("x ≤ 1", "x = 2", "x = 3")
    assert [(a.name, a.silent, a.edges) for a in report.actions] == [
        ("up", False, 1),
        ("down", False, 1),
    ]
    assert report.constants == {"N": 3}
    assert [(w.message, w.place) for w in report.warnings] == [("odd", "/a")]
    assert report.to_dict()["variables"][0] == {
        "name": "x", "type": "int", "lower": 0, "upper": 3, "initial": 0, "labels": None,
    }  # fmt: skip


def test_same_seed_same_report() -> None:
    task = domain("one-way-line", packages=5, locations=6, variant="icy-park")
    first, again = (examine(task, samples=100, seed=4) for _ in range(2))
    assert first == again
    assert first.sampled == 100


def test_long_lists_are_cut_in_text_only() -> None:
    d = healthy()
    for i in range(100):
        d.action(f"a{i}")
    report = examine(d.compile())
    assert len(report.actions) == 102
    assert "and 62 more" in str(report)


class Counter:
    """Counts to three; the last state is goal and fail at once."""

    def start(self) -> list[tuple[int]]:
        return [(0,)]

    def actions(self, state: tuple[int]) -> list[str]:
        return ["up"]

    def outcomes(self, state: tuple[int], action: str) -> list[tuple[int]]:
        return [(state[0] + 1,)]

    def is_goal(self, state: tuple[int]) -> bool:
        return state == (3,)

    def is_fail(self, state: tuple[int]) -> bool:
        return state == (3,)


def test_python_task() -> None:
    definition: Any = Counter()
    report: DoctorReport = examine(PythonTask(definition, name="counter"))
    assert (report.sampled, report.edges, report.sha256) == (4, None, None)
    assert [a.name for a in report.actions] == ["up"]
    assert [f.code for f in report.findings] == ["goal-and-fail"]
    assert "counter" in str(report)


def test_one_state_is_spoken_of_in_the_singular() -> None:
    d = Description("stuck")
    x = d.bool("x", initial=False)
    d.edge("never", guard=x, outcomes=[{}])
    d.action("idle")
    text = str(examine(d.compile()))
    assert "state    1 bit, 1 word of 8 bytes" in text
    assert 'no edge has 1 action ("idle"): it never fires [action-without-edge]' in text
    assert "1 of 1 sampled state is a dead end: " in text


# -- policies ----------------------------------------------------------------------------------


def scores_by(weights: list[list[float]], biases: list[float]) -> Network:
    layer = Layer(np.array(weights, dtype=float), np.array(biases, dtype=float), "linear")
    return Network((layer,), "float64")


def codes_of(report: DoctorReport) -> list[str]:
    return [finding.code for finding in report.findings]


def test_mapping_is_in_the_report() -> None:
    task = grid(2, 3, constants=1)
    interface = Interface((Input("v1", mean=2.0, scale=4.0), Input(constant=7.0)), ("a2", "a0"))
    policy = as_policy(scores_by([[1, 0], [-1, 0]], [0, 1]), task, interface=interface)
    report = examine(task, policy=policy)
    facts = report.policy
    assert facts is not None
    assert (facts.kind, facts.precision, facts.outputs) == ("network", "float64", ("a2", "a0"))
    assert [str(one) for one in facts.inputs] == ["v1, scaled: (x - 2) / 4", "7"]
    assert codes_of(report) == [
        *("no-goal", "no-fail", "never-assigned"),
        *("action-without-output", "variable-not-fed"),
    ]
    text = str(report)
    assert "  0 <- v1, scaled: (x - 2) / 4\n  1 <- 7\n" in text
    assert "  0 -> a2\n  1 -> a0\n" in text
    assert 'no output for 1 action ("a1")' in text
    assert 'no input is fed with 1 variable ("v0")' in text


def test_unused_inputs_and_outputs_that_are_never_best() -> None:
    task = grid(3, 4)
    policy = scores_by([[1, 0, 0], [-1, 0, 0], [0, 0, 0], [0, 0, 0]], [0, 9, -50, -60])
    report = examine(task, policy=policy)
    messages = {finding.code: finding.message for finding in report.findings}
    assert messages["input-unused"] == (
        'the policy does not look at 2 inputs ("1 <- v1", "2 <- v2")'
    )
    assert messages["output-never-best"].startswith('2 outputs ("a2", "a3") are never the best in')
    assert "policy-constant" not in messages
    assert report.policy is not None
    assert set(report.policy.decisions) == {"a0", "a1"}
    assert sum(report.policy.decisions.values()) == report.policy.choices == 1_000


def test_constant_policy() -> None:
    report = examine(grid(3, 4), policy=scores_by([[0, 0, 0]] * 4, [0, 9, 1, 2]))
    messages = {finding.code: finding.message for finding in report.findings}
    assert 'picks "a1" in all 1,000 sampled states' in messages["policy-constant"]
    assert "output-never-best" not in messages  # that is said already


def test_trees_and_rules_know_their_inputs() -> None:
    none, one = np.array([-1], dtype=np.int32), np.array([2, -1, -1], dtype=np.int32)
    assert used_inputs(trees_of(none)) == set()
    assert used_inputs(trees_of(one)) == {2}
    rules = Rules(3, 1, ((1, 0),), ((True, ((0, False),)),), ((0, 0, 1.0),), (0.0,))
    assert used_inputs(rules) == {1}


def trees_of(features: Any) -> Trees:
    zeros = np.zeros(len(features))
    links = zeros.astype(np.int32)
    base = np.zeros(1)
    return Trees(3, 1, links[:1], features, zeros, links, links, base, base, "float32", "float32")


def test_states_without_any_output_are_counted() -> None:
    task = grid(1, 3)
    policy = as_policy(
        scores_by([[0.0]], [0.0]), task, interface=Interface((Input("v0"),), ("a2",))
    )
    report = examine(task, policy=policy)
    messages = {finding.code: finding.message for finding in report.findings}
    assert messages["policy-no-decision"].startswith("in 5 of 10 states with a choice")


@pytest.mark.parametrize(
    "policy, kind",
    [
        ("first", "built in"),
        ("random", "built in"),
        (lambda state: "up" if state["x"] < 1 else "down", "Python code"),
        ({(("x", 0),): "up", (("x", 1),): "down"}, "table"),
    ],
)
def test_policies_that_are_not_learned(policy: Any, kind: str) -> None:
    task = healthy().compile()
    if isinstance(policy, dict):
        policy = {task.state(dict(state)): action for state, action in policy.items()}
    facts = examine(task, policy=policy).policy
    assert facts is not None
    assert (facts.kind, facts.model, facts.fidelity, facts.inputs) == (kind, None, None, ())
    assert facts.choices == 1


def test_policy_that_cannot_decide_is_a_finding() -> None:
    report = examine(healthy().compile(), policy=lambda state: "jump")
    assert codes_of(report) == ["policy-unknown-action"]
    assert report.policy is not None and report.policy.choices == 0


def test_unfiltered_policy_is_examined_over_all_outputs() -> None:
    task = grid(1, 3)
    policy = as_policy(scores_by([[0.0]] * 3, [0, 1, 2]), task, unfiltered=True)
    report = examine(task, policy=policy)
    assert report.policy is not None
    assert report.policy.decisions == {"a2": 10}
    assert "best-scored of all actions, applicable or not" in str(report)


def test_policy_of_a_python_task() -> None:
    task = PythonTask(Chooser(), name="chooser")
    interface = Interface((Input("x0"),), ("up", "down"))
    policy = as_policy(scores_by([[-1.0], [1.0]], [1, 0]), task, interface=interface)
    report = examine(task, policy=policy)
    assert report.policy is not None and report.policy.fidelity is not None
    assert report.policy.fidelity.parts[0].asked == 4
    assert report.policy.fidelity.differs == 0


class Chooser(Counter):
    """Counts up or down."""

    def actions(self, state: tuple[int]) -> list[str]:
        return ["up", "down"] if state[0] else ["up"]

    def outcomes(self, state: tuple[int], action: str) -> list[tuple[int]]:
        return [(state[0] + (1 if action == "up" else -1),)]


def test_same_seed_same_report_on_a_policy() -> None:
    task = domain("one-way-line", packages=5, locations=6, variant="icy-park")
    policy = random_network(1, len(task.names), 8, 6)
    interface = Interface((), tuple(a for a in task.actions if a not in task.silent)[:6])
    made = as_policy(policy, task, interface=interface)
    first, again = (examine(task, policy=made, samples=100, seed=4) for _ in range(2))
    assert first.policy is not None and again.policy is not None
    assert first.findings == again.findings
    assert first.policy.decisions == again.policy.decisions
    assert first.to_dict()["policy"]["outputs"] == interface.outputs
