"""What the policy does in an abstract state: its box in parts, split as far as somebody needs.

:class:`Part` is a box in which the policy does the same everywhere, or that is not known yet. An
:class:`Image` is where an outcome leads from there.
"""

from __future__ import annotations

from collections.abc import Sequence

from surefoot import _core
from surefoot.errors import InputError
from surefoot.policies.decisions import policy_error
from surefoot.tasks.compiled_task import CompiledTask
from surefoot.verify.predicates.cells import Cell
from surefoot.verify.predicates.ranges import Box, whole


class Image:
    """A box of all that an outcome leads to from ``source``. ``edge`` is None for single states.

    ``targets`` are abstract states that it may meet; None: not examined yet.
    """

    __slots__ = ("box", "edge", "outcome", "possible", "source", "targets")

    def __init__(self, edge: int | None, outcome: int, source: Box, box: Box) -> None:
        self.edge = edge
        self.outcome = outcome
        self.source = source
        self.box = box
        self.targets: list[Cell] | None = None
        self.possible: set[int] = set()  # ids of targets that Z3 was asked about


class Part:
    """A part of a box: ``what`` is as in _core.BoxPart, or ``error``, which then is kept."""

    __slots__ = ("action", "box", "error", "images", "is_empty", "parts", "what")

    def __init__(self, what: str, box: Box, action: int | None, images: list[Image]) -> None:
        self.what = what
        self.box = box
        self.action = action
        self.images = images
        self.parts: list[Part] | None = None
        self.is_empty: bool | None = None  # no state of it is in the cell; None: not known
        self.error: InputError | None = None


class Parts:
    """Splits boxes into parts. ``count`` is how many were made."""

    def __init__(self, task: CompiledTask, boxes: _core.Boxes) -> None:
        self.task = task
        self.boxes = boxes
        self.count = 0

    def of(self, box: Box) -> list[Part]:
        """Return a box as a part; nothing if it is empty."""
        return self._asked(box, 1)

    def split(self, part: Part) -> list[Part]:
        """Return the parts of a part that is not decided."""
        if part.parts is None:
            part.parts = self._asked(part.box, 2)
        return part.parts

    def _asked(self, box: Box, most: int) -> list[Part]:
        self.count += 1
        try:
            parts = self.boxes.parts(list(box), most)
        except (_core.ModelError, _core.PolicyError) as error:
            return self._around(box, error)
        return [self._part(part) for part in parts]

    def _part(self, part: _core.BoxPart) -> Part:
        images = [
            Image(each.edge, each.outcome, whole(each.source), whole(each.image))
            for each in part.images
        ]
        return Part(part.what, whole(part.box), part.action, images)

    def _around(self, box: Box, error: Exception) -> list[Part]:
        """Return the parts of a box in which a state is an error."""
        is_model = isinstance(error, _core.ModelError)
        told = self.task.model_error(error) if is_model else policy_error(self.task, error)
        if not error.args[-1]:
            raise told from None
        values = self.task.unpack(error.args[-1]).values_tuple
        state = tuple((int(value), int(value)) for value in values)
        wrong = Part("error", state, None, [])
        wrong.error = told
        rest = without(box, state)
        return [wrong, *(part for each in rest for part in self._asked(each, 1))]


def without(box: Box, state: Box) -> list[Box]:
    """Return boxes that together are a box without one of its states."""
    rest, left = [], list(box)
    for number, (value, _) in enumerate(state):
        low, high = left[number]
        for bounds in ((low, value - 1), (value + 1, high)):
            if bounds[0] <= bounds[1]:
                rest.append((*left[:number], bounds, *left[number + 1 :]))
        left[number] = (value, value)
    return rest


def bounds_cut(box: Box, around: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return variables and values at which a box begins, or ends, within another one."""
    cuts = []
    for number, ((low, high), (least, most)) in enumerate(zip(box, around, strict=True)):
        if low > least:
            cuts.append((number, low))
        if high < most:
            cuts.append((number, high + 1))
    return cuts
