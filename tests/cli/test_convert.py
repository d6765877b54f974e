"""``surefoot convert``."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

import pytest

from surefoot.policies import safetensors
from tests.cli.conftest import Surefoot
from tests.support.networks import nnet_text, random_network, same_network

NETWORK = random_network(1, 1, 4, 2, precision="float64")
OPTIONS = "--out -o --trust --activation --interface --json --seed --max-seconds --memory-mb"


@pytest.fixture
def net(tmp_path: Path) -> Path:
    """A network for the lamp: one input, two outputs."""
    file = tmp_path / "net.nnet"
    file.write_text(nnet_text(NETWORK))
    (tmp_path / "net.safetensors").write_bytes(safetensors.to_bytes(NETWORK))
    return file


def test_help(surefoot: Surefoot) -> None:
    done = surefoot("convert", "--help")
    assert done.code == 0
    assert all(f"{option} " in done.out for option in OPTIONS.split())
    assert "surefoot convert best_model.zip -o best_model.safetensors --trust" in done.out
    assert "convert" in surefoot("--help").out


def test_says_what_it_made(surefoot: Surefoot, net: Path, tmp_path: Path) -> None:
    done = surefoot("convert", "net.nnet", "-o", "new.safetensors")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "new.safetensors: network 1-4-2 relu, float64",
        "  inputs   1: by position in the task",
        "  outputs  2: by position in the task",
    ]
    assert same_network(safetensors.read(tmp_path / "new.safetensors").model, NETWORK)


def test_json(surefoot: Surefoot, net: Path, tmp_path: Path) -> None:
    said = {"surefoot_interface": 1, "inputs": ["x"], "outputs": ["down", "up"]}
    (tmp_path / "lamp.json").write_text(json.dumps(said))
    given = ("convert", "net.nnet", "-o", "new.safetensors", "--interface", "lamp.json", "--json")
    document = surefoot(*given).document
    expected = {"command": "convert", "source": "net.nnet", "file": "new.safetensors", "seed": 0}
    expected |= {"kind": "network", "num_inputs": 1, "num_outputs": 2, "notes": []}
    expected |= {"inputs": ["x"], "outputs": ["down", "up"]}
    assert {key: document[key] for key in expected} == expected
    assert document["options"]["trust"] is False
    assert len(document["sha256"]) == 64


def test_pickles_need_trust(surefoot: Surefoot, tmp_path: Path) -> None:
    (tmp_path / "net.pkl").write_bytes(pickle.dumps({"a": 1}))
    done = surefoot("convert", "net.pkl", "-o", "new.safetensors", "--json")
    assert done.code == 2
    assert "surefoot convert net.pkl -o new.safetensors --trust" in done.err
    assert done.document["error"]["code"] == "policy-is-pickle"
    assert sorted(os.listdir(tmp_path)) == ["net.pkl", "tasks.py"]


BAD = {
    "no output": (["net.nnet"], "out"),
    "a network as JSON": (
        ["net.nnet", "-o", "new.json"],
        "surefoot convert net.nnet -o new.safetensors",
    ),
    "onto itself": (["net.safetensors", "-o", "net.safetensors"], "the file that is read"),
    "unknown activation": (["net.nnet", "-o", "new.safetensors", "--activation", "x"], "there are"),
    "no such file": (["nett.nnet", "-o", "new.safetensors"], "net.nnet"),
    "no time": (["net.nnet", "-o", "new.safetensors", "--max-seconds", "0"], "--max-seconds"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_options(surefoot: Surefoot, net: Path, case: str) -> None:
    arguments, text = BAD[case]
    done = surefoot("convert", *arguments)
    assert (done.code, done.out) == (2, "")
    assert text in done.err


def test_positions_of_actions_are_told(surefoot: Surefoot, tmp_path: Path) -> None:
    trees = pytest.importorskip("sklearn.tree", reason="scikit-learn is not installed")
    fitted = trees.DecisionTreeClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 2, 3, 4])
    (tmp_path / "tree.pkl").write_bytes(pickle.dumps(fitted))
    done = surefoot("convert", "tree.pkl", "-o", "tree.json", "--trust")
    assert done.code == 0, done.err
    assert done.out.splitlines()[2:] == ["  outputs  4: actions 0, 2, 3, 4 of the task"]


def test_torch_file(surefoot: Surefoot, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from tests.support.networks import torch_sequential

    torch.save(torch_sequential(NETWORK).state_dict(), tmp_path / "net.pth")
    given = ("convert", "net.pth", "-o", "new.safetensors", "--trust", "--activation", "relu")
    done = surefoot(*given, "--json")
    assert done.code == 0, done.err
    assert done.document["model"] == "network 1-4-2 relu, float64"
