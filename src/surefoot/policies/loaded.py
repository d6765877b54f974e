"""What a reader of policy files hands over."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.errors import InputError
from surefoot.policies.interface import KEY, Interface

if TYPE_CHECKING:
    from surefoot.policies import Policy
    from surefoot.policies.models import Model


@dataclass(frozen=True)
class Loaded:
    """What scores the actions, and what the file itself says about inputs and outputs.

    ``unfiltered`` is None where the file does not say. ``notes`` are sentences about what the
    reader had to assume or leave out. With ``at_least`` the file does not say how many inputs
    there are: ``model.num_inputs`` is the least number that will do. ``files`` are those that were
    read besides the policy file itself. ``alone`` is what the policy file says without an interface
    from elsewhere; None where its model depends on that.
    """

    model: Model
    interface: Interface | None = None
    unfiltered: bool | None = None
    notes: tuple[str, ...] = ()
    at_least: bool = False
    files: tuple[Path, ...] = ()
    alone: Loaded | None = field(default=None, compare=False, repr=False)


def checked(loaded: Loaded, path: str | Path) -> Loaded:
    """Return what was loaded. Raises InputError, naming the file, if its model is invalid."""
    try:
        loaded.model.check()
    except ValueError as error:
        raise InputError("bad-policy", str(error), file=str(path)) from None
    return loaded


def interface_content(loaded: Loaded | Policy) -> dict[str, object]:
    """Return what an interface file says of a policy, without the name of a file."""
    content: dict[str, object] = {KEY: 1, **(loaded.interface or Interface()).to_dict()}
    if loaded.unfiltered is not None:
        content["unfiltered"] = loaded.unfiltered
    return content
