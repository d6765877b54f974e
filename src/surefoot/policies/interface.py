"""Which variable feeds which input of a policy, and which output is which action.

An :class:`Interface` stands in a file of its own (``NAME.interface.json``), inside a policy file,
or is made here from the task: all variables in order (behind all constants, if the policy has as
many inputs; or what its environment shows, if it was made of one), all actions that are not silent,
in order. :func:`bound` holds it against a task.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.errors import InputError, nearest_hint, quoted, shown
from surefoot.files import read_json
from surefoot.tasks.compiled_task import CompiledTask, has_description
from surefoot.tasks.description import INT_LIMIT
from surefoot.tasks.task import Feature, Task
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.policies.models import Model
    from surefoot.tasks.description import Variable

KEY = "surefoot_interface"
SUFFIX = ".interface.json"
GIVE_INTERFACE = "say which variable feeds which input, and which output is which action, with "
GIVE_INTERFACE += "--interface FILE"
LOOKS_LIKE = 'as in {"surefoot_interface": 1, "inputs": ["x", "y"], "outputs": ["move", "stay"]}'
MAX_SCALE = 1e9  # a variable that may be larger is as good as unbounded
_KEYS = frozenset({KEY, "file", "inputs", "outputs", "unfiltered", "activation"})


@dataclass(frozen=True)
class Input:
    """What feeds one input: ``(x - mean) / scale``, where x is a variable or a constant, or
    ``one_hot``: 1 where the variables named there have these values, and else 0.

    Booleans count as 0 and 1, locations as their position. Without any of them it is what would
    feed this input if there were no interface.
    """

    variable: str | None = None
    constant: float | None = None
    mean: float = 0.0
    scale: float = 1.0
    one_hot: tuple[tuple[str, int], ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether it does not say what feeds it."""
        return self.variable is None and self.constant is None and not self.one_hot

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that it depends on."""
        if self.variable is not None:
            return (self.variable,)
        return tuple(name for name, _ in self.one_hot)

    def to_json(self) -> str | dict[str, object]:
        """Return the input as it stands in an interface file."""
        if self.variable is not None and (self.mean, self.scale) == (0.0, 1.0):
            return self.variable
        content: dict[str, object] = {"variable": self.variable, "constant": self.constant}
        content["one_hot"] = dict(self.one_hot) or None
        content = {name: value for name, value in content.items() if value is not None}
        if (self.mean, self.scale) != (0.0, 1.0):
            content |= {"mean": self.mean, "scale": self.scale}
        return content


@dataclass(frozen=True)
class Origin:
    """Where an interface was read, for messages: a file, and what it calls inputs and outputs."""

    file: str | None = None
    inputs: str = "/inputs"
    outputs: str = "/outputs"


@dataclass(frozen=True)
class Interface:
    """Inputs and outputs of a policy, in their order; none stands for those of the task.

    Outputs are names of actions, or ``positions`` among the task's actions that are not silent.
    Where a policy is held against a task, they are names.
    """

    inputs: tuple[Input, ...] = ()
    outputs: tuple[str, ...] = ()
    origin: Origin = field(default=Origin(), compare=False, repr=False)
    positions: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return the interface as plain data, as it stands in a file."""
        content: dict[str, object] = {KEY: 1}
        if self.inputs:
            content["inputs"] = [entry.to_json() for entry in self.inputs]
        if self.outputs or self.positions:
            content["outputs"] = list(self.outputs or self.positions)
        return content


@dataclass(frozen=True)
class InterfaceFile:
    """An interface with what else may stand in its file."""

    interface: Interface
    file: str | None = None
    unfiltered: bool | None = None
    activation: str | None = None


# -- reading ---------------------------------------------------------------------------------


def read_interface(path: str | Path) -> InterfaceFile:
    """Return the interface of a file of our own or of a ``.jani2nnet``."""
    content = read_json(path)
    if isinstance(content, dict) and KEY not in content and "output" in content:
        from surefoot.policies.jani2nnet import interface_of

        return interface_of(content, path)
    return interface_from(content, file=str(path))


def interface_from(content: object, *, file: str | None = None) -> InterfaceFile:
    """Return the interface of plain data, as a file has it. Raises InputError for other data."""
    try:
        return _interface_from(content, Origin(file))
    except InputError as error:
        error.at(file=file)
        raise


def _interface_from(content: object, origin: Origin) -> InterfaceFile:
    if not isinstance(content, Mapping) or content.get(KEY) != 1:
        raise InputError("bad-interface", "this is not an interface", hint=LOOKS_LIKE)
    for key in content:
        if key not in _KEYS:
            hint = nearest_hint(str(key), _KEYS)
            raise _bad(f"an interface has no {quoted(str(key))}", f"/{key}", hint=hint)
    unfiltered = content.get("unfiltered")
    if unfiltered is not None and not isinstance(unfiltered, bool):
        raise _bad("unfiltered is true or false", "/unfiltered")
    for key in ("file", "activation"):
        if not isinstance(content.get(key), str | None):
            raise _bad(f"{key} is text", f"/{key}")
    inputs = [_input(entry, f"/inputs/{i}") for i, entry in enumerate(_listed(content, "inputs"))]
    interface = replace(_outputs(_listed(content, "outputs")), inputs=tuple(inputs), origin=origin)
    return InterfaceFile(interface, content.get("file"), unfiltered, content.get("activation"))


