"""``surefoot explore``."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from surefoot.cli.arguments import Json, StatesFile, TaskArguments, TaskSource, checked_options
from surefoot.cli.deadline import Deadline
from surefoot.errors import InputError, printable
from surefoot.options import ExploreOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from surefoot.records import ExploreResult
    from surefoot.tasks.state import State
    from surefoot.tasks.task import Task

COMPLETE, CUT = 0, 4
Initial = Annotated[
    bool, Parameter(help="start from the variables' initial values", show_default=False)
]
Seed = Annotated[int, Parameter(help="changes nothing here: exploring draws nothing at random")]


def explore(
    task: TaskSource,
    /,
    *,
    states: StatesFile = None,
    initial: Initial = False,
    options: Annotated[ExploreOptions, Parameter(name="*")] = ExploreOptions(),
    seed: Seed = 0,
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),
) -> int:
    """Count the reachable states, actions and outcomes, and how many states fail.

    Starts from all start states of the task, or where --states or --initial says.
    Follows every applicable action, silent ones included, although a policy takes
    a silent one only where nothing else is applicable.
    Exit code 0 if everything was seen, 4 if time, memory or states ran out.

    For example:
      surefoot explore "domain:one-way-line?packages=3&locations=4"
      surefoot explore truck.jani --property safety.jani --max-states 1000000
    """
    from surefoot.cli.output import document, json_text

    options = checked_options(options)
    deadline = Deadline(options.max_seconds, options.memory_mb)
    with deadline.working("reading the task"):
        loaded = task_arguments.load(task)
        begin = _begin(loaded, states, initial=initial)
    with deadline.working("exploring") as progress:
        from surefoot.explore import explore as run

        result = run(loaded, begin, options=deadline.within(options), progress=progress.explored)
    if json:
        given = {**asdict(options), "states": states and str(states), "initial": initial}
        content = document(
            "explore",
            loaded,
            options={**given, **task_arguments.given()},
            seed=seed,
            seconds=result.seconds,
            result=result.to_dict(),
        )
        print(json_text(content))
    else:
        _print_table(loaded.name, result)
    if not result.complete:
        print(_what_ran_out(result, options), file=sys.stderr)
    return COMPLETE if result.complete else CUT


def _begin(task: Task, file: Path | None, *, initial: bool) -> Sequence[State] | None:
    if file is not None and initial:
        raise InputError("bad-option", "--states and --initial exclude each other")
    if initial:
        return [task.initial_state()]
    if file is None:
        return None
    from surefoot.cli.state_text import read_states

    return read_states(task, file)


def _print_table(name: str, result: ExploreResult) -> None:
    from rich.table import Table
    from rich.text import Text

    from surefoot.cli.output import console

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    for label, count in _rows(result):
        style = "bold red" if label.strip() == "fail" and count else ""
        table.add_row(label, Text(f"{count:,}", style=style))
    out = console()
    out.print(Text(printable(name), style="bold"))
    out.print(table)
    end = "complete" if result.complete else "CUT, not everything was seen"
    out.print(
        f"{end}, in {result.seconds:,.3f} s "
        f"({result.states_per_second:,.0f} states/s, {result.bytes_per_state:.1f} bytes/state)"
    )


def _rows(result: ExploreResult) -> list[tuple[str, int]]:
    rows = [
        ("states", result.states),
        ("  start", result.starts),
        ("  fail", result.fail),
        ("  goal", result.goal),
        ("  dead ends", result.dead_ends),
        ("(state, action) pairs", result.pairs),
        ("outcomes", result.outcomes),
        ("depth", result.depth),
    ]
    return rows if result.complete else [*rows[:1], ("  expanded", result.expanded), *rows[1:]]


def _what_ran_out(result: ExploreResult, options: ExploreOptions) -> str:
    """Return what stopped the search and which option would let it go on."""
    limits = {
        "states": (f"{options.max_states:,} states", "--max-states"),
        "seconds": (f"{options.max_seconds:,g} seconds", "--max-seconds"),
        "memory": (f"{options.memory_mb:,} MB", "--memory-mb"),
    }
    limit, option = limits.get(result.stopped or "", (f"{result.stopped}", "the limit"))
    if result.starts_complete:
        return f"cut: {limit} were not enough; raise {option}"
    if result.stopped == "states":
        text = f"cut: the start condition alone holds in more than {limit}"
    else:
        text = f"cut: {limit} were not enough to list the states of the start condition"
    return f"{text}; give --states FILE or raise {option}"
