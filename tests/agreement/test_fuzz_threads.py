"""Workers of the fuzzer meet on one graph: no race, and the runs of one worker alone, in C++."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT / "core"
SOURCES = [
    *(CORE / "search" / f"{name}.cc" for name in ("state_store", "graph_nodes", "policy_graph")),
    *sorted((CORE / "task").glob("*.cc")),
    CORE / "policy" / "policy.cc",
    *sorted((CORE / "fuzz").glob("*.cc")),
    ROOT / "tests" / "core" / "fuzz_threads.cc",
]
COMPILE = ["g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-pthread", "-O1", "-g"]
ROUNDS = 12


@pytest.mark.slow
@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="another sanitizer is loaded already")
def test_workers_agree_and_never_race(tmp_path: Path) -> None:
    program = tmp_path / "fuzz_threads"
    command = [*COMPILE, "-fsanitize=thread", f"-I{CORE}", *map(str, SOURCES), "-o", str(program)]
    subprocess.run(command, check=True)
    done = subprocess.run([program, str(ROUNDS)], capture_output=True, text=True, check=False)
    if "unexpected memory mapping" in done.stderr:
        pytest.skip("the thread sanitizer does not run on this kernel")
    assert done.stderr == ""
    assert json.loads(done.stdout) == {"rounds": ROUNDS, "mistakes": 0}
    assert done.returncode == 0
