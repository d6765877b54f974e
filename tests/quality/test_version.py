"""The version stands in one place, and what ships says it."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import surefoot

ROOT = Path(__file__).parents[2]


def test_only_the_package_says_the_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["scikit-build"]["metadata"]["version"]["input"] == (
        "src/surefoot/__init__.py"
    )
    assignments = [
        path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / "src").rglob("*.py"))
        if re.search(r"^__version__\b.*=", path.read_text("utf-8"), re.M)
    ]
    assert assignments == ["src/surefoot/__init__.py"]
    for name in ("README.md", "CITATION.cff", "CMakeLists.txt", "Makefile"):
        assert surefoot.__version__ not in (ROOT / name).read_text("utf-8"), name


def test_the_changelog_begins_with_it() -> None:
    """Or with the one that comes next, below which it stands."""
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    sections = re.findall(r"^## (\S+)( - unreleased)?", text, re.M)
    first = 0 if sections[0][0] == surefoot.__version__ or not sections[0][1] else 1
    assert sections[first][0] == surefoot.__version__


def test_an_installed_package_has_it() -> None:
    assert surefoot.__file__ is not None
    folder = Path(surefoot.__file__).parents[1]
    installed = [one.version for one in metadata.distributions(name="surefoot", path=[str(folder)])]
    if not installed:
        pytest.skip("Surefoot is not installed: it is tested from its sources")
    assert installed == [surefoot.__version__]


def test_types_are_shipped() -> None:
    assert surefoot.__file__ is not None
    assert Path(surefoot.__file__).with_name("py.typed").is_file()
