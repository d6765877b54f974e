"""Abstract runs to something bad: real ones are replayed, others tell new predicates.

:class:`Follower` follows the boxes of an abstract run from its start. Where nothing of them is
left, a bound or what leads beyond one tells what the run comes to from what it would need. Where
boxes do not tell, Z3 is asked for the whole run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot import _core
from surefoot.policies.decisions import ask_core
from surefoot.tasks.compiled_task import CompiledTask
from surefoot.verify.predicates.atoms import Cut, Test
from surefoot.verify.predicates.cells import Cell, Cells
from surefoot.verify.predicates.changes import values_after
from surefoot.verify.predicates.parts import Image, Part, bounds_cut
from surefoot.verify.predicates.ranges import Box, meet, whole
from surefoot.verify.predicates.solver import Moment, Solver

PackedRun = tuple[bytes, list[int]]
MAX_TRIES = 100
"""states that are looked at to find a real run"""


@dataclass
class Waypoint:
    """An abstract state of a run, the part that it leaves it from, and how; None at the end."""

    cell: Cell
    part: Part
    image: Image | None

    @property
    def source(self) -> Box:
        """Where the run must be to go on."""
        return self.part.box if self.image is None else self.image.source


@dataclass
class Refinement:
    """Tests to divide an abstract state by."""

    cell: Cell
    tests: list[Test]


@dataclass
class Innocent:
    """A run is real, but nothing is wrong where it ends."""


Found = PackedRun | Refinement | Innocent | None


class Follower:
    """Follows abstract runs of a question."""

    def __init__(self, task: CompiledTask, cells: Cells, solver: Callable[[], Solver]) -> None:
        self.task = task
        self.cells = cells
        self.atoms = cells.atoms
        self.boxes = cells.boxes
        self.solver = solver
        self._values: dict[tuple[int, int], dict[int, Any]] = {}

    def follow(self, start: Box, stages: Sequence[Waypoint]) -> Found:
        """Return the failing run, or how to refine; None if neither is found.

        Raises InputError if a run comes to an error of the model or the policy.
        """
        answer = self._by_boxes(start, stages)
        if isinstance(answer, Refinement):
            return answer
        if answer is not None:
            run = self._tried(answer, stages)
            if run is not None:
                return run
        return self._by_solver(start, stages)

    # -- with boxes ----------------------------------------------------------------------------

    def _by_boxes(self, start: Box, stages: Sequence[Waypoint]) -> Refinement | list[Box] | None:
        """Return where boxes of states get lost, or the boxes; None if they do not tell."""
        sources: list[Box] = []
        at = self.cells.common(start, stages[0].cell.box)
        for number, stage in enumerate(stages):
            if at is None:
                return None
            source = self.cells.common(at, stage.source)
            if source is None:
                return self._apart(stage, at)
            sources.append(source)
            if stage.image is None:
                break
            image = self._image(source, stage.image)
            then = stages[number + 1].cell
            at = self.cells.common(image, then.box)
            if at is None:
                return self._beyond(stage, image, then)
        return sources

    def _image(self, source: Box, image: Image) -> Box:
        """Return where the outcome leads from a part of its source."""
        if image.edge is None or source == image.source:
            return image.box
        parts: list[_core.BoxPart] = ask_core(self.task, self.boxes.parts, list(source), 1)
        steps = (each for part in parts if part.what == "step" for each in part.images)
        for step in steps:
            if (step.edge, step.outcome) == (image.edge, image.outcome):
                return meet(whole(step.image), image.box) or image.box
        return image.box

    def _apart(self, stage: Waypoint, at: Box) -> Refinement | None:
        """Return the cut between where a run is and where it must be to go on."""
        wanted = stage.source
        for number, ((low, high), (least, most)) in enumerate(zip(at, wanted, strict=True)):
            if high < least:
                return self._refinement(stage.cell, [Cut(number, least)])
            if low > most:
                return self._refinement(stage.cell, [Cut(number, most + 1)])
        return self._refinement(stage.cell, [Cut(*c) for c in bounds_cut(wanted, stage.cell.box)])

    def _beyond(self, stage: Waypoint, image: Box, then: Cell) -> Refinement | None:
        """Return what decides before the step whether it leads to where it must."""
        for number, ((low, high), (least, most)) in enumerate(zip(image, then.box, strict=True)):
            if high < least or low > most:
                cut = Cut(number, least if high < least else most + 1)
                tests = self._before(cut, stage)
                if tests is not None:
                    return self._refinement(stage.cell, tests)
        return None

    def _before(self, test: Test, stage: Waypoint) -> list[Test] | None:
        """Return the tests that decide before a step whether a test will hold after it."""
        image = stage.image
        if image is None or image.edge is None:
            return None
        key = image.edge, image.outcome
        if key not in self._values:
            outcome = self.task.description.edges[key[0]].outcomes[key[1]]
            self._values[key] = values_after(self.task, outcome)
        return self.atoms.before(test, self._values[key])

    def _refinement(self, cell: Cell, tests: Sequence[Test]) -> Refinement | None:
        """Return the refinement by the tests that divide the cell; None if none does."""
        known = {predicate for predicate, _ in cell.literals}
        useful = [
            test
            for test in dict.fromkeys(tests)
            if test not in known and self.atoms.truth(test, cell.box) is None
        ]
        return Refinement(cell, useful) if useful else None

    # -- with states ---------------------------------------------------------------------------

    def _tried(self, sources: Sequence[Box], stages: Sequence[Waypoint]) -> PackedRun | None:
        """Return a failing run from a start state in the first of the boxes, if one is found."""
        packed = ask_core(self.task, self.boxes.start_in, list(sources[0]))
        if packed is None:
            return None
        start = tuple(int(value) for value in self.task.unpack(packed).values_tuple)
        waiting: list[list[tuple[int, ...]]] = [[start]]
        for _ in range(MAX_TRIES):
            if not waiting:
                return None
            states = waiting.pop()
            what, _, after = self.looked_at(states[-1])
            if what == "fail":
                return self.run_of(states)
            if what == "step" and len(states) < len(stages):
                box = sources[len(states)]
                waiting += [[*states, s] for s in after if is_in(s, box)]
        return None

    def looked_at(self, state: Sequence[int]) -> tuple[str, int | None, list[tuple[int, ...]]]:
        """Return what a state is, the action there, and its outcomes. Raises InputError."""
        box = [(value, value) for value in state]
        parts: list[_core.BoxPart] = ask_core(self.task, self.boxes.parts, box, 1)
        if not parts:
            return "goal", None, []
        part = parts[0]
        after = [tuple(int(low) for low, _ in each.image) for each in part.images]
        return part.what, part.action, after

    def run_of(self, states: Sequence[tuple[int, ...]]) -> PackedRun:
        """Return a run of these states."""
        packed = [self._packed(state) for state in states]
        actions = [self._action(s, packed[i], packed[i + 1]) for i, s in enumerate(states[:-1])]
        return b"".join(packed), actions

    def _packed(self, state: Sequence[int]) -> bytes:
        pairs = zip(self.task.variables, state, strict=True)
        values = {v.name: bool(value) if v.type == "bool" else value for v, value in pairs}
        return self.task.state(values).packed

    def _action(self, state: tuple[int, ...], packed: bytes, after: bytes) -> int:
        _, action, _ = self.looked_at(state)
        first_silent = len(self.task.actions) - len(self.task.silent)
        if action is not None and action < first_silent:
            return action
        for number in range(first_silent, len(self.task.actions)):
            if after in ask_core(self.task, self.task.core.outcomes, packed, number):
                return number
        raise AssertionError("a silent step without a silent action")

    # -- with Z3 -------------------------------------------------------------------------------

    def _by_solver(self, start: Box, stages: Sequence[Waypoint]) -> Found:
        solver = self.solver()
        with solver.assuming(*self.starting(start, stages[0].cell)):
            at, moments = solver.now, [solver.now]
            for number, stage in enumerate(stages):
                then = None if stage.image is None else stages[number + 1].cell
                needed, after = self._step(solver, stage, at)
                conditions = [*solver.inside(stage.source, at), *needed]
                if then is not None and after is not None:
                    conditions += self._inside(solver, then, after)
                with solver.assuming(*conditions):
                    answer = solver.is_possible()
                if answer is None:
                    return None
                if not answer:
                    return self._told_apart(solver, stage, then, at)
                solver.add(*conditions)
                if after is None:
                    break
                at = after
                moments.append(after)
            return self._replayed(solver, moments, stages)

    def starting(self, start: Box, cell: Cell) -> list[object]:
        """Return the conditions for a state to be a start state in a box and in a cell."""
        solver = self.solver()
        inside = [*solver.inside(start, solver.now), *self._inside(solver, cell, solver.now)]
        return inside + self._start(solver)

    def _start(self, solver: Solver) -> list[object]:
        description = self.task.description
        if self.task.start_source() is not None:
            return []  # listed ones are boxes of their own
        condition = description.start_condition
        if condition is None:
            condition = description.initial_condition()
        return [] if condition is None else [solver.condition(condition, solver.now)]

    def _inside(self, solver: Solver, cell: Cell, at: Moment) -> list[object]:
        return [*solver.inside(cell.box, at), *solver.literals(cell.literals, at)]

    def _step(
        self, solver: Solver, stage: Waypoint, at: Moment
    ) -> tuple[list[object], Moment | None]:
        image = stage.image
        if image is None:
            return [], None
        if image.edge is None:  # from one state to another one
            after = Moment([solver.value(n, low) for n, (low, _) in enumerate(image.box)])
            return [], after
        return solver.after(solver.step(image.edge, image.outcome), at)

    def _told_apart(
        self, solver: Solver, stage: Waypoint, then: Cell | None, at: Moment
    ) -> Refinement | None:
        """Return tests that tell the states that a run comes to from those that go on."""
        known = self._bounds(stage)
        core = self._core(solver, known, at)
        if core is None:
            candidates = self._refinement(stage.cell, self._candidates(stage, then))
            if candidates is not None:
                known += self._implied(solver, stage, then, candidates.tests)
            core = self._core(solver, known, at)
            if core is None:
                core = [] if candidates is None else candidates.tests
        return self._refinement(stage.cell, core)

    def _bounds(self, stage: Waypoint) -> list[tuple[Test, bool]]:
        """Return the tests for being where a run must be to go on, with what they say."""
        cuts = [Cut(*cut) for cut in bounds_cut(stage.source, stage.cell.box)]
        return [(cut, self.atoms.truth(cut, stage.source) is True) for cut in cuts]

    def _core(
        self, solver: Solver, known: Sequence[tuple[Test, bool]], at: Moment
    ) -> list[Test] | None:
        """Return few tests of those that nothing the run comes to passes together; None if it
        does.
        """
        core = solver.core([solver.says(test, value, at) for test, value in known])
        return None if core is None else [known[i][0] for i in core]

    def _candidates(self, stage: Waypoint, then: Cell | None) -> list[Test]:
        """Return tests that may say something about what goes on."""
        candidates: list[Test] = []
        if stage.image is None or stage.image.edge is None or then is None:
            return candidates
        wanted: list[Test] = [Cut(*cut) for cut in bounds_cut(then.box, self.atoms.full)]
        wanted += [predicate for predicate, _ in then.literals]
        for test in wanted:
            candidates += self._before(test, stage) or []
        guard = self.task.description.edges[stage.image.edge].guard
        for condition in (guard, self.task.description.goal_condition):
            candidates += [] if condition is None else self.atoms.known_tests(condition)
        return candidates

    def _implied(
        self, solver: Solver, stage: Waypoint, then: Cell | None, tests: Sequence[Test]
    ) -> list[tuple[Test, bool]]:
        """Return the tests that say the same about all states of a cell that go on."""
        at = solver.new_moment()
        needed, after = self._step(solver, stage, at)
        going = [*solver.bounds(at), *self._inside(solver, stage.cell, at)]
        going += [*solver.inside(stage.source, at), *needed]
        if then is not None and after is not None:
            going += self._inside(solver, then, after)
        implied = []
        with solver.apart(*going):
            for test in tests:
                for value in (True, False):
                    if solver.is_possible(solver.says(test, not value, at)) is False:
                        implied.append((test, value))
                        break
        return implied

    def _replayed(
        self, solver: Solver, moments: Sequence[Moment], stages: Sequence[Waypoint]
    ) -> Found:
        """Return the run that Z3 has found, if the policy takes it; else how to refine."""
        if solver.is_possible() is not True:
            return None
        states = [solver.state(moment) for moment in moments]
        if not self.task.is_start(self.task.unpack(self._packed(states[0]))):
            return self._alone(stages[0].cell, states[0])
        for number, state in enumerate(states):
            what, _, after = self.looked_at(state)
            if what == "fail":
                return self.run_of(states[: number + 1])
            if number + 1 == len(states):
                return Innocent()
            if states[number + 1] not in after:
                return self._alone(stages[number].cell, state)
        return None

    def _alone(self, cell: Cell, state: Sequence[int]) -> Refinement | None:
        """Return the refinement that sets one state apart."""
        box = tuple((value, value) for value in state)
        return self._refinement(cell, [Cut(*cut) for cut in bounds_cut(box, cell.box)])


def is_in(state: Sequence[int], box: Box) -> bool:
    """Return whether a state is in a box."""
    return all(low <= value <= high for value, (low, high) in zip(state, box, strict=True))
