"""docs/domains.md names every family, parameter, variant and size there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from surefoot.domains import DOMAINS, domain_family

PAGE = (Path(__file__).parents[2] / "docs" / "domains.md").read_text("utf-8")


def rows(heading: str) -> dict[str, str]:
    """Return the table below a heading: what stands behind each name."""
    part = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found = re.findall(r"^\| `([\w-]+)` \| (.*) \|$", part, re.M)
    return dict(found)


def test_every_family_is_there() -> None:
    assert list(rows("What they are and where they come from")) == list(DOMAINS)
    assert list(rows("Sizes")) == list(DOMAINS)


@pytest.mark.parametrize("name", DOMAINS)
def test_every_parameter_is_there(name: str) -> None:
    row = rows("What they are and where they come from")[name]
    if name == "two-way-line":
        row = rows("What they are and where they come from")["one-way-line"]
    missing = [one for one in domain_family(name).defaults if f"`{one}`" not in row]
    assert not missing


@pytest.mark.parametrize("name", DOMAINS)
def test_sizes_are_those_that_there_are(name: str) -> None:
    sizes = domain_family(name).sizes
    texts = [
        f"`{size}`: " + ", ".join(f"{key}={value}" for key, value in parameters.items())
        for size, parameters in sizes.items()
    ]
    assert rows("Sizes")[name] == "; ".join(texts)
