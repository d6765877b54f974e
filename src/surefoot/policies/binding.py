"""Learned models held against a task."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from surefoot import _core
from surefoot.errors import InputError
from surefoot.policies.callables import scored
from surefoot.policies.interface import Interface, bound
from surefoot.tasks.compiled_task import CompiledTask, has_description
from surefoot.tasks.task import Task

if TYPE_CHECKING:
    from surefoot.policies.loaded import Loaded
    from surefoot.policies.models import Model


def bound_to(loaded: Loaded, task: Task, *, hint: str | None = None) -> Loaded:
    """Return what was loaded with an interface that names every input and output as the task does.

    A model that may have more inputs than it says gets as many as there are.
    """
    if loaded.at_least:
        loaded = _widened(loaded, task)
    interface = bound(loaded.interface, loaded.model, task, hint=hint)
    return replace(loaded, interface=interface)


def _widened(loaded: Loaded, task: Task) -> Loaded:
    """Return a model of as many inputs as the interface, or else the task, has.

    Rules have atoms about every input that can change, so without an interface their number is
    taken for exact.
    """
    from surefoot.policies.models import Trees

    model, given = loaded.model, loaded.interface
    if given is not None and given.inputs:
        count, notes = len(given.inputs), loaded.notes
    elif isinstance(model, Trees):
        count = len(task.names)
        notes = (*loaded.notes, f"the file does not say that it has {count:,} inputs")
    else:
        return loaded
    if count <= model.num_inputs:
        return loaded
    return replace(loaded, model=with_inputs(model, count), notes=notes)


def with_inputs(model: Model, count: int) -> Model:
    """Return the model with more inputs, which it does not look at."""
    from surefoot.policies.models import Rules, Trees

    return replace(model, num_inputs=count) if isinstance(model, Trees | Rules) else model


CoreInput = tuple[int, float, float, float, list[tuple[int, int]]]


def core_interface(task: CompiledTask, interface: Interface) -> tuple[list[CoreInput], list[int]]:
    """Return inputs and outputs as the core takes them: by the numbers of variables and actions."""
    positions = {name: position for position, name in enumerate(task.names)}
    inputs = [
        (
            -1 if entry.variable is None else positions[entry.variable],
            entry.constant or 0.0,
            entry.mean,
            entry.scale,
            [(positions[name], value) for name, value in entry.one_hot],
        )
        for entry in interface.inputs
    ]
    numbers = {name: number for number, name in enumerate(task.actions)}
    return inputs, [numbers[name] for name in interface.outputs]


def core_of(task: Task, scorer: Any, interface: Interface, *, unfiltered: bool) -> object:
    """Return the policy that decides by scores: the core's, where the core computes them."""
    if not has_description(task) or not isinstance(scorer, _core.Scorer):
        return scored(task, scorer.scores, interface, unfiltered=unfiltered)
    inputs, outputs = core_interface(task, interface)
    try:
        return _core.ScoredPolicy(
            task.core, scorer, inputs=inputs, outputs=outputs, unfiltered=unfiltered
        )
    except (ValueError, MemoryError) as error:
        raise InputError("bad-policy", f"the core refuses the policy: {error}") from None
