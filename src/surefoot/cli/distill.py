"""``surefoot distill``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from surefoot.cli.arguments import Json, TaskArguments, TaskSource, checked_options, spelled
from surefoot.cli.deadline import Deadline
from surefoot.cli.policy_arguments import PolicyArguments
from surefoot.errors import printable
from surefoot.options import DistillOptions
from surefoot.text import counted

if TYPE_CHECKING:
    from rich.table import Table

    from surefoot.cli.progress import Progress
    from surefoot.policies import Policy
    from surefoot.records import DistillResult

MAIN_ENDS = ("goal", "fail")  # shown also where no run ended so
Out = Annotated[
    Path,
    Parameter(
        name=("--out", "-o"),
        help="the trees: *.json, or *.ubj (XGBoost's own, with the interface beside it)",
    ),
]


def distill(
    task: TaskSource,
    /,
    *,
    policy: Annotated[PolicyArguments, Parameter(name="*")] = PolicyArguments(),
    out: Out,
    options: Annotated[DistillOptions, Parameter(name="*")] = DistillOptions(),
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),
) -> int:
    """Imitate a policy with trees.

    The policy runs from start states drawn uniformly; trees learn its decisions
    wherever more than one action is applicable. Shown is how often they decide as
    the policy does, on what they learned from and on fresh runs, and how runs of
    both end. The same seed gives the same file.

    For example:
      surefoot distill truck.jani --property safety.jani --policy truck.onnx \\
          -o trees.json
      surefoot distill truck.jani --policy truck.onnx -o trees.ubj --trees 50 --depth 8
    """

    policy.check_given()
    deadline = Deadline(options.max_seconds, options.memory_mb)
    with deadline.working("reading the task"):
        from surefoot.train import distilling
        from surefoot.train.fitting import fitting_library

        options = checked_options(options)
        distilling.check_distill_options(options, spelled=spelled)
        distilling.check_trees_file(out, options.kind)
        fitting_library(options.kind)
        loaded = task_arguments.load(task)
        teacher = policy.load(loaded, seed=options.seed)
    with deadline.working("distilling") as progress:
        result = distilling.distill(
            loaded, teacher, options=deadline.within(options), progress=_teller(progress)
        )
        files = distilling.write_trees(result, out)
    if json:
        given = {**asdict(options), **policy.given(), **task_arguments.given(), "out": str(out)}
        _print_document(teacher, result, files, given)
    else:
        _print_result(teacher, result, files)
    return 0


def _teller(progress: Progress) -> Callable[[str, int, int], None]:
    def tell(what: str, done: int, total: int) -> None:
        progress.note(f"{what}, {done:,} of {total:,}")

    return tell


def _print_document(
    teacher: Policy, result: DistillResult, files: list[Path], given: dict[str, Any]
) -> None:
    from surefoot.cli.output import document, json_text
    from surefoot.files import sha256_of

    made = {"file": str(files[0]), "files": list(map(str, files)), "sha256": sha256_of(files[0])}
    content = document(
        "distill",
        teacher.task,
        policy=teacher.name,
        policy_sha256=teacher.sha256,
        options=given,
        seed=given["seed"],
        seconds=result.seconds,
        result={**made, **result.to_dict()},
    )
    print(json_text(content))


def _print_result(teacher: Policy, result: DistillResult, files: list[Path]) -> None:
    from rich.text import Text

    from surefoot.cli.output import console

    shown = console()
    name = f"{printable(teacher.task.name)}, policy {printable(teacher.name)}"
    shown.print(Text(name, style="bold"))
    shown.print(f"{result.policy.model}")
    shown.print(f"agreement  {result.agreement:.4f} on the {_decisions(result.examples)} learned")
    if result.fresh_agreement is None:
        shown.print("           fresh runs had no choice anywhere")
    else:
        of = _decisions(result.fresh_examples)
        shown.print(f"           {result.fresh_agreement:.4f} on {of} of fresh runs")
    shown.print(_table(result))
    never = [name for name, count in result.taken.items() if not count]
    if never:
        shown.print(f"never taken where there was a choice: {printable(', '.join(never))}")
    where = ", ".join(printable(str(file)) for file in files)
    shown.print(f"the trees are in {where} ({result.seconds:,.1f} s)")


def _decisions(count: int) -> str:
    return counted(count, "decision")


def _table(result: DistillResult) -> Table:
    """Return how runs of teacher and trees ended, side by side."""
    from rich.table import Table

    from surefoot.records import RunEnd

    both = {"policy": result.teacher_ends, "trees": result.trees_ends}
    others = [end for end in RunEnd if end not in MAIN_ENDS and _is_met(end, both)]
    ends = [*MAIN_ENDS, *others]
    table = Table(box=None, pad_edge=False)
    table.add_column(counted(result.runs, "run"))
    for end in ends:
        table.add_column(RunEnd(end).word, justify="right")
    for name, evaluation in both.items():
        table.add_row(name, *(f"{evaluation.get(end, 0) / result.runs:.4f}" for end in ends))
    return table


def _is_met(end: str, both: Mapping[str, Mapping[str, int]]) -> bool:
    return any(evaluation.get(end) for evaluation in both.values())
