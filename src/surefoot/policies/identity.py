"""Whether a policy is the one that a certificate or a finding names.

What the user gives decides; what a file says about its policy must equal that. The SHA-256 covers
the policy's file and an interface that was given as a file, so a path in the file is only a name;
an interface that stands in the file as data is compared as data. No SHA-256 is none that is the
same: policies that have none, as ``first``, are known by their name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from surefoot.errors import SurefootError

if TYPE_CHECKING:
    from surefoot.policies import Policy
    from surefoot.tasks.task import Task


def is_other(policy: Policy, member: Mapping[str, object]) -> bool:
    """Return whether both have a SHA-256, and not the same; or neither, and not the same name."""
    digest = member.get("sha256")
    if digest is None and policy.sha256 is None:
        return member.get("name") != policy.name
    return bool(digest and policy.sha256) and digest != policy.sha256


def disagreement(policy: Policy, member: Mapping[str, object]) -> str | None:
    """Return what a file says about its policy that is not so; None if all of it is."""
    digest = member.get("sha256")
    if digest != policy.sha256:
        named = "no SHA-256" if not digest else "a policy with a SHA-256"
        return f"it names {named}, but the policy has {'one' if policy.sha256 else 'none'}"
    if member.get("unfiltered") is not policy.unfiltered:
        which = "filtered" if policy.unfiltered else "unfiltered"
        return f"it is about the {which} policy"
    if not _is_same_interface(policy, member.get("interface")):
        return "it is about the policy with another interface"
    return None


def _is_same_interface(policy: Policy, named: object) -> bool:
    interface = policy.interface
    if isinstance(named, Mapping):
        return interface is not None and _text(interface.to_dict()) == _text(named)
    if named is None:
        return interface is None or special_interface(policy, policy.task) is None
    return interface is not None and interface.origin.file is not None


def _text(content: Mapping[str, object]) -> str:
    """Return data as text: in Python 1 equals True."""
    return json.dumps(content, sort_keys=True)


def special_interface(policy: Policy, task: Task) -> str | dict[str, object] | None:
    """Return the interface of a policy where it is not the plain one, as it stands in a file.

    The plain one is what the policy has if it is loaded by its name alone.
    """
    from surefoot.policies import load_policy

    interface = policy.interface
    if interface is None or policy.file is None or policy.card is not None:
        return None
    if interface.origin.file == str(policy.file):
        return None
    if ".py:" not in policy.name:
        try:
            if load_policy(str(policy.file), task).interface == interface:
                return None
        except SurefootError:
            pass  # it needs the interface that was given
    return interface.origin.file or interface.to_dict()
