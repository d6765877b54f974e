"""The shape of a campaign's data. A campaign comes from anywhere: what does not have it is refused
here, so that nobody else needs to ask.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from surefoot.errors import InputError, shown

Test = Callable[[Any], bool]


def _is(*types: type) -> Test:
    return lambda value: type(value) in types


def _real(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1e300


def _whole(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**64


def _fraction(value: Any) -> bool:
    return _real(value) and 0 <= value <= 1


def _or_none(test: Test) -> Test:
    return lambda value: value is None or test(value)


def _object(value: object) -> bool:
    return isinstance(value, Mapping)


def _texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(part, str) for part in value)


_text, _flag = _is(str), _is(bool)
EVALUATION: dict[str, Test] = {
    "unsafe_fraction": _fraction,
    "goal_fraction": _fraction,
    **dict.fromkeys(("starts", "exhaustive", "unsafe", "runs", "goal"), _whole),
}
DIFF: dict[str, Test] = {"states": _whole, "changed": _whole, "examples": _is(list, tuple)}
ITERATION: dict[str, Test] = {
    **dict.fromkeys(("iteration", "runs", "unsafe_runs", "new_faults", "faults"), _whole),
    **dict.fromkeys(("trees_added", "changed_parameters", "keep_states", "keep_lost"), _whole),
    **dict.fromkeys(("policy", "policy_sha256", "verdict", "reason"), _or_none(_text)),
    "seconds": lambda value: _object(value) and all(map(_real, value.values())),
    "distance": _real,
    "diff": _or_none(lambda value: not _wrong(value, DIFF)),
}
FAULT: dict[str, Test] = {
    "state": _object,
    "action": _text,
    "outcome": _object,
    "alternatives": _texts,
    "iteration": _whole,
    "steps": _or_none(_whole),
    "finding": _or_none(_text),
    "checked": _or_none(_flag),
}
VERIFICATION: dict[str, Test] = {
    **dict.fromkeys(("verdict", "method"), _text),
    **dict.fromkeys(("states", "starts"), _whole),
    **dict.fromkeys(("reason", "certificate"), _or_none(_text)),
    "all_starts": _flag,
    "checked": _or_none(_flag),
    "seconds": _real,
}
STARTS: dict[str, Test] = {
    **dict.fromkeys(("debugging", "evaluation"), _whole),
    **dict.fromkeys(("all", "disjoint"), _flag),
}
CAMPAIGN: dict[str, Test] = {
    "surefoot": _text,
    "directory": _text,
    "state": _text,
    "outcome": _or_none(_text),
    "reason": _or_none(_text),
    "task": lambda value: _object(value) and isinstance(value.get("name"), str),
    "policy": lambda value: _object(value) and isinstance(value.get("name"), str),
    "options": _object,
    "seed": _whole,
    "seconds": _real,
    "starts": _or_none(lambda value: not _wrong(value, STARTS)),
    "before": _or_none(lambda value: not _wrong(value, EVALUATION)),
    "after": _or_none(lambda value: not _wrong(value, EVALUATION)),
    "iterations": _is(list, tuple),
    "faults": _is(list, tuple),
    "verification": _or_none(lambda value: not _wrong(value, VERIFICATION)),
    "final_policy": _or_none(_text),
    "final_sha256": _or_none(_text),
    "reproduce": _texts,
}


def check_shape(content: Mapping[str, Any]) -> None:
    """Raise InputError (``not-a-campaign``) if the data are not those of a campaign."""
    name = _wrong(content, CAMPAIGN)
    if name is not None:
        raise _error(f"{name} is {shown(content.get(name))}")
    for member, shape in (("iterations", ITERATION), ("faults", FAULT)):
        for at, entry in enumerate(content[member]):
            name = _wrong(entry, shape)
            if name is not None:
                raise _error(f"{name} of number {at} of its {member} is not as it should be")


def _wrong(value: object, shape: Mapping[str, Test]) -> str | None:
    """Return the first member that is missing, or not as it should be; None if there is none."""
    if not isinstance(value, Mapping):
        return "something"
    return next((name for name, is_right in shape.items() if not is_right(value.get(name))), None)


def _error(message: str) -> InputError:
    return InputError("not-a-campaign", f"these are not the data of a campaign: {message}")
