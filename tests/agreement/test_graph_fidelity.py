"""ONNX graphs that are no chain of layers: the same scores as onnxruntime and torch."""

import io
import warnings

import numpy as np
import onnx
import onnxruntime
import pytest
from tests.support.networks import grid

import surefoot
from surefoot import InputError, Unsupported, load_policy
from surefoot.policies.graph import Graph
from surefoot.policies.onnx import read

torch = pytest.importorskip("torch", reason="torch is not installed")
nn, functional = torch.nn, torch.nn.functional
INPUTS, OUTPUTS = 3, 4


class Residual(nn.Module):
    def __init__(self, norm=True, activation=functional.gelu):
        super().__init__()
        self.below, self.beside = nn.Linear(INPUTS, 8), nn.Linear(8, 8)
        self.norm = nn.LayerNorm(8) if norm else nn.Identity()
        self.above, self.activation = nn.Linear(8, OUTPUTS), activation

    def forward(self, x):
        hidden = self.activation(self.below(x))
        return self.above(self.norm(hidden + torch.relu(self.beside(hidden))))


class Dueling(nn.Module):
    def __init__(self):
        super().__init__()
        self.value, self.advantage = nn.Linear(INPUTS, 1), nn.Linear(INPUTS, OUTPUTS)

    def forward(self, x):
        advantage = self.advantage(x)
        return self.value(x) + advantage - advantage.mean(dim=-1, keepdim=True)


class Both(nn.Module):
    """Two branches side by side, clipped."""

    def __init__(self):
        super().__init__()
        self.one, self.other = nn.Linear(INPUTS, 3), nn.Linear(INPUTS, 5)
        self.norm, self.above = nn.BatchNorm1d(8), nn.Linear(8, OUTPUTS)

    def forward(self, x):
        joined = torch.cat([self.one(x), self.other(x)], dim=1)
        return self.above(self.norm(joined).reshape(-1, 8).clamp(-1, 1))


MODULES = {
    "residual": lambda: Residual(norm=False),
    "layer norm and gelu": Residual,
    "gelu by tanh": lambda: Residual(activation=nn.GELU(approximate="tanh")),
    "silu": lambda: Residual(activation=functional.silu),
    "elu": lambda: Residual(activation=functional.elu),
    "mish": lambda: Residual(activation=functional.mish),
    "softplus": lambda: Residual(activation=functional.softplus),
    "hard swish": lambda: Residual(activation=functional.hardswish),
    "dueling": Dueling,
    "both": Both,
}


def exported(module, *, opset=17, rows=2, named=True):
    made = io.BytesIO()
    dynamic = {"dynamic_axes": {"x": {0: "states"}}} if named else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module.eval(),
            (torch.zeros(rows, INPUTS),),
            made,
            dynamo=False,
            opset_version=opset,
            input_names=["x"],
            **dynamic,
        )
    return onnx.load_from_string(made.getvalue())


def rows_of(count=500):
    return np.random.default_rng(0).integers(0, 10, (count, INPUTS)).astype(np.float64)


@pytest.mark.parametrize("opset", [13, 17, 20])
@pytest.mark.parametrize("name", MODULES)
def test_scores_are_those_of_the_library(name, opset, tmp_path):
    torch.manual_seed(3)
    module = MODULES[name]()
    model = exported(module, opset=opset)
    onnx.save(model, tmp_path / "policy.onnx")
    graph = read(tmp_path / "policy.onnx").model
    assert isinstance(graph, Graph)
    assert (graph.num_inputs, graph.num_outputs, graph.precision) == (INPUTS, OUTPUTS, "float32")
    rows = rows_of()
    session = onnxruntime.InferenceSession(model.SerializeToString())
    wanted = session.run(None, {"x": rows.astype(np.float32)})[0]
    assert np.allclose(graph.scores(rows), wanted, rtol=1e-4, atol=1e-5)
    with torch.no_grad():
        ours = module(torch.tensor(rows, dtype=torch.float32)).numpy()
    assert np.allclose(graph.scores(rows), ours, rtol=1e-4, atol=1e-5)
    assert (graph.scores(rows).argmax(axis=1) == wanted.argmax(axis=1)).mean() > 0.995


