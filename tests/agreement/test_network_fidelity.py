"""Networks decide as the library does that they come from.

The same weights go through every format, and the policy decides in random states in which random
actions are applicable. It may decide otherwise than the library only where the two best scores are
as good as equal: sums of rounded numbers depend on the order in which they are added.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.instances import INSTANCES, needs_data
from tests.support.networks import (
    nnet_text,
    onnx_model,
    plain_scores,
    random_network,
    torch_sequential,
)

from surefoot import Description, load_policy, load_task
from surefoot.policies import Policy, as_policy
from surefoot.policies.convert import convert
from surefoot.policies.models import Layer, Network, Reals

STATES = 10_000
FRAGILE = 1e-5  # of the largest score: closer than this is as good as equal
SIZES = {"small": (4, 16, 4), "middle": (20, 32, 32, 7), "wide": (10, 128, 64, 64, 6)}
ACTIVATIONS = ("relu", "tanh", "sigmoid", "leaky_relu")


class Arena:
    """A task of real variables in which each action has a Boolean that makes it applicable."""

    def __init__(self, inputs: int, actions: int) -> None:
        d = Description("arena")
        self.variables = [f"x{i}" for i in range(inputs)]
        for name in self.variables:
            d.real(name, -10.0, 10.0, initial=0.0)
        for i in range(actions):
            d.edge(f"a{i}", guard=d.bool(f"may{i}", initial=True), outcomes=[{}])
        self.task = d.compile()
        self.interface = {"surefoot_interface": 1, "inputs": self.variables}
        self.interface["outputs"] = [f"a{i}" for i in range(actions)]
        self.actions = actions

    def questions(self, seed: int, count: int = STATES) -> tuple[list[Any], Reals, Any]:
        """Return states, what they feed to the network, and which actions are applicable.

        Half of the inputs are whole numbers, as those of most tasks are.
        """
        rng = np.random.default_rng(seed)
        rows = rng.uniform(-5, 5, (count, len(self.variables)))
        rows[: count // 2] = rows[: count // 2].round()
        masks = rng.random((count, self.actions)) < 0.6
        masks[np.arange(count), rng.integers(0, self.actions, count)] = True
        states = []
        for row, mask in zip(rows.tolist(), masks.tolist(), strict=True):
            said = dict(zip(self.variables, row, strict=True))
            states.append(self.task.state(said | {f"may{i}": may for i, may in enumerate(mask)}))
        return states, rows, masks


ARENAS: dict[tuple[int, int], tuple[Arena, Any]] = {}


def arena_of(network: Network) -> tuple[Arena, Any]:
    """Return the arena of networks of this shape and its questions, made once."""
    shape = (network.num_inputs, network.num_outputs)
    if shape not in ARENAS:
        arena = Arena(*shape)
        ARENAS[shape] = arena, arena.questions(seed=sum(shape))
    return ARENAS[shape]


def check(network: Network, make: Any, scores_of: Any, *, max_fragile: float = 0.002) -> None:
    """Hold the decisions of a policy against those that the library's scores ask for.

    ``make`` returns the policy for a task and an interface; ``scores_of`` the library's scores of
    rows of inputs.
    """
    arena, (states, rows, masks) = arena_of(network)
    policy: Policy = make(arena.task, arena.interface)
    decided = np.array([int(name[1:]) for name in policy.decide_all(states)])
    scores = np.asarray(scores_of(rows), dtype=np.float64)
    masked = np.where(masks, scores, -np.inf)
    expected = masked.argmax(axis=1)
    best = np.sort(masked, axis=1)
    gap = best[:, -1] - best[:, -2]
    fragile = gap <= FRAGILE * np.abs(scores).max(axis=1)
    differs = decided != expected
    assert not (differs & ~fragile).any()
    assert fragile.mean() <= max_fragile
    assert len(np.unique(decided)) > 1
    found = policy.scorer.scores(np.ascontiguousarray(rows))
    assert np.allclose(found, scores, rtol=1e-4, atol=FRAGILE * np.abs(scores).max())


def from_file(file: Path) -> Any:
    return lambda task, interface: load_policy(str(file), task, interface=interface)


def networks(**how: Any) -> Any:
    """Return parameters: every size with every activation."""
    return pytest.mark.parametrize(
        "network",
        [
            pytest.param(
                random_network(number, *sizes, activation=activation, **how),
                id=f"{name}-{activation}",
            )
            for number, (name, sizes) in enumerate(SIZES.items())
            for activation in ACTIVATIONS
        ],
    )


@pytest.fixture
def torch() -> Any:
    found = pytest.importorskip("torch", reason="torch is not installed")
    found.set_num_threads(1)
    return found


def torch_scores(module: Any, torch: Any, precision: str = "float32") -> Any:
    def scores(rows: Reals) -> Reals:
        with torch.no_grad():
            found: Reals = module(torch.from_numpy(rows.astype(precision))).double().numpy()
        return found

    return scores


def session_scores(data: bytes, precision: str = "float32") -> Any:
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda rows: session.run(None, {name: rows.astype(precision)})[0]


# -- every format ------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
def test_nnet_against_numpy(tmp_path: Path, size: str) -> None:
    network = random_network(7, *SIZES[size], precision="float64")
    (tmp_path / "net.nnet").write_text(nnet_text(network))
    check(network, from_file(tmp_path / "net.nnet"), lambda rows: plain_scores(network, rows))


@networks()
def test_modules_against_torch(network: Network, torch: Any) -> None:
    module = torch_sequential(network)
    check(
        network,
        lambda task, interface: as_policy(module, task, interface=interface),
        torch_scores(module, torch),
    )


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_doubles_against_torch(activation: str, torch: Any) -> None:
    network = random_network(5, 20, 32, 32, 7, activation=activation, precision="float64")
    module = torch_sequential(network)
    check(
        network,
        lambda task, interface: as_policy(module, task, interface=interface),
        torch_scores(module, torch, "float64"),
    )


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_safetensors_against_torch(tmp_path: Path, activation: str, torch: Any) -> None:
    library = pytest.importorskip("safetensors.torch", reason="safetensors is not installed")
    network = random_network(6, 10, 128, 64, 64, 6, activation=activation)
    module = torch_sequential(network)
    file = tmp_path / "net.safetensors"
    library.save_file(module.state_dict(), file)

    def make(task: Any, interface: dict[str, Any]) -> Policy:
        return load_policy(str(file), task, interface={**interface, "activation": activation})

    check(network, make, torch_scores(module, torch))


@pytest.mark.parametrize("kind", ["state dictionary", "whole module"])
def test_converted_torch_files_against_torch(tmp_path: Path, kind: str, torch: Any) -> None:
    network = random_network(8, 20, 32, 32, 7, activation="tanh")
    module = torch_sequential(network)
    is_whole = kind == "whole module"
    torch.save(module if is_whole else module.state_dict(), tmp_path / "net.pth")
    out = tmp_path / "net.safetensors"
    convert(tmp_path / "net.pth", out, trust=True, activation=None if is_whole else "tanh")
    check(network, from_file(out), torch_scores(module, torch))


@networks()
def test_onnx_against_onnxruntime(tmp_path: Path, network: Network) -> None:
    pytest.importorskip("onnx", reason="onnx is not installed")
    style = "matmul" if len(network.layers) == 3 else "gemm"
    data = onnx_model(network, style=style).SerializeToString()
    (tmp_path / "net.onnx").write_bytes(data)
    check(network, from_file(tmp_path / "net.onnx"), session_scores(data))


def test_doubles_against_onnxruntime(tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="onnx is not installed")
    network = random_network(9, 20, 32, 32, 7, precision="float64")
    data = onnx_model(network).SerializeToString()
    (tmp_path / "net.onnx").write_bytes(data)
    check(network, from_file(tmp_path / "net.onnx"), session_scores(data, "float64"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_what_torch_exports(tmp_path: Path, activation: str, torch: Any) -> None:
    pytest.importorskip("onnx", reason="onnx is not installed")
    network = random_network(10, 20, 32, 32, 7, activation=activation)
    module = torch_sequential(network)
    file = tmp_path / "net.onnx"
    given = torch.zeros(1, network.num_inputs)
    axes = {"input": {0: "n"}, "output": {0: "n"}}
    names = {"input_names": ["input"], "output_names": ["output"], "dynamic_axes": axes}
    torch.onnx.export(module, (given,), str(file), dynamo=False, **names)
    check(network, from_file(file), torch_scores(module, torch))
    check(network, from_file(file), session_scores(file.read_bytes()))


# -- published policies ------------------------------------------------------------------------


def visited(task: Any, policy: Policy, count: int = 2_000) -> list[Any]:
    """Return states that the policy meets, and has something to decide in."""
    rng = np.random.default_rng(1)
    found: list[Any] = []
    while len(found) < count:
        state = task.sample_starts(1, seed=len(found))[0]
        for _ in range(50):
            if task.is_fail(state) or task.is_goal(state) or not task.applicable(state):
                break
            found.append(state)
            outcomes = task.outcomes(state, policy.decide(state))
            state = outcomes[rng.integers(len(outcomes))]
    return found[:count]


def check_visited(policy: Policy, scores_of: Any, outputs: list[str]) -> None:
    task = policy.task
    states = visited(task, policy)
    decided = policy.decide_all(states)
    scores = scores_of(states)
    for state, action, row in zip(states, decided, scores, strict=True):
        applicable = set(task.applicable(state))
        rated = [(-score, i) for i, score in enumerate(row) if outputs[i] in applicable]
        assert action == outputs[min(rated)[1]]
    assert len(set(decided)) > 1


@needs_data
def test_published_blocksworld() -> None:
    instance = INSTANCES["blocksworld 6, separate files"]
    task = load_task(instance.path, **instance.arguments)
    file = instance.path.with_name("blocksworld_6_5_32_32.jani2nnet")
    said = json.loads(file.read_text())
    lines = file.with_suffix(".nnet").read_text().splitlines()
    rows = [[float(cell) for cell in line.rstrip(",").split(",")] for line in lines[8:]]
    sizes = [20, 32, 32, 7]

    def scores(states: list[Any]) -> Reals:
        x = np.array([[float(state[one["name"]]) for one in said["input"]] for state in states])
        at = 0
        for size in sizes[1:]:
            weights, biases = rows[at : at + size], rows[at + size : at + 2 * size]
            x = x @ np.array(weights).T + np.array(biases)[:, 0]
            x = x if size == sizes[-1] else np.maximum(x, 0)
            at += 2 * size
        assert at == len(rows)
        return x

    check_visited(load_policy(str(file), task), scores, said["output"])


@needs_data
def test_published_actor(tmp_path: Path, torch: Any) -> None:
    instance = INSTANCES["two-way line"]
    task = load_task(instance.path, **instance.arguments)
    file = instance.path.with_name("policy_b_sb3.zip")
    convert(file, tmp_path / "actor.safetensors", trust=True)
    policy = load_policy(str(tmp_path / "actor.safetensors"), task)
    with zipfile.ZipFile(file) as zipped:
        weights = torch.load(io.BytesIO(zipped.read("policy.pth")), weights_only=True)
    constants = [float(value) for value in task.description.constants.values()]

    def scores(states: list[Any]) -> Reals:
        rows = [[*constants, *map(float, state.values())] for state in states]
        x = torch.tensor(rows, dtype=torch.float32)
        for name in ("mlp_extractor.policy_net.0", "mlp_extractor.policy_net.2"):
            x = torch.tanh(x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"])
        found: Reals = (x @ weights["action_net.weight"].T + weights["action_net.bias"]).numpy()
        return found

    check_visited(policy, scores, list(task.actions))


# -- near ties ---------------------------------------------------------------------------------


def twins(network: Network, difference: float) -> Network:
    """Return the network with its last output made like its first, but for a small difference."""
    last = network.layers[-1]
    weights, biases = last.weights.copy(), last.biases.copy()
    weights[-1], biases[-1] = weights[0], biases[0] + difference
    single = [array.astype(network.precision).astype(np.float64) for array in (weights, biases)]
    return replace(network, layers=(*network.layers[:-1], Layer(*single, last.activation)))


def test_equal_scores_go_to_the_lowest_output() -> None:
    """Outputs with the same numbers have the same scores, bit for bit.

    torch does not promise that: it adds the last columns of a matrix in another order.
    """
    network = twins(random_network(11, 20, 32, 32, 7), 0.0)
    arena, (states, rows, masks) = arena_of(network)
    policy = as_policy(network, arena.task, interface=arena.interface)
    decided = np.array([int(name[1:]) for name in policy.decide_all(states)])
    scores = policy.scorer.scores(np.ascontiguousarray(rows))
    assert np.array_equal(scores[:, 0], scores[:, -1])
    assert np.array_equal(decided, np.where(masks, scores, -np.inf).argmax(axis=1))
    both = masks[:, 0] & masks[:, -1]
    assert not (decided[both] == 6).any()
    assert (decided[masks[:, -1] & ~masks[:, 0]] == 6).any()


def test_near_ties_are_few_and_are_the_only_differences(torch: Any) -> None:
    """With two outputs a millionth apart the scores agree, and only these two are mixed up."""
    network = twins(random_network(12, 20, 32, 32, 7), 1e-6)
    module = torch_sequential(network)
    check(
        network,
        lambda task, interface: as_policy(module, task, interface=interface),
        torch_scores(module, torch),
        max_fragile=0.3,
    )


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_neighbouring_numbers_are_told_apart(precision: str) -> None:
    """Scores that differ in their last bit are decided by that bit: nothing is rounded away."""
    one = np.array(1.0, precision)
    above = float(np.nextafter(one, np.array(2.0, precision)))
    for biases, expected in (
        ([1.0, above, 1.0], "a1"),
        ([1.0, above, above], "a1"),
        ([above, 1.0, above], "a0"),
        ([-above, -1.0, -1.0], "a1"),
    ):
        layer = Layer(np.zeros((3, 2)), np.array(biases), "linear")
        arena = Arena(2, 3)
        network = Network((layer,), precision)  # type: ignore[arg-type]
        policy = as_policy(network, arena.task, interface=arena.interface)
        assert policy.decide(arena.task.initial_state()) == expected
