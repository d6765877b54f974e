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
from typing import Unpack

import numpy as np

from surefoot.errors import InputError, OutOfBudget
from surefoot.files import write_files
from surefoot.options import MAX_INT, DistillOptions, chosen
from surefoot.options.keywords import DistillChanges
from surefoot.policies import Policy, as_policy
from surefoot.policies.interface import Input, Interface
from surefoot.policies.loaded import Loaded
from surefoot.policies.trees import xgboost as xgboost_files
from surefoot.policies.writing import check_writable, interface_file, write_policy
from surefoot.records import DistillResult
from surefoot.tasks import require_task
from surefoot.tasks.task import Task
from surefoot.train.examples import Examples, Limits, agreement, collect, outputs_of, rows_of
from surefoot.train.fitting import FittedTrees, fit, fitting_library

PLAYS_NO_PART = {"xgboost": (), "forest": ("rate",), "tree": ("trees", "rate")}
MAX_TREES = 50_000  # one for each action and round
ProgressCallback = Callable[[str, int, int], object]
"""called with what is being done, how much of it is done, and of how much"""


def distill(
    task: Task,
    policy: object,
    *,
    options: DistillOptions | None = None,
    progress: ProgressCallback | None = None,
    **changes: Unpack[DistillChanges],
) -> DistillResult:
    """Return trees that imitate a policy, and how well they do.

    What it guarantees: the same task, policy, options and seed give the same trees; nothing about
    states that the runs do not visit. Cost: the runs, three times, and the fitting, on one thread.
    Raises InputError (``no-examples``) if the policy never has a choice, OutOfBudget if time or
    memory run out. Options are those of :class:`DistillOptions`, also as keywords. Needs XGBoost,
    or scikit-learn for ``forest`` and ``tree``.
    """
    task = require_task(task)
    settings = check_distill_options(chosen(DistillOptions, options, changes))
    fitting_library(settings.kind)
    teacher = as_policy(policy, task, seed=settings.seed)
    return _Distillation(teacher, settings, progress).run()


def check_distill_options(
    options: DistillOptions, *, spelled: Callable[[str], str] = str
) -> DistillOptions:
    """Return the options. Raises InputError for those that make no sense."""
    for name in PLAYS_NO_PART[options.kind]:
        if getattr(options, name) != getattr(DistillOptions, name):
            message = f"{spelled(name)} has no effect on trees of kind {options.kind}"
            raise InputError("bad-option", message)
    return options


class _Distillation:
    def __init__(
        self, teacher: Policy, options: DistillOptions, progress: ProgressCallback | None
    ) -> None:
        self.task = teacher.task
        self.teacher = teacher
        self.options = options
        self.progress = progress
        self.begin = time.perf_counter()
        self.limits = Limits(options.max_steps, options.max_bytes, self.seconds_left)

    def seconds_left(self) -> float:
        return max(self.options.max_seconds - (time.perf_counter() - self.begin), 0.0)

    def run(self) -> DistillResult:
        """Return the result."""
        fresh_seed = (self.options.seed + 1) % (MAX_INT + 1)
        self._check_task()
        examples = self._examples(self.teacher, self.options.seed, "runs of the policy")
        if not len(examples.actions):
            raise self._no_examples()
        fitted, trees = self._trees(examples)
        fresh = self._examples(self.teacher, fresh_seed, "fresh runs of the policy")
        mine = self._examples(trees, fresh_seed, "runs of the trees")
        learned = agreement(trees, examples)
        assert learned is not None
        return DistillResult(
            policy=trees,
            kind=self.options.kind,
            runs=self.options.runs,
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
        count = self.options.trees * len(outputs_of(self.task))
        if self.options.kind == "xgboost" and count > MAX_TREES:
            raise InputError(
                "bad-option",
                f"{self.options.trees:,} rounds for {len(outputs_of(self.task)):,} actions make "
                f"{count:,} trees, at most {MAX_TREES:,} are fitted",
                hint="take fewer trees, or kind forest or tree",
            )

    def _examples(self, policy: Policy, seed: int, what: str) -> Examples:
        starts = self.task.draw_starts(
            self.options.runs, seed=seed, max_seconds=self.seconds_left()
        )
        tell = partial(self._tell, what)
        return collect(policy, starts, seed=seed, limits=self.limits, tell=tell)

    def _trees(self, examples: Examples) -> tuple[FittedTrees, Policy]:
        """Return the trees that were fitted to the examples, also as a policy."""
        outputs = outputs_of(self.task)
        fitted = fit(
            rows_of(self.task, examples.states),
            examples.actions,
            len(outputs),
            self.options,
            self._tell_fitting,
        )
        interface = Interface(tuple(map(Input, self.task.names)), outputs)
        policy = as_policy(Loaded(fitted.trees, interface), self.task)
        policy.name = f"{self.options.kind} trees of {self.teacher.name}"
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
            seconds = f"{self.options.max_seconds:g} seconds"
            message = f"{done:,} of {total:,} fitted after {seconds}"
            raise OutOfBudget("out-of-seconds", message, hint="give more, or fewer runs or trees")
        self._tell("fitting", done, total)

    def _no_examples(self) -> InputError:
        return InputError(
            "no-examples",
            f"in {self.options.runs:,} runs the policy never had a choice: nothing to imitate",
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
