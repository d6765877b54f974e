"""Every oracle of the core equals brute force, in C++: a million small tasks, named cases, depth.

The programs stand in ``tests/core``. They are compiled here, with the files of the core that they
need and without Python, and say what they counted as JSON.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT / "core"
PROGRAMS = ROOT / "tests" / "core"
SOURCES = [
    *sorted((CORE / "oracle").glob("*.cc")),
    *sorted((CORE / "policy").glob("*.cc")),
    CORE / "search" / "state_store.cc",
    CORE / "task" / "forced_task.cc",
    CORE / "task" / "task.cc",
]
COMPILE = ["g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{CORE}"]
FAST = ["-O2"]
SANITIZED = [
    "-O1",
    "-g",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=undefined",
]
PRELOADED = os.environ.get("LD_PRELOAD", "")
JOBS = 2

TASKS = 1_000_000
TOGETHER = 50
INTERVIEWS = 17  # per group of tasks: the oracles, ipi with three orders, radii, deviations
MISTAKES = {"false_verdicts", "rejected_certificates", "broken_promises"}

DEEP = [
    ("lazy_attractor", "npi", "tarjan_safe", "lrtdp"),
    (
        "tarjan_safe_printed",
        "ipi",
        "lao_star",
        "value_iteration",
        "propagate_unsafe",
        "deviations",
    ),
]
WIDE_SECONDS = 20.0  # a hundred times what is needed; looking at pairs of outcomes takes minutes


def named_cases():
    """Return the names of the cases of oracles_named.cc, in order."""
    text = (PROGRAMS / "oracles_named.cc").read_text()
    special = text[text.index("bool run_special(") :]
    cases = text[text.index("cases() {") : text.index("return all;")]
    return [
        *re.findall(r'strcmp\(name, "([^"]+)"\)', special),
        *re.findall(r'^\s+\{"([^"]+)",', cases, re.MULTILINE),
    ]


def compile_all(folder, flags):
    """Compile the core's files and the programs into ``folder``, two at a time."""

    def compile_one(source):
        target = folder / f"{source.parent.name}-{source.stem}.o"
        run([*COMPILE, *flags, "-c", str(source), "-o", str(target)])
        return str(target)

    def link(program):
        run(
            [*COMPILE, *flags, str(folder / f"core-{program}.o"), *own, "-o", str(folder / program)]
        )

    with ThreadPoolExecutor(JOBS) as pool:
        programs = sorted(PROGRAMS.glob("oracles_*.cc"))
        objects = list(pool.map(compile_one, [*programs, *SOURCES, PROGRAMS / "free_lists.cc"]))
        own = objects[len(programs) :]
        list(pool.map(link, [program.stem for program in programs]))


def run(command):
    subprocess.run(command, check=True, env=environment(), timeout=600)


def environment():
    """Return the environment without what `make sanitize` put into it for Python's sake."""
    own = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    return {**own, "ASAN_OPTIONS": "quarantine_size_mb=1"}


def build(tmp_path_factory, name, flags):
    """Return the folder with the compiled programs; parallel test processes share one."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / name
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            compile_all(folder, flags)
            (folder / "done").touch()
    return folder


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    return build(tmp_path_factory, "core-programs", FAST)


@pytest.fixture(scope="session")
def sanitized_programs(tmp_path_factory):
    return build(tmp_path_factory, "core-programs-sanitized", SANITIZED)


def start(program, *arguments):
    return subprocess.Popen(
        [str(program), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )


def finish(process, *, code=0, max_seconds=900):
    """Return the lines of JSON that the process printed, after a look at its exit code."""
    try:
        out, err = process.communicate(timeout=max_seconds)
    finally:
        process.kill()
    assert process.returncode == code, err
    return [json.loads(line) for line in out.splitlines()]


def count(program, *arguments, code=0):
    (counted,) = finish(start(program, *arguments), code=code)
    return counted


def assert_no_mistake(counted):
    assert {name: counted[name] for name in MISTAKES} == dict.fromkeys(MISTAKES, 0)


@pytest.mark.slow
def test_every_oracle_equals_brute_force_on_a_million_tasks(programs):
    each = TASKS // JOBS
    ranges = [(job * each, (job + 1) * each) for job in range(JOBS)]
    processes = [
        start(programs / "oracles_million", "--begin", begin, "--end", end, "--together", TOGETHER)
        for begin, end in ranges
    ]
    for process in processes:
        (counted,) = finish(process)
        assert_no_mistake(counted)
        assert counted["tasks"] == each
        assert counted["interviews"] == INTERVIEWS * each // TOGETHER
        assert counted["safe"] + counted["unsafe"] >= INTERVIEWS * 3 * each
        assert min(counted["safe"], counted["unsafe"]) >= 4 * each
        assert counted["certificates"] >= 20 * each
        assert counted["disturbed"] >= 2 * each
        assert min(counted["unknown"], counted["errors"]) >= each / 20


@pytest.mark.parametrize("broken", ["verdict", "certificate", "deviations"])
def test_a_mistake_would_be_noticed(programs, broken):
    """The test above is worth something only if the program can fail."""
    counted = count(programs / "oracles_million", "--end", 1000, "--break", broken, code=1)
    noticed = "rejected_certificates" if broken == "certificate" else "false_verdicts"
    assert counted[noticed] > 1000


@pytest.mark.parametrize("name", named_cases())
def test_named_case(programs, name):
    counted = count(programs / "oracles_named", name)
    assert_no_mistake(counted)
    assert counted["tasks"] == 1


def test_there_are_named_cases():
    names = named_cases()
    assert len(names) == len(set(names)) > 40
    assert "a dead end is safe" in names


@pytest.mark.slow
def test_no_oracle_recurses_over_states(programs):
    """Chains and cycles of five million states, on a stack of 256 KB; each oracle linear there."""
    processes = [start(programs / "oracles_deep", *oracles) for oracles in DEEP]
    rows = [row for process in processes for row in finish(process)]
    assert all(row["right"] for row in rows)
    assert {row["oracle"] for row in rows} == {name for names in DEEP for name in names}
    for row in rows:
        assert row["expanded"] <= 2.1 * 5_000_000, row
        if row["task"] == "many outcomes lost together":
            assert row["seconds"] < WIDE_SECONDS, row
        if row["oracle"] == "lazy_attractor" and row["radius"] is None:
            assert row["bytes_per_state"] <= 64 + 8, row  # the packed state has 8


@pytest.mark.fuzz
@pytest.mark.skipif("libasan" not in PRELOADED, reason="compiles for long; make sanitize runs it")
def test_sanitizers_find_nothing(sanitized_programs):
    counted = [
        count(sanitized_programs / "oracles_million", "--seed", 1, "--end", 1000),
        count(sanitized_programs / "oracles_million", "--end", 100, "--together", 1),
        count(sanitized_programs / "oracles_named", "staircase of four steps"),
    ]
    for one in counted:
        assert_no_mistake(one)
    rows = finish(start(sanitized_programs / "oracles_deep", "--states", 20_000))
    assert all(row["right"] for row in rows)
