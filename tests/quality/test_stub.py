"""The stub of the extension says what the extension has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

STUB = Path(__file__).parents[2] / "src" / "surefoot" / "_core.pyi"


def test_stub_is_what_stubgen_makes(tmp_path: Path) -> None:
    """If this fails: python -m nanobind.stubgen -m surefoot._core -o src/surefoot/_core.pyi"""
    pytest.importorskip("nanobind")
    made = tmp_path / "_core.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "surefoot._core"]
    subprocess.run([*command, "-o", str(made)], check=True, timeout=60)
    assert made.read_text("utf-8") == STUB.read_text("utf-8")
