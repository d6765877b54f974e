"""The command line with components from outside: of an installed package, and of files."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.program import Finished, environment

TOYS = Path(__file__).parent / "toys"
ENTRY_POINTS = """
[surefoot.biases]
slow = toy_bias:BIAS
[surefoot.families]
counter = toy_family:FAMILY
[surefoot.front_ends]
corridor = toy_front_end:FRONT_END
[surefoot.methods]
slow = toy_methods:SLOW
[surefoot.formats]
table = toy_format:FORMAT
[surefoot.fitted]
toy_library = toy_library:FITTED
[surefoot.pictures]
bar = toy_picture:PICTURE
[surefoot.oracles]
slow = toy_oracles:SLOW
goal_search = toy_objective:SEARCH
[surefoot.objectives]
goal = toy_objective:GOAL
"""


@pytest.fixture
def installed(tmp_path):
    """Install the toys as a package, and return the folder."""
    folder = tmp_path / "site"
    shutil.copytree(TOYS, folder)
    about = folder / "surefoot_toys-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: surefoot-toys\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    return folder


@pytest.fixture
def surefoot(tmp_path, installed):
    """Run ``surefoot ARGUMENTS`` where the toys are installed, and stand as files."""
    work = tmp_path / "work"
    shutil.copytree(TOYS, work)
    path = os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")])

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", "surefoot", *arguments],
            capture_output=True,
            encoding="utf-8",
            cwd=work,
            env=environment(PYTHONPATH=path),
            timeout=60,
            check=False,
        )
        return Finished(done.returncode, done.stdout, done.stderr)

    return run
