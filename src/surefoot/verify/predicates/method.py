"""The method ``predicates``: policy predicate abstraction, lazily refined."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from surefoot import _core
from surefoot.errors import InputError, OutOfBudget, Refusal, Unsupported, quoted
from surefoot.policies.decisions import ask_core
from surefoot.records import VerifyResult
from surefoot.tasks.compiled_task import CompiledTask, has_description
from surefoot.tasks.description import Variable
from surefoot.verify.box import START_ERROR, STUCK, verify_box
from surefoot.verify.certificate import PolicyCertificate, write_box_certificate
from surefoot.verify.constraints import core_constraints
from surefoot.verify.explicit import run_of
from surefoot.verify.predicates.atoms import Atoms, Cut, Test
from surefoot.verify.predicates.cells import Cell, Cells, balanced
from surefoot.verify.predicates.cover import boxes_of
from surefoot.verify.predicates.parts import Image, Part, Parts
from surefoot.verify.predicates.ranges import Bounds, Box, whole
from surefoot.verify.predicates.reading import read_predicates
from surefoot.verify.predicates.solver import Solver
from surefoot.verify.predicates.spurious import Follower, Innocent, Refinement, Waypoint
from surefoot.verify.question import Question, check_symbolic, only_short_runs, out_of

METHOD = "predicates"
SECONDS_PER_REPORT = 0.1
BYTES_PER_PART = 3_000  # about what a part with its images takes up
MAX_SUSPECTS = 16  # abstract runs that are followed before everything is explored anew
PATIENCE = 64  # how often parts of a cell that may be errors are split before the way there is
MAX_CELLS = 4096  # that the predicates of the task may make, as a guess
MAX_ERRORS = 64  # of model and policy, before the first of them is reported


def verify_predicates(question: Question) -> VerifyResult:
    """Return what policy predicate abstraction tells about the policy.

    What it does: explores abstract states, sets of states in which the same predicates hold. The
    policy's decisions in one are found by splitting its box; which abstract states an outcome leads
    to by intervals, and by Z3 where these do not tell. An abstract run to fail that is not real
    gives new predicates. Guarantee: ``safe`` is about all start states; a failing run was replayed.
    Cost: milliseconds for each question to Z3; abstract states may be as many as states. When to
    use it: with predicates of your own, and to compare. Paper: P-TREE.
    """
    check_symbolic(question, METHOD)
    assert has_description(question.task)
    for v in question.task.variables:
        if v.type == "real":
            raise Unsupported(
                "engine-lacks-feature",
                f"the method {METHOD} lacks real variables, such as {quoted(v.name)}",
                hint="use another method, such as box",
            )
    return _Search(question, question.task).run()


class _Stopped(Exception):
    """The budget ran out; ``why`` says what of it."""

    def __init__(self, why: Refusal) -> None:
        super().__init__(why.sentence)
        self.why = why


@dataclass
class _Reached:
    """How an abstract state was reached: from a start box, or from another one."""

    start: Box | None
    before: Cell | None = None
    part: Part | None = None
    image: Image | None = None


class _Search:
    def __init__(self, question: Question, task: CompiledTask) -> None:
        self.question = question
        self.task = task
        self.begin = self.reported = time.perf_counter()
        self.refinements = self.depth = self.round = 0
        self.is_cut = False
        self.reached: dict[Cell, _Reached] = {}
        self.atoms = Atoms(task)
        tests = _given_tests(question, self.atoms) or _found_tests(task, self.atoms)
        self.boxes: _core.Boxes = ask_core(
            task,
            _core.Boxes,
            task.core,
            question.policy.core,
            task.start_source(),
            core_constraints(task),
        )
        self.starts = [whole(box) for box in self.boxes.starts()]
        self.cells = Cells(self.atoms, self.boxes, tests)
        self.parts = Parts(task, self.boxes)
        self.follower = Follower(task, self.cells, self.solver)
        self._solver: Solver | None = None
        self._start_cells: dict[tuple[Cell, Box], bool] = {}
        self._errors: list[InputError] = []

    def solver(self) -> Solver:
        """Return Z3; it is imported when it is first needed."""
        if self._solver is None:
            self._solver = Solver(self.task, self.boxes.constraints(), self._seconds_left)
        return self._solver

    def run(self) -> VerifyResult:
        """Return the result."""
        everywhere = list(self.atoms.full)
        if ask_core(self.task, self.boxes.start_in, everywhere) is None:
            with contextlib.suppress(OutOfBudget):
                self.task.draw_starts(1, max_seconds=max(self._seconds_left(), 0.0))
        if self.boxes.may_raise_at_start():
            return self._result("unknown", why=Refusal("start-error", START_ERROR))
        try:
            return self._decided()
        except _Stopped as stopped:
            if self._errors:
                raise self._errors[0] from None
            return self._result("unknown", why=stopped.why)

    def _decided(self) -> VerifyResult:
        while suspects := self._explore():
            has_learned = False
            for cell, part in suspects:
                if self._is_stale(cell):
                    continue
                answer = self._followed(cell, part)
                if isinstance(answer, tuple):
                    return self._result("unsafe", run=answer)
                has_learned |= self._learn(answer, cell, part)
            if not has_learned:
                return self._result("unknown", why=STUCK)
        if self._errors:
            raise self._errors[0]
        if self.is_cut:
            return self._result("unknown", why=only_short_runs(self.question.options))
        return self._result("safe")

    def _followed(self, cell: Cell, part: Part) -> object:
        """Return what comes of an abstract run. An error that it comes to is kept, as there may be
        a run that fails before one does.
        """
        try:
            return self.follower.follow(*self._path(cell, part))
        except InputError as error:
            self._errors.append(error)
            if len(self._errors) >= MAX_ERRORS:
                raise self._errors[0] from None
            return error

    def _learn(self, evidence: object, cell: Cell, part: Part) -> bool:
        """Refine, or look more closely at what was suspected; return whether there was anything."""
        if isinstance(evidence, Refinement):
            if self.cells.refine(evidence.cell, evidence.tests):
                self.refinements += len(evidence.tests)
                return True
            return False
        if isinstance(evidence, InputError) and part.what == "error":
            part.is_empty = True  # known, and need not be looked at again
            return True
        if isinstance(evidence, Innocent | InputError) and part.what == "unsure":
            cell.patience += PATIENCE
            return True
        return False

    # -- exploring -----------------------------------------------------------------------------

    def _explore(self) -> list[tuple[Cell, Part]]:
        """Reach all that can be reached; return what is bad there, some of it."""
        self.round += 1
        self.reached.clear()
        self.depth, self.is_cut = 0, False
        queue: deque[Cell] = deque()
        for start in self.starts:
            for cell in self._ticking(self.cells.under(self.cells.root, start)):
                if cell not in self.reached and self._has_start(cell, start):
                    self._reach(cell, _Reached(start), 0, queue)
        suspects: list[tuple[Cell, Part]] = []
        while queue and len(suspects) < MAX_SUSPECTS:
            cell = queue.popleft()
            part = self._look(cell, queue)
            if part is not None:
                suspects.append((cell, part))
        return suspects

    def _reach(self, cell: Cell, arrival: _Reached, depth: int, queue: deque[Cell]) -> None:
        self.reached[cell] = arrival
        cell.depth = depth
        self.depth = max(self.depth, depth)
        queue.append(cell)

    def _has_start(self, cell: Cell, start: Box) -> bool:
        """Return whether an abstract state may have a start state of a box."""
        if (cell, start) not in self._start_cells:
            self._start_cells[cell, start] = self._may_start(cell, start)
        return self._start_cells[cell, start]

    def _may_start(self, cell: Cell, start: Box) -> bool:
        both = self.cells.common(cell.box, start)
        if both is None:
            return False
        truths = [self.atoms.truth(predicate, both) is value for predicate, value in cell.literals]
        if all(truths) and ask_core(self.task, self.boxes.start_in, list(both)) is not None:
            return True
        return self.solver().is_possible(*self.follower.starting(start, cell)) is not False

    def _look(self, cell: Cell, queue: deque[Cell]) -> Part | None:
        """Reach what follows an abstract state; return a part of it that is bad, if there is."""
        limit = self.question.options.max_steps
        if cell.root is None:
            cell.root = self.parts.of(cell.box)
        patience = PATIENCE + cell.patience
        waiting: list[Part] = list(cell.root)
        while waiting:
            self._tick()
            part = waiting.pop()
            if part.what == "goal" or self._is_done(cell, part):
                continue
            if part.what in ("fail", "error"):
                return part
            if part.what in ("unsure", "coarse"):
                patience -= part.what == "unsure"
                if patience < 0 and part.what == "unsure":
                    return part
                waiting += self.parts.split(part)
            elif limit is None or cell.depth < limit:
                self._follow(cell, part, queue)
            else:
                self.is_cut = True
        return None

    def _is_done(self, cell: Cell, part: Part) -> bool:
        """Return whether nothing new can follow a part: no state of it is in the cell, or all that
        may follow is reached.
        """
        if part.what in ("step", "coarse") and self._is_covered(part):
            return True
        if part.is_empty is None:
            part.is_empty = self._is_empty(cell, part.box)
        return part.is_empty

    def _is_empty(self, cell: Cell, box: Box) -> bool:
        truths = [(self.atoms.truth(p, box), value) for p, value in cell.literals]
        if any(truth is not None and truth is not value for truth, value in truths):
            return True
        if all(truth is not None for truth, _ in truths):
            return False
        solver = self.solver()
        conditions = solver.inside(box, solver.now) + solver.literals(cell.literals, solver.now)
        return solver.is_possible(*conditions) is False

    def _is_covered(self, part: Part) -> bool:
        return all(cell in self.reached for image in part.images for cell in self._targets(image))

    def _targets(self, image: Image) -> list[Cell]:
        """Return the abstract states that an image may meet."""
        if image.targets is None:
            image.targets = list(self._ticking(self.cells.under(self.cells.root, image.box)))
        elif any(cell.test is not None for cell in image.targets):
            image.targets = [
                below for cell in image.targets for below in self.cells.under(cell, image.box)
            ]
        return image.targets

    def _ticking(self, cells: Iterator[Cell]) -> Iterator[Cell]:
        for cell in cells:
            self._tick()
            yield cell

    def _follow(self, cell: Cell, part: Part, queue: deque[Cell]) -> None:
        """Reach what follows a part in which the policy does the same everywhere."""
        for image in part.images:
            for target in list(self._targets(image)):
                if target in self.reached:
                    continue
                if id(target) not in image.possible:
                    if not self._is_possible(cell, image, target):
                        assert image.targets is not None
                        image.targets.remove(target)
                        continue
                    image.possible.add(id(target))
                self._reach(target, _Reached(None, cell, part, image), cell.depth + 1, queue)

    def _is_possible(self, cell: Cell, image: Image, target: Cell) -> bool:
        """Return whether an outcome may lead from an abstract state to another one."""
        if image.edge is None:
            states = [(p, v) for p, v in target.literals]
            return all(self.atoms.truth(p, image.box) is v for p, v in states)
        pairs = zip(image.box, target.box, strict=True)
        crossed = sum(low < least or high > most for (low, high), (least, most) in pairs)
        sure = all(self.atoms.truth(p, image.box) is v for p, v in target.literals)
        if crossed <= 1 and sure and not cell.literals:
            return True
        solver = self.solver()
        self._tick()
        needed, after = solver.next(image.edge, image.outcome)
        return (
            solver.is_possible(
                *solver.inside(image.source, solver.now),
                *solver.literals(cell.literals, solver.now),
                *needed,
                *solver.inside(target.box, after),
                *solver.literals(target.literals, after),
            )
            is not False
        )

    # -- abstract runs -------------------------------------------------------------------------

    def _is_stale(self, cell: Cell) -> bool:
        """Return whether an abstract state on the way was refined meanwhile."""
        at: Cell | None = cell
        while at is not None:
            if at.test is not None:
                return True
            at = self.reached[at].before
        return False

    def _path(self, cell: Cell, part: Part) -> tuple[Box, list[Waypoint]]:
        """Return the start box and the stages of the abstract run to a part."""
        stages = [Waypoint(cell, part, None)]
        arrival = self.reached[cell]
        while arrival.before is not None:
            assert arrival.part is not None
            stages.append(Waypoint(arrival.before, arrival.part, arrival.image))
            arrival = self.reached[arrival.before]
        assert arrival.start is not None
        return arrival.start, stages[::-1]

    # -- limits and results --------------------------------------------------------------------

    def _seconds_left(self) -> float:
        return self.question.options.max_seconds - (time.perf_counter() - self.begin)

    @property
    def _bytes(self) -> int:
        return BYTES_PER_PART * (self.parts.count + self.cells.count)

    def _tick(self) -> None:
        """Report now and then; raise _Stopped if time or memory is up."""
        options, now = self.question.options, time.perf_counter()
        if now - self.begin > options.max_seconds:
            raise _Stopped(out_of("seconds", options))
        if self._bytes > options.max_bytes:
            raise _Stopped(out_of("memory", options))
        if self.question.progress is not None and now - self.reported >= SECONDS_PER_REPORT:
            self.reported = now
            seen = len(self.reached)
            self.question.progress(
                seen, self.refinements, self.depth, self._bytes, now - self.begin
            )

    def _result(
        self,
        verdict: str,
        *,
        why: Refusal | None = None,
        run: tuple[bytes, list[int]] | None = None,
    ) -> VerifyResult:
        certificate = None
        if verdict == "safe" and self.question.certificate is not False:
            certificate = self._certificate()
        return VerifyResult(
            verdict=verdict,  # type: ignore[arg-type]
            method=METHOD,
            starts=0,
            all_starts=True,
            states=0,
            depth=self.depth,
            seconds=time.perf_counter() - self.begin,
            reason=None if why is None else why.sentence,
            code=None if why is None else why.code,
            run=None if run is None else run_of(self.task, *run),
            boxes=len(self.reached),
            refinements=self.refinements,
            certificate=certificate,
        )

    def _certificate(self) -> PolicyCertificate:
        try:
            boxes = boxes_of(self.atoms, self.reached, self._tick)
        except _Stopped:
            boxes = None
        if boxes is None:
            return self._other_certificate()
        names, variables = self.task.names, self.task.variables
        constraints = [
            ({names[v]: factor for v, factor in each.terms}, each.lower, each.upper)
            for each in self.boxes.constraints()
        ]
        rows = [[_values(*each) for each in zip(variables, box, strict=True)] for box in boxes]
        return write_box_certificate(self.question, rows, constraints)

    def _other_certificate(self) -> PolicyCertificate:
        """Return a certificate by boxes, where abstract states make too many of them."""
        options = replace(
            self.question.options, max_seconds=max(self._seconds_left(), 1.0), predicates=None
        )
        certificate = verify_box(replace(self.question, options=options)).certificate
        if isinstance(certificate, PolicyCertificate):
            return certificate
        return PolicyCertificate(
            self.task,
            self.question.policy,
            path=None,
            size=len(self.reached),
            missing="its abstract states would be too many boxes",
        )


def _values(v: Variable, bounds: Bounds) -> tuple[object, object]:
    """Return the bounds of a variable as values of its type."""
    low, high = bounds
    return (bool(low), bool(high)) if v.type == "bool" else (low, high)


# -- predicates to begin with --------------------------------------------------------------------


def _given_tests(question: Question, atoms: Atoms) -> list[Test]:
    """Return the tests of the file of predicates, if there is one."""
    if question.options.predicates is None:
        return []
    collected: dict[Test, None] = {}
    for number, condition in enumerate(read_predicates(question.options.predicates, question.task)):
        tests = atoms.tests_of(condition)
        if tests is None:
            raise Unsupported(
                "engine-lacks-feature",
                f"the method {METHOD} lacks what predicate {number} needs: arithmetic on real "
                "numbers, or something that may be an error",
                file=question.options.predicates,
                hint="leave it out",
            )
        collected |= dict.fromkeys(tests)
    return _ordered(list(collected))


def _ordered(tests: Sequence[Test]) -> list[Test]:
    """Return the tests in an order in which cuts come first."""
    cuts = balanced([test for test in tests if isinstance(test, Cut)])
    return [*cuts, *(test for test in tests if not isinstance(test, Cut))]


def _found_tests(task: CompiledTask, atoms: Atoms) -> list[Test]:
    """Return the tests of fail, goal and guards, until they are many."""
    description = task.description
    conditions = [description.fail_condition, description.goal_condition]
    conditions += [edge.guard for edge in description.edges]
    collected: dict[Test, None] = {}
    classes: dict[object, int] = {}
    total = 1
    for condition in conditions:
        for test in [] if condition is None else atoms.known_tests(condition):
            what = test.variable if isinstance(test, Cut) else test
            count = classes.get(what, 1)
            if test in collected or total // count * (count + 1) > MAX_CELLS:
                continue
            total = total // count * (count + 1)
            classes[what] = count + 1
            collected[test] = None
    return _ordered(list(collected))
