"""Exact tasks of tables of transitions: ``table[state][action]`` lists (probability, next state,
reward, terminated).

States are numbers, or several variables where the environment decodes them. A state fails, or is a
goal, if every step into it says so. Where only some steps do, such as a fall after which the
environment puts the agent back, these lead to a sink: ``failed``, ``reached`` or ``over`` is true
from then on.

Steps that change variables by as much, in different states, share an edge.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from surefoot.errors import InputError, shown
from surefoot.tasks.description import Assignment, Description, Outcome
from surefoot.tasks.expressions import Expr, as_expr
from surefoot.tasks.gym.known import Foreign
from surefoot.tasks.gym.rules import Ending, EndRules
from surefoot.tasks.observed import Observed

Values = tuple[int, ...]
Box = tuple[tuple[int, int], ...]
Effect = tuple[Values, Ending, float]
"""by how much variables change, the sink that is entered, and the weight"""
SINKS = {Ending.FAIL: "failed", Ending.GOAL: "reached", Ending.OVER: "over"}
MAX_ERROR = 1e-6  # of the sum of probabilities


@dataclass(frozen=True)
class TableStep:
    """What may happen when an action is taken."""

    weight: float
    target: int
    end: Ending


Table = Sequence[Sequence[Sequence[TableStep]]]
"""by state and action"""


def table_in(env: Foreign) -> Mapping[int, Foreign] | None:
    """Return the table of transitions of an environment; None if it shows none."""
    table = getattr(env.unwrapped, "P", None)
    if not isinstance(table, Mapping) or not table:
        return None
    return table if all(state in table for state in range(len(table))) else None


def read_table(given: Mapping[int, Foreign], rules: EndRules) -> Table:
    """Return the table with what steps mean. Raises InputError if it is none."""
    try:
        return [
            [_steps(actions[action], rules, len(given)) for action in range(len(actions))]
            for actions in (given[state] for state in range(len(given)))
        ]
    except (TypeError, ValueError, KeyError, IndexError) as error:
        raise InputError(
            "bad-environment", f"its table P is no table of transitions: {shown(str(error))}"
        ) from error


def _steps(listed: Iterable[Foreign], rules: EndRules, count: int) -> list[TableStep]:
    """Return the steps of an action, each once."""
    weights: dict[tuple[int, Ending], list[float]] = {}
    for probability, target, reward, terminated in listed:
        if not 0 <= target < count:
            raise ValueError(f"there is no state {target}")
        if probability > 0:
            info = {"prob": probability}
            end = rules.end(int(target), float(reward), bool(terminated), info)
            weights.setdefault((int(target), end), []).append(float(probability))
    total = math.fsum(weight for each in weights.values() for weight in each)
    if abs(total - 1) > MAX_ERROR:
        raise ValueError(f"probabilities add up to {total}, not 1")
    return [TableStep(math.fsum(each), *key) for key, each in weights.items()]


# -- ends ----------------------------------------------------------------------------------------


def ends_of(table: Table, starts: Iterable[int]) -> dict[int, Ending]:
    """Return how runs end in the states in which they always do.

    States in which runs go on are found from the start states; then those that no run comes to.
    """
    going: dict[int, None] = {}
    entered: dict[int, set[Ending]] = {}
    for root in (*starts, *range(len(table))):
        if root not in entered:
            _follow(table, root, going, entered)
    return {
        state: next(iter(ends))
        for state, ends in entered.items()
        if len(ends) == 1 and state not in going
    }


def _follow(
    table: Table, root: int, going: dict[int, None], entered: dict[int, set[Ending]]
) -> None:
    waiting = [root]
    while waiting:
        state = waiting.pop()
        if state in going:
            continue
        going[state] = None
        for step in (step for steps in table[state] for step in steps):
            entered.setdefault(step.target, set()).add(step.end)
            if step.end == Ending.NONE:
                waiting.append(step.target)


# -- description ---------------------------------------------------------------------------------


def describe(
    name: str,
    table: Table,
    starts: Sequence[int],
    *,
    actions: Sequence[str],
    names: Sequence[str],
    decode: Callable[[int], Values],
) -> Description:
    """Return the description of a table."""
    return _Describing(name, table, starts, names, decode).described(actions)


class _Describing:
    def __init__(
        self,
        name: str,
        table: Table,
        starts: Sequence[int],
        names: Sequence[str],
        decode: Callable[[int], Values],
    ) -> None:
        self.table, self.starts = table, starts
        self.values = [decode(state) for state in range(len(table))]
        self.ends = ends_of(table, starts)
        self.description = d = Description(name)
        self.bounds = [(min(each), max(each)) for each in zip(*self.values, strict=True)]
        self.variables = [
            d.int(name, *bounds) for name, bounds in zip(names, self.bounds, strict=True)
        ]
        self.names = names
        going = [actions for state, actions in enumerate(table) if state not in self.ends]
        steps = [step for actions in going for each in actions for step in each]
        used = {step.end for step in steps if step.end != self.ends.get(step.target, Ending.NONE)}
        self.sinks = {
            end: d.bool(sink, initial=False) for end, sink in SINKS.items() if end in used
        }

    def described(self, actions: Sequence[str]) -> Description:
        d = self.description
        for number, action in enumerate(actions):
            self._add_edges(number, action)
        d.start(*(dict(zip(self.names, self.values[each], strict=True)) for each in self.starts))
        if (fail := self._condition(Ending.FAIL)) is not None:
            d.fail(fail)
        else:
            d.warn("no step fails: say which do with fail, --task.fail")
        if (goal := self._condition(Ending.GOAL)) is not None:
            d.goal(goal)
        d.observed = tuple(
            Observed(one_hot=tuple(zip(self.names, values, strict=True))) for values in self.values
        )
        return d

    def _add_edges(self, number: int, action: str) -> None:
        """Add an edge for each set of states in which the action changes as much."""
        self.description.action(action)
        groups: dict[tuple[Effect, ...], list[int]] = {}
        for state, actions in enumerate(self.table):
            if state not in self.ends:
                effects = tuple(self._effect(state, step) for step in actions[number])
                groups.setdefault(effects, []).append(state)
        for effects, states in groups.items():
            outcomes = [self._outcome(*effect) for effect in effects]
            guard = self._among(states)
            if Ending.OVER in self.sinks:
                guard = guard & ~self.sinks[Ending.OVER]
            self.description.edge(action, guard=guard, outcomes=outcomes)

    def _effect(self, state: int, step: TableStep) -> Effect:
        """Return by how much variables change, the sink that is entered, and the weight."""
        before, after = self.values[state], self.values[step.target]
        change = tuple(b - a for a, b in zip(before, after, strict=True))
        is_sink = step.end != self.ends.get(step.target, Ending.NONE)
        return change, step.end if is_sink else Ending.NONE, step.weight

    def _outcome(self, change: Values, sink: Ending, weight: float) -> Outcome:
        assignments = [
            Assignment(variable, variable + by)
            for variable, by in zip(self.variables, change, strict=True)
            if by
        ]
        if sink != Ending.NONE:
            assignments.append(Assignment(self.sinks[sink], as_expr(True)))
        return Outcome(tuple(assignments), weight=weight)

    def _condition(self, end: Ending) -> Expr | None:
        """Return where runs end this way; None for nowhere."""
        states = [state for state, ending in self.ends.items() if ending == end]
        condition = self._among(states) if states else None
        sink = self.sinks.get(end)
        if condition is None or sink is None:
            return sink if condition is None else condition
        return condition | sink

    def _among(self, states: Iterable[int]) -> Expr:
        """Return the condition that the state is one of these, which are some."""
        boxes = [self._inside(box) for box in cover(self.values[each] for each in states)]
        result = boxes[0]
        for box in boxes[1:]:
            result = result | box
        return result

    def _inside(self, box: Box) -> Expr:
        result: Expr | None = None
        for variable, (low, high), (least, most) in zip(
            self.variables, box, self.bounds, strict=True
        ):
            claims = [variable == low] if low == high and least < most else []
            if low < high:
                claims += [variable >= low] if low > least else []
                claims += [variable <= high] if high < most else []
            for claim in claims:
                result = claim if result is None else result & claim
        return as_expr(True) if result is None else result


def cover(points: Iterable[Values]) -> list[Box]:
    """Return boxes that contain the points, each in one of them, and nothing else."""
    boxes = [tuple((value, value) for value in point) for point in sorted(set(points))]
    for axis in reversed(range(len(boxes[0]) if boxes else 0)):
        boxes = _merged(boxes, axis)
    return boxes


def _merged(boxes: Sequence[Box], axis: int) -> list[Box]:
    """Return the boxes with those joined that touch along an axis and are else the same."""
    by_rest: dict[Box, list[Box]] = {}
    for box in boxes:
        by_rest.setdefault(box[:axis] + box[axis + 1 :], []).append(box)
    merged: list[Box] = []
    for same in by_rest.values():
        for number, box in enumerate(sorted(same, key=lambda box: box[axis])):
            if number and merged[-1][axis][1] + 1 == box[axis][0]:
                joined = (merged[-1][axis][0], box[axis][1])
                merged[-1] = (*box[:axis], joined, *box[axis + 1 :])
            else:
                merged.append(box)
    return sorted(merged)
