"""``surefoot doctor``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Surefoot
from tests.support.instances import DATA, needs_data
from tests.support.jani import X, automaton, edge, model, op
from tests.support.networks import nnet_text, random_network

LINE = "domain:one-way-line?packages=3&locations=4"


def test_document(surefoot: Surefoot) -> None:
    done = surefoot("doctor", LINE, "--json")
    assert (done.code, done.err) == (0, "")
    assert done.document["command"] == "doctor"
    assert done.document["edges"] == 23
    assert done.document["findings"] == []
    assert [v["name"] for v in done.document["variables"]][-1] == "aux_vel"


def test_text(surefoot: Surefoot) -> None:
    done = surefoot("doctor", "tasks.py:leaves")
    assert done.code == 0
    assert "[no-goal]" in done.out
    assert "[model-out-of-range]" in done.out
    assert "z: int from 0 to 3, initially 0" in done.out


def test_built_in_policy(surefoot: Surefoot) -> None:
    done = surefoot("doctor", "tasks.py:lamp", "--policy", "first")
    assert done.code == 0
    assert "policy first\n  model    built in\n" in done.out
    assert "  takes    up in 1 of 1 state with a choice\n" in done.out


def test_memory_is_said_to_be_of_no_use(surefoot: Surefoot) -> None:
    assert "not needed here" in surefoot("doctor", "--help").out


def test_python_task(surefoot: Surefoot) -> None:
    document = surefoot("doctor", "tasks.py:Counter", "--json").document
    assert document["sampled"] == 4
    assert [f["code"] for f in document["findings"]] == ["dead-end"]


# -- policies ----------------------------------------------------------------------------------


def lamp_network(folder: Path) -> str:
    (folder / "lamp.nnet").write_text(nnet_text(random_network(1, 1, 4, 2, precision="float64")))
    return "lamp.nnet"


def test_policy_in_the_text(surefoot: Surefoot, tmp_path: Path) -> None:
    done = surefoot("doctor", "tasks.py:lamp", "--policy", lamp_network(tmp_path))
    assert done.code == 0
    for line in (
        "policy lamp.nnet",
        "  model    network 1-4-2 relu, float64",
        "  decides  for the best-scored applicable action",
        "inputs (1)",
        "  0 <- x",
        "outputs (2)",
        "  0 -> up",
        "  1 -> down",
    ):
        assert line in done.out.splitlines()
    assert "\nfidelity (decides as torch " in done.out or "\nfidelity (decides as NumPy" in done.out
    assert "  4 states: same decisions" in done.out


def test_policy_in_the_document(surefoot: Surefoot, tmp_path: Path) -> None:
    done = surefoot("doctor", "tasks.py:lamp", "--policy", lamp_network(tmp_path), "--json")
    policy = done.document["policy"]
    assert policy["name"] == "lamp.nnet"
    assert len(policy["sha256"]) == 64
    scaling = {"mean": 0.0, "scale": 1.0}
    assert policy["inputs"] == [{"variable": "x", "constant": None, "one_hot": None, **scaling}]
    assert policy["outputs"] == ["up", "down"]
    assert policy["fidelity"]["parts"][0]["asked"] == 4
    assert policy["fidelity"]["parts"][0]["differs"] == 0


def test_policy_that_differs_is_code_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from surefoot.cli import main
    from surefoot.doctor import fidelity
    from surefoot.policies.original import Original

    (tmp_path / "p.nnet").write_text(nnet_text(random_network(3, 9, 8, 6, precision="float64")))
    monkeypatch.chdir(tmp_path)
    arguments = ["doctor", LINE + "&variant=icy-park", "--policy", "p.nnet", "--json"]
    assert main(arguments) == 0
    other = Original("other", lambda rows: -rows[:, :6] - 1.0)
    monkeypatch.setattr(fidelity, "original_of", lambda policy: other)
    assert main(arguments) == 1


@pytest.mark.parametrize(
    "arguments, text",
    [
        (("--policy", "firts"), 'did you mean "first"?'),
        (("--policy", "gone.ubj"), "gone.ubj: there is no such file"),
        (("--interface", "i.json"), "--interface belongs to a policy"),
        (("--unfiltered",), "--unfiltered belongs to a policy"),
    ],
)
def test_bad_policy(surefoot: Surefoot, arguments: tuple[str, ...], text: str) -> None:
    done = surefoot("doctor", "tasks.py:lamp", *arguments)
    assert (done.code, done.out) == (2, "")
    assert text in done.err


def test_policy_of_other_size_points_at_the_interface(surefoot: Surefoot, tmp_path: Path) -> None:
    (tmp_path / "p.nnet").write_text(nnet_text(random_network(1, 3, 4, 2)))
    done = surefoot("doctor", "tasks.py:lamp", "--policy", "p.nnet")
    assert done.code == 2
    assert "[policy-wrong-inputs]" in done.err
    assert "--interface FILE" in done.err


@needs_data
@pytest.mark.data
def test_published_blocksworld_policy(surefoot: Surefoot) -> None:
    folder = DATA / "blocksworld_6_5_cost05"
    done = surefoot(
        *("doctor", str(folder / "model.jani"), "--property", str(folder / "pa_original.jani")),
        *("--policy", str(folder / "blocksworld_6_5_32_32.jani2nnet")),
    )
    assert done.code == 0
    assert "  model    network 20-32-32-7 relu, float64\n" in done.out
    assert "  ... and 8 more (all of them with --json)\n" in done.out
    assert "  10,000 states: same decisions" in done.out


def test_a_model_that_does_not_say_what_fails(surefoot: Surefoot, folder: Path) -> None:
    step = edge("go", ("x", op("+", "x", 1)), guard=op("<", "x", 9))
    reach = {"name": "reach", "expression": {"op": "filter", "values": {"op": "Pmax"}}}
    content = model(automaton(step), variables=[X], actions=["go"], properties=[reach])
    (folder / "plain.jani").write_text(json.dumps(content), "utf-8")
    out = surefoot("doctor", "plain.jani").out
    assert 'property "reach" is ignored: only those with "op": "PA" say what fails' in out
    assert "everything is safe; --fail gives one, as --fail 'x = 9', or a property" in out
    given = surefoot("doctor", "plain.jani", "--fail", "x = 9 | x = 3").out
    assert "is ignored" not in given
    assert "no-fail" not in given
    wrong = surefoot("doctor", "plain.jani", "--fail", "y = 9")
    assert (wrong.code, wrong.err.splitlines()[0]) == (
        2,
        'error: fail "y = 9":column 1: variable "y" is not declared [jani-unknown-variable]',
    )
