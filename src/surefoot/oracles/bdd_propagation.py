"""Backward propagation on the diagrams of a task, one small step at a time."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from surefoot.oracles.bdd_encoding import SILENT, Regression, TaskDiagrams
from surefoot.oracles.bdd_values import Diagram

Bits = list[tuple[int, bool]]


@dataclass(eq=False)
class Layer:
    """The states found so far, and those that were not there a layer before.

    ``hit`` collects the states with an outcome in ``new``, from the first ``done`` regressions.
    """

    states: Diagram
    new: Diagram
    hit: Diagram
    done: int = 0


def unsafe_states(task: TaskDiagrams) -> Propagation:
    """Return the propagation of unsafety; it claims nothing about states with a faulty action."""
    first = Layer(task.fail, task.fail, hit=task.algebra.false)
    return Propagation(task, first=first, open=task.open & ~_with_error(task), lost={})


def doubtful_states(task: TaskDiagrams, unsafe: Propagation) -> Propagation:
    """Return the propagation of unsafety that goes on, after the other is complete, with errors
    counted as unsafe and faulty actions as lost.

    What it never reaches is safe whatever the errors should have been.
    """
    lost = {a: task.faulty[a] | unsafe.lost_by(a) for a in task.faulty}
    first = Layer(unsafe.states | task.errors, task.errors, hit=_with_error(task))
    return Propagation(task, first=first, open=task.open, lost=lost)


def _with_error(task: TaskDiagrams) -> Diagram:
    """Return the states in which some decision is an error of the model."""
    nothing = task.algebra.false
    forced = task.faulty.get(SILENT, nothing) & ~can_decide(task)
    chosen = (where for action, where in task.faulty.items() if action != SILENT)
    return forced | task.algebra.union(chosen)


def can_decide(task: TaskDiagrams) -> Diagram:
    """Return the states in which an action is applicable that is not silent."""
    chosen = (where for action, where in task.applicable.items() if action != SILENT)
    return task.algebra.union(chosen)


class Propagation:
    """The least set that contains some states and every open one in which each decision is lost:
    where it may lead into the set.

    ``lost`` says for each action what is known to be lost already, and ``hit`` the states in which
    that is not accounted for. Every step can be left by an exception and made again.
    """

    def __init__(
        self,
        task: TaskDiagrams,
        *,
        first: Layer,
        open: Diagram,
        lost: dict[int, Diagram],
    ) -> None:
        self.task = task
        self.open = open
        self.lost = lost
        self.layers = [first]
        self.is_complete = not (first.new.satisfiable() or first.hit.satisfiable())
        self._regressions = list(task.regressions.values())
        self._can_decide = can_decide(task)

    @property
    def states(self) -> Diagram:
        """All states of the set that are known."""
        return self.layers[-1].states

    def rank(self, bits: Bits) -> int | None:
        """Return the number of the first layer that contains the state; None if none does."""
        if not self.states.eval(bits):
            return None
        return bisect_left(self.layers, True, key=lambda layer: bool(layer.states.eval(bits)))

    def step(self) -> int:
        """Make one regression or, after the last, the next layer. Return how many actions lead
        from somewhere into the new states by this regression.
        """
        layer = self.layers[-1]
        if layer.done == len(self._regressions):
            self._close(layer)
            return 0
        losses = self._regress(layer, self._regressions[layer.done])
        layer.done += 1
        return losses

    def _regress(self, layer: Layer, regression: Regression) -> int:
        before = layer.new
        if regression.substitution is not None:
            before = before.substitute(regression.substitution)
        if not before.satisfiable():
            return 0
        losses = 0
        for action, condition in regression.conditions.items():
            where = condition & before
            if where.satisfiable():
                losses += 1
                self.lost[action] = self.lost.get(action, self.task.algebra.false) | where
                layer.hit = layer.hit | where
        return losses

    def _close(self, layer: Layer) -> None:
        """Add the states that have nothing left to decide."""
        candidates = layer.hit & self.open & ~layer.states
        new = candidates & self._can_decide
        for action, applicable in self.task.applicable.items():
            if action != SILENT:
                new = new & ~(applicable & ~self.lost_by(action))
        new = new | (candidates & ~self._can_decide & self.lost_by(SILENT))
        if new.satisfiable():
            nothing = self.task.algebra.false
            self.layers.append(Layer(layer.states | new, new, hit=nothing))
            layer.new = layer.hit = nothing  # free the memory
        else:
            self.is_complete = True

    def lost_by(self, action: int) -> Diagram:
        """Return where an action may lead into the set."""
        return self.lost.get(action, self.task.algebra.false)