def test_scores_do_not_depend_on_the_company(tmp_path):
    torch.manual_seed(3)
    onnx.save(exported(Residual()), tmp_path / "policy.onnx")
    graph, rows = read(tmp_path / "policy.onnx").model, rows_of()
    together = graph.scores(rows)
    assert np.array_equal(together[100:120], graph.scores(rows[100:120]))
    assert np.array_equal(together[:1], graph.scores(rows[:1]))


def test_stages_and_the_doctor_take_it(tmp_path):
    torch.manual_seed(3)
    onnx.save(exported(Residual()), tmp_path / "policy.onnx")
    task = grid(INPUTS, OUTPUTS)
    policy = load_policy(tmp_path / "policy.onnx", task)
    states = [{f"v{at}": int(x) for at, x in enumerate(row)} for row in rows_of(20)]
    decided = policy.decide_all([{**state, "v0": 9} for state in states])
    assert decided == [policy.decide({**state, "v0": 9}) for state in states]
    report = surefoot.examine(task, policy=policy)
    assert report.policy.kind == "graph"
    assert report.policy.fidelity.original.startswith("onnxruntime")
    assert "policy-differs" not in [remark.code for remark in report.findings]
    assert surefoot.fuzz(task, policy=policy, runs=5).summary["runs"] == 5
    with pytest.raises(Unsupported, match="cannot be repaired"):
        surefoot.repair(task, policy, [])


def test_verdicts_of_it_are_accepted(tmp_path):
    torch.manual_seed(3)
    onnx.save(exported(Residual()), tmp_path / "policy.onnx")
    task = surefoot.domain("one-way-line", packages=1, locations=3)
    interface = {
        "surefoot_interface": 1,
        "inputs": list(task.names[:INPUTS]),
        "outputs": [name for name in task.actions if name not in task.silent][:OUTPUTS],
    }
    policy = load_policy(tmp_path / "policy.onnx", task, interface=interface)
    result = surefoot.verify(task, policy, certificate=tmp_path / "safe.jsonl")
    assert result.verdict in ("safe", "unsafe")
    if result.verdict == "safe":
        result.certificate.check()


# -- numbers in a file beside -----------------------------------------------------------------


def saved_apart(tmp_path, location="numbers.bin"):
    torch.manual_seed(3)
    model = exported(nn.Sequential(nn.Linear(INPUTS, 40), nn.ReLU(), nn.Linear(40, OUTPUTS)))
    file = tmp_path / "policy.onnx"
    onnx.save(model, tmp_path / "whole.onnx")
    onnx.save_model(model, file, save_as_external_data=True, location=location, size_threshold=0)
    return file


def test_numbers_beside_the_file_are_read(tmp_path):
    file = saved_apart(tmp_path)
    loaded = read(file)
    whole = read(tmp_path / "whole.onnx").model
    assert all(
        np.array_equal(a.weights, b.weights) and np.array_equal(a.biases, b.biases)
        for a, b in zip(loaded.model.layers, whole.layers, strict=True)
    )
    assert loaded.files == (tmp_path / "numbers.bin",)
    policy = load_policy(file, grid(INPUTS, OUTPUTS))
    report = surefoot.examine(grid(INPUTS, OUTPUTS), policy=str(file))
    assert report.policy.fidelity.original.startswith("onnxruntime")
    before = policy.sha256
    content = bytearray((tmp_path / "numbers.bin").read_bytes())
    content[3] ^= 1
    (tmp_path / "numbers.bin").write_bytes(content)
    assert load_policy(file, grid(INPUTS, OUTPUTS)).sha256 != before


