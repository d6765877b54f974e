"""Tasks for the tests of environments, and what an environment should say about their states."""

from surefoot import Description

DIM = {"light": 1, "broken": False}
REWARDS = {"fail": -2.0, "goal": 3.0, "dead_end": 0.5, "cut": 0.0, None: 0.0}
STEP = -0.25
PAID = {
    "fail_reward": -2.0,
    "goal_reward": 3.0,
    "dead_end_reward": 0.5,
    "step_reward": STEP,
}


def lamp(**more):
    """Bright is the goal, too bright fails; dark and broken is a dead end."""
    d = Description("lamp")
    light = d.int("light", 0, 3, initial=0)
    broken = d.bool("broken", initial=False)
    d.edge("up", guard=(light < 2) & ~broken, outcomes=[{light: light + 1}, {light: light + 2}])
    d.edge("down", guard=(light > 0) & ~broken, outcomes=[{light: light - 1}])
    d.edge("drop", guard=(light < 1) & ~broken, outcomes=[{broken: True}, {}])
    d.start(more.get("start", (light <= 1) & ~broken))
    d.goal(light == 2)
    d.fail(light == 3)
    return d


def ticking():
    """After each move the clock ticks by itself: one tick or two; at 9 it stops."""
    d = Description("ticking")
    time = d.int("time", 0, 9, initial=0)
    due = d.bool("due", initial=True)
    d.edge("wait", guard=~due & (time < 9), outcomes=[{due: True}])
    d.edge("skip", guard=~due & (time < 8), outcomes=[{time: time + 1, due: True}])
    d.silent.append("tick")
    d.edge("tick", guard=due & (time < 9), outcomes=[{time: time + 1, due: False}, {due: False}])
    return d


def rests(task, states):
    """Return where runs come to rest that the environment goes on with by silent actions: nowhere
    if these go on for ever.
    """
    found, seen, left = set(), set(states), list(states)
    while left:
        state = left.pop()
        actions = task.applicable(state)
        is_over = task.is_fail(state) or task.is_goal(state) or not actions
        if is_over or not task.silent.issuperset(actions):
            found.add(state)
            continue
        more = {after for action in actions for after in task.outcomes(state, action)} - seen
        seen |= more
        left.extend(more)
    return found


def result_of(task, state):
    """Return how a run ends that comes to rest here, if it does."""
    if task.is_fail(state):
        return "fail"
    if task.is_goal(state):
        return "goal"
    return None if task.applicable(state) else "dead_end"


def observed(task, state):
    """Return a state as it is observed, computed from the bounds if there are any."""
    return [
        -1 + 2 * (state[v.name] - v.lower) / (v.upper - v.lower)
        if 0 < v.upper - v.lower < 1e9
        else state[v.name]
        for v in task.variables
    ]


def mask_of(task, env, state):
    applicable = set() if result_of(task, state) else set(task.applicable(state))
    return [name in applicable for name in env.interface.outputs]


class Coin:
    """A task that Python code defines."""

    def start(self):
        return [0]

    def actions(self, state):
        return ["flip"]

    def outcomes(self, state, action):
        return [0, 1]

    def is_goal(self, state):
        return state == 1

    def is_fail(self, state):
        return False
