"""``surefoot simulate``."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from surefoot.cli.arguments import Json, StatesFile, TaskArguments, TaskSource, checked_options
from surefoot.cli.deadline import Deadline
from surefoot.cli.policy_arguments import PolicyArguments
from surefoot.options import SimulateOptions

if TYPE_CHECKING:
    from surefoot.cli.run_text import Draw
    from surefoot.policies import Policy
    from surefoot.records import Run, SimulateResult

States = Annotated[
    tuple[str, ...],
    Parameter(
        name="--state",
        help="start from this state, x=3,y=0 or a JSON object; may be repeated",
        show_default=False,
    ),
]
Pictures = Annotated[
    bool, Parameter(help="show a picture of each state, as text", show_default=False)
]
DEFAULT = "random"


def simulate(
    task: TaskSource,
    /,
    *,
    policy: Annotated[PolicyArguments, Parameter(name="*")] = PolicyArguments(),
    state: States = (),
    states: StatesFile = None,
    pictures: Pictures = False,
    options: Annotated[SimulateOptions, Parameter(name="*")] = SimulateOptions(),
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),
) -> int:
    """Show runs of a policy, step by step.

    Runs start in random start states, or in those of --state and --states in turn:
    one run for each of them, unless --runs (at most 1,000,000) says otherwise.
    A run ends in a fail or goal state, in a dead end (no action is applicable), or
    is cut after --max-steps. Below each step stand the actions that were applicable,
    with their scores, the best first; * marks the one taken. Without --policy the
    policy is random. Built-in domains have --pictures of their states.

    For example:
      surefoot simulate "domain:one-way-line?packages=3&locations=4" --runs 3
      surefoot simulate truck.jani --policy truck.onnx --state x=3,y=0 --json
    """
    from surefoot.cli.output import document, json_text
    from surefoot.cli.run_text import picture_text
    from surefoot.cli.state_text import read_states, state_of

    options = checked_options(options)
    deadline = Deadline(options.max_seconds, options.memory_mb)
    with deadline.working("reading the task"):
        from surefoot.simulate import simulate as run

        loaded = task_arguments.load(task)
        draw = picture_text(loaded) if pictures else None
        loaded_policy = policy.load(loaded, seed=options.seed, default=DEFAULT)
        starts = [state_of(loaded, text) for text in state]
        starts += read_states(loaded, states) if states is not None else []
    with deadline.working("simulating"):
        # The policy random is another one for each run.
        is_random = (policy.policy or DEFAULT) == "random"
        chosen = "random" if is_random else loaded_policy
        result = run(loaded, starts or None, policy=chosen, options=deadline.within(options))
        runs = (
            [explained_run(loaded_policy, each_run, draw) for each_run in result.runs]
            if json
            else []
        )
    if json:
        given = {**asdict(options), "runs": len(result.runs), **policy.given()}
        given |= {"policy": policy.policy or DEFAULT}
        given |= {"state": list(state), "states": states and str(states), "pictures": pictures}
        content = document(
            "simulate",
            loaded,
            policy="random" if is_random else loaded_policy.name,
            policy_sha256=loaded_policy.sha256,
            options={**given, **task_arguments.given()},
            seed=options.seed,
            seconds=result.seconds,
            result={**result.to_dict(), "runs": runs},
        )
        print(json_text(content))
    else:
        _print_runs(loaded_policy, result, draw)
    return 0


def explained_run(policy: Policy, run: Run, draw: Draw | None) -> dict[str, object]:
    """Return a run as plain data, with what there was to choose from in each step."""
    from surefoot.cli.run_text import choices_of

    choices = choices_of(policy, run)
    scores = [None if choice.scores is None else dict(choice.scores) for choice in choices]
    return {
        **run.to_dict(),
        "applicable": [list(choice.applicable) for choice in choices],
        "scores": None if None in scores else scores,
        "outcomes": [choice.outcomes for choice in choices],
        **({"pictures": [draw(state) for state in run.states]} if draw else {}),
    }


def _print_runs(policy: Policy, result: SimulateResult, draw: Draw | None) -> None:
    from surefoot.cli.output import console
    from surefoot.cli.run_text import choices_of, head_of, lines_of
    from surefoot.cli.state_text import labels_of

    out = console()
    labels = labels_of(policy.task)
    for run in result.runs:
        with redirect_stdout(sys.stderr):
            choices = choices_of(policy, run)
        out.print(head_of(run))
        print("\n".join(lines_of(run, labels, choices, draw)), end="\n\n")
    out.print(result.summary_text)
