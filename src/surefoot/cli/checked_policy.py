"""What ``surefoot check`` says about the interface of a policy that is not the plain one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from surefoot.errors import printable

if TYPE_CHECKING:
    from surefoot.policies import Policy


def interface_member(policy: Policy | None) -> dict[str, object]:
    """Return the interface of a policy if it is not the plain one, and that it is unfiltered if it
    is, as members of an answer.
    """
    if policy is None:
        return {}
    interface = _special_interface(policy)
    members: dict[str, object] = {} if interface is None else {"interface": interface}
    return members | ({"unfiltered": True} if policy.unfiltered else {})


@lru_cache(maxsize=1)
def _special_interface(policy: Policy) -> object:
    from surefoot.policies.identity import special_interface

    return special_interface(policy, policy.task)


def interface_text(members: Mapping[str, object]) -> str:
    """Return the same in words; empty for a plain policy."""
    text = ""
    if "interface" in members:
        interface = members["interface"]
        shown = interface if isinstance(interface, str) else json.dumps(interface)
        text += f"; with the interface {printable(shown, 400)}"
    if "unfiltered" in members:
        text += "; unfiltered: it decides among all actions"
    return text
