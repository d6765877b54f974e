"""Threads that share one policy never race, in C++, under the thread sanitizer."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT / "core"
FOLDERS = ("task", "policy", "search", "oracle", "fuzz", "fault")
VERIFIER = ("crew", "explicit")  # boxes need a compiled task
SOURCES = [
    *(source for folder in FOLDERS for source in sorted((CORE / folder).glob("*.cc"))),
    *(CORE / "verify" / f"{name}.cc" for name in VERIFIER),
    ROOT / "tests" / "core" / "shared_policy.cc",
]
COMPILE = ["g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-fsanitize=thread"]
ROUNDS = 2


@pytest.mark.slow
@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="another sanitizer is loaded already")
def test_threads_that_share_a_policy_never_race(tmp_path: Path) -> None:
    program = tmp_path / "shared_policy"
    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(lambda source: _compiled(source, tmp_path), SOURCES))
    subprocess.run([*COMPILE, "-pthread", *objects, "-o", program], check=True)
    done = subprocess.run([program, str(ROUNDS)], capture_output=True, text=True, check=False)
    if "unexpected memory mapping" in done.stderr:
        pytest.skip("the thread sanitizer does not run on this kernel")
    assert done.stderr == ""
    assert json.loads(done.stdout) == {"rounds": ROUNDS, "mistakes": 0}
    assert done.returncode == 0


def _compiled(source: Path, folder: Path) -> Path:
    compiled = folder / f"{source.parent.name}-{source.stem}.o"
    subprocess.run([*COMPILE, f"-I{CORE}", "-c", source, "-o", compiled], check=True)
    return compiled
