"""Classes of fitted classifiers: names of actions, or their positions in the task."""

from __future__ import annotations

from typing import Any

from surefoot.errors import InputError, Unsupported, shown
from surefoot.policies.interface import Interface


def interface_of(classes: Any, num_outputs: int) -> Interface | None:
    """Return the outputs of a classifier, one for each class in order; None if it has no classes.

    Actions that are not a class have no output. Classes that are not as many as the outputs say
    nothing about these. Raises InputError if they are neither names nor positions of actions.
    """
    if classes is None:
        return None
    if isinstance(classes, list) or getattr(classes, "ndim", 1) != 1:
        raise Unsupported("trees-unsupported", "classifiers of several outputs are not supported")
    labels = [label.item() if hasattr(label, "item") else label for label in classes]
    if len(labels) != num_outputs:
        return None
    if all(isinstance(label, str) for label in labels):
        return Interface(outputs=tuple(map(str, labels)))
    if not all(map(_is_position, labels)):
        raise InputError(
            "policy-wrong-classes",
            f"the classes are {shown(labels)}, not positions of actions",
            hint="train with the names of actions as classes",
        )
    return Interface(positions=tuple(map(int, labels)))


def _is_position(value: Any) -> bool:
    return type(value) in (int, float) and value >= 0 and value == value // 1
