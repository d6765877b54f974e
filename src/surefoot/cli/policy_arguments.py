"""How a policy is given on the command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from surefoot.errors import InputError

if TYPE_CHECKING:
    from surefoot.policies import Policy
    from surefoot.tasks.task import Task

POLICY_GROUP = Group.create_ordered("Policy")
POLICIES_ARE = "a policy file such as truck.onnx, builtin:NAME, first, random, or FILE.py:NAME"


@dataclass(frozen=True, kw_only=True)
class PolicyArguments:
    """Which policy, and what its file does not say."""

    policy: Annotated[str | None, Parameter(name="--policy", group=POLICY_GROUP)] = None
    """a policy file, as truck.onnx or trees.ubj; FILE.py:NAME; builtin:NAME; or first or random"""
    interface: Annotated[Path | None, Parameter(name="--interface", group=POLICY_GROUP)] = None
    """file that says which variable feeds which input and which output is which action"""
    unfiltered: Annotated[
        bool, Parameter(name="--unfiltered", group=POLICY_GROUP, show_default=False)
    ] = False
    """the policy decides for the best of all actions, applicable or not"""

    def load(self, task: Task, *, seed: int = 0, default: str | None = None) -> Policy:
        """Return the policy, or that of ``default`` if none is given.

        Raises InputError if there is neither, or if the policy cannot be read or does not fit.
        """
        text = default if self.policy is None else self.policy
        if not text:
            raise missing_policy()
        return self.load_text(text, task, seed=seed)

    def load_if_given(self, task: Task, *, seed: int = 0) -> Policy | None:
        """Return the policy, None without --policy. Raises InputError as ``load`` does, and for
        --interface or --unfiltered without policy.
        """
        if self.policy is not None:
            return self.load(task, seed=seed)
        for option, is_given in self._is_given().items():
            if is_given:
                raise InputError(
                    "bad-option",
                    f"{option} belongs to a policy",
                    hint=f"--policy is {POLICIES_ARE}",
                )
        return None

    def load_text(self, text: str, task: Task, *, seed: int = 0) -> Policy:
        """Return the policy that a text names, with the interface that was given."""
        from surefoot.cli.progress import tell
        from surefoot.policies import load_policy

        tell("reading the policy")
        return load_policy(
            text,
            task,
            seed=seed,
            interface=self.interface,
            unfiltered=True if self.unfiltered else None,
        )

    def check_given(self) -> None:
        """Raise InputError without --policy: before a large task is read in vain."""
        if not self.policy:
            raise missing_policy()

    def given(self) -> dict[str, object]:
        """Return the arguments as plain data: ``policy``, and the others where they were given."""
        more: dict[str, object] = {}
        if self.interface is not None:
            more["interface"] = str(self.interface)
        if self.unfiltered:
            more["unfiltered"] = True
        return {"policy": self.policy, **more}

    def _is_given(self) -> dict[str, bool]:
        return {"--interface": self.interface is not None, "--unfiltered": self.unfiltered}


def missing_policy() -> InputError:
    """Return the error of a command that needs a policy and has none."""
    return InputError("bad-option", "--policy is missing", hint=f"it is {POLICIES_ARE}")
