"""Fixtures that write models to files and load them."""

import pytest

from surefoot.tasks.jani import load_jani
from surefoot.tasks.jani.writer import json_text


@pytest.fixture
def write(tmp_path):
    """Return a function that writes JSON into a file, however deep, and returns the path."""

    def write(content, name="model.jani"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json_text(content)), "utf-8")
        return file

    return write


@pytest.fixture
def load(write):
    """Return a function that loads a model given as a Python value."""
    return lambda node, **options: load_jani(write(node), **options)
