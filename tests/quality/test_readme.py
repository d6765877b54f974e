"""README and docs work word for word: their commands, their Python code, their links."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
RUN = ("surefoot", "python", "printf")
NEEDS = {
    "examples/frozenlake.py": ("gymnasium", "stable_baselines3", "torch"),
    "examples/gymnasium_training.py": ("gymnasium", "sb3_contrib", "torch"),
}
VARYING = {"seconds", "check_seconds", "peak_memory_mb", "states_per_second"}
TIMES = re.compile(r"[\d.,]+(?= (?:s|ms|states/s|steps/s)\b)")
ROUNDS = re.compile(r"^( *\d+(?: +[\d.,e+-]+){6} +(?:[\d,]+/[\d,]+|-))(?: +[\d,]+\.\d){4}", re.M)
"""rows of the table of debug: eight columns, then the seconds of four stages"""


LONG = {"docs/training.md", "examples/frozenlake.py", "examples/gymnasium_training.py"}
"""pages and examples that train policies"""


def case(file: Path) -> Any:
    """Return a page or an example as a parameter of a test, marked if it takes long."""
    name = str(file.relative_to(ROOT))
    return pytest.param(file, id=name, marks=[pytest.mark.slow] if name in LONG else [])


def blocks(page: Path, language: str) -> list[str]:
    """Return the contents of the fenced blocks in that language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block with the output that stands below it."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


@pytest.fixture
def shell(tmp_path: Path) -> Any:
    """Return a function that runs a command as a reader would, next to a copy of the examples."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, given in (("surefoot", "-m surefoot "), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {given}"$@"\n')
        (programs / name).chmod(0o755)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    path = os.pathsep.join([str(programs), os.environ.get("PATH", os.defpath)])
    environment = {**os.environ, "PATH": path, "NO_COLOR": "1", "COLUMNS": "200"}
    environment |= {"PYTHONIOENCODING": "utf-8"}

    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    return run


def comparable(command: str, output: str) -> Any:
    """Return the output without what differs from run to run."""
    if "--json" not in command:
        return ROUNDS.sub(r"\1 N N N N", TIMES.sub("N", output.strip()))
    return json.loads(output, object_hook=lambda o: {k: o[k] for k in o if k not in VARYING})


@pytest.mark.parametrize("page", [case(p) for p in PAGES if blocks(p, "console")])
def test_commands_print_what_the_page_says(page: Path, shell: Any) -> None:
    for block in blocks(page, "console"):
        for command, shown in commands(block):
            if not command.startswith(RUN):
                assert shown == "", f"nobody checks what the page says about {command!r}"
                continue
            done = shell(command)
            real = done.stdout + (done.stderr if done.returncode else "")
            assert comparable(command, real) == comparable(command, shown), command


@pytest.mark.parametrize("page", [case(p) for p in PAGES if blocks(p, "python")])
def test_python_code_runs(page: Path, shell: Any, tmp_path: Path) -> None:
    """Code that begins with an import is a program; other code is quoted from an example."""
    examples = [file.read_text("utf-8") for file in sorted((ROOT / "examples").glob("*.py"))]
    for code in blocks(page, "python"):
        if not code.startswith(("import", "from")):
            assert any(code in example for example in examples), code
            continue
        (tmp_path / "program.py").write_text(code, "utf-8")
        done = shell("python program.py")
        assert done.returncode == 0, done.stderr


def test_lamp_of_the_readme_is_the_example() -> None:
    (code,) = [c for c in blocks(ROOT / "README.md", "python") if "Description" in c]
    description = code.partition("task = ")[0].partition("\n\n")[2].strip()
    assert description in (ROOT / "examples/lamp.py").read_text("utf-8")


@pytest.mark.parametrize("path", [case(p) for p in sorted(ROOT.glob("examples/*.py"))])
def test_examples_run(path: Path, shell: Any) -> None:
    file = str(path.relative_to(ROOT))
    for name in NEEDS.get(file, ()):
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    done = shell(f"python {file}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_python_defined_task_leaves_standard_error_empty(shell: Any) -> None:
    assert shell("surefoot explore examples/simulator.py:cliff").stderr == ""


@pytest.mark.parametrize("page", list(map(case, PAGES)))
def test_relative_links_lead_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", page.read_text("utf-8")):
        if "://" in target or target.startswith("mailto:"):
            continue
        file = page.parent / target if target else page
        assert file.exists(), f"{target} does not exist"
        if anchor:
            assert anchor in anchors(file), f"{target}#{anchor} does not exist"


def anchors(page: Path) -> set[str]:
    """Return the anchors that a page's headings make."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.M)
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }
