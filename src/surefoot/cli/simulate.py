"""``surefoot simulate``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from surefoot.cli.arguments import Json, StatesFile, TaskArguments, TaskSource, checked_options
from surefoot.errors import printable
from surefoot.options import SimulateOptions
from surefoot.results import RESULT_WORDS, counted

if TYPE_CHECKING:
    from surefoot.results import Run, SimulateResult
    from surefoot.tasks.python_task import PythonTask
    from surefoot.tasks.task import Task

States = Annotated[
    tuple[str, ...],
    Parameter(
        name="--state",
        help="start from this state, x=3,y=0 or a JSON object; may be repeated",
        show_default=False,
    ),
]
STYLES = {"fail": "bold red", "goal": "bold green", "dead_end": "bold yellow", "cut": "bold"}


def simulate(
    task: TaskSource,
    /,
    *,
    state: States = (),
    states: StatesFile = None,
    options: Annotated[SimulateOptions, Parameter(name="*")] = SimulateOptions(),  # noqa: B008
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),  # noqa: B008
) -> int:
    """Show runs of a policy, step by step.

    Runs start in random start states, or in those of --state and --states in turn:
    one run for each of them, unless --runs (at most 1,000,000) says otherwise.
    A run ends in a fail or goal state, in a dead end (no action is applicable), or
    is cut after --max-steps.

    For example:
      surefoot simulate "domain:one-way-line?packages=3&locations=4" --runs 3
      surefoot simulate counter.jani --policy first --state x=3,y=0 --json
    """
    from surefoot.cli.output import check_policy, document, json_text
    from surefoot.cli.progress import Progress
    from surefoot.cli.state_text import read_states, state_of

    options = checked_options(options)
    with redirect_stdout(sys.stderr), Progress("reading the task"):
        from surefoot.simulate import POLICIES
        from surefoot.simulate import simulate as run

        check_policy(options.policy, known=POLICIES)
        loaded = task_arguments.load(task)
        starts = [state_of(loaded, text) for text in state]
        starts += read_states(loaded, states) if states is not None else []
    with redirect_stdout(sys.stderr), Progress("simulating"):
        result = run(loaded, starts or None, options=options)
    if json:
        given = {**asdict(options), "runs": len(result.runs)}
        given |= {"state": list(state), "states": states and str(states)}
        content = document(
            "simulate",
            loaded,
            policy=options.policy,
            options={**given, **task_arguments.given()},
            seed=options.seed,
            seconds=result.seconds,
            result=result.to_dict(),
        )
        print(json_text(content))
    else:
        _print_runs(loaded, result)
    return 0


def _print_runs(task: Task | PythonTask, result: SimulateResult) -> None:
    from rich.text import Text

    from surefoot.cli.output import console
    from surefoot.cli.state_text import labels_of

    out = console()
    labels = labels_of(task)
    for run in result.runs:
        head = Text.assemble(
            f"run {run.run}: ",
            (RESULT_WORDS[run.result], STYLES[run.result]),
            f" after {counted(run.steps, 'step')}",
        )
        out.print(head)
        print("\n".join(_lines(run, labels)), end="\n\n")
    out.print(result.summary_text)


def _lines(run: Run, labels: dict[str, tuple[str, ...]]) -> Iterator[str]:
    """Yield the start state in full, then each action with the variables that it changed."""
    from surefoot.cli.state_text import text_of

    yield f"  start  {text_of(run.start, labels)}"
    width = max((len(printable(action)) for action in run.actions), default=0)
    for step, action in enumerate(run.actions):
        before, after = run.states[step].to_dict(), run.states[step + 1].to_dict()
        changed = {n: v for n, v in after.items() if n not in before or before[n] != v}
        text = text_of(changed, labels) or "(nothing changes)"
        yield f"  {step + 1:5}  {printable(action):{width}}  {text}"
