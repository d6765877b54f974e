"""Distill: imitate a policy with trees.

Runs of the policy (the *teacher*) from start states drawn uniformly, with outcomes drawn uniformly,
give examples: every decision where more than one action was applicable. Trees are fitted to tell
the action from the values of all variables (P-TREE: boosted trees, 20 rounds, depth 5, rate 0.4,
1,000 runs). How well they imitate is measured on the examples and on runs they have not seen.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import InputError, OutOfBudget
from surefoot.options import MAX_INT, DistillOptions, check_word, chosen
from surefoot.policies import Policy, as_policy
from surefoot.policies.interface import Input, Interface
from surefoot.policies.loaded import Loaded
from surefoot.policies.trees import xgboost as xgboost_files
from surefoot.policies.writing import check_writable, interface_file, write_files, write_policy
from surefoot.results import DistillResult
from surefoot.tasks import require_task
from surefoot.tasks.task import Task
from surefoot.train.examples import Examples, Limits, agreement, collect, outputs_of, rows_of
from surefoot.train.fitting import LIBRARIES, Fitted, fit, fitting_library

KINDS = tuple(LIBRARIES)
PLAYS_NO_PART = {"xgboost": (), "forest": ("rate",), "tree": ("trees", "rate")}
MAX_OF = {"trees": 100_000, "depth": 30, "runs": 1_000_000}
LEAST_RATE = 1e-6
MAX_TREES = 50_000  # one for each action and round
ProgressCallback = Callable[[str, int, int], object]
"""called with what is being done, how much of it is done, and of how much"""


def distill(
    task: Task,
    policy: Any,
    *,
    options: DistillOptions | None = None,
    progress: ProgressCallback | None = None,
    **changes: Any,
) -> DistillResult:
    """Return trees that imitate a policy, and how well they do.

    What it guarantees: the same task, policy, options and seed give the same trees; nothing about
    states that the runs do not visit. Cost: the runs, three times, and the fitting, on one thread.
    Raises InputError (``no-examples``) if the policy never has a choice, OutOfBudget if time or
    memory run out. Options are those of :class:`DistillOptions`, also as keywords. Needs XGBoost,
    or scikit-learn for ``forest`` and ``tree``.
    """
    task = require_task(task)
    how = check_distill_options(chosen(DistillOptions, options, changes))
    fitting_library(how.kind)
    teacher = as_policy(policy, task, seed=how.seed)
    return _Distillation(teacher, how, progress).run()


def check_distill_options(
    how: DistillOptions, *, spelled: Callable[[str], str] = str
) -> DistillOptions:
    """Return the options. Raises InputError for those that make no sense."""
    check_word(spelled("kind"), how.kind, KINDS)
    for name in ("trees", "depth", "runs", "max_steps"):
        if getattr(how, name) == 0:
            raise InputError("bad-option", f"{spelled(name)} must be at least 1")
    for name, most in MAX_OF.items():
        if getattr(how, name) > most:
            raise InputError("bad-option", f"{spelled(name)} must be at most {most:,}")
    if not LEAST_RATE <= how.rate <= 1:
        raise InputError("bad-option", f"{spelled('rate')} must be from {LEAST_RATE:g} to 1")
    for name in PLAYS_NO_PART[how.kind]:
        if getattr(how, name) != getattr(DistillOptions, name):
            message = f"{spelled(name)} plays no part in trees of kind {how.kind}"
            raise InputError("bad-option", message)
    return how


class _Distillation:
    def __init__(
        self, teacher: Policy, how: DistillOptions, progress: ProgressCallback | None
    ) -> None:
        self.task = teacher.task
        self.teacher = teacher
        self.how = how
        self.progress = progress
        self.begin = time.perf_counter()
        self.limits = Limits(how.max_steps, how.max_bytes, self.seconds_left)

    def seconds_left(self) -> float:
        return max(self.how.max_seconds - (time.perf_counter() - self.begin), 0.0)

    def run(self) -> DistillResult:
        """Return the result."""
        fresh_seed = (self.how.seed + 1) % (MAX_INT + 1)
        self._check_task()
        examples = self._examples(self.teacher, self.how.seed, "runs of the policy")
        if not len(examples.actions):
            raise self._no_examples()
        fitted, trees = self._trees(examples)
        fresh = self._examples(self.teacher, fresh_seed, "fresh runs of the policy")
        mine = self._examples(trees, fresh_seed, "runs of the trees")
        learned = agreement(trees, examples)
        assert learned is not None
        return DistillResult(
            policy=trees,
            kind=self.how.kind,
            runs=self.how.runs,
            examples=len(examples.actions),
            agreement=learned,
            fresh_examples=len(fresh.actions),
            fresh_agreement=agreement(trees, fresh),
            taken=self._taken(examples),
            teacher_ends=fresh.ends,
            trees_ends=mine.ends,
            seconds=time.perf_counter() - self.begin,
            original=fitted.original,
        )

    def _check_task(self) -> None:
        """Raise InputError if nothing could be fitted, or too much."""
        if not self.task.names:
            raise InputError("bad-task", "there is nothing to learn: the task has no variables")
        count = self.how.trees * len(outputs_of(self.task))
        if self.how.kind == "xgboost" and count > MAX_TREES:
            raise InputError(
                "bad-option",
                f"{self.how.trees:,} rounds for {len(outputs_of(self.task)):,} actions make "
                f"{count:,} trees, at most {MAX_TREES:,} are fitted",
                hint="take fewer trees, or kind forest or tree",
            )

    def _examples(self, policy: Policy, seed: int, what: str) -> Examples:
        starts = self.task.draw_starts(self.how.runs, seed=seed, max_seconds=self.seconds_left())
        tell = partial(self._tell, what)
        return collect(policy, starts, seed=seed, limits=self.limits, tell=tell)

    def _trees(self, examples: Examples) -> tuple[Fitted, Policy]:
        """Return the trees that were fitted to the examples, also as a policy."""
        outputs = outputs_of(self.task)
        fitted = fit(
            rows_of(self.task, examples.states),
            examples.actions,
            len(outputs),
            self.how,
            self._tell_fitting,
        )
        interface = Interface(tuple(map(Input, self.task.names)), outputs)
        policy = as_policy(Loaded(fitted.trees, interface), self.task)
        policy.name = f"{self.how.kind} trees of {self.teacher.name}"
        return fitted, policy

    def _taken(self, examples: Examples) -> dict[str, int]:
        names = outputs_of(self.task)
        counts = np.bincount(examples.actions, minlength=len(names)).tolist()
        return dict(zip(names, counts, strict=True))

    def _tell(self, what: str, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(what, done, total)

    def _tell_fitting(self, done: int, total: int) -> None:
        if not self.seconds_left():
            seconds = f"{self.how.max_seconds:g} seconds"
            message = f"{done:,} of {total:,} fitted after {seconds}"
            raise OutOfBudget("out-of-seconds", message, hint="give more, or fewer runs or trees")
        self._tell("fitting", done, total)

    def _no_examples(self) -> InputError:
        return InputError(
            "no-examples",
            f"in {self.how.runs:,} runs the policy never had a choice: there is nothing to imitate",
            hint="an example is a state in which more than one action is applicable",
        )


# -- files -------------------------------------------------------------------------------------


def check_trees_file(path: str | Path, kind: str) -> Path:
    """Return the path, if trees of this kind can be written there: to ask before they are made."""
    file = check_writable(path, (".json", ".ubj"))
    if file.suffix.lower() == ".ubj" and kind != "xgboost":
        raise InputError(
            "wrong-suffix",
            f"trees of kind {kind} are written to a file *.json: *.ubj is XGBoost's own format",
            file=str(file),
        )
    return file


def write_trees(result: DistillResult, path: str | Path) -> list[Path]:
    """Write the trees to a file, ``.json`` (our own format) or ``.ubj`` (XGBoost's, with the
    interface beside it); return the files, that of the trees first.
    """
    file = check_trees_file(path, result.kind)
    if file.suffix.lower() != ".ubj":
        return write_policy(result.policy, file)
    assert result.original is not None
    contents = {file: result.original, **interface_file(result.policy, file)}
    return write_files(contents, read=xgboost_files.read)
