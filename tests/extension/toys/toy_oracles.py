"""Oracles that look at all states there are, one by one."""

from surefoot import State, Task
from surefoot.options import DecideOptions
from surefoot.oracles import Algorithm, Table


def reachable(task: Task, state: State) -> list[State]:
    """Return all states that can be reached from one."""
    states = {state: None}
    waiting = [state]
    for each in waiting:
        if not task.is_fail(each) and not task.is_goal(each):
            for action in task.applicable(each):
                new = [one for one in task.outcomes(each, action) if one not in states]
                states |= dict.fromkeys(new)
                waiting += new
    return list(states)


def decide_slowly(task: Task, state: State, options: DecideOptions) -> Table:
    """Return what spreading unsafety backwards from fail states says, until nothing is added."""
    states = reachable(task, state)
    ranks = {each: 0 for each in states if task.is_fail(each)}
    choices: dict[State, str] = {}
    is_new = True
    while is_new:
        is_new, choices = False, {}
        for each in states:
            if each in ranks or task.is_goal(each) or not task.applicable(each):
                continue
            for action in task.applicable(each):
                if not any(outcome in ranks for outcome in task.outcomes(each, action)):
                    choices[each] = action
            if each not in choices:
                ranks[each], is_new = len(ranks), True
    if state in ranks:
        return Table("unsafe", ranks, expanded=len(states))
    return Table("safe", choices, expanded=len(states))


SLOW = Algorithm.of_tables("slow", decide_slowly)
HOPEFUL = Algorithm.of_tables("hopeful", lambda task, state, options: Table("safe"))
