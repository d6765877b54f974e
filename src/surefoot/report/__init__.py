"""Reports on a campaign: a page for people, and files for the tools of others.

:func:`write_report` writes one self-contained HTML page. :func:`junit`, :func:`sarif` and
:func:`markdown` return texts: for a CI server, for a code-scanning service, for a pull request.
Each takes the directory of a campaign, a campaign that was read, or its data alone: then there are
no runs, pictures and scores, for which its files are needed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from surefoot.report.source import Source, source_of

__all__ = ["Source", "html", "junit", "markdown", "sarif", "source_of", "write_report"]


def write_report(campaign: Any, path: str | Path | None = None) -> Path:
    """Write the page about a campaign, by default ``report.html`` in its directory; return where.

    The file is there completely or not at all. Raises InputError: ``not-a-campaign``, or
    ``file-not-written``.
    """
    from surefoot.errors import InputError

    source = source_of(campaign)
    if path is None and source.directory is None:
        raise InputError("bad-option", "where to write the page is not said")
    file = Path(path) if path is not None else Path(source.directory or ".") / "report.html"
    write_text(file, html(source))
    return file


def write_text(path: Path, text: str) -> None:
    """Write a file completely or not at all. Raises InputError (``file-not-written``)."""
    from surefoot.certificates import write_pieces
    from surefoot.errors import InputError

    if path.is_dir():
        raise InputError("file-not-written", "this is a folder", file=str(path))
    write_pieces(path, [text], what="report")


def html(campaign: Any) -> str:
    """Return the page about a campaign."""
    from surefoot.report.page import page_of

    return page_of(source_of(campaign))


def junit(campaign: Any) -> str:
    """Return the campaign as a JUnit test suite, which passes if the outcome is safe."""
    from surefoot.report.junit_text import junit_of

    return junit_of(source_of(campaign))


def sarif(campaign: Any) -> str:
    """Return what is wrong, or was, as a SARIF 2.1.0 document."""
    from surefoot.report.sarif_text import sarif_of

    return sarif_of(source_of(campaign))


def markdown(campaign: Any) -> str:
    """Return a summary to paste into a pull request."""
    from surefoot.report.markdown_text import markdown_of

    return markdown_of(source_of(campaign))
