"""What a campaign is about, as ``campaign.json`` keeps it."""

from __future__ import annotations

from typing import Literal

from surefoot.records.files import check_version, record_from
from surefoot.records.parts import Part, TaskPart

VERSION: Literal[1] = 1


class KeptPolicy(Part, frozen=True, kw_only=True):
    """The policy that was given, and its copy: ``file`` is the one to load of ``files``, which have
    their SHA-256.
    """

    name: str
    sha256: str | None
    interface: dict[str, object]
    unfiltered: bool
    model: str
    file: str
    files: dict[str, str]


class CampaignFile(Part, rename={"begun_in": "from"}, frozen=True, kw_only=True):
    """Task, policy and options of a campaign; ``begun_in`` is the directory from which paths are.

    ``surefoot`` is the version that began it, ``campaign`` that of the format.
    """

    surefoot: str
    campaign: Literal[1]
    task: TaskPart
    begun_in: str
    policy: KeptPolicy
    options: dict[str, object]


def campaign_from(content: object) -> CampaignFile:
    """Return what ``campaign.json`` says. Raises InputError: ``not-a-campaign``, or
    ``campaign-version`` if the format is another.
    """
    check_version(content, "campaign", VERSION, code="not-a-campaign")
    return record_from(content, CampaignFile, code="not-a-campaign", what="the file of a campaign")
