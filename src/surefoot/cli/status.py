"""``surefoot status``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from surefoot.cli.arguments import Json, checked_options
from surefoot.cli.resume import CampaignArguments, Directory
from surefoot.errors import printable
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.campaign import Campaign

SHOWN_ITERATIONS = 12


def status(
    directory: Directory,
    /,
    *,
    options: Annotated[CampaignArguments, Parameter(name="*")] = CampaignArguments(),
    json: Json = False,
) -> int:
    """Tell how far a campaign is, also while it runs.

    Exit code 0, whatever the campaign found.

    For example:
      surefoot status debugged
      surefoot status debugged --json
    """
    from surefoot.campaign import read_campaign
    from surefoot.cli.debug_text import places_of
    from surefoot.cli.output import console, json_text

    checked_options(options)
    campaign = read_campaign(directory)
    if json:
        print(json_text({**campaign.to_dict(), "command": "status"}))
        return 0
    out = console()
    for line in _lines(campaign, directory, places_of(out)):
        out.print(line)
    return 0


def _lines(campaign: Campaign, directory: Path, width: int | None) -> Iterator[object]:
    from rich.text import Text

    from surefoot.cli.debug_text import (
        change_lines,
        end_lines,
        head_lines,
        more_time_lines,
        row_lines,
    )

    content = campaign.to_dict()
    task, policy = printable(content["task"]["name"]), printable(content["policy"]["name"])
    yield Text(f"{task}, policy {policy}", style="bold")
    yield f"{content['state']}, {content['seconds']:,.1f} s used; {_limit_text(campaign)}"
    rounds = content["iterations"]
    if rounds:
        yield from head_lines(width)
    if len(rounds) > SHOWN_ITERATIONS:
        yield f"... {len(rounds) - SHOWN_ITERATIONS:,} more before these"
    for each in rounds[-SHOWN_ITERATIONS:]:
        yield from row_lines(each, width)
    is_finished = content["state"] == "finished"
    count = counted(len(content["faults"]), "fault") + ("" if is_finished else " so far")
    yield f"{count}: surefoot show {_place(directory)}"
    if is_finished:
        yield from end_lines(content, directory)
        yield from more_time_lines(campaign)
        return
    yield from change_lines(content)
    if content["state"] == "interrupted":
        yield f"go on: surefoot resume {_place(directory)}"


def _limit_text(campaign: Campaign) -> str:
    repairs = counted(campaign.given.options.iterations, "repair")
    return f"at most {campaign.max_seconds:,g} s and {repairs}"


def _place(directory: Path) -> str:
    import shlex

    return shlex.quote(printable(str(directory)))
