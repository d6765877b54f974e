"""Each library of the core builds alone, with the headers of the libraries that it declares."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "core"
LIBRARIES = re.findall(
    r"^surefoot_library\((\w+)", (CORE / "CMakeLists.txt").read_text(), re.MULTILINE
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("ninja"), reason="builds with ninja"),
]


def configured(core, build):
    """Configure the core alone in the folder ``build``, and return that."""
    command = ["cmake", "-G", "Ninja", "-S", core, "-B", build, "-DCMAKE_BUILD_TYPE=Debug"]
    subprocess.run(command, check=True, capture_output=True)
    return build


def built(build, library):
    """Build one library with what it needs; return the process that did."""
    command = ["ninja", "-C", build, "-j", str(min(os.cpu_count() or 1, 2)), library]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    return configured(CORE, tmp_path_factory.mktemp("core"))


@pytest.mark.parametrize("folder", [name for name in LIBRARIES if any((CORE / name).glob("*.cc"))])
def test_each_library_builds_alone(folder, build):
    result = built(build, f"surefoot_{folder}")
    assert result.returncode == 0, result.stdout


def test_an_include_that_is_not_declared_does_not_compile(tmp_path):
    core = tmp_path / "core"
    shutil.copytree(CORE, core)
    (core / "task" / "task.cc").write_text('#include "search/explore.h"\n')
    build = configured(core, tmp_path / "build")
    result = built(build, "surefoot_task")
    assert result.returncode != 0
    assert "search/explore.h: No such file" in result.stdout
