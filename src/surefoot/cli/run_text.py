"""Runs as text: the start in full, then each action with the variables that it changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from surefoot.errors import InputError, printable, quoted
from surefoot.records import NOTHING_FAILS, RunEnd
from surefoot.text import counted

if TYPE_CHECKING:
    from rich.text import Text

    from surefoot.policies import Policy
    from surefoot.records import Made, Run
    from surefoot.tasks.state import State
    from surefoot.tasks.task import Task

STYLES = {
    "fail": "bold red",
    "goal": "bold green",
    "dead_end": "bold yellow",
    "inapplicable": "bold yellow",
    "cycle": "bold yellow",
    "cut": "bold",
}
SHOWN_ACTIONS = 6  # of those that were applicable in a step
Labels = Mapping[str, tuple[str, ...]]
Draw = Callable[["State"], str]  # a state's picture as text
INDENT = " " * 9


@dataclass(frozen=True)
class Choice:
    """What there was to choose from in one step: actions the policy might have decided for, their
    scores (None if the policy gives none), and how many outcomes the action has.
    """

    applicable: tuple[str, ...]
    scores: Mapping[str, float] | None
    outcomes: int


def choices_of(policy: Policy, run: Run) -> list[Choice]:
    """Return what there was to choose from in each step of a run.

    Silent actions are listed only where there is no other. Scores are those of applicable actions,
    of an unfiltered policy those of all its outputs.
    """
    task = policy.task
    choices = []
    for state, action in zip(run.states, run.actions, strict=False):
        names = task.applicable(state)
        applicable = tuple(name for name in names if name not in task.silent) or names
        scores = scores_of(policy, state)
        if scores is not None and not policy.unfiltered:
            scores = {name: scores[name] for name in applicable if name in scores}
        choices.append(Choice(applicable, scores, len(task.outcomes(state, action))))
    return choices


def scores_of(policy: Policy, state: object) -> Mapping[str, float] | None:
    """Return the scores of all outputs in a state; None if the policy gives none."""
    try:
        return policy.scores(state)
    except InputError as error:
        if error.code != "no-scores":
            raise
        return None


# -- text --------------------------------------------------------------------------------------


def head_of(run: Run, more: str = "") -> Text:
    """Return the line that says how a run ended."""
    from rich.text import Text

    reason = "nothing reachable fails" if run.reason == NOTHING_FAILS else run.reason
    because = f" ({printable(reason)})" if reason and run.result is RunEnd.CUT else ""
    return Text.assemble(
        f"run {run.run}: ",
        (run.result.word, STYLES[run.result]),
        f"{because} after {counted(run.steps, 'step')}{more}",
    )


def lines_of(
    run: Run, labels: Labels, choices: Sequence[Choice] = (), draw: Draw | None = None
) -> Iterator[str]:
    """Yield the start state in full, then each action with what it changed, and below it what
    there was to choose from, and a picture of the state, where these are given.
    """
    from surefoot.cli.state_text import text_of

    if run.made is not None:
        yield from _made_lines(run.made, labels)
    yield f"  start  {text_of(run.start, dict(labels))}"
    yield from _picture_lines(draw, run.start)
    width = max((len(printable(action)) for action in run.actions), default=0)
    for step, action in enumerate(run.actions):
        text = changes_text(run.states[step], run.states[step + 1], labels)
        line = f"  {step + 1:5}  {printable(action):{width}}  {text}"
        if choices and choices[step].outcomes > 1:
            line += f"  (one of {choices[step].outcomes:,} outcomes)"
        yield line
        if choices and (below := _choice_text(choices[step], action)):
            yield f"{INDENT}{below}"
        yield from _picture_lines(draw, run.states[step + 1])
    if run.result is RunEnd.INAPPLICABLE and run.reason:
        yield f"  {run.steps + 1:5}  {printable(run.reason)}  is not applicable"


def picture_text(task: Task) -> Draw:
    """Return what draws the task's states. Raises InputError if there is no way."""
    if task.draw is None:
        raise InputError(
            "no-picture",
            f"no picture is available for states of {quoted(task.name)}",
            hint="only the built-in domains have --pictures: see surefoot domains",
        )
    return lambda state: str(task.picture(state))


def _picture_lines(draw: Draw | None, state: State) -> Iterator[str]:
    if draw is not None:
        yield from (f"{INDENT}{line}".rstrip() for line in draw(state).splitlines())


def changes_text(before: State, after: State, labels: Labels) -> str:
    """Return the values of ``after`` that differ from those of ``before``."""
    from surefoot.cli.state_text import text_of

    old, new = before.to_dict(), after.to_dict()
    changed = {name: value for name, value in new.items() if name not in old or old[name] != value}
    return text_of(changed, dict(labels)) or "(nothing changes)"


def _made_lines(made: Made, labels: Labels) -> Iterator[str]:
    """Yield how a perturbed start was made."""
    from surefoot.cli.state_text import text_of

    yield "  not known to be reachable: its start was made"
    yield f"  from   {text_of(made.reached, dict(labels))}"
    before = made.reached
    for change in made.changes:
        if change.action is not None:
            took = changes_text(before, change.state, labels)
            yield f"  by     action {printable(change.action)}  {took}"
        else:
            yield f"  by     {text_of({str(change.variable): change.value}, dict(labels))}"
        before = change.state


def _choice_text(choice: Choice, taken: str) -> str:
    """Return the actions to choose from, the best-scored first; nothing if there was one alone."""
    if len(choice.applicable) < 2:
        return ""
    names = list(choice.applicable)
    if choice.scores is None:
        names.sort(key=lambda name: name != taken)
        return "of " + _abbreviated([printable(name) for name in names])
    scores = choice.scores
    names = sorted({*names, *scores}, key=lambda n: (-scores.get(n, float("-inf")), n != taken))
    shown = [_scored_text(name, scores, is_taken=name == taken) for name in names]
    return "of " + _abbreviated(shown)


def _scored_text(name: str, scores: Mapping[str, float], *, is_taken: bool) -> str:
    score = f" {scores[name]:.5g}" if name in scores else ""
    return f"{printable(name)}{score}{'*' * is_taken}"


def _abbreviated(texts: list[str]) -> str:
    more = f", and {len(texts) - SHOWN_ACTIONS:,} more" if len(texts) > SHOWN_ACTIONS else ""
    return ", ".join(texts[:SHOWN_ACTIONS]) + more
