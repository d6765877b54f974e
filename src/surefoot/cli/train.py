"""``surefoot train``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from surefoot.cli.arguments import Json, TaskArguments, TaskSource, checked_options
from surefoot.cli.deadline import Deadline
from surefoot.errors import printable
from surefoot.options import TrainOptions
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.cli.progress import Progress
    from surefoot.policies import Policy
    from surefoot.records import Checkpoint, TrainResult
    from surefoot.tasks.task import Task

DONE, CUT, INTERRUPTED = 0, 4, 130
CUT_BY = {
    "seconds": "--max-seconds was not enough",
    "interrupted": "interrupted",
    "diverged": "the weights diverged (a smaller --learning-rate may help)",
}
Out = Annotated[
    Path,
    Parameter(name=("--out", "-o"), help="the policy: *.safetensors, or *.onnx"),
]
LEARN_SHARE = 0.9  # of the time that is left: the last policy is to be looked at, too


def train(
    task: TaskSource,
    /,
    *,
    out: Out,
    options: Annotated[TrainOptions, Parameter(name="*")] = TrainOptions(),
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),
) -> int:
    """Learn a policy: a network, by masked deep Q-learning.

    Many runs are stepped at once. Now and then the policy is looked at: the best
    one, by the fraction of runs that reach the goal, is written to the file each
    time it gets better, so that it is there whatever happens then. Ctrl-C ends the
    training and keeps the best policy so far.
    Exit code 0, or 4 if the time ran out before all steps were taken.

    For example:
      surefoot train "domain:one-way-line?packages=3&locations=4" -o truck.safetensors \\
          --steps 100000 --potential goal
      surefoot train truck.jani --property safety.jani -o truck.onnx --hidden 32,32
    """

    deadline = Deadline(options.max_seconds, options.memory_mb)
    with deadline.working("reading the task"):
        from surefoot.policies.libraries import library
        from surefoot.policies.writing import check_writable, suffixes_of
        from surefoot.train import hidden_sizes

        options = checked_options(options)
        hidden_sizes(options.hidden)
        library("torch", extra="train", what="training")
        check_writable(out, suffixes_of("network"))
        loaded = task_arguments.load(task)
    with deadline.working("training") as progress:
        from surefoot.train import train as run

        result = run(
            loaded,
            options=deadline.within(options, share=LEARN_SHARE),
            progress=_teller(progress, options.steps),
            better=_keeper(out),
        )
    given = {**asdict(options), **task_arguments.given(), "out": str(out)}
    _show(result, loaded, out, given, json=json)
    return {"seconds": CUT, "interrupted": INTERRUPTED}.get(result.stopped or "", DONE)


def _teller(progress: Progress, steps: int) -> Callable[[Checkpoint], None]:
    def tell(checkpoint: Checkpoint) -> None:
        progress.note(f"{checkpoint} (of {steps:,})")

    return tell


def _keeper(out: Path) -> Callable[[Policy, Checkpoint], None]:
    def keep(policy: Policy, _: Checkpoint) -> None:
        from surefoot.policies.writing import write_policy

        write_policy(policy, out)

    return keep


def _show(result: TrainResult, task: Task, out: Path, given: dict[str, Any], *, json: bool) -> None:
    from surefoot.cli.output import document, json_text
    from surefoot.files import sha256_of

    if json:
        content = document(
            "train",
            task,
            policy=str(out),
            policy_sha256=sha256_of(out),
            options=given,
            seed=given["seed"],
            seconds=result.seconds,
            result={k: v for k, v in result.to_dict().items() if k not in ("policy", "seconds")},
        )
        print(json_text({**content, "model": str(result.policy.model)}))
        return
    _print_result(result, task, out)


def _print_result(result: TrainResult, task: Task, out: Path) -> None:
    from rich.table import Table
    from rich.text import Text

    from surefoot.cli.output import console

    shown = console()
    shown.print(Text(f"{printable(task.name)}, {result.policy.model}", style="bold"))
    table = Table(box=None, pad_edge=False)
    for name in ("steps", "return", "goal", "fail", "steps a run", ""):
        table.add_column(name, justify="right" if name else "left")
    for checkpoint in result.checkpoints:
        table.add_row(
            f"{checkpoint.steps:,}",
            f"{checkpoint.mean_return:.3f}",
            f"{checkpoint.goal_fraction:.3f}",
            f"{checkpoint.fail_fraction:.3f}",
            f"{checkpoint.mean_steps:.1f}",
            "kept" if checkpoint is result.best else "",
        )
    shown.print(table)
    rate = result.steps / result.seconds if result.seconds else 0.0
    shown.print(
        f"{counted(result.steps, 'step')} in {result.seconds:,.1f} s ({rate:,.0f} a second, "
        f"learning included)"
    )
    if result.stopped:
        print(f"cut: {CUT_BY[result.stopped]}; this is the best so far", file=sys.stderr)
    shown.print(f"the policy is in {printable(str(out))}")
