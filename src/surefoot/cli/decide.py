"""``surefoot decide``."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter, Token

from surefoot.cli.arguments import (
    Json,
    ObjectiveName,
    TaskArguments,
    TaskSource,
    checked_options,
    objective_given,
    spelled,
)
from surefoot.cli.deadline import Deadline
from surefoot.cli.policy_arguments import PolicyArguments
from surefoot.errors import InputError, quoted, shown
from surefoot.options import BudgetOptions, DecideOptions, whole
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.cli.checking import Checking
    from surefoot.cli.deciding import Answers, Deciding
    from surefoot.oracles.states import Starts
    from surefoot.tasks.state import State
    from surefoot.tasks.task import Task

StateTexts = Annotated[
    tuple[str, ...],
    Parameter(
        name="--state",
        help="decide this state, x=3,y=0 or a JSON object; may be repeated",
        show_default=False,
    ),
]
StatesFile = Annotated[
    Path | None,
    Parameter(name="--states", help="decide the states in this file, one JSON object per line"),
]
Deviations = Annotated[
    bool,
    Parameter(
        help="also tell how few differences from the policy keep each state safe",
        show_default=False,
    ),
]
Compare = Annotated[
    str | None,
    Parameter(help="oracles to run side by side: names with commas between them, or all"),
]


def read_radius(_: object, tokens: Sequence[Token]) -> int | str:
    """Return the radius as given on the command line: inf, or a whole number."""
    text: str = tokens[0].value
    if text == "inf":
        return text
    number = whole(int(text)) if text.isascii() and text.isdigit() and len(text) <= 20 else None
    if number is None:
        raise InputError(
            "bad-option",
            f"{tokens[0].keyword or '--radius'} must be inf or a whole number of at least 0, "
            f"not {quoted(text)}",
        )
    return number


Radius = Annotated[
    int | Literal["inf"] | None,
    Parameter(
        converter=read_radius,
        n_tokens=1,
        allow_leading_hyphen=True,
        show_default=lambda _: "inf",
        show_choices=False,
    ),
]
"""a radius as the command line takes it: an infinite one is not the same as none given"""


@dataclass(frozen=True, kw_only=True)
class DecideArguments(DecideOptions):
    """The options as the command line takes them: an infinite radius has a name, and is not the
    same as none given.
    """

    max_seconds: float = BudgetOptions.max_seconds
    """stop after this many seconds, whatever is still to be decided or checked"""
    state_seconds: float = DecideOptions.max_seconds
    """give up a state after this many seconds"""
    radius: Radius = None  # type: ignore[assignment]  # `plain` makes it that of DecideOptions
    """R or inf: how often a run may differ from the policy; inf is for any policy"""

    def __post_init__(self) -> None:
        """Leave the radius as it was given."""

    def plain(self) -> DecideOptions:
        """Return the options of a single question. Raises InputError for a bad value."""
        values = {field.name: getattr(self, field.name) for field in fields(DecideOptions)}
        checked_options(DecideOptions(**values))
        values["max_seconds"] = self.state_seconds
        return checked_options(DecideOptions(**values), spelled=_spelled_for_a_state)


def _spelled_for_a_state(name: str) -> str:
    return "--state-seconds" if name == "max_seconds" else spelled(name)


@dataclass(frozen=True, kw_only=True)
class Questions:
    """Which states to decide; the task's start states if nothing is said."""

    state: StateTexts = ()
    states: StatesFile = None
    initial: Annotated[bool, Parameter(show_default=False)] = False
    """decide the state of the variables' initial values"""
    sample: int | None = None
    """decide this many reachable states, met on random walks from the start"""
    max_starts: int = 1_000
    """decide at most this many start states"""

    def find(
        self, task: Task, *, seed: int, max_seconds: float
    ) -> tuple[tuple[State, ...], Starts | None]:
        """Return the states, and what is known about the start states if these are meant."""
        from surefoot.cli.state_text import read_states, state_of
        from surefoot.oracles.states import sample_states, start_states

        self._check()
        if self.state:
            return tuple(state_of(task, text) for text in self.state), None
        if self.states is not None:
            return tuple(read_states(task, self.states)), None
        if self.initial:
            return (task.initial_state(),), None
        if self.sample is not None:
            return tuple(sample_states(task, self.sample, seed=seed, max_seconds=max_seconds)), None
        starts = start_states(task, limit=self.max_starts, max_seconds=max_seconds)
        return starts.states, starts

    def _check(self) -> None:
        given = {
            "--state": bool(self.state),
            "--states": self.states is not None,
            "--initial": self.initial,
            "--sample": self.sample is not None,
        }
        names = [name for name, is_given in given.items() if is_given]
        if len(names) > 1:
            raise InputError("bad-option", f"{names[0]} and {names[1]} exclude each other")
        for name, number in (("--sample", self.sample), ("--max-starts", self.max_starts)):
            if number is not None and not whole(number):
                text = f"{name} must be a whole number of at least 1, not {shown(number)}"
                raise InputError("bad-option", text)

    def given(self) -> dict[str, object]:
        """Return the choice as plain data."""
        states = None if self.states is None else str(self.states)
        return {**asdict(self), "state": list(self.state), "states": states}


@dataclass(frozen=True, kw_only=True)
class CertificateArguments:
    """What to do with certificates."""

    check_seconds: float = 10.0
    """print an answer as unchecked if checking its certificate takes longer"""
    no_check: Annotated[bool, Parameter(name="--no-check", show_default=False)] = False
    """print all answers as unchecked"""
    certificates: Annotated[str | None, Parameter(name=("--certificates", "-o"))] = None
    """keep all certificates in this directory; unchecked ones are kept in any case"""

    def checking(self) -> Checking:
        """Return the treatment. Raises InputError for an impossible number of seconds."""
        from surefoot.cli.checking import Checking, seconds_to_check

        seconds = seconds_to_check(self.check_seconds, no_check=self.no_check)
        if self.certificates == "":
            raise InputError("bad-option", "--certificates must be the name of a directory")
        directory = None if self.certificates is None else Path(self.certificates)
        return Checking(seconds, directory)