def _listed(content: Mapping[str, object], key: str) -> list[object]:
    entries = content.get(key, [])
    if not isinstance(entries, list | tuple) or (key in content and not entries):
        raise _bad(f"{key} is a list that is not empty", f"/{key}")
    return list(entries)


def _input(given: object, place: str) -> Input:
    if isinstance(given, str):
        return Input(given)
    if not isinstance(given, Mapping):
        raise _bad(f"{shown(given)} is not an input", place)
    for key in given:
        if key not in ("variable", "constant", "one_hot", "mean", "scale"):
            raise _bad(f"an input has no {quoted(str(key))}", f"{place}/{key}")
    if "variable" in given and not isinstance(given["variable"], str):
        raise _bad("variable is the name of a variable", f"{place}/variable")
    if "variable" in given and "constant" in given:
        raise _bad("an input is a variable or a constant, not both", place)
    if "one_hot" in given and ("variable" in given or "constant" in given):
        raise _bad("an input that is one_hot is neither a variable nor a constant", place)
    numbers = {
        key: _number(given[key], f"{place}/{key}")
        for key in ("constant", "mean", "scale")
        if key in given
    }
    if numbers.get("scale") == 0.0:
        raise _bad("scale must not be 0", f"{place}/scale")
    one_hot = _one_hot(given["one_hot"], f"{place}/one_hot") if "one_hot" in given else ()
    return Input(given.get("variable"), one_hot=one_hot, **numbers)


def _one_hot(given: object, place: str) -> tuple[tuple[str, int], ...]:
    if not isinstance(given, Mapping) or not given:
        raise _bad('one_hot gives values of variables, as in {"one_hot": {"x": 3}}', place)
    for name, value in given.items():
        is_whole = isinstance(value, int) and abs(value) <= INT_LIMIT
        if not isinstance(name, str) or not is_whole:
            raise _bad(f"{shown(value)} is not a whole number", f"{place}/{name}")
    return tuple((name, int(value)) for name, value in given.items())


def _number(given: object, place: str) -> float:
    try:
        number = float(given) if isinstance(given, int | float) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _bad(f"{shown(given)} is not a finite number", place)
    return number


def _outputs(given: list[Any]) -> Interface:
    """Return outputs that are all names of actions, or all their positions."""
    for i, output in enumerate(given):
        is_position = (
            isinstance(output, int) and not isinstance(output, bool) and 0 <= output < 2**31
        )
        if not isinstance(output, str) and not is_position:
            raise _bad(
                f"{shown(output)} is neither a name nor a position of an action", f"/outputs/{i}"
            )
        if isinstance(output, str) != isinstance(given[0], str):
            raise _bad("outputs are names of actions or positions, not both", f"/outputs/{i}")
    if given and isinstance(given[0], str):
        return Interface(outputs=tuple(given))
    return Interface(positions=tuple(given))


def _bad(message: str, place: str, *, hint: str | None = None) -> InputError:
    return InputError("bad-interface", message, place=place, hint=hint or LOOKS_LIKE)


def beside(path: Path) -> Path | None:
    """Return the interface file that stands beside a policy file, if one does."""
    for name in (path.name + SUFFIX, path.stem + SUFFIX):
        sibling = path.with_name(name)
        if sibling != path and sibling.is_file():
            return sibling
    return None


# -- holding it against a task ---------------------------------------------------------------


def bound(
    interface: Interface | None, model: Model, task: Task, *, hint: str | None = None
) -> Interface:
    """Return the interface with every input and output named, as the task has them.

    Raises InputError if the numbers do not fit the model, or a name is not the task's.
    """
    given = interface or Interface()
    hint = hint or GIVE_INTERFACE
    try:
        inputs = _bound_inputs(given, model, task, hint)
        outputs = _bound_outputs(given, model, task, hint)
    except InputError as error:
        error.at(file=given.origin.file)
        raise
    return replace(given, inputs=inputs, outputs=outputs, positions=())


def scaled_interface(task: CompiledTask) -> Interface:
    """Return the interface of a policy that is fed every variable, scaled to -1..1 by its bounds,
    and has an output for each action that is not silent.
    """
    actions = tuple(name for name in task.actions if name not in task.silent)
    return Interface(tuple(map(_scaled, task.variables)), actions)


def _scaled(variable: Variable) -> Input:
    half = variable.upper / 2 - variable.lower / 2
    if half == 0 or half > MAX_SCALE:
        return Input(variable.name)
    return Input(variable.name, mean=variable.lower + half, scale=half)


