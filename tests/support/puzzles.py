"""Blocksworld and n-puzzle once more, as plain rules, and random states to try them on.

Written over towers and boards, not over the variables of the tasks: only ``read`` and ``written``
know these.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from surefoot import State, Task

Values = dict[str, int]
Board = list[int]  # by cell: the number of the tile, 0 for the empty one


@dataclass(frozen=True)
class BlocksRules:
    """Blocksworld on states in which the blocks stand on each other as they can.

    ``bound`` is None if costs are ignored.
    """

    blocks: int
    limit: int
    bound: int | None = None

    @property
    def actions(self) -> tuple[str, ...]:
        return ("choose_table", *(f"choose_block_{i}" for i in range(self.blocks)))

    def below(self, state: Mapping[str, int], block: int) -> int | str:
        """Return what a block stands on."""
        value = state[f"block_{block}"]
        others = [i for i in range(self.blocks) if i != block]
        return ("hand", "table", *others)[value]

    def written(self, below: Mapping[int, int | str], costs: list[int], step_cost: int) -> Values:
        """Return the state in which each block stands on what is given."""
        state = {"hand-empty": int("hand" not in below.values())}
        state["table-counter"] = sum(on == "table" for on in below.values())
        for i in range(self.blocks):
            others = [j for j in range(self.blocks) if j != i]
            state[f"block_{i}"] = ("hand", "table", *others).index(below[i])
        for i in range(self.blocks):
            state[f"clear_{i}"] = int(below[i] != "hand" and i not in below.values())
        if self.bound is not None:
            state |= {f"cost_block_{i}": cost for i, cost in enumerate(costs)}
            state["step_cost"] = step_cost
        return state

    def is_fail(self, state: Mapping[str, int]) -> bool:
        return self._on_table(state) > self.limit

    def _on_table(self, state: Mapping[str, int]) -> int:
        return sum(self.below(state, i) == "table" for i in range(self.blocks))

    def is_goal(self, state: Mapping[str, int]) -> bool:
        below = [self.below(state, i) for i in range(self.blocks)]
        return below == ["table", *range(self.blocks - 1)]

    def starts(self) -> list[Values]:
        """Return all start states: whatever stands under a block has a higher number."""
        choices = [["table", *range(i + 1, self.blocks)] for i in range(self.blocks)]
        found = []
        for below in itertools.product(*choices):
            used = [on for on in below if on != "table"]
            towers = self.blocks - len(used)
            if len(used) == len(set(used)) and towers <= self.limit:
                found.append(self.written(dict(enumerate(below)), [0] * self.blocks, 0))
        return found

    def applicable(self, state: Mapping[str, int]) -> tuple[str, ...]:
        return tuple(action for action in self.actions if self.outcomes(state, action))

    def outcomes(self, state: Mapping[str, int], action: str) -> list[Values]:
        below = {i: self.below(state, i) for i in range(self.blocks)}
        held = [i for i in below if below[i] == "hand"]
        chosen = "table" if action == "choose_table" else int(action.removeprefix("choose_block_"))
        if chosen in held or chosen in [on for on in below.values() if on != "table"]:
            return []
        if not held and chosen == "table":
            return []
        moved, to = (held[0], chosen) if held else (chosen, "hand")
        costs = [state.get(f"cost_block_{i}", 0) for i in range(self.blocks)]
        cost = costs[int(moved)]
        if self.bound is not None and cost >= self.bound:
            return []
        success = self.written({**below, int(moved): to}, costs, cost)
        costs[int(moved)] += 1
        return [success, self.written(below, costs, cost)]


def random_towers(rules: BlocksRules, rng: random.Random) -> Values:
    """Return a random state in which blocks stand on each other as they can."""
    order = rng.sample(range(rules.blocks), rules.blocks)
    chance = rng.random()
    below: dict[int, int | str] = {order[0]: "table"}
    for under, block in itertools.pairwise(order):
        below[block] = under if rng.random() < chance else "table"
    if rng.random() < 0.5:
        below[order[-1]] = "hand"
    top = rules.bound or 0
    costs = [rng.choice([0, rng.randint(0, top), top]) for _ in order]
    return rules.written(below, costs, rng.randint(0, top))


@dataclass(frozen=True)
class PuzzleRules:
    """The n-puzzle on states with one tile in each cell but one."""

    side: int
    bound: int
    wraps: bool

    actions = ("move_left", "move_right", "move_up", "move_down")

    def read(self, state: Mapping[str, int]) -> Board:
        """Return the board of a state."""
        board = [0] * self.side**2
        for k in range(1, self.side**2):
            board[state[f"tile_{k}"]] = k
        return board

    def written(self, board: Board, costs: list[int], step_cost: int) -> Values:
        """Return the state of a board; ``costs`` are those of the tiles from 1 on."""
        state = {"empty": board.index(0)}
        state |= {f"tile_{k}": board.index(k) for k in range(1, self.side**2)}
        state |= {f"cost_tile_{k}": cost for k, cost in enumerate(costs, start=1)}
        return {**state, "step_cost": step_cost}

    def is_fail(self, state: Mapping[str, int]) -> bool:
        return self.read(state)[-2] == self.side

    def is_goal(self, state: Mapping[str, int]) -> bool:
        wanted = list(reversed(range(self.side**2)))
        return self.read(state)[2:] == wanted[2:]

    def starts(self) -> list[Values]:
        """Return all start states, up to side 3."""
        size = self.side**2
        boards = map(list, itertools.permutations(range(size)))
        free = [0] * (size - 1)
        return [state for b in boards if self._is_start(state := self.written(b, free, 0))]

    def _is_start(self, state: Mapping[str, int]) -> bool:
        columns = [range(first, self.side**2, self.side) for first in range(1, self.side + 1)]
        for tiles in columns:
            cells = [state[f"tile_{k}"] for k in tiles]
            if cells != sorted(cells):
                return False
        return not (self.is_fail(state) or self.is_goal(state))

    def applicable(self, state: Mapping[str, int]) -> tuple[str, ...]:
        return tuple(action for action in self.actions if self.outcomes(state, action))

    def outcomes(self, state: Mapping[str, int], action: str) -> list[Values]:
        board, empty = self.read(state), state["empty"]
        to = self._to(empty, action)
        if to is None:
            return []
        tile = board[to]
        costs = [state[f"cost_tile_{k}"] for k in range(1, self.side**2)]
        cost = costs[tile - 1]
        moved = list(board)
        moved[empty], moved[to] = tile, 0
        found = [self.written(moved, costs, cost)]
        if cost < self.bound:
            costs[tile - 1] += 1
            found.append(self.written(board, costs, cost))
        return found

    def _to(self, empty: int, action: str) -> int | None:
        row, column = divmod(empty, self.side)
        down, right = {"left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0)}[
            action.removeprefix("move_")
        ]
        row, column = row + down, column + right
        if not self.wraps and not 0 <= column < self.side:
            return None
        to = row * self.side + column
        return to if 0 <= to < self.side**2 else None


def random_board(rules: PuzzleRules, rng: random.Random) -> Values:
    """Return a random state with one tile in each cell but one."""
    size = rules.side**2
    costs = [rng.choice([0, rules.bound, rng.randint(0, rules.bound)]) for _ in range(size - 1)]
    return rules.written(rng.sample(range(size), size), costs, rng.randint(0, rules.bound))


def ways_to_goal(
    rules: BlocksRules | PuzzleRules, starts: list[Values]
) -> tuple[int, dict[str, int]]:
    """Return how many of the starts have a way to the goal without fail, and how many states of
    each kind are met; costs must not matter.
    """
    key = lambda state: tuple(state.values())  # noqa: E731
    known = {key(s): s for s in starts}
    into: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    goals = []
    queue = list(known)
    kinds = {"fail": 0, "goal": 0, "open": 0}
    for at in queue:
        state = known[at]
        kind = "fail" if rules.is_fail(state) else "goal" if rules.is_goal(state) else "open"
        kinds[kind] += 1
        goals += [at] * (kind == "goal")
        for action in rules.applicable(state) if kind == "open" else ():
            outcome = rules.outcomes(state, action)[0]
            into.setdefault(key(outcome), []).append(at)
            if key(outcome) not in known:
                known[key(outcome)] = outcome
                queue.append(key(outcome))
    solved = set(goals)
    for at in goals:
        new = [one for one in dict.fromkeys(into.get(at, ())) if one not in solved]
        solved.update(new)
        goals += new
    return sum(key(s) in solved for s in starts), kinds


def spoilt(task: Task, state: Values, rng: random.Random) -> Values:
    """Return the state with one variable drawn anew, half of the time."""
    if rng.random() < 0.5:
        variable = rng.choice(task.variables)
        return {**state, variable.name: rng.randint(int(variable.lower), int(variable.upper))}
    return state


def any_values(task: Task, rng: random.Random) -> Values:
    """Return a state with any values."""
    return {v.name: rng.randint(int(v.lower), int(v.upper)) for v in task.variables}


def random_states(
    task: Task, rules: BlocksRules | PuzzleRules, count: int, *, seed: int
) -> Iterator[State]:
    """Yield so many random states of each kind: with any values; that can be; and those that at
    most one variable keeps from being one that can be, a start or the goal.
    """
    rng = random.Random(seed)
    starts = [dict(s.to_dict()) for s in task.sample_starts(count, seed=seed)]
    for number in range(count):
        can_be = (
            random_towers(rules, rng)
            if isinstance(rules, BlocksRules)
            else random_board(rules, rng)
        )
        yield task.state(any_values(task, rng))
        yield task.state(can_be)
        yield task.state(spoilt(task, can_be, rng))
        yield task.state(spoilt(task, starts[number], rng))
        yield task.state(spoilt(task, goal_state(rules, rng), rng))


def goal_state(rules: BlocksRules | PuzzleRules, rng: random.Random) -> Values:
    """Return a goal state."""
    if isinstance(rules, BlocksRules):
        below: dict[int, int | str] = {i: i - 1 for i in range(1, rules.blocks)}
        return rules.written({0: "table", **below}, [0] * rules.blocks, 0)
    board = list(reversed(range(rules.side**2)))
    board[:2] = rng.sample(board[:2], 2)
    return rules.written(board, [0] * (rules.side**2 - 1), 0)
