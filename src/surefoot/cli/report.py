"""``surefoot report``."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from surefoot.cli.arguments import Json, checked_options
from surefoot.cli.deadline import Deadline
from surefoot.errors import InputError, printable, quoted
from surefoot.options import BudgetOptions

if TYPE_CHECKING:
    from surefoot.report import CampaignSource

STANDARD_OUTPUT = Path("-")

File = Annotated[Path | None, Parameter(allow_leading_hyphen=True)]
Directory = Annotated[Path, Parameter(name="DIR", help="the directory of a campaign")]


@dataclass(frozen=True, kw_only=True)
class ReportFiles:
    """What to write."""

    out: Annotated[
        Path | None,
        Parameter(
            name=("--out", "-o"),
            allow_leading_hyphen=True,
            show_default=lambda _: "report.html in DIR",
        ),
    ] = None
    """write the page to this file; without it only where nothing else is asked for"""
    junit: File = None
    """write JUnit XML, for a CI server, to this file; - is standard output"""
    sarif: File = None
    """write SARIF, for a code-scanning service, to this file; - is standard output"""
    markdown: File = None
    """write a summary in Markdown, for a pull request, to this file; - is standard output"""

    def check(self, *, json: bool) -> None:
        """Raise InputError if two of them would be written to the same place, or one to none."""
        given = list(self.places(None).values())
        for path in given:
            if str(path).startswith("-") and path != STANDARD_OUTPUT:
                raise InputError("bad-option", f"{quoted(str(path))} is not a file to write to")
        if len(set(given)) < len(given):
            raise InputError("bad-option", "two reports cannot go to the same file")
        if json and STANDARD_OUTPUT in given:
            raise InputError("bad-option", "--json takes standard output: name a file")

    def places(self, default: Path | None) -> dict[str, Path]:
        """Return where which report goes; where none is asked for, the page to the default."""
        places = {"html": self.out, **asdict(self)}
        del places["out"]
        given = {name: path for name, path in places.items() if path is not None}
        return given if given or default is None else {"html": default}


@dataclass(frozen=True, kw_only=True)
class ReportArguments(BudgetOptions):
    """What every command takes."""

    max_seconds: float = BudgetOptions.max_seconds
    """stop after this many seconds: then nothing is said or written"""
    memory_mb: int = BudgetOptions.memory_mb
    """stop when more than this many megabytes are needed"""
    seed: int = 0
    """not needed here: nothing is drawn"""
    picture: str | None = None
    """how to draw states: bars, one of an installed package, or FILE.py:NAME; else as the task does
    """


def report(
    directory: Directory,
    /,
    *,
    files: Annotated[ReportFiles, Parameter(name="*")] = ReportFiles(),
    options: Annotated[ReportArguments, Parameter(name="*")] = ReportArguments(),
    json: Json = False,
) -> int:
    """Write a report on a campaign: a page to read, or files for other tools.

    The page is one HTML file that loads nothing: before and after, the smallest
    faults with picture, scores and the run to step through, what the repairs
    changed, certificates, how to reproduce it. A campaign that is running or was
    interrupted gets a report that says so.
    The JUnit suite passes only if the outcome is safe: the policy is verified.
    Exit code 0 if the report was written, whatever it says.

    For example:
      surefoot report out
      surefoot report out -o report.html --junit junit.xml --markdown summary.md
      surefoot report out --sarif -
    """
    from surefoot.cli.output import json_text, peak_memory_mb

    options = checked_options(options)
    deadline = Deadline(options.max_seconds, options.memory_mb)
    files.check(json=json)
    with deadline.working("reading the campaign"):
        from surefoot.pictures import PICTURES
        from surefoot.report import source_of

        if options.picture is not None:
            PICTURES.check(options.picture)
        source = source_of(directory)
    with deadline.working("writing the report"):
        default = None if json else directory / "report.html"
        written, printed = _write(source, files.places(default), options.picture)
    if json:
        content = {"surefoot": source.content["surefoot"], "command": "report", **source.content}
        more = {"files": written, "peak_memory_mb": peak_memory_mb()}
        print(json_text({**content, **more}))
        return 0
    print(printed, end="")
    for path in written.values():
        print(f"written: {printable(path)}", file=sys.stderr if printed else sys.stdout)
    return 0


def _write(
    source: CampaignSource, places: dict[str, Path], picture: str | None
) -> tuple[dict[str, str], str]:
    """Write what was asked for; return where, and what goes to standard output."""
    from surefoot import report

    written, printed = {}, ""
    for name, path in places.items():
        more = {"picture": picture} if name == "html" else {}
        text = getattr(report, name)(source, **more)
        if path == STANDARD_OUTPUT:
            printed = text
        else:
            report.write_text(path, text)
            written[name] = str(path)
    return written, printed
