"""``surefoot fuzz``."""

from __future__ import annotations

import itertools
import json as json_module
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter, Token

from surefoot.cli.arguments import (
    Json,
    ObjectiveName,
    StatesFile,
    TaskArguments,
    TaskSource,
    check_objective,
    checked_options,
)
from surefoot.cli.deadline import Deadline
from surefoot.cli.policy_arguments import PolicyArguments
from surefoot.cli.saving import SaveArguments, print_saved, saved_member
from surefoot.errors import InputError, printable, quoted
from surefoot.options import MAX_INT, FuzzOptions, whole
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.cli.progress import Progress
    from surefoot.policies import Policy
    from surefoot.records import FuzzResult, Run
    from surefoot.tasks.task import Task

NOTHING, FAILS, CUT = 0, 1, 4
Out = Annotated[
    Path | None,
    Parameter(name=("--out", "-o"), help="keep the document of --json in this file, too"),
]


def read_lookahead(_: object, tokens: Sequence[Token]) -> int | None:
    """Return the lookahead as given on the command line: a whole number from 1, the largest there
    is for none.
    """
    text: str = tokens[0].value
    if text in ("none", "inf"):
        return MAX_INT
    is_number = text.isascii() and text.isdigit() and len(text) <= 20
    number = whole(int(text)) if is_number else None
    if not number:
        raise InputError(
            "bad-option",
            f"--lookahead must be none or a whole number of at least 1, not {quoted(text)}",
            hint="none looks ahead as far as needed",
        )
    return number


@dataclass(frozen=True, kw_only=True)
class FuzzArguments(FuzzOptions):
    """The options as the command line takes them: a lookahead without limit has a name."""

    lookahead: Annotated[
        int | None,
        Parameter(
            converter=read_lookahead, n_tokens=1, allow_leading_hyphen=True, show_default=False
        ),
    ] = None
    """how many steps to look ahead when picking an outcome; none: as far as needed; if not given,
    one if uniform, else until 300 states are seen"""

    def plain(self) -> FuzzOptions:
        """Return the options. Raises InputError for a bad value."""
        from surefoot.fuzz.bias import check_bias

        values = {field.name: getattr(self, field.name) for field in fields(FuzzOptions)}
        options = checked_options(FuzzOptions(**values))
        check_bias("--bias", options.bias)
        if options.changes != FuzzOptions.changes and options.perturb == "none":
            raise InputError(
                "bad-option",
                "--changes has no effect here: nothing is perturbed",
                hint="give --perturb values, actions or both",
            )
        return options


def fuzz(
    task: TaskSource,
    /,
    *,
    policy: Annotated[PolicyArguments, Parameter(name="*")] = PolicyArguments(),
    states: StatesFile = None,
    options: Annotated[FuzzArguments, Parameter(name="*")] = FuzzArguments(),
    objective: ObjectiveName = "safety",
    out: Out = None,
    saving: Annotated[SaveArguments, Parameter(name="*")] = SaveArguments(),
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),
) -> int:
    """Find runs of a policy that fail.

    Runs begin in random start states, or in those of --states in turn. Where an
    action has several outcomes, --bias says which one is picked: by default each run
    is made in one of several ways, most in those that find something new. Shows the
    shortest failing run and counts how the others ended. --save puts that run into
    the corpus.
    Exit code 1 if a run fails; else 4 if time or memory ran out before all runs
    were done, else 0.

    For example:
      surefoot fuzz truck.jani --property safety.jani --policy truck.onnx
      surefoot fuzz "domain:one-way-line?packages=3&locations=4&variant=icy-park" \\
          --policy first --runs 100 --bias weighted --lookahead 3
      surefoot fuzz truck.jani --policy truck.ubj --perturb actions -o runs.json
    """
    from surefoot.cli.output import json_text

    policy.check_given()
    saving.check()
    deadline = Deadline(options.max_seconds, options.memory_mb)
    with deadline.working("reading the task"):
        from surefoot.cli.state_text import read_states
        from surefoot.fuzz import can_handle
        from surefoot.fuzz import fuzz as run
        from surefoot.records.runs import shortest_first

        settings = options.plain()
        check_writable(out)
        loaded = task_arguments.load(task)
        loaded_policy = policy.load(loaded, seed=settings.seed)
        check_objective(objective, loaded_policy, can_handle)
        starts = None if states is None else read_states(loaded, states)
    with deadline.working("fuzzing") as progress:
        result = run(
            loaded,
            loaded_policy,
            starts,
            options=deadline.within(settings),
            progress=fuzzing_teller(progress, settings.runs),
        )
    shortest = shortest_first(result.failing)[:1]
    seed, left = settings.seed, deadline.left
    saved = saving.saved(loaded_policy, shortest, seed=seed, seconds=left)
    if json or out is not None:
        given = {**plain_options(settings), **policy.given(), "states": states and str(states)}
        given |= {**saving.given(), **task_arguments.given()}
        content = _document(loaded_policy, result, settings, given) | saved_member(saved)
    if out is not None:
        write_document(out, content)
    if json:
        print(json_text(content))
    else:
        _print_result(loaded_policy, result)
        if out is not None:
            print(f"all runs are in {printable(str(out))}")
        print_saved(saved)
    for hint in _hints(result, settings):
        print(hint, file=sys.stderr)
    return exit_code_of(result)


