"""IC3: frames of blocked boxes that grow until nothing new can be reached.

Frame ``i`` holds all states that can be reached in ``i`` steps, and none that is bad; it is given
by boxes that are blocked there, and whatever is blocked in a frame is blocked in all before it. Bad
states of the last frame are *obligations*: the boxes from which they are reached are blocked one
after the other, each relative to the frame before it, or a run comes to light. Boxes that stay
blocked after a step are pushed forward; when a frame has no box that the next one lacks, it is
closed under steps.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from surefoot.verify.ic3.boxes import Bounding, Box, box_of, contains, literals, meet
from surefoot.verify.ic3.solver import Solver
from surefoot.verify.ic3.transition import System


@dataclass(frozen=True)
class Obligation:
    """From every state of ``box`` the branch may lead into the box of ``then``. Without these the
    states of the box are bad.
    """

    box: Box
    branch: int | None = None
    then: Obligation | None = None


@dataclass(frozen=True)
class Suspect:
    """A start state in the box of an obligation."""

    state: tuple[int, ...]
    obligation: Obligation


class Ic3:
    """The search over one system. ``blocked`` are the boxes blocked so far, also if the search was
    left by an exception; ``invariant`` those that prove safety, once ``run`` has said so. It may
    go on from the ``frames`` of a search over a system in which more could happen.
    """

    def __init__(
        self, system: System, tick: Callable[[], None], frames: Sequence[Sequence[Box]] = ((),)
    ) -> None:
        self.system = system
        self.circuit = system.circuit
        self.now, self.after = Bounding(system.now), Bounding(system.after)
        self.frames = [list(frame) for frame in frames]
        self._active = [self.circuit.new() for _ in frames]
        self.circuit.add(-self._active[0], system.start)
        self._steps = Solver(self.circuit, tick, self._frame_clauses)
        self._states = Solver(self.circuit, tick)
        self.invariant: list[Box] = []

    @property
    def blocked(self) -> list[Box]:
        """The boxes that are blocked in some frame."""
        return [box for frame in self.frames for box in frame]

    @property
    def queries(self) -> int:
        """How often the solver was asked."""
        return self._steps.queries + self._states.queries

    def close(self) -> None:
        """Free the memory of the solvers."""
        self._steps.close()
        self._states.close()

    # -- the search --------------------------------------------------------------------------

    def run(self) -> Suspect | None:
        """Return a start state from which a run may be bad; None if there is none, for good.

        It may be called again after what it returned turned out not to be so and the system was
        told.
        """
        state = self._start_in(self.system.bad)
        if state is not None:
            return Suspect(state, Obligation(box_of(state)))
        if len(self.frames) == 1:
            self._add_frame()
        while True:
            suspect = self._block_bad()
            if suspect is not None:
                return suspect
            self._add_frame()
            if self._propagate():
                return None

    def _add_frame(self) -> None:
        self.frames.append([])
        self._active.append(self.circuit.new())

    def _block_bad(self) -> Suspect | None:
        """Block all bad states in the last frame."""
        while True:
            self._steps.tidy()
            self._states.tidy()
            bad = self._bad_box()
            if bad is None:
                return None
            suspect = self._block(Obligation(bad))
            if suspect is not None:
                return suspect

    def _block(self, bad: Obligation) -> Suspect | None:
        last, numbers = len(self.frames) - 1, itertools.count()
        queue = [(last, next(numbers), bad)]
        while queue:
            frame, _, obligation = heapq.heappop(queue)
            state = self._start_in(*self.now.literals(obligation.box))
            if state is not None:
                return Suspect(state, obligation)
            if self._is_blocked(obligation.box, frame):
                continue
            box, before = self._reach(obligation.box, frame)
            if before is None:
                at = self._block_box(box, frame, last)
                if at < last:
                    heapq.heappush(queue, (at + 1, next(numbers), obligation))
                continue
            model_state, branch = before
            lifted = self._lifted(model_state, branch, obligation)
            if frame == 1:
                return Suspect(model_state, lifted)
            heapq.heappush(queue, (frame - 1, next(numbers), lifted))
            heapq.heappush(queue, (frame, next(numbers), obligation))
        return None

    def _is_blocked(self, box: Box, frame: int) -> bool:
        boxes = itertools.chain.from_iterable(self.frames[frame:])
        return any(contains(blocked, box) for blocked in boxes)

    def _block_box(self, box: Box, frame: int, last: int) -> int:
        """Block a box, made as large as possible, in a frame or a later one; return which."""
        box = self._generalised(box, frame)
        while frame < last:
            larger, before = self._reach(box, frame + 1)
            if before is not None:
                break
            box, frame = larger, frame + 1
        self._put(box, frame)
        return frame

    def _put(self, box: Box, frame: int) -> None:
        for number in range(1, frame + 1):
            kept = [each for each in self.frames[number] if not contains(box, each)]
            self.frames[number] = kept
        self.frames[frame].append(box)
        self._steps.add([-self._active[frame], *self.now.clause(box)])

    def _propagate(self) -> bool:
        """Push boxes forward; return whether a frame is closed."""
        for frame in range(1, len(self.frames) - 1):
            for box in list(self.frames[frame]):
                if box not in self.frames[frame]:
                    continue  # another one that was pushed has it
                larger, before = self._reach(box, frame + 1)
                if before is None:
                    self._put(larger, frame + 1)
            if not self.frames[frame]:
                self.invariant = sorted(itertools.chain(*self.frames[frame + 1 :]))
                return True
        return False

    # -- questions ---------------------------------------------------------------------------

    def _frame_clauses(self) -> Iterator[Sequence[int]]:
        for active, boxes in zip(self._active, self.frames, strict=True):
            for box in boxes:
                yield [-active, *self.now.clause(box)]

    def state_in(self, *wanted: int) -> tuple[int, ...] | None:
        """Return a state in which these literals hold, start state or not."""
        assumed = [*self.system.assumptions, *wanted]
        return self.now.state(self._states.model()) if self._states.solve(assumed) else None

    def _start_in(self, *wanted: int) -> tuple[int, ...] | None:
        """Return a start state in which these literals hold."""
        return self.state_in(self.system.start, *wanted)

    def _away_from_start(self, box: Box) -> Box | None:
        """Return a box without start states around this one; None if it has one itself."""
        chain = self.now.chain(box)
        if self._states.solve([*self.system.assumptions, self.system.start, *chain]):
            return None
        return self.now.box(chain, self._states.core())

    def _bad_box(self) -> Box | None:
        """Return a box of bad states that meets the last frame."""
        fixed = self.system.assumptions
        if not self._steps.solve([*fixed, *self._active[-1:], self.system.bad]):
            return None
        return self._around(self.now.state(self._steps.model()), -self.system.bad)

    def _reach(self, box: Box, frame: int) -> tuple[Box, tuple[tuple[int, ...], int] | None]:
        """Return how the box is reached from the frame before, from outside of it: a state and a
        branch. If it is not, return a larger box, still without start states, that is not either.
        """
        system, solver = self.system, self._steps
        with solver.holding(self.now.clause(box)) as outside:
            fixed = [*system.assumptions, *self._active[frame - 1 :], outside, system.step]
            chain = self.after.chain(box)
            if solver.solve([*fixed, *chain]):
                model = solver.model()
                taken = [i for i, s in enumerate(system.selectors) if model[s - 1] > 0]
                return box, (self.now.state(model), taken[0])
            larger = self.after.box(chain, solver.core())
        away = self._away_from_start(larger)
        if away is None:
            away = self._away_from_start(box)
            assert away is not None, "a box with start states is to be blocked"
            return meet(larger, away), None
        return larger, None

    def _lifted(self, state: tuple[int, ...], branch: int, then: Obligation) -> Obligation:
        """Return the obligation around a state from which a branch leads into the box of another:
        of all states from which it does, if possible.
        """
        system, solver = self.system, self._states
        values = [system.value_after(branch, number) for number in range(len(system.now))]
        into = literals(then.box, values)
        with solver.holding([-each for each in (system.available[branch], *into)]) as elsewhere:
            return Obligation(self._around(state, elsewhere), branch, then)

    def _around(self, state: tuple[int, ...], never: int) -> Box:
        """Return a box around a state in which a literal never holds, as it does not there."""
        fixed = [*self.system.assumptions, never]
        chain = self.now.chain(box_of(state))
        holds = self._states.solve([*fixed, *chain])
        assert not holds, "what follows from a state does not"
        return self.now.box(chain, self._states.core())

    # -- larger boxes ------------------------------------------------------------------------

    def _generalised(self, box: Box, frame: int) -> Box:
        """Return a box around this one that can be blocked as well: without one bound after the
        other, as far as that works.
        """
        for number, side in itertools.product(range(len(box)), (0, 1)):
            wider = self._without(box, number, side)
            if wider != box:
                box = self._inductive(wider, frame) or box
        return box

    def _without(self, box: Box, number: int, side: int) -> Box:
        """Return the box without the lower (0) or the upper (1) bound of a variable."""
        wider = list(box)
        lower, upper = self.now.full[number]
        wider[number] = (lower, box[number][1]) if side == 0 else (box[number][0], upper)
        return tuple(wider)

    def _inductive(self, box: Box, frame: int) -> Box | None:
        """Return a box around this one that can be blocked; None if this one cannot."""
        if self._away_from_start(box) is None:
            return None
        larger, before = self._reach(box, frame)
        return larger if before is None else None
