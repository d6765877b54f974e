"""An objective whose values are real numbers or infinite moves in without a change elsewhere."""

from dataclasses import dataclass
from fractions import Fraction

import pytest

import surefoot
from surefoot import Description, InputError, PythonTask, SurefootError
from surefoot.objectives import ZERO, Better, Bounds, Guidance, Interval, Value, bounds_document
from surefoot.options import DecideOptions
from surefoot.oracles import ORACLES, Algorithm
from surefoot.oracles.compare import compare
from surefoot.records import RunEnd
from surefoot.tasks.description import Assignment, Outcome
from surefoot.tasks.task import WeightedChoice

INFINITE = Value.of("inf")
NOT_NEGATIVE = Interval(ZERO, INFINITE)


@dataclass(frozen=True)
class Cost:
    """What a run costs until the goal, infinite if it does not get there; lower is better."""

    name: str = "cost"
    better: Better = Better.LOWER
    range: Interval = NOT_NEGATIVE
    verdicts: tuple[str, ...] = ("solvable", "unsolvable", "unknown")
    bad_verdicts: tuple[str, ...] = ("unsolvable",)

    def value_of(self, run, task):
        if run.result is RunEnd.CUT:
            return self.range
        if run.result is not RunEnd.GOAL:
            return Interval.exactly(INFINITE)
        steps = zip(run.states, run.actions, run.states[1:], strict=False)
        return Interval.exactly(Value(sum(cost_of(task, *step) for step in steps)))

    def needs(self, task):
        return None

    def guidance(self, task):
        return Guidance(task.goal_condition)

    def verdict(self, best):
        if best.hi < INFINITE:
            return "solvable"
        return "unsolvable" if best.lo == INFINITE else "unknown"

    def document(self, best):
        return {"verdict": self.verdict(best), **bounds_document(best)}


COST = Cost()


def cost_of(task, state, action, outcome):
    """Return what a step may cost at most."""
    taken = [each for each in task.choices(state) if each.action == action]
    return max(Fraction(each.cost) for each in taken if outcome in each.outcomes)


def cheapest(task, state, options):
    """Return the worst cost of the cheapest plan, as Bellman and Ford would."""
    choices = {}
    waiting = [state]
    while waiting:
        here = waiting.pop()
        if here not in choices:
            choices[here] = task.choices(here)
            waiting += [outcome for each in choices[here] for outcome in each.outcomes]
    costs = {here: 0 if task.is_goal(here) else float("inf") for here in choices}
    for _ in choices:
        costs |= {here: least(choices[here], costs) for here in choices if choices[here]}
    best = Value.of(costs[state])
    return Bounds(best, best)


def least(choices, costs):
    by_action = {}
    for each in choices:
        worst = max(Fraction(each.cost) + costs[outcome] for outcome in each.outcomes)
        by_action[each.action] = max(worst, by_action.get(each.action, 0))
    return min(by_action.values())


def climb():
    """Walk from 0 to 4, or jump, which is dearer the higher one is and falls short at times."""
    d = Description("climb")
    x = d.int("x", 0, 5, initial=0)
    d.edge("walk", guard=x < 4, outcomes=[{x: x + 1}], cost=1.5)
    jump = [Outcome((Assignment(x, x + 2),), weight=3.0), Outcome((Assignment(x, x + 1),))]
    d.edge("jump", guard=x < 3, outcomes=jump, cost=x + 0.25)
    d.edge("jump", guard=x > 3, outcomes=[{}], cost=9)
    d.goal(x == 4)
    d.fail(x == 5)
    return d.compile()


@pytest.fixture
def oracle():
    made = Algorithm.of_bounds("cheapest", COST, cheapest)
    ORACLES.register(made, name="cheapest")
    yield "cheapest"
    ORACLES.forget("cheapest")


@pytest.mark.parametrize(
    ("x", "cost"), [(0, Fraction(9, 2)), (1, Fraction(17, 4)), (3, Fraction(3, 2)), (4, 0)]
)
def test_an_oracle_bounds_the_cheapest_cost(oracle, x, cost):
    answer = surefoot.decide(climb(), {"x": x}, objective=COST, oracle=oracle)
    assert answer.bounds.interval == Interval.exactly(Value.of(cost))
    assert answer.verdict == "solvable"
    assert answer.to_dict()["bounds"] == [float(cost), float(cost)]


def test_where_no_plan_is_left_it_is_infinite(oracle):
    answer = surefoot.decide(climb(), {"x": 5}, objective=COST, oracle=oracle)
    assert (answer.verdict, answer.to_dict()["bounds"]) == ("unsolvable", ["inf", "inf"])


def test_oracles_that_contradict_each_other_are_told(oracle):
    task, states = climb(), [climb().state(x=0)]
    for name, bounds, is_wrong in (
        ("rough", Bounds(ZERO, Value.of(5)), False),
        ("wrong", Bounds(Value.of(5), Value.of(6)), True),
    ):
        other = Algorithm.of_bounds(name, COST, lambda task, state, options, b=bounds: b)
        ORACLES.register(other, name=name)
        asked = {"names": (oracle, name), "objective": COST, "options": DecideOptions()}
        try:
            if not is_wrong:
                assert len(compare(task, states, **asked).results) == 2
                continue
            with pytest.raises(SurefootError, match=r"solvable, 4.5, .* solvable, \[5, 6\], of"):
                compare(task, states, **asked)
        finally:
            ORACLES.forget(name)


@pytest.mark.parametrize(("action", "cost"), [("walk", 6), ("jump", None)])
def test_policies_are_evaluated_by_what_their_runs_cost(action, cost):
    task = climb()

    def policy(state):
        return action if state["x"] < 3 else "walk"

    result = surefoot.evaluate(task, policy, objective=COST)
    run = surefoot.simulate(task, policy=policy, seed=0).runs[0]
    if cost is None:
        steps = zip(run.states, run.actions, run.states[1:], strict=False)
        cost = sum(cost_of(task, *step) for step in steps)
    assert result.values.mean == result.values.worst == Interval.exactly(Value.of(cost))


def test_choices_say_costs_and_weights():
    task = climb()
    state = task.state
    assert task.choices({"x": 2}) == (
        WeightedChoice("walk", 1.5, (state(x=3),), (1.0,)),
        WeightedChoice("jump", 2.25, (state(x=4), state(x=3)), (3.0, 1.0)),
    )
    assert task.choices({"x": 4}) == task.choices({"x": 5}) == ()


class Coin:
    """A task that Python code defines: it does not say what steps cost."""

    def start(self):
        return [0]

    def actions(self, state):
        return ["toss"]

    def outcomes(self, state, action):
        return [1, 2]

    def is_fail(self, state):
        return state == 2

    def is_goal(self, state):
        return state == 1


def test_choices_of_tasks_that_do_not_say():
    task = PythonTask(Coin())
    [choice] = task.choices(task.initial_state())
    assert (choice.action, choice.cost, choice.weights) == ("toss", 1.0, (1.0, 1.0))
    assert len(choice.outcomes) == 2


def test_errors_of_the_model_are_those_of_the_user():
    d = Description("high")
    x = d.int("x", 0, 1, initial=1)
    d.edge("up", outcomes=[{x: x + 1}])
    task = d.compile()
    with pytest.raises(InputError, match="would become 2"):
        task.choices({"x": 1})
