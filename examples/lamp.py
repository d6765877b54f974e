"""A lamp with a coarse switch, as a declarative task.

    python examples/lamp.py              explore and simulate the lamp
    python examples/lamp.py lamp.jani    write it as a JANI file
    surefoot explore examples/lamp.py:lamp

``up`` brightens the lamp by one step or by two; the environment picks. Brightness 2 is the goal,
3 burns the lamp out.
In state 1 ``up`` may fail and ``down`` cannot: whoever always goes up is careless exactly there.
"""

import sys

import surefoot

lamp = surefoot.Description("lamp")
light = lamp.int("light", 0, 3, initial=0)
lamp.edge("up", guard=light < 2, outcomes=[{light: light + 1}, {light: light + 2}])
lamp.edge("down", guard=light > 0, outcomes=[{light: light - 1}])
lamp.start(light <= 1)
lamp.goal(light == 2)
lamp.fail(light == 3)


def main() -> None:
    """Show what the task does, or write it to the file that was named."""
    task = lamp.compile()
    if len(sys.argv) > 1:
        task.write_jani(sys.argv[1])
        print(f"wrote {sys.argv[1]}")
        return
    counts = surefoot.explore(task)
    print(f"{counts.states} states, {counts.fail} fail, {counts.goal} goal")
    dim = task.state(light=1)
    for action in task.applicable(dim):
        print(f"{dim} --{action}--> {' or '.join(map(str, task.outcomes(dim, action)))}")
    print(surefoot.simulate(task, [dim], policy="first", runs=4).summary)


if __name__ == "__main__":
    main()