def redirected(file, **entries):
    model = onnx.load(file, load_external_data=False)
    for entry in model.graph.initializer[0].external_data:
        entry.value = entries.get(entry.key, entry.value)
    file.write_bytes(model.SerializeToString())
    return file


@pytest.mark.parametrize(
    "entries",
    [
        {"location": "../numbers.bin"},
        {"location": "/etc/passwd"},
        {"location": ".."},
        {"location": ""},
        {"location": "sub/numbers.bin"},
        {"location": "missing.bin"},
        {"offset": "99999999"},
        {"offset": "-1"},
        {"length": "99999999"},
        {"length": "7"},
        {"length": "x"},
    ],
    ids=str,
)
def test_other_places_and_sizes_are_refused(entries, tmp_path):
    file = redirected(saved_apart(tmp_path), **entries)
    with pytest.raises(InputError) as caught:
        read(file)
    assert caught.value.code in ("policy-external-data", "bad-onnx")


def test_a_link_beside_is_refused(tmp_path):
    file = saved_apart(tmp_path)
    (tmp_path / "numbers.bin").rename(tmp_path / "elsewhere.bin")
    (tmp_path / "numbers.bin").symlink_to(tmp_path / "elsewhere.bin")
    with pytest.raises(InputError, match="is a link"):
        read(file)


# -- modules in memory ------------------------------------------------------------------------


class Chain(nn.Module):
    def __init__(self):
        super().__init__()
        self.below, self.above = nn.Linear(INPUTS, 8), nn.Linear(8, OUTPUTS)

    def forward(self, x):
        return self.above(torch.relu(self.below(x)))


@pytest.mark.parametrize("make", [Chain, Residual, Dueling, Both])
def test_modules_are_policies(make):
    torch.manual_seed(3)
    module = make()
    is_training = module.training
    policy = load_policy(module, grid(INPUTS, OUTPUTS))
    assert policy.model_kind == ("network" if make is Chain else "graph")
    assert module.training == is_training
    rows = rows_of()
    with torch.no_grad():
        wanted = module.eval()(torch.tensor(rows, dtype=torch.float32)).numpy()
    assert np.allclose(policy.scorer.scores(rows), wanted, rtol=1e-4, atol=1e-5)


class NoLayers(nn.Module):
    def forward(self, x):
        return x


@pytest.mark.parametrize("make", [NoLayers, lambda: nn.Conv1d(1, 2, 3)])
def test_other_modules_name_the_way_that_is_open(make):
    with pytest.raises(Unsupported) as caught:
        load_policy(make(), grid(INPUTS, OUTPUTS))
    assert caught.value.code == "policy-module"
    assert "surefoot.batched" in caught.value.hint


def test_modules_that_remember_are_refused():
    with pytest.raises(Unsupported) as caught:
        load_policy(Remembers(), grid(INPUTS, OUTPUTS))
    assert caught.value.code == "policy-recurrent"


# -- what is refused --------------------------------------------------------------------------


class Remembers(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.above = nn.GRU(INPUTS, 8, batch_first=True), nn.Linear(8, OUTPUTS)

    def forward(self, x):
        return self.above(self.cell(x[:, None, :])[0][:, 0])


def test_networks_that_remember_are_refused(tmp_path):
    onnx.save(exported(Remembers()), tmp_path / "policy.onnx")
    with pytest.raises(Unsupported) as caught:
        read(tmp_path / "policy.onnx")
    assert caught.value.code == "policy-recurrent"
    assert "part of the state" in caught.value.hint


class Attention(nn.Module):
    def forward(self, x):
        return x @ x.transpose(0, 1)


def test_other_graphs_name_the_way_that_is_open(tmp_path):
    onnx.save(exported(Attention(), rows=OUTPUTS, named=False), tmp_path / "policy.onnx")
    with pytest.raises(Unsupported) as caught:
        read(tmp_path / "policy.onnx")
    assert "surefoot.batched" in caught.value.hint
