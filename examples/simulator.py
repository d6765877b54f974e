"""A walk along a cliff in the wind, as a task that Python code defines.

    python examples/simulator.py
    surefoot explore examples/simulator.py:cliff

Use this way for a simulator that no model file describes. The walker goes from the left edge of a
grid to the right edge. Row 0 is the cliff. In the windy columns each step may also blow the walker
one row down.
"""

import surefoot

WIDTH, HEIGHT = 6, 4
WINDY = {2, 3}
MOVES = {"right": (1, 0), "up": (0, 1), "down": (0, -1)}


class Cliff:
    """The five methods of a Python-defined task; states are tuples (x, y)."""

    def start(self):
        return [(0, y) for y in range(1, HEIGHT)]

    def actions(self, state):
        x, y = state
        return [n for n, (dx, dy) in MOVES.items() if x + dx < WIDTH and 0 <= y + dy < HEIGHT]

    def outcomes(self, state, action):
        (x, y), (dx, dy) = state, MOVES[action]
        moved = (x + dx, y + dy)
        return [moved, (moved[0], max(moved[1] - 1, 0))] if x in WINDY else [moved]

    def is_goal(self, state):
        return state[0] == WIDTH - 1

    def is_fail(self, state):
        return state[1] == 0


cliff = surefoot.PythonTask(Cliff(), name="cliff", names=("x", "y"))


def main() -> None:
    """Count what is reachable and how many random runs fall."""
    counts = surefoot.explore(cliff)
    print(f"{counts.states} states, {counts.fail} fail, {counts.goal} goal")
    result = surefoot.simulate(cliff, runs=1000, seed=0)
    print(f"{result.summary['fail']} of {len(result.runs)} random runs fall off the cliff")
    print(min((r for r in result.runs if r.result == "fail"), key=lambda r: r.steps))


if __name__ == "__main__":
    main()
