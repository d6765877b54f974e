"""How long certificates take to check: ``python -m benchmarks.checking [TASK...]``.

For each task: the faults of the policy ``first``, as a campaign finds them, with the certificates
of the state and of the outcome. The checker has read the task before; the time is the best of
``--repeats`` in CPU seconds, and per state of the certificates. The other column steps through
reachable states: applicable actions and all outcomes of each.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import surefoot
from surefoot.certificates.models import model_of

TASKS = ("domain:beluga?jigs=4", "domain:racetrack", "domain:blocksworld?blocks=6")
FAULTS = 20
STATES = 2_000


def best(work: Callable[[], object], repeats: int) -> float:
    """Return the CPU seconds of the quickest of several times."""
    seconds = []
    for _ in range(repeats):
        before = time.process_time()
        work()
        seconds.append(time.process_time() - before)
    return min(seconds)


def certificates_of(task: surefoot.Task) -> list[surefoot.Certificate]:
    """Return the certificates of some faults, or of start states if there are none."""
    policy = surefoot.load_policy("first", task)
    runs = surefoot.fuzz(task, policy, runs=200, seed=0)
    faults = surefoot.find_faults(task, policy, runs.failing).faults[:FAULTS]
    states = [state for fault in faults for state in (fault.state, fault.outcome)]
    answers = [surefoot.decide(task, each) for each in states or task.sample_starts(10, seed=0)]
    return [answer.certificate for answer in answers if answer.certificate is not None]


def reachable(task: surefoot.Task) -> list[surefoot.State]:
    """Return states in the order in which they are reached, up to a number."""
    seen = dict.fromkeys(task.sample_starts(10, seed=0))
    waiting = list(seen)
    while waiting and len(seen) < STATES:
        state = waiting.pop()
        if task.is_fail(state) or task.is_goal(state):
            continue
        outcomes = [each for a in task.applicable(state) for each in task.outcomes(state, a)]
        waiting += [each for each in dict.fromkeys(outcomes) if each not in seen]
        seen.update(dict.fromkeys(outcomes))
    return list(seen)


def row(name: str, repeats: int) -> str:
    """Return the line of a task."""
    task = surefoot.load_task(name)
    certificates, states = certificates_of(task), reachable(task)
    model = model_of(task, [])

    def check() -> None:
        for each in certificates:
            each.check()

    def step() -> None:
        for state in states:
            view = model.view(dict(state))
            for action in model.applicable(view):
                model.outcomes(view, action)

    size = sum(each.size for each in certificates)
    checked, stepped = best(check, repeats), best(step, repeats)
    per_state = f"{1e6 * checked / size:8.0f} us {1e6 * stepped / len(states):10.0f} us"
    return f"{name:30} {size:7,} states {checked:8.3f} s {per_state}"


def main() -> None:
    """Print a line for each task."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", default=TASKS)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    print(f"{'task':30} {'certificates':>14} {'checked':>10} {'a state':>11} {'a step':>13}")
    for name in given.tasks:
        print(row(name, given.repeats), flush=True)


if __name__ == "__main__":
    main()
