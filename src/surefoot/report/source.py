"""What a report is about: the data of a campaign, and the directory with its files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.errors import InputError, shown
from surefoot.findings import Finding, read_finding
from surefoot.records import Fault
from surefoot.records.debugging import OUTCOMES
from surefoot.records.documents import fault_from
from surefoot.report.shape import check_shape

if TYPE_CHECKING:
    from surefoot.campaign.given import Given

STATES = {
    "running": "the campaign is still running: this is how far it is",
    "interrupted": "the campaign was interrupted: surefoot resume continues it",
}


@dataclass(frozen=True)
class CampaignSource:
    """A campaign as plain data; ``given`` leads to its files, if they are at hand."""

    content: Mapping[str, Any]
    given: Given | None = None

    def __post_init__(self) -> None:
        check_shape(self.content)

    @property
    def directory(self) -> Path | None:
        """Where the files of the campaign are."""
        return None if self.given is None else self.given.directory

    @property
    def date(self) -> str | None:
        """When the campaign began, by the date of its first file."""
        path = self.file("campaign.json")
        if path is None:
            return None
        return f"{datetime.fromtimestamp(path.stat().st_mtime, UTC):%Y-%m-%d %H:%M} UTC"

    @property
    def is_finished(self) -> bool:
        """Whether the campaign came to its end."""
        return self.content.get("state") == "finished"

    @property
    def outcome(self) -> str:
        """How the campaign ended, or what it does instead: running, interrupted."""
        if not self.is_finished:
            return "running" if self.content.get("state") == "running" else "interrupted"
        outcome = self.content.get("outcome")
        return outcome if outcome in OUTCOMES else "unknown"

    @property
    def outcome_text(self) -> str:
        """The outcome in words."""
        return OUTCOMES[self.outcome] if self.is_finished else STATES[self.outcome]

    @property
    def task(self) -> Mapping[str, object]:
        """The task: name, sha256, source, options."""
        return dict(self.content["task"])

    @property
    def policy(self) -> Mapping[str, object]:
        """The policy as it was given: name, sha256, interface, unfiltered, model."""
        return dict(self.content["policy"])

    @property
    def iterations(self) -> list[Mapping[str, Any]]:
        """The rounds of the loop, in their order."""
        return list(self.content["iterations"])

    @cached_property
    def faults(self) -> list[Fault]:
        """All faults, the smallest first."""
        return [fault_from(content) for content in self.content["faults"]]

    @property
    def verification(self) -> Mapping[str, object] | None:
        """What verification said; None if it was not reached, or not asked for."""
        verification: Mapping[str, object] | None = self.content["verification"]
        return verification

    def evaluation(self, when: str) -> Mapping[str, Any] | None:
        """Return the evaluation ``before`` or ``after``; None if it is not there yet."""
        evaluation: Mapping[str, object] | None = self.content[when]
        return evaluation

    def is_repaired(self, fault: Fault) -> bool:
        """Return whether the last policy was repaired with this fault among the others: each
        repair is of all faults so far.
        """
        return (fault.iteration or 0) <= self._last_repair

    def repairs_before(self, iteration: int) -> list[Mapping[str, object]]:
        """Return the rounds before an iteration that made a policy."""
        made = [line for line in self.iterations if line["policy"]]
        return [line for line in made if line["iteration"] < iteration]

    @property
    def _last_repair(self) -> int:
        """The iteration that made the last policy; 0 if none did."""
        made = [iteration for iteration in self.iterations if iteration.get("policy_sha256")]
        digest = self.content.get("final_sha256")
        if digest is not None:
            made = [iteration for iteration in made if iteration["policy_sha256"] == digest]
        return int(made[-1]["iteration"]) if made else 0

    def file(self, relative: object) -> Path | None:
        """Return a file of the campaign. None if it is not at hand, or not below the directory:
        nothing else is read, whatever the campaign says.
        """
        if self.directory is None or not isinstance(relative, str) or "\0" in relative:
            return None
        root, path = self.directory.resolve(), (self.directory / relative).resolve()
        return path if path.is_relative_to(root) and path.is_file() else None

    def finding(self, fault: Fault) -> Finding | None:
        """Return the finding of a fault; None if it has none, or its file cannot be read."""
        path = self.file(fault.finding)
        try:
            return None if path is None else read_finding(path)
        except InputError:
            return None


def source_of(campaign: object) -> CampaignSource:
    """Return what to report on: a directory, a campaign that was read, or its data alone.

    Raises InputError for anything else, and for a directory that is not a campaign.
    """
    if isinstance(campaign, CampaignSource):
        return campaign
    if isinstance(campaign, str | Path):
        from surefoot.campaign import read_campaign

        campaign = read_campaign(campaign)
    if hasattr(campaign, "to_dict") and hasattr(campaign, "given"):
        return CampaignSource(campaign.to_dict(), campaign.given)
    if isinstance(campaign, Mapping) and "campaign" in campaign:
        return CampaignSource(campaign)
    raise InputError("not-a-campaign", f"{shown(campaign)} is not a campaign")
