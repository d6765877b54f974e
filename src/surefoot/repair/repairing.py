"""One repair from beginning to end: solve, write the parameters back, look at every decision.

What a solver says counts for nothing here: a demand is met when the policy with the new parameters,
rounded to its own precision, decides so. Where it does not, the margin grows. Decisions that should
be kept and changed become soft rows; where these are in the way of a demand, a separating tree
gives the program parameters that only the states of faults have.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.errors import InputError, OutOfBudget
from surefoot.options import RepairOptions
from surefoot.policies import Policy, as_policy
from surefoot.policies.loaded import Loaded
from surefoot.policies.trees.forest import Tree
from surefoot.repair.choosing import Chooser
from surefoot.repair.decisions import Demand, Numbers, Reals, Situations, best_of
from surefoot.repair.integer import improved_by_integers
from surefoot.repair.linear import LinearView, view_of, with_trees
from surefoot.repair.program import OutOfSeconds, Solution, Unsure
from surefoot.repair.separating import (
    as_compared,
    constant_tree,
    distinct_rows,
    no_conflict,
    penalty_tree,
    separating_tree,
)

MAX_GROWTHS = 40  # of a margin, by a factor of 2 each
MAX_KEEP_ROUNDS = 60  # of adding soft rows before separating
MAX_SEPARATIONS = 12  # for decisions to keep; conflicts of faults are separated without end
MANY_LOST = 100
FLIP_WORK = 10_000  # demands of all programs that flips solve
NOT_REPAIRED = "not-repaired"
NEW_SOFT_ROWS = 2_000  # at most in one round
Progress = Callable[[str], object]


@dataclass(frozen=True)
class Attempt:
    """Parameters with which all demands are met, and what that took."""

    model: Any
    distance: float
    changed: int
    added: int
    lost: Numbers
    """which of the states that should keep their decision do not"""
    bound: float | None = None
    gap: float | None = None
    margin: float = 0.0
    trees: int = 0


class Repairer:
    """Looks for the nearest model that meets the demands and keeps decisions where it can."""

    def __init__(
        self,
        policy: Policy,
        demands: Sequence[Demand],
        where: Situations,
        keep: Situations,
        kept: Numbers,
        options: RepairOptions,
        progress: Progress | None,
        *,
        begin: float,
    ) -> None:
        self.policy = policy
        self.demands = list(demands)
        self.where = where
        self.keep = keep
        self.kept = kept
        self.options = options
        self.margins = [options.margin] * len(self.demands)
        self.trees: list[Tree] = []
        self._rivals = self._first_rivals()
        self.rounds = 0
        self.stopped: str | None = None
        self._tell = progress or (lambda _: None)
        self._begin = begin
        self._best: Attempt | None = None
        self._chosen: list[int] | None = None
        self._watched: dict[tuple[int, int], None] = {}
        assert policy.model is not None
        self._original: Any = policy.model
        self._trees_only = False
        if not len(self._view(self._original).parameters):
            self.trees.append(constant_tree(self._original.num_outputs))

    @property
    def seconds_left(self) -> float:
        """How much of the time is left."""
        return self.options.max_seconds - (time.perf_counter() - self._begin)

    # -- penalties -----------------------------------------------------------------------------

    def penalised(self) -> Attempt:
        """Return the model with a tree for each state that must decide otherwise."""
        view = view_of(self._original)
        needs = [d for d in self.demands if self._unmet(self._original, [d])]
        penalty = _range_of(self._original, view, self.where.rows) + self.options.margin
        for _ in range(MAX_GROWTHS):
            self.rounds += 1
            self.trees = [self._penalty_tree(demand, penalty) for demand in needs]
            model = with_trees(self._original, self.trees) if needs else self._original
            if not self._unmet(model, self.demands):
                changed = penalty * sum(len(demand.bad) for demand in needs)
                count = sum(len(demand.bad) for demand in needs)
                lost = np.flatnonzero(self._decided(model) != self.kept)
                trees = len(self.trees)
                return Attempt(model, changed, count, count, lost, margin=penalty, trees=trees)
            penalty *= 2
        unmet = self._unmet(model, self.demands)
        alike = self._alike(unmet[0])
        raise _contradiction(self.policy, alike) if len(alike) > 1 else self._not_met(unmet)

    def _alike(self, number: int) -> list[Demand]:
        """Return the demands in states with the same inputs as that one."""
        labels = distinct_rows(self._compared(self.where.rows))
        same = labels[self.demands[number].row]
        return [demand for demand in self.demands if labels[demand.row] == same]

    def _penalty_tree(self, demand: Demand, penalty: float) -> Tree:
        precision = _input_precision(self._original)
        values = np.zeros(self._original.num_outputs)
        values[list(demand.bad)] = -penalty
        row = as_compared(self.where.rows[demand.row], precision)
        return penalty_tree(row, values, is_float=precision == "float32")

    # -- the nearest model ---------------------------------------------------------------------

    def nearest(self) -> Attempt:
        """Return the best attempt. Raises OutOfBudget if the time is up before there is one."""
        try:
            for separations in range(MAX_SEPARATIONS + 1):
                before = self._best
                attempt = self._feasible_attempt()
                if separations > 2 and self._best is before:
                    break
                if not len(attempt.lost) or not self._separate_lost():
                    break
        except OutOfSeconds:
            self.stopped = "seconds"
            if self._best is None:
                raise OutOfBudget(
                    "out-of-seconds",
                    "ran out of seconds before there was a repair",
                    hint="give more --max-seconds, or fewer faults",
                ) from None
        assert self._best is not None
        return self._best

    def _feasible_attempt(self) -> Attempt:
        """Return an attempt, after as many separations of conflicting faults as it takes."""
        while True:
            self.rounds += 1
            try:
                attempt = self._one_attempt()
            except Unsure as error:
                self._leave_network(_not_solved(error))
                continue
            except InputError as error:
                if error.code != NOT_REPAIRED:
                    raise
                self._leave_network(error)
                continue
            if attempt is not None:
                return attempt

    def _one_attempt(self) -> Attempt | None:
        model = with_trees(self._original, self.trees) if self.trees else self._original
        view = self._view(model)
        chooser = Chooser(
            view,
            view.look_at(self.where.rows),
            view.scores(self.where.rows),
            self.demands,
            self.margins,
            chosen=self._chosen,
            rivals=self._rivals,
            seconds_left=lambda: self.seconds_left,
        )
        attempt = self._attempt(view, chooser)
        self._chosen = [choice.chosen for choice in chooser.choices]
        self._rivals = [choice.rivals for choice in chooser.choices]
        return attempt

    def _view(self, model: object) -> LinearView:
        return view_of(model, trees_only=self._trees_only)

    def _leave_network(self, error: InputError) -> None:
        """Leave the network as it is, and go on with trees beside it: their leaves are no numbers
        that a solver could stumble over. Raises the error if that was so already.
        """
        if self._original.kind == "trees" or self._trees_only:
            raise error
        self._trees_only = True
        self.margins = [self.options.margin] * len(self.demands)
        self._watched.clear()
        self.trees = []
        if len(self.demands) > 1:
            self._separate_conflict(self.demands)
        else:
            self.trees.append(constant_tree(self._original.num_outputs))

    def _attempt(self, view: LinearView, chooser: Chooser) -> Attempt | None:
        """Return an attempt with the trees that are there; None if another one was needed."""
        self._watch(view, chooser, list(self._watched))
        solution = chooser.solve()
        if solution is None:
            conflict = chooser.conflict(self.options.flips)
            solution = chooser.solve() if not conflict else None
            if solution is None:
                self._separate_conflict(conflict or self.demands)
                return None
        if not self._watched:  # later the choices stand: soft rows make every try expensive
            flips = min(self.options.flips, FLIP_WORK // len(self.demands))
            solution = chooser.improve(solution, flips)
        solution, bound = improved_by_integers(chooser, solution, self.options, self.seconds_left)
        return self._settled(view, chooser, solution, bound)

    def _settled(
        self, view: LinearView, chooser: Chooser, solution: Solution, bound: float | None
    ) -> Attempt | None:
        """Return the attempt in which all is met and no soft row is missing."""
        for _ in range(MAX_GROWTHS + MAX_KEEP_ROUNDS + self._original.num_outputs):
            model = view.with_parameters(view.parameters + chooser.program.changes(solution))
            unmet = self._unmet(model, self.demands)
            decided = self._decided(model)
            lost = np.flatnonzero(decided != self.kept)
            self._tell(
                f"{len(self.demands):,} faults, {len(unmet):,} not yet repaired, "
                f"{len(lost):,} decisions to keep lost, {len(self.trees):,} trees added"
            )
            new = [] if unmet else self._newly_lost(decided, lost)
            if not unmet:
                attempt = self._measured(view, model, lost, bound, solution)
                self._note(attempt)
            if not unmet and (not new or self._is_hopeless(lost)):
                return attempt
            self._press(chooser, model, unmet)
            self._watched.update(dict.fromkeys(new))
            self._watch(view, chooser, new)
            again = chooser.solve()
            if again is None:
                self._separate_conflict(self.demands)
                return None
            solution = again
        if unmet:
            raise self._not_met(unmet)
        return self._measured(view, model, lost, bound, solution)

    def _note(self, attempt: Attempt) -> None:
        """Keep an attempt if it is the best so far."""
        if self._best is None or len(attempt.lost) < len(self._best.lost):
            self._best = attempt

    def _press(self, chooser: Chooser, model: Any, unmet: Sequence[int]) -> None:
        """Ask more where a bad output still wins: rows against it or, where there are such, a
        larger margin.
        """
        rows = [self.demands[number].row for number in unmet]
        scores = model.scorer().scores(self.where.rows[rows]) if rows else ()
        for number, own in zip(unmet, scores, strict=True):
            choice = chooser.choices[number]
            best = best_of(choice.demand.bad, own)
            if best not in choice.rivals:
                chooser.oppose(choice, best)
                continue
            self.margins[number] *= 2
            chooser.widen(choice, self.margins[number])

    def _first_rivals(self) -> list[list[int]]:
        """Return the bad output with the best score, for each demand."""
        rows = [demand.row for demand in self.demands]
        scores = self.policy.scorer.scores(self.where.rows[rows])
        return [
            [best_of(demand.bad, own)] if demand.bad else []
            for demand, own in zip(self.demands, scores, strict=True)
        ]

    def _measured(
        self,
        view: LinearView,
        model: object,
        lost: Numbers,
        bound: float | None,
        solution: Solution,
    ) -> Attempt:
        change = np.abs(self._view(model).parameters - view.parameters)
        old = len(self._view(self._original).parameters)
        gap = None
        if bound is not None:
            gap = max(solution.objective - bound, 0.0) / max(solution.objective, 1e-12)
        return Attempt(
            model,
            distance=float(change.sum()),
            changed=int((change > 0).sum()),
            added=int((change[old:] > 0).sum()),
            lost=lost,
            bound=bound,
            gap=gap,
            margin=max(self.margins),
            trees=len(self.trees),
        )

    # -- looking at decisions ------------------------------------------------------------------

    def _unmet(self, model: Any, demands: Sequence[Demand]) -> list[int]:
        """Return the numbers of demands that the model does not meet, or by less than half of the
        margin: other libraries may round away what is less.
        """
        rows = [demand.row for demand in demands]
        scores = model.scorer().scores(self.where.rows[rows])
        least = self.options.margin / 2 / _unit(model)
        return [
            number
            for number, (demand, own) in enumerate(zip(demands, scores, strict=True))
            if demand.bad and own[list(demand.good)].max() - own[list(demand.bad)].max() <= least
        ]

    def _decided(self, model: Any) -> Numbers:
        """Return what is decided in the states that should keep their decision."""
        if not len(self.keep):
            return self.kept
        return self.keep.decisions(model.scorer().scores(self.keep.rows))

    def _newly_lost(self, decided: Numbers, lost: Numbers) -> list[tuple[int, int]]:
        """Return pairs of a state and the output that wins there now, if it is not watched yet."""
        pairs = zip(lost.tolist(), decided[lost].tolist(), strict=True)
        return [pair for pair in pairs if pair not in self._watched][:NEW_SOFT_ROWS]

    def _is_hopeless(self, lost: Numbers) -> bool:
        """Return whether so many decisions are lost that separating comes first."""
        return len(lost) > MANY_LOST and not self.trees

    def _watch(self, view: LinearView, chooser: Chooser, pairs: Sequence[tuple[int, int]]) -> None:
        """Add a soft row for each pair: the decision should score higher than the other output."""
        if not pairs:
            return
        numbers = np.array([number for number, _ in pairs])
        rows = self.keep.rows[numbers]
        features, scores = view.look_at(rows), view.scores(rows)
        for at, (number, other) in enumerate(pairs):
            decision = int(self.kept[number])
            gap = float(scores[at, decision] - scores[at, other])
            least = min(self.options.margin, max(gap, 0.0)) - gap
            chooser.keep(features.difference(at, decision, other), least)

    # -- separating ----------------------------------------------------------------------------

    def _separate_conflict(self, demands: Sequence[Demand]) -> None:
        """Append a tree that tells conflicting demands apart. Raises InputError if none can."""
        rows = self._compared(self.where.rows[[demand.row for demand in demands]])
        labels = distinct_rows(rows)
        tree = separating_tree(
            rows,
            labels,
            np.ones(len(rows)),
            lambda inside: bool((labels[inside] == labels[inside][0]).all()),
            num_outputs=self._original.num_outputs,
        )
        if tree is None:
            raise _contradiction(self.policy, demands)
        self.trees.append(tree)

    def _separate_lost(self) -> bool:
        """Append a tree that tells faults from states that should keep their decision; return
        whether there is one.
        """
        assert self._chosen is not None
        rows = np.concatenate([self.where.rows, self.keep.rows])
        labels = np.concatenate([np.array(self._chosen, dtype=np.int64), self.kept])
        is_fault = np.arange(len(rows)) < len(self.where)
        share = len(self.where) / max(len(self.keep), 1)
        tree = separating_tree(
            self._compared(rows),
            labels,
            np.where(is_fault, 1.0, share),
            no_conflict(is_fault, labels),
            num_outputs=self._original.num_outputs,
        )
        if tree is None or len(self.trees) > MAX_SEPARATIONS:
            return False
        self.trees.append(tree)
        return True

    def _compared(self, rows: Reals) -> Reals:
        return as_compared(rows, _input_precision(self._original))

    def _not_met(self, unmet: Sequence[int]) -> InputError:
        state = self.demands[unmet[0]].state
        return InputError(
            NOT_REPAIRED,
            f"{len(unmet):,} faults are still there whatever the margin: the first is in {state}",
            hint="the policy's numbers are too coarse there; a shield wraps the policy instead",
        )

    def repaired(self, attempt: Attempt) -> Policy:
        """Return the policy of an attempt, after a look at every decision that was demanded."""
        policy = self.policy
        loaded = Loaded(attempt.model, policy.interface, policy.unfiltered, policy.notes)
        made = as_policy(loaded, policy.task)
        made.name = "repaired"
        assert made.interface is not None
        states = [demand.state for demand in self.demands]
        decided = [made.interface.outputs.index(name) for name in made.decide_all(states)]
        unmet = [n for n, asked in enumerate(self.demands) if decided[n] not in asked.good]
        if unmet:
            raise self._not_met(unmet)
        return made


def _unit(model: Any) -> float:
    """Return how many units of the linear scores a unit of the model's scores is; infinity where
    there is no such number.
    """
    if model.kind == "trees":
        return float(model.divide_by)
    network = model if model.kind == "network" else model.network
    return 1.0 if network.layers[-1].activation == "linear" else np.inf


def _not_solved(error: Unsure) -> InputError:
    return InputError(
        "solver-failed",
        f"the solver ends without an answer ({error})",
        hint="--method penalty needs no solver; surefoot export --shield changes no parameter",
    )


def _input_precision(model: Any) -> str:
    if model.kind == "trees":
        return str(model.input_precision)
    return str(model.precision if model.kind == "network" else model.trees.input_precision)


def _range_of(model: Any, view: LinearView, rows: Reals) -> float:
    """Return more than any two scores can differ by: by the leaves of all trees (Cascioli et al.,
    appendix B), or by the scores in these states.
    """
    if model.kind != "trees":
        scores = view.scores(rows)
        return float(scores.max() - scores.min()) if scores.size else 0.0
    leaf = model.features == -1
    owner = np.zeros(len(model.features), dtype=np.int64)
    owner[model.roots] = 1
    tree = np.cumsum(owner) - 1  # nodes stand tree by tree
    width = np.where(model.right[leaf] == -1, model.num_outputs, 1)
    places = np.repeat(model.left[leaf], width) + _within(width)
    number = np.repeat(tree[leaf], width)
    high, low = np.full(len(model.roots), -np.inf), np.full(len(model.roots), np.inf)
    np.maximum.at(high, number, model.values[places])
    np.minimum.at(low, number, model.values[places])
    spread = float((np.maximum(high, 0) - np.minimum(low, 0)).sum())
    return spread + float(model.base.max() - model.base.min())


def _within(width: Numbers) -> Numbers:
    """Return 0, 1, ... for each group of these widths."""
    ends = np.cumsum(width)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - width, width)


def _contradiction(policy: Policy, demands: Sequence[Demand]) -> InputError:
    assert policy.interface is not None
    outputs = policy.interface.outputs
    some = "; ".join(
        f"{' or '.join(outputs[good] for good in demand.good)} in {demand.state}"
        for demand in demands[:2]
    )
    return InputError(
        "contradictory-faults",
        f"the policy sees the same inputs in states that need different actions: {some}",
        hint="no policy over these inputs is right in both; give it more inputs, or wrap it: "
        "surefoot export --shield",
    )
