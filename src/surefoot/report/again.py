"""The task and the policies of a campaign, loaded again for pictures and scores.

A report is worth writing without them: whatever keeps them from being loaded becomes a note. A
campaign comes from anywhere: nothing is read from it if that would run code.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from surefoot.domains.pictures import Picture
from surefoot.errors import InputError, OutOfBudget, Unsupported, quoted, shown
from surefoot.pictures import Drawing
from surefoot.policies import Policy
from surefoot.report.source import CampaignSource
from surefoot.tasks.state import State

EXPECTED = (InputError, Unsupported, OutOfBudget)


@dataclass
class Again:
    """What can be asked again about the states of a campaign; ``notes`` say what cannot, and why.

    Without its task there are neither pictures, nor scores, nor names of locations.
    """

    source: CampaignSource
    drawing: Drawing | None = None
    notes: list[str] = field(default_factory=list)
    _policies: dict[str, Policy | None] = field(default_factory=dict, repr=False)

    @functools.cached_property
    def task(self) -> Any:
        """The task; None if it cannot be loaded, or is not the same any more."""
        from surefoot.campaign.given import task_of

        if self.source.given is None:
            return None
        try:
            return task_of(self.source.given)
        except EXPECTED as error:
            self._note("the task", error, "pictures and scores are left out")
            return None

    @functools.cached_property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """The names of values, for the variables that have such: locations."""
        variables = getattr(self.task, "variables", ())
        return {
            variable.name: variable.labels for variable in variables if variable.labels is not None
        }

    def state(self, values: Mapping[str, object]) -> State | None:
        """Return the state of the task with these values; None if there is none."""
        try:
            return None if self.task is None else self.task.state(dict(values))
        except (*EXPECTED, TypeError, ValueError, OverflowError, RecursionError):
            return None  # what stands in a finding can be anything

    def picture(self, values: Mapping[str, object]) -> str | None:
        """Return the picture of a state as SVG; None if there is no way to draw it."""
        if self.drawing is None and getattr(self.task, "draw", None) is None:
            return None
        state = self.state(values)
        if state is None:
            return None
        drawing = self.drawing
        picture = self.task.picture(state) if drawing is None else drawing.draw(state, self.task)
        if not isinstance(picture, Picture | None):
            raise InputError(
                "plugin-error",
                f"the picture of a state is {shown(picture)}",
                hint="draw must return a Picture",
            )
        return None if picture is None else str(picture.svg)

    @functools.cached_property
    def original(self) -> Policy | None:
        """The policy as it was given."""
        given = self.source.given
        return None if given is None else self._policy(given.policy_file, None)

    @functools.cached_property
    def final(self) -> Policy | None:
        """The repaired policy, with which the campaign ended; None if there is none."""
        content = self.source.content
        return self._policy(content.get("final_policy"), content.get("final_sha256"))

    def before(self, iteration: int) -> Policy | None:
        """Return the policy that an iteration looked at: the last one repaired before it."""
        earlier = self.source.repairs_before(iteration)
        if not earlier:
            return self.original
        return self._policy(earlier[-1]["policy"], earlier[-1].get("policy_sha256"))

    def _policy(self, relative: object, digest: object) -> Policy | None:
        """Return a policy of the campaign; None, and a note, if it cannot be loaded."""
        if not isinstance(relative, str) or self.task is None:
            return None
        if relative not in self._policies:
            self._policies[relative] = self._loaded(relative, digest)
        return self._policies[relative]

    def _loaded(self, relative: str, digest: object) -> Policy | None:
        given = self.source.given
        try:
            if given is None or self.source.file(relative) is None:
                raise InputError("file-not-found", "there is no such file")
            policy = given.load_policy(relative, self.task)
            if digest and policy.sha256 and digest != policy.sha256:
                raise InputError("policy-changed", "its file has changed since the campaign")
        except EXPECTED as error:
            self._note(f"policy {quoted(relative)}", error, "its scores are left out")
            return None
        return policy

    def _note(self, what: str, error: Exception, loss: str) -> None:
        message = getattr(error, "message", str(error))
        self.notes.append(f"{what} could not be loaded again: {message}; {loss}")
