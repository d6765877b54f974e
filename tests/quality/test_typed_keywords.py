"""Options are typed keywords: a type checker finds names that are misspelled and bad values."""

import subprocess
import sys

import pytest

CALLS = """
from surefoot import debug, domain, fuzz
from surefoot.options import FuzzOptions

task = domain("one-way-line")
fuzz(task, "first", runs=3, bias="uniform")
debug(task, "first", fuzz=FuzzOptions(bias="uniform"), verify="box", keep=3)
fuzz(task, "first", rns=3)
fuzz(task, "first", runs="x")
debug(task, "first", kep=3)
"""


@pytest.mark.slow
def test_mypy_knows_the_options(tmp_path):
    pytest.importorskip("mypy")
    file = tmp_path / "calls.py"
    file.write_text(CALLS, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    errors = [line for line in done.stdout.splitlines() if "calls.py" in line and "error" in line]
    assert [line.split(":")[1] for line in errors] == ["8", "9", "10"], done.stdout
    assert '"rns"' in errors[0]
    assert '"runs"' in errors[1]
    assert '"kep"' in errors[2]
