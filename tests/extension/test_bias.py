"""A bias from outside: runs are drawn to what it says."""

import pytest

TASK = "domain:counter?goal=3"
RUNS = ("--policy", "two.py:two", "--runs", "40", "--json")


@pytest.fixture(autouse=True)
def two(surefoot, tmp_path):
    (tmp_path / "work" / "two.py").write_text("def two(state):\n    return 'two'\n")


@pytest.mark.parametrize("bias", ["slow", "toy_bias.py:BIAS"])
def test_runs_are_drawn_to_it(surefoot, bias):
    """Greedy runs fail as soon as they can, slow ones one step later."""
    for given, steps in (("greedy", 2), (bias, 3)):
        done = surefoot("fuzz", TASK, *RUNS, "--lookahead", "1", "--bias", given)
        assert done.code == 1, done.err
        assert done.document["options"]["bias"] == given
        assert {run["steps"] for run in done.document["runs"]} == {steps}


def test_unknown_names(surefoot):
    done = surefoot("fuzz", TASK, *RUNS, "--bias", "slwo")
    assert done.code == 2
    assert "slow" in done.err


def test_things_that_are_no_biases(surefoot):
    done = surefoot("fuzz", TASK, *RUNS, "--bias", "toy_bias.py:is_begin")
    assert done.code == 2
    assert "is not a bias" in done.err


def test_tasks_of_python_code_are_refused(surefoot, tmp_path):
    (tmp_path / "work" / "walk.py").write_text(
        "class Walk:\n"
        "    def start(self): return [0]\n"
        "    def actions(self, state): return ['two'] if state < 3 else []\n"
        "    def outcomes(self, state, action): return [state + 1, state + 2]\n"
        "    def is_goal(self, state): return state == 3\n"
        "    def is_fail(self, state): return state > 3\n"
    )
    done = surefoot("fuzz", "walk.py:Walk", *RUNS, "--bias", "slow")
    assert done.code == 3, done.err
    assert 'the bias "slow"' in done.err
