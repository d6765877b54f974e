"""Files of predicates: lists of conditions, alone or in properties of the kind PA.

They are read as the conditions of properties are, but over the variables of a task that has been
loaded already.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from surefoot.errors import InputError, SurefootError, quoted
from surefoot.tasks.compiled_task import CompiledTask
from surefoot.tasks.expressions import Expr, constant, variable
from surefoot.tasks.jani.conditions import Part, resolved, whole_file
from surefoot.tasks.jani.expressions import Converter, Entry, Scope
from surefoot.tasks.jani.reading import in_file, json_items, json_list, json_object, refuse

MAX_PREDICATES = 10_000
_HINT = (
    'a file of predicates is a list of conditions, such as [{"op": "≥", "left": "x", "right": 3}]'
)


def read_predicates(path: str | Path, task: CompiledTask) -> list[Expr]:
    """Return the predicates of a file, conditions over the variables of the task.

    The file has a list of conditions, an object with such a list as ``predicates``, or properties:
    those of all properties of the kind PA count. In place of a list there may be a reference to
    another file. Raises InputError that names the file, the place and what is wrong.
    """
    scope = _scope(task)
    converter = Converter(arrays=list(task.description.arrays.values()))
    predicates = [
        _predicate(converter, part, scope, task)
        for listed in _lists(resolved(whole_file(path)))
        for part in _entries(listed)
    ]
    if not predicates:
        raise InputError("no-predicates", "there are no predicates", file=str(path), hint=_HINT)
    return predicates


# -- where they stand ----------------------------------------------------------------------------


def _lists(part: Part) -> Iterator[Part]:
    """Yield the lists of predicates that a file has."""
    node = part.node
    if isinstance(node, list):
        yield part
    elif isinstance(node, dict) and "predicates" in node:
        yield resolved(part.at("predicates"))
    elif isinstance(node, dict) and "properties" in node:
        yield from _lists_of_properties(part)
    else:
        with in_file(part.file):
            refuse("no-predicates", "not predicates", part.place, _HINT)


def _lists_of_properties(part: Part) -> Iterator[Part]:
    with in_file(part.file):
        for item, place in json_items(part.node, "properties", part.place):
            json_object(item, place, required=("expression",))
            node = item["expression"]
            if isinstance(node, dict) and node.get("op") == "PA" and "predicates" in node:
                whole = Part(node, part.file, place / "expression", part.labels)
                yield resolved(whole.at("predicates"))


def _entries(part: Part) -> Iterator[Part]:
    """Yield the predicates of a list."""
    if isinstance(part.node, dict) and "predicates" in part.node:
        part = resolved(part.at("predicates"))
    with in_file(part.file):
        listed = json_list(part.node, part.place)
        if len(listed) > MAX_PREDICATES:
            message = f"a list of {len(listed):,} predicates is too long"
            refuse(
                "too-many-predicates",
                message,
                part.place,
                f"at most {MAX_PREDICATES:,} are allowed",
            )
    for i, item in enumerate(listed):
        yield Part(item, part.file, part.place / i, part.labels)


# -- what they mean ------------------------------------------------------------------------------


def _predicate(converter: Converter, part: Part, scope: Scope, task: CompiledTask) -> Expr:
    with in_file(part.file):
        try:
            made = converter.scalar(part.node, scope, part.place)
        except SurefootError as error:
            if error.code == "jani-unknown-variable":
                raise _other_task(error, task) from None
            raise
        if made.type != "bool":
            message = f"a predicate is a condition, and this is a number ({made.type})"
            refuse("type-mismatch", message, part.place, "compare it with something: x ≥ 3")
    return made


def _other_task(error: SurefootError, task: CompiledTask) -> InputError:
    """Return the error for a predicate about a variable that the task does not have."""
    some = ", ".join(quoted(name) for name in task.names[:3])
    more = " and others" if len(task.names) > 3 else ""
    return InputError(
        "predicates-of-another-task",
        f"{error.message}: the predicate file is for another task than {quoted(task.name)}",
        place=error.place,
        hint=error.hint or f"this task has the variables {some}{more}",
    )


def _scope(task: CompiledTask) -> Scope:
    """Return what names mean: constants, variables, arrays; local ones also without element."""
    description = task.description
    names: dict[str, Entry] = {v.name: variable(v.name, v.type) for v in task.variables}
    names |= description.arrays
    short: dict[str, list[Entry]] = {}
    for name, meaning in names.items():
        if "." in name:
            short.setdefault(name.rpartition(".")[2], []).append(meaning)
    for name, meanings in short.items():
        if len(meanings) == 1:
            names.setdefault(name, meanings[0])
    for name, value in description.constants.items():
        names.setdefault(name, constant(value))
    return Scope(names)
