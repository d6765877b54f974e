"""A library from outside: its fitted models are policies, and repaired ones are its models."""

import subprocess
import sys

import pytest

TASK = "domain:counter?goal=3"
FITS_AGAIN = """
import numpy as np, surefoot, toy_library
from surefoot.policies.models import Layer, Network
task = surefoot.load_task("domain:counter?goal=3")
def like(bias):
    layer = Layer(np.array([[2.0], [1.0]]), np.array([bias, 0.0]), "linear")
    policy = surefoot.load_policy(Network((layer,), "float64"), task)
    return surefoot.fitted_like(policy, toy_library.Slopes(1, 2))
print(like(0.0).slopes)
try:
    like(1.0)
except surefoot.Unsupported as error:
    print(error.code, error.message)
"""


@pytest.mark.parametrize("slopes, code", [("1, 0", 0), ("0, 1", 1)])
def test_models_are_policies(surefoot, tmp_path, slopes, code):
    text = f"from toy_library import Slopes\nMODEL = Slopes({slopes})\n"
    (tmp_path / "work" / "fitted.py").write_text(text)
    done = surefoot("verify", TASK, "--policy", "fitted.py:MODEL")
    assert done.code == code, done.err


def test_repaired_policies_are_models(tmp_path, installed):
    done = subprocess.run(
        [sys.executable, "-c", FITS_AGAIN],
        capture_output=True,
        encoding="utf-8",
        cwd=installed,
        check=True,
    )
    slopes, refused = done.stdout.splitlines()
    assert slopes == "(2.0, 1.0)"
    assert refused.startswith("repair-not-held")
    assert "such a model has no biases" in refused
