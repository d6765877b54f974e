"""Reports on a campaign: a page for people, and files for the tools of others.

:func:`write_report` writes one self-contained HTML page. :func:`junit`, :func:`sarif` and
:func:`markdown` return texts: for a CI server, for a code-scanning service, for a pull request.
Each takes the directory of a campaign, a campaign that was read, or its data alone: then there are
no runs, pictures and scores, for which its files are needed.
"""

from __future__ import annotations

from pathlib import Path

from surefoot.report.source import CampaignSource, source_of

__all__ = ["CampaignSource", "html", "junit", "markdown", "sarif", "source_of", "write_report"]


def write_report(
    campaign: object, path: str | Path | None = None, *, picture: str | None = None
) -> Path:
    """Write the page about a campaign, by default ``report.html`` in its directory; return where.

    ``picture`` is a name of ``surefoot.pictures.PICTURES``, or FILE.py:NAME, which is run: it draws
    the states instead of the task.

    The file is there completely or not at all. Raises InputError: ``not-a-campaign``, or
    ``file-not-written``.
    """
    from surefoot.errors import InputError

    source = source_of(campaign)
    if path is None and source.directory is None:
        raise InputError("bad-option", "no file was given for the page")
    file = Path(path) if path is not None else Path(source.directory or ".") / "report.html"
    write_text(file, html(source, picture=picture))
    return file


def write_text(path: Path, text: str) -> None:
    """Write a file completely or not at all. Raises InputError (``file-not-written``)."""
    from surefoot.errors import InputError
    from surefoot.files import write_pieces

    if path.is_dir():
        raise InputError("file-not-written", "this is a folder", file=str(path))
    write_pieces(path, [text], what="report")


def html(campaign: object, *, picture: str | None = None) -> str:
    """Return the page about a campaign, with states drawn by a picture of that name."""
    from surefoot.pictures import PICTURES
    from surefoot.report.page import page_of

    return page_of(source_of(campaign), drawing=PICTURES[picture] if picture else None)


def junit(campaign: object) -> str:
    """Return the campaign as a JUnit test suite, which passes if the outcome is safe."""
    from surefoot.report.junit_text import junit_of

    return junit_of(source_of(campaign))


def sarif(campaign: object) -> str:
    """Return what is wrong, or was, as a SARIF 2.1.0 document."""
    from surefoot.report.sarif_text import sarif_of

    return sarif_of(source_of(campaign))


def markdown(campaign: object) -> str:
    """Return a summary to paste into a pull request."""
    from surefoot.report.markdown_text import markdown_of

    return markdown_of(source_of(campaign))
