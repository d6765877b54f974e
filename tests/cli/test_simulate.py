"""``surefoot simulate``."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from surefoot.policies.models import Layer, Network
from tests.cli.conftest import Surefoot
from tests.support.networks import nnet_text

LINE = "domain:one-way-line?packages=3&locations=4"


def test_document(surefoot: Surefoot) -> None:
    done = surefoot("simulate", LINE, "--policy", "random", "--runs", "5", "--seed", "3", "--json")
    document = done.document
    assert (done.code, done.err) == (0, "")
    assert document["policy"] == {"name": "random", "sha256": None}
    assert document["options"]["policy"] == "random"
    assert document["seed"] == 3
    assert document["summary"]["runs"] == 5
    for number, run in enumerate(document["runs"]):
        assert set(run) == {
            *("run", "start", "result", "steps", "states", "actions"),
            *("applicable", "scores", "outcomes"),
        }
        assert run["run"] == number
        assert len(run["states"]) == len(run["actions"]) + 1 == run["steps"] + 1
        assert run["states"][0] == run["start"]
        assert len(run["applicable"]) == len(run["outcomes"]) == run["steps"]
        assert all(a in some for a, some in zip(run["actions"], run["applicable"], strict=True))
        assert run["scores"] is None


def test_same_seed_same_runs(surefoot: Surefoot) -> None:
    first, again, other = (
        surefoot("simulate", LINE, "--runs", "5", "--seed", seed, "--json").document["runs"]
        for seed in ("1", "1", "2")
    )
    assert first == again != other


def test_text_shows_the_start_and_then_what_changes(surefoot: Surefoot) -> None:
    done = surefoot("simulate", LINE, "--policy", "first", "--runs", "1")
    head, start, *steps, empty, summary = done.out.splitlines()
    assert head.startswith("run 0: ")
    assert start.startswith("  start  location_load_0=")
    assert start.count("=") == 8
    choices = [step for step in steps if step.startswith("         of ")]
    changes = [step for step in steps if step not in choices]
    assert all(1 <= step.count("=") < 8 for step in changes)
    assert choices and all(step.count("=") == 0 and step.count(",") >= 1 for step in choices)
    assert (empty, summary[:6]) == ("", "1 run:")


@pytest.mark.parametrize("state", ["x=1", " x = 1 ", '{"x": 1}'])
def test_state(surefoot: Surefoot, state: str) -> None:
    done = surefoot("simulate", "tasks.py:lamp", "--state", state, "--json")
    assert done.document["runs"][0]["start"] == {"x": 1}


def test_states_are_taken_in_turn(surefoot: Surefoot, tmp_path: Path) -> None:
    (tmp_path / "states.jsonl").write_text('{"x": 2}\n{"x": 3}\n')
    arguments = (
        "--state",
        "x=0",
        "--state",
        "x=1",
        "--states",
        "states.jsonl",
        "--runs",
        "5",
        "--json",
    )
    runs = surefoot("simulate", "tasks.py:lamp", *arguments).document["runs"]
    assert [run["start"]["x"] for run in runs] == [0, 1, 2, 3, 0]
    assert [run["result"] for run in runs[2:4]] == ["goal", "fail"]


def test_one_run_for_each_given_state(surefoot: Surefoot, tmp_path: Path) -> None:
    (tmp_path / "states.jsonl").write_text('{"x": 2}\n{"x": 3}\n')
    arguments = ("--state", "x=1", "--states", "states.jsonl", "--json")
    document = surefoot("simulate", "tasks.py:lamp", *arguments).document
    assert [run["start"]["x"] for run in document["runs"]] == [1, 2, 3]
    assert document["options"]["runs"] == 3
    assert len(surefoot("simulate", "tasks.py:lamp", "--json").document["runs"]) == 1


@pytest.mark.parametrize(
    "state, text",
    [
        ("x", "not NAME=VALUE"),
        ("x=4", "ranges from 0 to 3"),
        ("xx=1", 'no variable "xx"'),
        ("", 'no value to "x"'),
        ("x=1,x=2", '"x" is given twice'),
        ("{", "error: --state: "),
        ("x=9", "error: --state: "),
        ("x=1,y", "error: --state: "),
    ],
)
def test_bad_state(surefoot: Surefoot, state: str, text: str) -> None:
    done = surefoot("simulate", "tasks.py:lamp", "--state", state)
    assert done.code == 2
    assert text in done.err


def test_max_steps(surefoot: Surefoot) -> None:
    runs = surefoot("simulate", "tasks.py:Slow", "--max-steps", "4", "--json").document["runs"]
    assert (runs[0]["steps"], runs[0]["result"]) == (4, "cut")


def test_no_runs(surefoot: Surefoot) -> None:
    done = surefoot("simulate", "tasks.py:lamp", "--runs", "0")
    assert (done.code, done.out) == (0, "0 runs\n")


# -- policies ----------------------------------------------------------------------------------


def lamp_network(folder: Path) -> str:
    """Write a policy of the lamp with scores up = 1 - x / 2 and down = x / 4; return its name."""
    weights, biases = np.array([[-0.5], [0.25]]), np.array([1.0, 0.0])
    network = Network((Layer(weights, biases, "linear"),), "float64")
    (folder / "lamp.nnet").write_text(nnet_text(network))
    return "lamp.nnet"


def test_scores_stand_below_each_step_with_a_choice(surefoot: Surefoot, tmp_path: Path) -> None:
    arguments = ("--policy", lamp_network(tmp_path), "--state", "x=0", "--max-steps", "40")
    lines = surefoot("simulate", "tasks.py:lamp", *arguments).out.splitlines()
    assert lines[1] == "  start  x=0"
    assert lines[2] in (
        "      1  up  x=1  (one of 2 outcomes)",
        "      1  up  (nothing changes)  (one of 2 outcomes)",
    )
    assert "of" not in lines[3].split()[:1]  # at 0 there is nothing to choose from
    assert "         of up 0.5*, down 0.25" in lines


def test_scores_in_the_document(surefoot: Surefoot, tmp_path: Path) -> None:
    arguments = ("--policy", lamp_network(tmp_path), "--state", "x=1", "--json")
    document = surefoot("simulate", "tasks.py:lamp", *arguments).document
    assert len(document["policy"]["sha256"]) == 64
    (run,) = document["runs"]
    assert run["applicable"][0] == ["up", "down"]
    assert run["scores"][0] == {"up": 0.5, "down": 0.25}
    assert run["outcomes"][0] == 2
    assert run["actions"][0] == "up"


def test_unfiltered_policy_ends_where_its_decision_is_not_applicable(
    surefoot: Surefoot, tmp_path: Path
) -> None:
    weights, biases = np.array([[0.0], [0.0]]), np.array([0.0, 1.0])
    network = Network((Layer(weights, biases, "linear"),), "float64")
    (tmp_path / "down.nnet").write_text(nnet_text(network))
    arguments = ("--policy", "down.nnet", "--unfiltered", "--state", "x=1")
    done = surefoot("simulate", "tasks.py:lamp", *arguments)
    assert done.out.splitlines()[:5] == [
        "run 0: not applicable after 1 step",
        "  start  x=1",
        "      1  down  x=0",
        "         of down 1*, up 0",
        "      2  down  is not applicable",
    ]


def test_policy_in_python_has_no_scores(surefoot: Surefoot, tmp_path: Path) -> None:
    (tmp_path / "policy.py").write_text(
        "def lazy(state):\n    print('thinking')\n    return 'up' if state['x'] < 1 else 'down'\n"
    )
    arguments = ("--policy", "policy.py:lazy", "--state", "x=1", "--max-steps", "3")
    done = surefoot("simulate", "tasks.py:lamp", *arguments)
    assert done.out.splitlines()[2:4] == ["      1  down  x=0", "         of down, up"]
    assert "thinking" in done.err and "thinking" not in done.out
    run = surefoot("simulate", "tasks.py:lamp", *arguments, "--json").document["runs"][0]
    assert (run["scores"], run["applicable"][0]) == (None, ["up", "down"])


def test_table_and_interface_beside_the_file(surefoot: Surefoot, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"state": {"x": 1}, "action": "down"}\n')
    done = surefoot(
        "simulate", "tasks.py:lamp", "--policy", "t.jsonl", "--state", "x=1", "--max-steps", "1"
    )
    assert "      1  down  x=0" in done.out
    shutil.copy(tmp_path / lamp_network(tmp_path), tmp_path / "other.nnet")
    interface = {"surefoot_interface": 1, "outputs": ["down", "up"]}
    (tmp_path / "other.interface.json").write_text(json.dumps(interface))
    arguments = ("--policy", "other.nnet", "--state", "x=1", "--json")
    (run,) = surefoot("simulate", "tasks.py:lamp", *arguments).document["runs"]
    assert run["scores"][0] == {"up": 0.25, "down": 0.5}
    assert run["actions"][0] == "down"


def test_random_is_another_policy_for_each_run(surefoot: Surefoot) -> None:
    state = surefoot("simulate", LINE, "--json").document["runs"][0]["start"]
    arguments = ("simulate", LINE, "--runs", "30", "--json", "--state", json.dumps(state))
    runs = surefoot(*arguments).document["runs"]
    assert len({run["actions"][0] for run in runs}) > 1


def test_random_is_a_function_of_seed_and_state(surefoot: Surefoot) -> None:
    arguments = ("simulate", LINE, "--policy", "random?seed=5", "--runs", "30", "--json")
    decisions: dict[str, str] = {}
    for run in surefoot(*arguments).document["runs"]:
        for state, action in zip(run["states"], run["actions"], strict=False):
            assert decisions.setdefault(json.dumps(state), action) == action
    assert len(set(decisions.values())) > 2


@pytest.mark.parametrize(
    "policy, text",
    [
        ("rando", 'did you mean "random"?'),
        ("gone.onnx", "gone.onnx: there is no such file"),
        ("model.pt", "model.pt: "),
    ],
)
def test_bad_policy(surefoot: Surefoot, policy: str, text: str) -> None:
    done = surefoot("simulate", "tasks.py:lamp", "--policy", policy)
    assert (done.code, done.out) == (2, "")
    assert text in done.err


def test_pictures(surefoot: Surefoot) -> None:
    arguments = ("domain:layered?depth=1", "--policy", "first", "--max-steps", "2", "--pictures")
    done = surefoot("simulate", *arguments)
    assert (done.code, done.err) == (0, "")
    indent = " " * 9
    assert done.out.splitlines()[1:6] == [
        "  start  layer=0,side=0",
        f"{indent}root      *",
        f"{indent}   1    o   o",
        f"{indent}last      o",
        f"{indent}fail      o",
    ]
    assert done.out.count("root ") == 3
    assert done.out.splitlines()[-3].strip() == "fail      o"


def test_pictures_stand_below_what_there_was_to_choose_from(surefoot: Surefoot) -> None:
    state = "location_load_0=0,location_load_1=0,location_load_2=0,truck_0=1,truck_load_0=1"
    state += ",truck_vel_0=1,aux_vel=1"
    done = surefoot(
        *("simulate", "domain:one-way-line?packages=1&locations=3", "--policy", "first"),
        *("--state", state, "--max-steps", "1", "--pictures"),
    )
    assert [line.strip() for line in done.out.splitlines()[6:]] == [
        "1  acc_truck_0  truck_0=2,truck_vel_0=2",
        "of acc_truck_0, dec_truck_0, move_truck_0",
        "location   0 1 2",
        "packages   . . .",
        "truck          T-!",
        "speed 2, 1 package loaded",
        "",
        "1 run: 1 cut",
    ]


def test_pictures_in_a_document(surefoot: Surefoot) -> None:
    arguments = ("domain:staircase?steps=1", "--policy", "first", "--max-steps", "3", "--json")
    document = surefoot("simulate", *arguments, "--pictures").document
    (run,) = document["runs"]
    assert document["options"]["pictures"] is True
    assert len(run["pictures"]) == len(run["states"])
    assert run["pictures"][0] == "root *\n        __ landing\n    __ 1\n__ fail"
    assert run["pictures"][1].endswith("__ 1 *\n__ fail")
    plain = surefoot("simulate", *arguments).document
    assert "pictures" not in plain["runs"][0]


@pytest.mark.parametrize("task", ["tasks.py:lamp", "tasks.py:Counter"])
def test_no_pictures_of_other_tasks(surefoot: Surefoot, task: str) -> None:
    done = surefoot("simulate", task, "--pictures")
    assert (done.code, done.out) == (2, "")
    assert "no-picture" in done.err
    assert "surefoot domains" in done.err