def _bound_inputs(given: Interface, model: Model, task: Task, hint: str) -> tuple[Input, ...]:
    count = model.num_inputs
    if given.inputs and len(given.inputs) != count:
        raise InputError(
            "policy-wrong-inputs",
            f"the policy has {counted(count, 'input')}, but the interface lists "
            f"{len(given.inputs):,}",
            place=given.origin.inputs,
        )
    inputs = given.inputs or (Input(),) * count
    if any(entry.is_open for entry in inputs):
        default = _default_inputs(count, task, hint)
        inputs = tuple(map(_filled, inputs, default))
    known = set(task.names)
    reals = {variable.name for variable in task.variables if variable.type == "real"}
    for position, entry in enumerate(inputs):
        place = f"{given.origin.inputs}/{position}"
        for name in entry.variables:
            if name not in known:
                raise _unknown_variable(name, task, place)
        for name, _ in entry.one_hot:
            if name in reals:
                raise _bad(f"{quoted(name)} is a real number, which has no one_hot", place)
    return inputs


def _filled(given: Input, default: Input) -> Input:
    if not given.is_open:
        return given
    return replace(
        given, variable=default.variable, constant=default.constant, one_hot=default.one_hot
    )


def _default_inputs(count: int, task: Task, hint: str) -> list[Input]:
    variables = [Input(name) for name in task.names]
    constants = _constants(task)
    if count == len(variables):
        return variables
    if count == len(constants) + len(variables):
        return [*constants, *variables]
    if count == len(task.observed):
        return [Input(entry.variable, one_hot=entry.one_hot) for entry in task.observed]
    has = counted(len(variables), "variable")
    if constants:
        has += f" and {counted(len(constants), 'constant')}"
    if task.observed:
        has += f"; observations of its environment are {counted(len(task.observed), 'number')}"
    raise InputError(
        "policy-wrong-inputs",
        f"the policy has {counted(count, 'input')}, but the task has {has}",
        hint=hint,
    )


def _constants(task: Task) -> list[Input]:
    values: Iterable[Any] = task.description.constants.values() if has_description(task) else ()
    return [Input(constant=float(value)) for value in values]


def _unknown_variable(name: str, task: Task, place: str) -> InputError:
    hint = nearest_hint(name, task.names)
    if name.endswith(".location") and hint is None:
        hint = 'an automaton with a single location has no variable: write {"constant": 0}'
    message = f"the task has no variable {quoted(name)}"
    return InputError("unknown-variable", message, place=place, hint=hint)


def _bound_outputs(given: Interface, model: Model, task: Task, hint: str) -> tuple[str, ...]:
    count, place = model.num_outputs, given.origin.outputs
    listed = len(given.outputs or given.positions)
    if given.outputs:
        _check_outputs(given.outputs, task, place)
    if listed and listed != count:
        raise InputError(
            "policy-wrong-outputs",
            f"the policy has {counted(count, 'output')}, but the interface lists {listed:,}",
            place=place,
        )
    if given.outputs:
        return given.outputs
    if Feature.ACTIONS not in task.features:
        raise InputError(
            "policy-wrong-outputs",
            "the actions of a Python-defined task are known only as they are met",
            hint=hint,
        )
    actions = tuple(name for name in task.actions if name not in task.silent)
    if given.positions:
        return _actions_at(given.positions, actions, place)
    if len(actions) != count:
        raise InputError(
            "policy-wrong-outputs",
            f"the policy has {counted(count, 'output')}, but the task has "
            f"{counted(len(actions), 'action')}",
            hint=hint,
        )
    return actions


def _actions_at(positions: Sequence[int], actions: Sequence[str], place: str) -> tuple[str, ...]:
    """Return the actions at positions. Raises InputError if one is not there, or there twice."""
    seen: set[int] = set()
    for i, position in enumerate(positions):
        at = f"{place}/{i}"
        if not 0 <= position < len(actions):
            raise InputError(
                "policy-wrong-outputs",
                f"there is no action {position:,}: the task has "
                f"{counted(len(actions), 'action')}, counted from 0",
                place=at,
            )
        if position in seen:
            raise InputError("duplicate-name", f"action {position:,} is listed twice", place=at)
        seen.add(position)
    return tuple(actions[position] for position in positions)


def _check_outputs(outputs: Sequence[str], task: Task, place: str) -> None:
    seen: set[str] = set()
    for position, name in enumerate(outputs):
        at = f"{place}/{position}"
        if name in seen:
            raise InputError("duplicate-name", f"action {quoted(name)} is listed twice", place=at)
        seen.add(name)
        is_open = Feature.ACTIONS not in task.features  # the task may yet meet it
        if not is_open and task.action_number(name) is None:
            hint = nearest_hint(name, task.actions)
            message = f"the task has no action {quoted(name)}"
            raise InputError("unknown-action", message, place=at, hint=hint)
        if name in task.silent:
            raise InputError(
                "policy-silent-action",
                f"action {quoted(name)} is silent",
                place=at,
                hint="silent actions are not for policies to choose",
            )