def plain_options(options: FuzzOptions) -> dict[str, object]:
    """Return the options as a document has them: a lookahead without limit by its name."""
    given = asdict(options)
    return {**given, "lookahead": "none"} if options.lookahead == MAX_INT else given


def exit_code_of(result: FuzzResult) -> int:
    """Return 1 if a run fails, else 4 if something ran out before all runs were done, else 0."""
    if result.failing:
        return FAILS
    return CUT if result.stopped else NOTHING


def fuzzing_teller(progress: Progress, asked: int) -> Callable[[int, int, int, int, float], None]:
    """Return what notes the progress of so many runs."""

    def tell(states: int, done: int, failing: int, memory: int, seconds: float) -> None:
        progress.note(
            f"{done:,} of {counted(asked, 'run')}, {failing:,} failing, {counted(states, 'state')}"
        )

    return tell


# -- the document ------------------------------------------------------------------------------


def _document(
    policy: Policy, result: FuzzResult, options: FuzzOptions, given: dict[str, object]
) -> dict[str, object]:
    from surefoot.cli.output import document

    return document(
        "fuzz",
        policy.task,
        policy=policy.name,
        policy_sha256=policy.sha256,
        options=given,
        seed=options.seed,
        seconds=result.seconds,
        result={**result.to_dict(), "stopped": result.stopped},
    )


def check_writable(file: Path | None) -> None:
    """Raise InputError if a file cannot be written where it is wanted: before the work is done."""
    if file is None:
        return
    if file.suffix != ".json":
        raise InputError(
            "bad-option", f"--out {quoted(str(file))} is not a JSON file", hint="as in -o runs.json"
        )
    if file.is_dir() or not file.absolute().parent.is_dir():
        what = "is a directory" if file.is_dir() else "is in a directory that is not there"
        raise InputError("bad-option", f"--out {quoted(str(file))} {what}")


def write_document(file: Path, content: dict[str, object]) -> None:
    """Write a JSON document; a file of that name stays as it is until all is written."""
    from surefoot.files import write_pieces

    pieces = json_module.JSONEncoder().iterencode(content)
    write_pieces(file, itertools.chain(pieces, "\n"), what="file")


# -- text --------------------------------------------------------------------------------------


def _print_result(policy: Policy, result: FuzzResult) -> None:
    from rich.text import Text

    from surefoot.cli.fuzz_text import count_lines
    from surefoot.cli.output import console
    from surefoot.records.runs import shortest_first

    out = console()
    task = policy.task
    out.print(Text(f"{printable(task.name)}, policy {printable(policy.name)}", style="bold"))
    if result.failing:
        _print_run(task, shortest_first(result.failing)[0], result)
    for line in count_lines(result):
        out.print(line)
    out.print(_cost_text(result))


def _print_run(task: Task, run: Run, result: FuzzResult) -> None:
    from surefoot.cli.output import console
    from surefoot.cli.run_text import head_of, lines_of
    from surefoot.cli.state_text import labels_of

    count = len(result.failing)
    more = f", a shortest of {count:,} distinct failing runs" if count > 1 else ""
    if run.strategy is not None:
        more += f", by {run.strategy}"
    console().print(head_of(run, more))
    print("\n".join(lines_of(run, labels_of(task))), end="\n\n")


def _cost_text(result: FuzzResult) -> str:
    text = f"{counted(result.steps, 'step')}, {counted(result.states, 'state')}, "
    text += f"{counted(result.policy_calls, 'decision')} in {result.seconds:,.3f} s"
    return f"{text} ({result.steps / result.seconds:,.0f} steps/s)" if result.seconds > 0 else text


def _hints(result: FuzzResult, options: FuzzOptions) -> list[str]:
    """Return what was cut, and which option helps."""
    hints = []
    done = sum(result.counts.values())
    reasons = Counter(result.cuts)
    if result.stopped == "seconds":
        text = f"{done:,} of {counted(options.runs, 'run')} were done"
        limit = f"{options.max_seconds:,g} seconds"
        help = "raise --max-seconds or --workers"
        if options.lookahead is None and options.bias != "uniform":
            help += ", or look less far ahead: --lookahead 1"
        hints.append(f"cut: {limit} were not enough, {text}; {help}")
    if count := reasons["memory"]:
        limit = f"{options.memory_mb:,} MB"
        hints.append(
            f"cut: {counted(count, 'run')} for lack of memory ({limit}); raise --memory-mb"
        )
    if count := result.counts.get("inapplicable", 0):
        hints.append(
            f"{counted(count, 'run')} stopped where the policy's choice is not applicable; without "
            "--unfiltered it takes the best applicable one"
        )
    if count := reasons["steps"]:
        steps = counted(options.max_steps, "step")
        help = "raise --max-steps"
        if options.bias == "greedy" and not result.failing:
            help += ", or try --bias weighted: greedy runs may circle near fail"
        hints.append(f"cut: {counted(count, 'run')} after {steps}; {help}")
    if count := reasons["model-error"]:
        hints.append(
            f"cut: {counted(count, 'run')} where a changed value led to an error of the model; "
            "--perturb actions changes no values"
        )
    return hints
