"""The comparison with the original library: it agrees where it should, and sees what is wrong."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.instances import INSTANCES, needs_data
from tests.support.networks import grid, nnet_text, onnx_model, random_network
from tests.support.trees import lightgbm_booster, xgboost_booster

import surefoot
from surefoot import Description, examine, load_policy
from surefoot.doctor import originals
from surefoot.doctor.fidelity import compared
from surefoot.doctor.originals import numpy_scores, original_of
from surefoot.doctor.sampling import sampled
from surefoot.policies import Policy, as_policy
from surefoot.policies.models import Layer, Network
from surefoot.policies.original import Original
from surefoot.policies.safetensors import to_bytes
from surefoot.policies.trees import own

LATER = 1e12


def sample_of(policy: Policy, count: int = 2_000) -> Any:
    return sampled(policy.task, [], count=count, seed=0, deadline=LATER)


def small_grid() -> Any:
    """Return a task with ten thousand states, for trees of four inputs."""
    return grid(4, 4)


def network_file(folder: Path, kind: str, *, activation: str = "relu") -> Path:
    network = random_network(3, 5, 16, 4, activation=activation)
    path = folder / f"policy.{kind}"
    if kind == "nnet":
        path.write_text(nnet_text(random_network(3, 5, 16, 4, precision="float64")))
    elif kind == "safetensors":
        path.write_bytes(to_bytes(network))
    else:
        path.write_bytes(onnx_model(network).SerializeToString())
    return path


def trees_file(folder: Path, kind: str, *, real: bool = False) -> Path:
    path = folder / f"trees.{kind}"
    if kind == "txt":
        parameters = {"objective": "multiclass", "num_class": 4}
        lightgbm_booster(parameters, leaves=8, seed=1, real=real).save_model(path)
    else:
        parameters = {"objective": "multi:softprob", "num_class": 4}
        xgboost_booster(parameters, depth=4, seed=1, real=real).save_model(path)
    return path


@pytest.mark.parametrize(
    "kind, library",
    [("nnet", "torch"), ("safetensors", "torch"), ("onnx", "onnxruntime")],
)
def test_networks_decide_as_their_library(kind: str, library: str, tmp_path: Path) -> None:
    pytest.importorskip(library)
    policy = load_policy(network_file(tmp_path, kind), grid(5, 4))
    report = examine(policy.task, policy)
    assert report.policy is not None and report.policy.fidelity is not None
    found = report.policy.fidelity
    assert found.original is not None and found.original.startswith(library)
    assert [part.what for part in found.parts] == ["states", "inputs where the decision turns"]
    assert found.parts[0].asked == 10_000
    assert found.differs == 0
    assert found.parts[1].near_ties == found.parts[1].asked == 400
    assert found.largest_difference is not None and found.largest_difference < 1e-5
    assert "policy-differs" not in {finding.code for finding in report.findings}


@pytest.mark.parametrize(
    "kind, library", [("json", "xgboost"), ("ubj", "xgboost"), ("txt", "lightgbm")]
)
def test_trees_decide_as_their_library_at_every_threshold(
    kind: str, library: str, tmp_path: Path
) -> None:
    pytest.importorskip(library)
    policy = load_policy(trees_file(tmp_path, kind), small_grid())
    found, findings = compared(policy, sample_of(policy), seed=0, deadline=LATER)
    states, thresholds = found.parts[:2]
    model: Any = policy.model
    inner = int((model.features >= 0).sum())
    assert (states.what, thresholds.what) == ("states", "inputs at thresholds")
    assert thresholds.asked == inner * (6 if kind == "txt" else 3)
    for part in found.parts:
        assert part.same_scores == part.asked
        assert (part.differs, part.differs_at_ties) == (0, 0)
    assert findings == []


def test_binary_and_softmax_outputs_are_compared_as_scores(tmp_path: Path) -> None:
    pytest.importorskip("xgboost")
    pytest.importorskip("onnxruntime")
    booster = xgboost_booster({"objective": "binary:logistic"}, depth=3, seed=1, real=False)
    booster.save_model(tmp_path / "two.ubj")
    softmax = onnx_model(random_network(5, 4, 8, 2), tail=("Softmax",))
    (tmp_path / "two.onnx").write_bytes(softmax.SerializeToString())
    index = onnx_model(random_network(5, 4, 8, 2), tail=("ArgMax",))
    (tmp_path / "index.onnx").write_bytes(index.SerializeToString())
    for name in ("two.ubj", "two.onnx", "index.onnx"):
        policy = load_policy(tmp_path / name, grid(4, 2))
        found, findings = compared(policy, sample_of(policy), seed=0, deadline=LATER)
        assert found.parts[0].asked > 1_000
        assert (found.differs, findings) == (0, [])


@pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid", "leaky_relu"])
def test_without_torch_numpy_computes(activation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    network = random_network(4, 4, 12, 4, activation=activation)
    rows = np.random.default_rng(0).uniform(-9, 9, size=(500, 4))
    by_torch = originals._torch(network)
    monkeypatch.setattr(originals, "installed", lambda name: None)
    by_numpy = originals._torch(network)
    assert by_numpy.name.startswith("NumPy")
    assert np.allclose(by_numpy.scores(rows), by_torch.scores(rows), rtol=1e-4, atol=1e-5)
    assert np.allclose(by_numpy.scores(rows), network.scorer().scores(rows), rtol=1e-4, atol=1e-5)


def test_a_library_that_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policies = [
        load_policy(network_file(tmp_path, "onnx"), grid(5, 4)),
        load_policy(trees_file(tmp_path, "ubj"), small_grid()),
        load_policy(trees_file(tmp_path, "txt"), small_grid()),
    ]
    for module in ("onnxruntime", "xgboost", "lightgbm"):
        monkeypatch.setitem(sys.modules, module, None)
    for policy, name in zip(policies, ("onnxruntime", "XGBoost", "LightGBM"), strict=True):
        found, findings = compared(policy, sample_of(policy, 10), seed=0, deadline=LATER)
        assert (found.original, findings) == (None, [])
        assert found.missing is not None and found.missing.startswith(f"{name} is not installed")


def test_what_has_no_original_says_so(tmp_path: Path) -> None:
    trees = load_policy(trees_file(tmp_path, "ubj"), small_grid()).model
    own.write(trees, tmp_path / "own.json")
    policy = load_policy(tmp_path / "own.json", small_grid())
    assert "our own format" in str(original_of(policy))
    in_memory = as_policy(trees, small_grid())
    assert "no file" in str(original_of(in_memory))


def test_interface_file_leads_to_the_policy_file(tmp_path: Path) -> None:
    pytest.importorskip("xgboost")
    trees_file(tmp_path, "ubj")
    content = {
        "surefoot_interface": 1,
        "file": "trees.ubj",
        "inputs": ["v3", "v2", {"variable": "v1", "mean": 4.0, "scale": 2.0}, "v0"],
    }
    (tmp_path / "a.interface.json").write_text(json.dumps(content))
    policy = load_policy(tmp_path / "a.interface.json", small_grid())
    found, findings = compared(policy, sample_of(policy), seed=0, deadline=LATER)
    assert found.original is not None and found.original.startswith("XGBoost")
    assert found.parts[0].same_scores == found.parts[0].asked
    assert findings == []


# -- what is wrong is seen -----------------------------------------------------------------------


def original(network: Network) -> Original:
    return Original("other", lambda rows: numpy_scores(network, rows))


def with_layers(network: Network, *layers: Layer) -> Network:
    return replace(network, layers=layers)


def test_other_activation_is_a_finding_with_its_state(tmp_path: Path) -> None:
    policy = load_policy(network_file(tmp_path, "safetensors"), grid(5, 4))
    first, last = policy.model.layers  # type: ignore[union-attr]
    other = with_layers(policy.model, replace(first, activation="tanh"), last)  # type: ignore[arg-type]
    found, findings = compared(
        policy, sample_of(policy), seed=0, deadline=LATER, original=original(other)
    )
    assert found.parts[0].differs > 10
    (finding,) = findings
    assert finding.code == "policy-differs"
    state_text = finding.message.rpartition("in state ")[2]
    values = dict(part.split("=") for part in state_text.split(","))
    state = policy.task.state({name: int(value) for name, value in values.items()})
    ours = policy.decide(state)
    assert f'Surefoot picks "{ours}"' in finding.message
    assert f'other picks "{ours}"' not in finding.message


def test_swapped_outputs_are_seen(tmp_path: Path) -> None:
    policy = load_policy(network_file(tmp_path, "safetensors"), grid(5, 4))
    first, last = policy.model.layers  # type: ignore[union-attr]
    order = [1, 0, 2, 3]
    swapped = replace(last, weights=last.weights[order], biases=last.biases[order])
    other = with_layers(policy.model, first, swapped)  # type: ignore[arg-type]
    found, _ = compared(policy, sample_of(policy), seed=0, deadline=LATER, original=original(other))
    assert found.parts[0].differs > 10


def test_float64_sums_of_a_float32_network_are_rounding_only(tmp_path: Path) -> None:
    policy = load_policy(network_file(tmp_path, "safetensors"), grid(5, 4))
    other = replace(policy.model, precision="float64")  # type: ignore[arg-type]
    found, findings = compared(
        policy,
        sample_of(policy),
        seed=0,
        deadline=LATER,
        original=original(other),  # type: ignore[arg-type]
    )
    assert (found.differs, findings) == (0, [])
    assert found.parts[0].same_scores < found.parts[0].asked
    assert found.parts[1].differs_at_ties > 0


def test_thresholds_on_the_wrong_side_are_seen_at_thresholds_only(tmp_path: Path) -> None:
    """``x <= t`` for ``x < t``: no state of whole numbers lies on one of these thresholds."""
    policy = load_policy(trees_file(tmp_path, "ubj", real=True), small_grid())
    model: Any = policy.model
    above = np.nextafter(model.thresholds.astype(np.float32), np.float32(np.inf)).astype(float)
    wrong = replace(model, thresholds=np.where(model.features >= 0, above, model.thresholds))
    scorer = wrong.scorer()
    found, findings = compared(
        policy,
        sample_of(policy),
        seed=0,
        deadline=LATER,
        original=Original("other", lambda rows: scorer.scores(np.ascontiguousarray(rows))),
    )
    states, thresholds = found.parts[:2]
    assert states.differs == 0
    assert thresholds.differs > 0
    assert thresholds.same_scores < thresholds.asked
    assert "for the inputs [" in findings[0].message


def test_scores_that_are_no_numbers_are_a_finding() -> None:
    weights = np.zeros((4, 4))
    weights[0, 0] = 3e38
    network = Network((Layer(weights, np.zeros(4), "linear"),), "float32")
    policy = as_policy(network, small_grid())
    found, findings = compared(policy, sample_of(policy), seed=0, deadline=LATER)
    assert [finding.code for finding in findings] == ["policy-no-number"]
    assert found.differs == 0


def test_time_is_kept_but_some_states_are_asked_about(tmp_path: Path) -> None:
    policy = load_policy(trees_file(tmp_path, "ubj"), small_grid())
    found, _ = compared(policy, sample_of(policy), seed=0, deadline=time.monotonic())
    assert found.parts[0].asked == 1_000


def test_masks_are_those_of_the_states() -> None:
    """Where the best action is not applicable, the next one counts on both sides."""
    biases = np.array([0.0, 1.0, 2.0, 3.0])
    network = Network((Layer(np.zeros((4, 4)), biases, "linear"),), "float64")
    policy = as_policy(network, small_grid())
    report = examine(policy.task, policy=policy)
    assert report.policy is not None and report.policy.fidelity is not None
    assert report.policy.fidelity.differs == 0
    assert set(report.policy.decisions) == {"a2", "a3"}  # a3 where v0 is above 4
    other = replace(network, layers=(replace(network.layers[0], biases=biases[[0, 2, 1, 3]]),))
    found, _ = compared(policy, sample_of(policy), seed=0, deadline=LATER, original=original(other))
    states = [s for s in sample_of(policy).states if policy.task.unpack(s)["v0"] <= 4]
    assert found.parts[0].differs == len(states)


def test_real_variables_are_drawn_within_their_range() -> None:
    d = Description("reals")
    x, y = d.real("x", -2.0, 3.0, initial=0.0), d.real("y", initial=0.0)
    b = d.bool("b", initial=False)
    d.edge("a", outcomes=[{x: 0.0, y: 0.0, b: True}])
    d.edge("c", guard=b, outcomes=[{}])
    task = d.compile()
    states = sampled(task, [], count=300, seed=0, deadline=LATER)
    values = [task.unpack(state) for state in states.states]
    assert len(values) == 300
    assert -2.0 <= min(s["x"] for s in values) < -1.5 and 2.5 < max(s["x"] for s in values) <= 3.0
    assert len({s["y"] for s in values}) == 300
    assert {len(actions) for actions in states.choices} == {1, 2}


@needs_data
@pytest.mark.data
def test_published_blocksworld_policy() -> None:
    instance = INSTANCES["blocksworld 6, property file"]
    task = surefoot.load_task(instance.path, **instance.arguments)
    policy = load_policy(instance.path.parent / "blocksworld_6_5_32_32.jani2nnet", task)
    report = examine(task, policy=policy)
    assert report.policy is not None and report.policy.fidelity is not None
    assert report.policy.fidelity.parts[0].asked == 10_000
    assert report.policy.fidelity.differs == 0
    assert len(report.policy.decisions) == 7
    codes = {finding.code for finding in report.findings}
    assert "variable-not-fed" in codes and "policy-differs" not in codes
