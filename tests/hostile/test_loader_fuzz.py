"""Damaged files: a short round of tests/fuzz_loader.py (``make fuzz`` runs ten minutes of it)."""

from __future__ import annotations

import pytest
from tests.fuzz_loader import fuzz

FILES = 1_500


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.parametrize("seed", [1, 2])
def test_loader_survives_damaged_files(seed, tmp_path):
    summary = fuzz(120, seed, save=tmp_path, max_files=FILES)
    assert summary.finding is None, f"{summary.finding}\n{summary.saved}"
    assert summary.files == FILES
    assert summary.loaded > 50
    assert len(summary.refused) > 10
