"""Which steps fail, reach the goal, or end a run otherwise: by reward, termination and info.

A rule is a function of (observation, reward, terminated, info), or text: claims such as
``terminated``, ``reward <= -100`` or ``info.lives < 1``, joined by ``&``, or ``never``.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from surefoot.errors import InputError, quoted, shown
from surefoot.python_file import as_script, named_in, split_name
from surefoot.tasks.gym.known import Foreign

Rule = Callable[[object, float, bool, Mapping[str, object]], object]
_CLAIM = re.compile(r"(~?)\s*(reward|terminated|info\.\w+)\s*(?:(<=|>=|<|>|==|=|!=)\s*(\S+))?")
NEVER = "never"
_COMPARE: dict[str, Callable[[Foreign, Foreign], bool]] = {
    **{"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge},
    **{"=": operator.eq, "==": operator.eq, "!=": operator.ne},
}
HINT = "as in 'terminated & reward <= 0', 'reward <= -100', 'info.lives < 1', or FILE.py:NAME"


class Ending(IntEnum):
    """How a step ends a run."""

    NONE = 0
    FAIL = 1
    GOAL = 2
    OVER = 3


@dataclass(frozen=True)
class EndRules:
    """Tells how steps end runs: fail is tested before the goal."""

    fail: Rule
    goal: Rule

    def end(
        self, observation: object, reward: float, terminated: bool, info: Mapping[str, object]
    ) -> Ending:
        """Return how a step with these results ends the run."""
        if self.fail(observation, reward, terminated, info):
            return Ending.FAIL
        if self.goal(observation, reward, terminated, info):
            return Ending.GOAL
        return Ending.OVER if terminated else Ending.NONE


def rule_of(given: str | Rule, name: str) -> Rule:
    """Return the rule that is given for the option of this name. Raises InputError."""
    if not isinstance(given, str):
        if callable(given):
            return given
        raise InputError("bad-option", f"{name} is text or a function, not {shown(given)}")
    if split_name(given, what="function") is not None:
        return function_of(given, name)
    if given.strip() == NEVER:
        return lambda *step: False
    claims = [_claim(part.strip(), name) for part in given.split("&")]
    return lambda *step: all(claim(*step) for claim in claims)


def function_of(given: str, name: str) -> Callable[..., object]:
    """Return the function ``FILE.py:NAME``, which runs the file. Raises InputError."""
    place = split_name(given, what="function")
    if place is None:
        raise InputError("bad-option", f"{name} is FILE.py:NAME, not {quoted(given)}")
    file, function_name = place
    with as_script(Path(file)):
        function = named_in(file, function_name)
    if not callable(function):
        raise InputError("bad-option", f"{quoted(given)} is not a function", file=str(file))
    return function


def _claim(text: str, name: str) -> Rule:
    match = _CLAIM.fullmatch(text)
    if match is None or (match[2] == "reward") > bool(match[3]):
        raise InputError("bad-option", f"{name} cannot be {quoted(text)}", hint=HINT)
    is_negated, what, sign, word = bool(match[1]), match[2], match[3], match[4]
    number = None if sign is None else _number(word, name)

    def holds(
        observation: object, reward: float, terminated: bool, info: Mapping[str, object]
    ) -> bool:
        value = {"reward": reward, "terminated": terminated}.get(what)
        if value is None:
            value = _info(info, what.removeprefix("info."), name)
        claimed = bool(value) if sign is None else _COMPARE[sign](value, number)
        return bool(claimed) is not is_negated

    return holds


def _number(text: str, name: str) -> float:
    words = {"true": 1.0, "false": 0.0}
    try:
        return words[text] if text in words else float(text)
    except ValueError:
        raise InputError("bad-option", f"{name} has no number {quoted(text)}", hint=HINT) from None


def _info(info: Mapping[str, object], key: str, name: str) -> Foreign:
    return info.get(key, 0)
