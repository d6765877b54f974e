"""The pages are written so that a change of one sentence is a change of few lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
WIDEST = 120


def prose(page: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a page with their numbers; code and tables are left out."""
    is_code = False
    for number, line in enumerate(page.splitlines(), 1):
        if line.lstrip().startswith(("```", "~~~")):
            is_code = not is_code
        elif not is_code and not line.startswith("    {") and not line.lstrip().startswith("|"):
            yield number, line


def too_wide(page: str) -> list[int]:
    """Return the numbers of the lines that could be wrapped; a single long word cannot."""
    return [
        number
        for number, line in prose(page)
        if len(line) > WIDEST and " " in line.strip().lstrip("-* ")
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_prose_is_wrapped(page: Path) -> None:
    assert too_wide(page.read_text("utf-8")) == []


def test_a_wide_line_is_seen() -> None:
    wide = "word " * 30
    assert too_wide(f"{wide}\n\n- {wide}\n") == [1, 3]
    assert too_wide(f"```\n{wide}\n```\n| {wide} |\n- https://{'x' * WIDEST}\n") == []


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs/README.md").read_text("utf-8")
    pages = [page.name for page in sorted(ROOT.glob("docs/*.md")) if page.name != "README.md"]
    assert [name for name in pages if f"]({name})" not in index] == []
