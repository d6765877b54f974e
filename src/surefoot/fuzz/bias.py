"""Biases: where fuzzing goes on, where the environment has a choice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from surefoot.options import check_word
from surefoot.registry import Registry, of_class, runs_code

if TYPE_CHECKING:
    from surefoot.tasks.compiled_task import CompiledTask
    from surefoot.tasks.expressions import Expr

Pick = Literal["mixed", "uniform", "greedy", "weighted"]


@dataclass(frozen=True)
class Bias:
    """How to pick a state of the lookahead to go on from.

    ``pick`` is ``uniform`` (any), ``greedy`` (one of the last layer with the least distance) or
    ``weighted`` (any, a state at distance h with a weight of exp(-h)), or ``mixed``: each run by
    one of these, most by those that find something new. ``guidance`` returns what
    the distance is to: a condition over the variables of the task. Without it, it is the distance
    to fail. Whatever the guidance, ``greedy`` and ``weighted`` go to a fail state that they see.
    """

    name: str
    pick: Pick
    guidance: Callable[[CompiledTask], Expr] | None = None

    def __post_init__(self) -> None:
        """Raise InputError if there is no such way to pick."""
        check_word("pick", self.pick, get_args(Pick))


BIASES: Registry[Bias] = Registry(
    "bias",
    group="surefoot.biases",
    component=of_class("bias", Bias),
    package="surefoot.fuzz",
    constant="BIAS",
    made_by="Bias",
    first=("mixed", "uniform", "greedy", "weighted"),
    plural="biases",
)
"""biases by name"""


def check_bias(option: str, given: str) -> None:
    """Raise InputError if an option is not a bias: a name, or ``FILE.py:NAME``, which is run."""
    if isinstance(given, str) and given not in BIASES.built_in and runs_code(given):
        BIASES.check(given)
    elif given not in BIASES.built_in:
        check_word(option, given, BIASES.names)
