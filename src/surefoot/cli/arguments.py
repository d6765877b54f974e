"""How a task is given on the command line, and what every command takes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from surefoot.options import Options, checked
from surefoot.options.checking import Spelled

if TYPE_CHECKING:
    from surefoot.objectives import CanHandle
    from surefoot.policies import Policy
    from surefoot.tasks.task import Task

TASK_GROUP = Group.create_ordered("Task")
NOTHING: tuple[object, ...] = (None, (), {})
"""the values of options that were not given"""
JSON_HELP = "print one JSON document instead of text"

TaskSource = Annotated[
    str,
    Parameter(
        name="TASK",
        help="a JANI file, domain:NAME?param=value&..., or FILE.py:NAME",
    ),
]
Json = Annotated[bool, Parameter(name="--json", help=JSON_HELP, show_default=False)]
ObjectiveName = Annotated[
    str,
    Parameter(
        name="--objective",
        help="what a policy is asked for: safety, another objective by its name, or FILE.py:NAME",
    ),
]
StatesFile = Annotated[
    Path | None,
    Parameter(name="--states", help="start from the states in this file, one JSON object per line"),
]

Condition = Annotated[str | None, Parameter(group=TASK_GROUP, allow_leading_hyphen=True)]


@dataclass(frozen=True, kw_only=True)
class TaskArguments:
    """What belongs to the task besides its file."""

    property_file: Annotated[Path | None, Parameter(name="--property", group=TASK_GROUP)] = None
    """file with start, goal and fail of a JANI model"""
    property_name: Annotated[str | None, Parameter(group=TASK_GROUP)] = None
    """which property of the file, if it has several"""
    start: Condition = None
    """condition such as 'x = 0', or file with it or with the start states (@FILE, or its path)"""
    goal: Condition = None
    """condition such as 'x = 8', or file with it"""
    fail: Condition = None
    """condition such as 'x = 9 & wind', or file with it"""
    const: Annotated[tuple[str, ...], Parameter(group=TASK_GROUP, show_default=False)] = ()
    """NAME=VALUE sets a constant, or overrides the model's value; may be repeated"""
    int_range: Annotated[str | None, Parameter(group=TASK_GROUP, allow_leading_hyphen=True)] = None
    """LO..HI, the range of integer variables that the model does not bound"""

    task: Annotated[
        dict[str, str], Parameter(name="--task", group=TASK_GROUP, show_default=False)
    ] = field(default_factory=dict)
    """--task.NAME VALUE sets an option of another front end than that of JANI files"""

    def load(self, source: str) -> Task:
        """Return the task. Raises InputError if it cannot be read or an option does not fit it."""
        from surefoot.tasks import load_task_of_words

        return load_task_of_words(source, self.given())

    def given(self) -> dict[str, object]:
        """Return the options that were given, as plain data, in the words of the command line."""
        given = {name: value for name, value in asdict(self).items() if value not in NOTHING}
        values = {_option_name(name): value for name, value in given.items()}
        more = {f"task.{name}": value for name, value in values.pop("task", {}).items()}
        return {name: str(v) if isinstance(v, Path) else v for name, v in values.items()} | more


def objective_given(name: str) -> dict[str, object]:
    """Return the objective as plain data, where it is not the usual one."""
    return {} if name == "safety" else {"objective": name}


def check_objective(name: str, policy: Policy, can_handle: CanHandle) -> None:
    """Raise InputError if there is no such objective, Unsupported if it cannot be handled."""
    from surefoot.objectives import handled_objective

    handled_objective(name, policy.task, policy, can_handle=can_handle)


def _option_name(name: str) -> str:
    return "property" if name == "property_file" else name


def spelled(name: str) -> str:
    """Return an option as it is written on the command line."""
    return "--" + name.replace("_", "-")


def checked_options(options: Options, *, spelled: Spelled = spelled) -> Options:
    """Return the options. Raises InputError, in the words of the command line, for a bad value."""
    return checked(options, spelled=spelled)
