"""Compare: several oracles on the same states, side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from surefoot.errors import InputError, SurefootError, Unsupported, printable, quoted
from surefoot.objectives import Interval, Objective, shows_bounds
from surefoot.options import DecideOptions
from surefoot.oracles import ORACLES, Oracle, check_options, with_radius
from surefoot.oracles.engine import ProgressCallback
from surefoot.records import Answer, DecideResult, Result
from surefoot.tasks.state import State
from surefoot.tasks.task import MAX_STATE_TEXT, Task

Settle = Callable[[str, Answer], None]
"""called with the name of the oracle and its answer, once per question that had no definite one"""


@dataclass(frozen=True)
class Comparison(Result):
    """What several oracles answered about the same states. Their bounds do not contradict each
    other: that they do is raised as an error. ``left_out`` says which oracles do not take the task,
    and why.
    """

    results: tuple[DecideResult, ...]
    left_out: dict[str, str]

    def to_dict(self) -> dict[str, object]:
        """Return the summary of each oracle as plain data."""
        summaries = [
            {"oracle": result.oracle, **result.summary, "reasons": result.reasons}
            for result in self.results
        ]
        return {"compare": summaries, "left_out": self.left_out, "agreement": True}

    def __str__(self) -> str:
        return "\n".join(f"{result.oracle}: {result.summary_text}" for result in self.results)


def oracles_of(text: str, options: DecideOptions, *, has_policy: bool) -> tuple[str, ...]:
    """Return the oracles of ``all`` or of names with commas between them.

    ``all`` are the built-in ones; those that take the radius, if there is one. Raises InputError
    for an unknown name, for one that is there twice, and for one that does not take the options.
    """
    names = tuple(name.strip() for name in text.split(","))
    if text == "all":
        names = ORACLES.built_in if options.radius is None else with_radius()
    for name in names:
        ORACLES.check(name)
        if names.count(name) > 1:
            raise InputError("bad-option", f"the oracle {quoted(name)} is listed twice")
        check_options(_options_for(name, options), has_policy=has_policy)
    if options.order != "app" and not any(ORACLES[name].takes_order for name in names):
        raise InputError("bad-option", "order is for the oracle ipi, which is not compared")
    return names


def compare(
    task: Task,
    states: Sequence[State],
    *,
    names: Sequence[str],
    policy: object = None,
    objective: str | Objective = "safety",
    options: DecideOptions,
    skip_unsupported: bool = False,
    settle: Settle | None = None,
    progress: Callable[[str, int], ProgressCallback | None] = lambda name, number: None,
    left: Callable[[], float] = lambda: math.inf,
) -> Comparison:
    """Return the answers of the oracles about all states.

    The budget is the same for each question and oracle, while seconds are ``left`` for all of
    them. An order is for ipi only. With
    ``skip_unsupported`` oracles that do not take the task are left out. Raises SurefootError
    (``oracles-disagree``) if bounds contradict each other, as one says safe and another unsafe.
    """
    settled: dict[int, _Settled] = {}
    results: list[DecideResult] = []
    left_out: dict[str, str] = {}
    for name in names:
        try:
            settings = _options_for(name, options)
            oracle = Oracle(task, policy=policy, objective=objective, options=settings)
        except Unsupported as error:
            if not skip_unsupported:
                raise
            left_out[name] = error.message
            continue
        answers = []
        for number, state in enumerate(states):
            oracle.options = replace(settings, max_seconds=min(settings.max_seconds, left()))
            answer = oracle.decide(state, progress=progress(name, number))
            if number not in settled and settle is not None:
                settle(name, answer)
            if answer.is_known:
                settled[number] = _agreed(settled.get(number), name, answer)
            answers.append(answer.without_evidence())  # which would keep the oracle
        results.append(DecideResult(name, tuple(answers)))
    return Comparison(tuple(results), left_out)


def _options_for(name: str, options: DecideOptions) -> DecideOptions:
    return replace(
        options, oracle=name, order=options.order if ORACLES[name].takes_order else "app"
    )


class _Settled(NamedTuple):
    """Who gave the first definite answer, what it was, and where the best value is by all."""

    oracle: str
    answer: Answer
    interval: Interval


def _agreed(before: _Settled | None, name: str, answer: Answer) -> _Settled:
    """Return what is known with this answer. Raises SurefootError if it contradicts others."""
    if before is None:
        return _Settled(name, answer.without_evidence(), answer.bounds.interval)
    both = before.interval.meet(answer.bounds.interval)
    if both is not None:
        return before._replace(interval=both)
    state = printable(str(answer.state), MAX_STATE_TEXT)
    said_before, says = (_said(each) for each in (before.answer, answer))
    raise SurefootError(
        "oracles-disagree",
        f"{before.oracle} says {said_before} and {name} says {says} of state {state}",
        hint="this is a bug in Surefoot, please report it with the command and its input",
    )


def _said(answer: Answer) -> str:
    has_bounds = shows_bounds(answer.objective)
    return f"{answer.verdict}, {answer.bounds}," if has_bounds else answer.verdict