def decide(
    task: TaskSource,
    /,
    *,
    questions: Annotated[Questions, Parameter(name="*")] = Questions(),
    policy: Annotated[PolicyArguments, Parameter(name="*")] = PolicyArguments(),
    options: Annotated[DecideArguments, Parameter(name="*")] = DecideArguments(),
    objective: ObjectiveName = "safety",
    deviations: Deviations = False,
    compare: Compare = None,
    evidence: Annotated[CertificateArguments, Parameter(name="*")] = CertificateArguments(),
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),
) -> int:
    """Decide whether states are safe: whether some policy surely avoids fail from there.

    Decides the task's start states, or those of --state, --states, --initial or
    --sample. With --radius R only policies count that differ from --policy at most
    R times on a run. Every answer is checked by independent code before it is
    printed; surefoot check does that with certificates in files. With another
    --objective, decides what the best policy achieves; --oracle must handle it.
    Exit code 0 if all are safe, 1 if one is unsafe, else 4.

    For example:
      surefoot decide "domain:one-way-line?packages=3&locations=4" --sample 10
      surefoot decide truck.jani --state x=3,y=0 --radius 1 --policy first
      surefoot decide truck.jani --states states.jsonl --compare all
    """
    from surefoot.cli.decide_text import notes_on, what_ran_out
    from surefoot.cli.output import document, json_text

    settings = options.plain()
    begin, deadline = time.perf_counter(), Deadline(options.max_seconds, options.memory_mb)
    with deadline.working("reading the task"):
        from surefoot.cli.deciding import Deciding
        from surefoot.objectives import OBJECTIVES

        has_policy = policy.policy is not None
        names = _compared_oracles(settings, compare, deviations=deviations, has_policy=has_policy)
        if has_policy:
            _check_policy_is_used(options, deviations=deviations)
        asked = OBJECTIVES[objective]
        checking = evidence.checking().before(deadline)
        loaded = task_arguments.load(task)
        loaded_policy = policy.load_if_given(loaded, seed=settings.seed)
        states, starts = questions.find(loaded, seed=settings.seed, max_seconds=deadline.left)
        checking.prepare()
    notes = notes_on(loaded, asked)
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    job = Deciding(
        task=loaded,
        states=states,
        starts=starts,
        policy=loaded_policy,
        options=settings,
        checking=checking,
        objective=asked,
        deadline=deadline,
    )
    answers = _answers(job, names, deviations=deviations, is_text=not json)
    if json:
        seconds = {"max_seconds": options.max_seconds, "state_seconds": options.state_seconds}
        given = {**asdict(settings), **seconds, **questions.given(), **asdict(evidence)}
        given |= {**policy.given(), "deviations": deviations, "compare": compare}
        given |= objective_given(objective)
        content = document(
            "decide",
            loaded,
            policy=None if loaded_policy is None else loaded_policy.name,
            policy_sha256=None if loaded_policy is None else loaded_policy.sha256,
            options={**given, **task_arguments.given()},
            seed=settings.seed,
            seconds=time.perf_counter() - begin,
            result={**({"notes": notes} if notes else {}), **answers.to_dict()},
        )
        print(json_text(content))
    for line in what_ran_out(answers):
        print(line, file=sys.stderr)
    if questions.sample is not None and len(states) < questions.sample:
        print(f"the walks met only {counted(len(states), 'different state')}", file=sys.stderr)
    return answers.exit_code


def _answers(job: Deciding, names: Sequence[str], *, deviations: bool, is_text: bool) -> Answers:
    """Return the answers, printed as text if that is wanted: each as soon as it is there."""
    from surefoot.cli.decide_text import AnswerPrinter, print_comparison

    if names:
        with job.deadline.working("deciding") as progress:
            answers = job.compare(names, progress)
        if is_text:
            print_comparison(answers)
        return answers
    printer = AnswerPrinter(job, deviations=deviations)
    tell = printer.tell if is_text else lambda row, progress: None
    try:
        with job.deadline.working("deciding") as progress:
            answers = job.decide(progress, deviations=deviations, tell=tell)
    except (KeyboardInterrupt, Exception):
        printer.give_up()
        raise
    if is_text:
        printer.finish(answers)
    return answers


def _check_policy_is_used(options: DecideArguments, *, deviations: bool) -> None:
    if options.radius is None and options.order != "learn" and not deviations:
        raise InputError(
            "bad-option",
            "--policy has no effect here",
            hint="--radius 0 asks whether this policy itself is safe; "
            "--deviations and --order learn use it too",
        )


def _compared_oracles(
    options: DecideOptions, compare: str | None, *, deviations: bool, has_policy: bool
) -> tuple[str, ...]:
    """Return the oracles to compare, none without --compare.

    Raises InputError for options that do not go together, before anything is loaded.
    """
    from surefoot.oracles import GIVE, check_options
    from surefoot.oracles.compare import oracles_of

    if deviations and not has_policy:
        message = "--deviations counts differences from a policy: give a policy"
        raise InputError("bad-option", message, hint=GIVE)
    if compare is None:
        check_options(options, has_policy=has_policy)
        return ()
    is_other = {"--oracle": options.oracle != DecideOptions.oracle, "--deviations": deviations}
    for name, is_given in is_other.items():
        if is_given:
            raise InputError("bad-option", f"{name} and --compare exclude each other")
    return oracles_of(compare, options, has_policy=has_policy)
