"""``surefoot evaluate``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from surefoot.cli.arguments import (
    Json,
    ObjectiveName,
    TaskArguments,
    TaskSource,
    checked_options,
    objective_given,
)
from surefoot.cli.deadline import Deadline
from surefoot.cli.policy_arguments import PolicyArguments
from surefoot.errors import InputError, printable
from surefoot.options import EvaluateOptions
from surefoot.records.common import AS_FAR_AS_SAMPLED
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.cli.progress import Progress
    from surefoot.policies import Policy
    from surefoot.records import EvaluateResult

SAFE, UNSAFE, UNKNOWN = 0, 1, 4


def evaluate(
    task: TaskSource,
    /,
    *,
    policy: Annotated[PolicyArguments, Parameter(name="*")] = PolicyArguments(),
    options: Annotated[EvaluateOptions, Parameter(name="*")] = EvaluateOptions(),
    objective: ObjectiveName = "safety",
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),
) -> int:
    """Tell how unsafe a policy is, and how often it reaches the goal.

    Unsafe is the fraction of start states from which the policy may fail.
    What the policy can reach from them is enumerated. Start states that are not
    decided so, because time, memory or states ran out, are tried with runs: then
    the fraction is a lower bound. The goal is counted on one run from each start
    state, with outcomes drawn uniformly.
    Exit code 1 if the policy may fail; else 4 if not all start states were decided
    by enumeration, else 0.
    With another --objective also tells what a run from each start state is worth;
    exit code 1 if one has the worst value there is, else 4: runs prove nothing.

    For example:
      surefoot evaluate truck.jani --property safety.jani --policy truck.onnx
      surefoot evaluate "domain:one-way-line?packages=3&locations=4" --policy first \\
          --starts 1000 --json
    """
    from surefoot.cli.output import document, json_text

    policy.check_given()
    options = _checked_options(options)
    deadline = Deadline(options.max_seconds, options.memory_mb)
    with deadline.working("reading the task"):
        from surefoot.evaluate import evaluate as run

        loaded = task_arguments.load(task)
        loaded_policy = policy.load(loaded, seed=options.seed)
    with deadline.working("evaluating") as progress:
        result = run(
            loaded,
            loaded_policy,
            objective=objective,
            options=deadline.within(options),
            progress=_teller(progress),
        )
    if json:
        content = document(
            "evaluate",
            loaded,
            policy=loaded_policy.name,
            policy_sha256=loaded_policy.sha256,
            options={
                **asdict(options),
                **policy.given(),
                **objective_given(objective),
                **task_arguments.given(),
            },
            seed=options.seed,
            seconds=result.seconds,
            result={**result.to_dict(), "exact": result.is_exact},
        )
        print(json_text(content))
    else:
        _print_result(loaded_policy, result)
    for hint in _hints(result, options):
        print(hint, file=sys.stderr)
    return _exit_code(result)


def _checked_options(options: EvaluateOptions) -> EvaluateOptions:
    options = checked_options(options)
    for name in ("starts", "workers", "max_steps"):
        if getattr(options, name) == 0:
            option = "--" + name.replace("_", "-")
            raise InputError("bad-option", f"{option} must be at least 1")
    return options


def _exit_code(result: EvaluateResult) -> int:
    if result.values is not None:
        return UNSAFE if result.values.worst_runs else UNKNOWN
    if result.unsafe:
        return UNSAFE
    return SAFE if result.is_exact else UNKNOWN


def _teller(progress: Progress) -> Callable[[int, int, int, int, float], None]:
    """Return the callback for both parts of the work: runs use no memory that is told of."""

    def tell(states: int, done: int, depth: int, memory: int, seconds: float) -> None:
        if memory:
            what = f"{states:,} states, {done:,} expanded, {memory / 1e6:,.0f} MB"
        else:
            what = f"{counted(done, 'run')}, {counted(states, 'state')}"
        progress.note(what)

    return tell


def _print_result(policy: Policy, result: EvaluateResult) -> None:
    from rich.text import Text

    from surefoot.cli.output import console

    out = console()
    name = f"{printable(policy.task.name)}, policy {printable(policy.name)}"
    out.print(Text(name, style="bold"))
    which = "all there are" if result.all_starts else "drawn uniformly"
    is_bound = not result.is_exact and result.unsafe < result.starts
    bound = "at least " if is_bound else ""
    unsafe = Text(f"{bound}{result.unsafe_fraction:.4f}", style="bold red" if result.unsafe else "")
    goal = f"{result.goal_fraction:.4f}"
    width = max(len(unsafe), len(goal))
    unsafe.pad_right(width - len(unsafe))
    of_starts = f"the policy may fail from {result.unsafe:,} of {_of(result)}"
    out.print(Text.assemble("unsafe  ", unsafe, f"  {of_starts}"))
    runs = counted(result.runs, "run")
    out.print(f"goal    {goal:{width}}  {result.goal:,} of {runs} reach the goal{_others(result)}")
    if (values := result.values) is not None:
        worth = f"{values.mean!s:{width}}  the mean value of {counted(values.runs, 'run')}"
        worth += f" under the objective {printable(values.objective)}; the worst is {values.worst}"
        out.print(Text(f"value   {worth}"))
    out.print(f"starts  {result.starts:,}, {which}; {_decided_text(result)}")
    out.print(f"{counted(result.states, 'state')} in {result.seconds:,.3f} s")
    if result.sampled:
        out.print(f"all of this {AS_FAR_AS_SAMPLED}")


def _others(result: EvaluateResult) -> str:
    """Return how the other runs ended; that none failed is said, too."""
    from surefoot.records import RunEnd

    words = {end: end.word for end in RunEnd}
    words |= {RunEnd.CUT: "were cut", RunEnd.INAPPLICABLE: "stop: not applicable"}
    ends = [(end, result.ends.get(end, 0)) for end in words if end != "goal"]
    return "".join(f", {n:,} {words[end]}" for end, n in ends if n or end == "fail")


def _of(result: EvaluateResult) -> str:
    return counted(result.starts, "start state")


def _decided_text(result: EvaluateResult) -> str:
    if result.is_exact:
        return "decided by enumeration, which is exact"
    rest = result.starts - result.exhaustive
    return f"{result.exhaustive:,} decided by enumeration, {rest:,} tried with runs"


def _hints(result: EvaluateResult, options: EvaluateOptions) -> list[str]:
    """Return what kept the fractions from being exact, and which option helps."""
    hints = []
    limits = {
        "states": f"--max-states {options.max_states:,} was not enough; raise it",
        "seconds": f"--max-seconds {options.max_seconds:,g} was not enough; raise it",
        "memory": f"--memory-mb {options.memory_mb:,} was not enough; raise it",
    }
    if result.stopped and not result.is_exact:
        hints.append(f"cut: {limits.get(result.stopped, result.stopped)}")
    if result.runs < result.starts:
        hints.append(f"cut: there was time for {result.runs:,} of {result.starts:,} runs only")
    return hints
