"""An objective beside safety, to reach the goal whatever the outcomes are, and an oracle for it."""

from dataclasses import dataclass

from surefoot import Run, State, Task
from surefoot.errors import Refusal
from surefoot.objectives import ONE, ZERO, Better, Bounds, Guidance, Interval, bounds_document
from surefoot.options import DecideOptions
from surefoot.oracles import Algorithm
from surefoot.records import RunEnd

ZERO_TO_ONE = Interval(ZERO, ONE)


@dataclass(frozen=True)
class Goal:
    """A run is worth 1 if it reaches the goal and 0 if it does not; higher is better."""

    name: str = "goal"
    better: Better = Better.HIGHER
    range: Interval = ZERO_TO_ONE
    verdicts: tuple[str, ...] = ("solvable", "unsolvable", "unknown")
    bad_verdicts: tuple[str, ...] = ("unsolvable",)

    def value_of(self, run: Run, task: Task) -> Interval:
        """Return what a run is worth; either value if it was cut."""
        if run.result is RunEnd.CUT:
            return self.range
        return Interval.exactly(ONE if run.result is RunEnd.GOAL else ZERO)

    def needs(self, task: Task) -> Refusal | None:
        """Return what the task lacks."""
        return None if task.goal_condition is not None else Refusal("no-goal", "it has no goal")

    def guidance(self, task: Task) -> Guidance:
        """Return what fuzzing is drawn to."""
        return Guidance(task.goal_condition)

    def verdict(self, best: Bounds) -> str:
        """Return the word for what is known about a state."""
        if best.lo >= ONE:
            return "solvable"
        return "unsolvable" if best.hi <= ZERO else "unknown"

    def document(self, best: Bounds) -> dict[str, object]:
        """Return what JSON documents say about a state."""
        return {"verdict": self.verdict(best), **bounds_document(best)}


def best_value(task: Task, state: State, options: DecideOptions) -> Bounds:
    """Return 1 for both ends if some policy surely reaches the goal from the state, else 0."""
    steps: dict[State, list[set[State]]] = {}
    waiting = [state]
    while waiting:
        here = waiting.pop()
        if here in steps:
            continue
        if len(steps) == options.max_states:
            return Bounds(ZERO, ONE)
        is_over = task.is_goal(here) or task.is_fail(here)
        actions = () if is_over else task.applicable(here)
        steps[here] = [set(task.outcomes(here, action)) for action in actions]
        waiting += [outcome for outcomes in steps[here] for outcome in outcomes]
    won = {here for here in steps if task.is_goal(here) and not task.is_fail(here)}
    before = -1
    while before < len(won):
        before = len(won)
        won |= {here for here in steps if any(outcomes <= won for outcomes in steps[here])}
    value = ONE if state in won else ZERO
    return Bounds(value, value)


GOAL = Goal()
SEARCH = Algorithm.of_bounds("goal_search", GOAL, best_value)
