"""The public interface: every name is there, loaded late, and stays what it is."""

import subprocess
import sys

import pytest

import surefoot

LATE = """
import sys
{code}
assert "surefoot._core" not in sys.modules
"""


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize("name", surefoot.__all__)
def test_every_name_is_there(name):
    assert getattr(surefoot, name).__name__ == name
    assert name in dir(surefoot)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'guess'"):
        surefoot.guess  # noqa: B018


@pytest.mark.parametrize(
    "code",
    [
        "import surefoot; surefoot.InputError; surefoot.__version__",
        "from surefoot.cli import main; main(['--version'])",
        "from surefoot.cli import main; main(['--help'])",
        "from surefoot.cli import main; main(['doctor', '--help'])",
        "from surefoot.cli import main; main(['explore', '--help'])",
        "from surefoot.cli import main; main(['simulate', '--help'])",
        "from surefoot.cli import main; main(['decide', '--help'])",
        "from surefoot.cli import main; main(['check', '--help'])",
        "from surefoot.cli import main; main(['distill', '--help'])",
        "from surefoot.cli import main; main(['domains', '--help'])",
    ],
)
def test_the_extension_is_loaded_late(code):
    done = run(LATE.format(code=code))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["explore", "simulate"])
@pytest.mark.parametrize(
    "first",
    [
        "import surefoot.{name}",
        "from surefoot.{name} import {name}",
        "from surefoot import {name}",
        "import surefoot; surefoot.{name}",
    ],
)
def test_functions_named_like_their_module_stay_functions(name, first):
    code = f"{first.format(name=name)}\nimport surefoot\n"
    code += f"assert callable(surefoot.{name})\nimport surefoot.{name}\n"
    done = run(code + f"assert callable(surefoot.{name})")
    assert done.returncode == 0, done.stderr


def test_pictures_are_public():
    picture = surefoot.domain("layered").picture({"layer": 0, "side": 0})
    assert isinstance(picture, surefoot.Picture)
