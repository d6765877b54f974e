"""Policy files that are written: read again, they decide and score as before, bit for bit."""

import json
import os
import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.support.networks import grid, random_network, same_network, torch_sequential

from surefoot import InputError, Interface, Unsupported, convert, load_policy
from surefoot.errors import SurefootError
from surefoot.policies import onnx, writing
from surefoot.policies.formats import FORMATS
from surefoot.policies.interface import Input
from surefoot.policies.loaded import Loaded
from surefoot.policies.models import Layer, Network, Rules
from surefoot.policies.writing import check_writable, write_files, write_policy

TASK = grid(3, 4)
ODD = Interface(
    (Input("v2", mean=0.1, scale=1.7), Input(constant=0.3), Input("v0")), ("a3", "a0", "a2", "a1")
)
ACTIVATIONS = ("linear", "relu", "tanh", "sigmoid", "leaky_relu")


def error_of(call, *args, **options):
    with pytest.raises(SurefootError) as caught:
        call(*args, **options)
    return caught.value


def states(count=500, seed=0):
    rows = np.random.default_rng(seed).integers(0, 10, (count, 3)).tolist()
    return [TASK.state(v0=a, v1=b, v2=c) for a, b, c in rows]


def same_policy(one, other):
    """Return whether two policies decide and score alike, to the last bit."""
    asked = states()
    return one.decide_all(asked) == other.decide_all(asked) and all(
        one.scores(state) == other.scores(state) for state in asked[:100]
    )


def some_trees():
    xgboost = pytest.importorskip("xgboost")
    rows = np.random.default_rng(1).integers(0, 10, (300, 3)).astype(np.float32)
    return xgboost.train(
        {"objective": "multi:softprob", "num_class": 4, "max_depth": 3, "nthread": 1},
        xgboost.DMatrix(rows, label=(rows[:, 0] + rows[:, 2]) % 4),
        num_boost_round=4,
    )


# -- networks ----------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".safetensors", ".onnx"])
@pytest.mark.parametrize("interface", [None, ODD], ids=["default", "odd"])
@pytest.mark.parametrize("unfiltered", [False, True])
def test_networks_come_back_bit_for_bit(tmp_path, suffix, interface, unfiltered):
    if suffix == ".onnx":
        pytest.importorskip("onnx")
    network = random_network(3, 3, 8, 6, 4)
    policy = load_policy(network, TASK, interface=interface, unfiltered=unfiltered)
    files = write_policy(policy, tmp_path / f"net{suffix}")
    assert files[0] == tmp_path / f"net{suffix}"
    assert sorted(os.listdir(tmp_path)) == sorted(file.name for file in files)
    again = load_policy(str(files[0]), TASK)
    assert again.interface == policy.interface
    assert again.unfiltered == unfiltered
    assert same_network(again.model, network)
    if not unfiltered:
        assert same_policy(policy, again)
        assert len(set(again.decide_all(states()))) > 1


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_onnx_against_onnxruntime_and_torch(tmp_path, precision, activation):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    torch = pytest.importorskip("torch")
    network = random_network(5, 3, 9, 7, 4, activation=activation, precision=precision)
    if activation == "leaky_relu" and precision == "float64":
        network = with_slope(network, 0.25)
    (file, _) = write_policy(Loaded(network), tmp_path / "net.onnx")
    assert scores_equal(onnx.read(file).model, network)
    rows = np.random.default_rng(2).uniform(-5, 5, (200, 3)).astype(precision)
    ours = network.scorer().scores(rows.astype(np.float64))
    session = runtime.InferenceSession(file.read_bytes(), providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    theirs = session.run(None, {given.name: rows})[0]
    assert (given.name, theirs.shape, theirs.dtype) == ("state", (200, 4), precision)
    tolerance = 1e-5 if precision == "float32" else 1e-12
    assert np.allclose(theirs, ours, rtol=tolerance, atol=tolerance)
    if activation != "leaky_relu":
        with torch.no_grad():
            of_torch = torch_sequential(network)(torch.from_numpy(rows)).numpy()
        assert np.allclose(of_torch, theirs, rtol=tolerance, atol=tolerance)


def with_slope(network, slope):
    layers = (Layer(x.weights, x.biases, x.activation, slope) for x in network.layers)
    return Network(tuple(layers), network.precision)


def scores_equal(one, other):
    rows = np.random.default_rng(7).uniform(-9, 9, (500, one.num_inputs))
    return np.array_equal(one.scorer().scores(rows), other.scorer().scores(rows))


def test_numbers_that_are_no_float32_are_computed_as_such_anyway(tmp_path):
    pytest.importorskip("onnx")
    rng = np.random.default_rng(4)
    layers = (
        Layer(rng.normal(size=(5, 3)), rng.normal(size=5), "leaky_relu", 0.3),
        Layer(rng.normal(size=(4, 5)), rng.normal(size=4), "tanh"),
    )
    network = Network(layers, "float32")
    (file, _) = write_policy(Loaded(network), tmp_path / "net.onnx")
    assert scores_equal(onnx.read(file).model, network)


def test_what_onnx_cannot_hold(tmp_path):
    pytest.importorskip("onnx")
    doubles = random_network(1, 3, 4, 2, activation="leaky_relu", precision="float64")
    error = error_of(write_policy, Loaded(doubles), tmp_path / "net.onnx")
    assert isinstance(error, Unsupported) and "safetensors" in error.hint
    large = Network((Layer(np.full((2, 3), 1e39), np.zeros(2), "linear"),), "float32")
    assert error_of(write_policy, Loaded(large), tmp_path / "net.onnx").code == "bad-policy"
    assert os.listdir(tmp_path) == []


def test_the_same_network_gives_the_same_bytes(tmp_path):
    pytest.importorskip("onnx")
    for name in ("a.onnx", "b.onnx", "a.safetensors", "b.safetensors"):
        write_policy(Loaded(random_network(1, 3, 5, 4), ODD), tmp_path / name)
    for suffix in ("onnx", "safetensors"):
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()


def test_without_the_library(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    for call in (
        lambda: check_writable(tmp_path / "net.onnx"),
        lambda: write_policy(Loaded(random_network(1, 3, 4)), tmp_path / "net.onnx"),
    ):
        error = error_of(call)
        assert (error.code, error.hint) == ("missing-library", "pip install 'surefoot[onnx]'")
    assert os.listdir(tmp_path) == []
    write_policy(Loaded(random_network(1, 3, 4)), tmp_path / "net.safetensors")


# -- the interface beside ----------------------------------------------------------------------


def test_the_interface_of_an_onnx_file_wins_over_others(tmp_path):
    pytest.importorskip("onnx")
    other = {"surefoot_interface": 1, "outputs": ["a0", "a1", "a2", "a3"], "unfiltered": True}
    (tmp_path / "net.interface.json").write_text(json.dumps(other))
    policy = load_policy(random_network(3, 3, 8, 4), TASK, interface=ODD)
    files = write_policy(policy, tmp_path / "net.onnx")
    assert [file.name for file in files] == ["net.onnx", "net.onnx.interface.json"]
    said = json.loads(files[1].read_text())
    assert (said["file"], said["outputs"]) == ("net.onnx", ["a3", "a0", "a2", "a1"])
    for given in files:  # the interface names its file: it will do as well
        assert same_policy(load_policy(str(given), TASK), policy)


def test_an_interface_beside_a_file_that_has_its_own(tmp_path):
    beside = tmp_path / "net.interface.json"
    beside.write_text(json.dumps({"surefoot_interface": 1, "outputs": ["a0", "a1", "a2", "a3"]}))
    loaded = Loaded(random_network(3, 3, 8, 4), ODD)
    file = tmp_path / "net.safetensors"
    assert error_of(write_policy, loaded, file).code == "interface-beside"
    assert error_of(check_writable, file).code == "interface-beside"
    assert not file.exists()
    beside.write_text(json.dumps(ODD.to_dict()))
    write_policy(loaded, file)
    beside.write_text(json.dumps({**ODD.to_dict(), "unfiltered": True}))
    assert error_of(write_policy, loaded, file).code == "interface-beside"
    assert check_writable(tmp_path / "net2.safetensors")


# -- trees -------------------------------------------------------------------------------------


def test_trees_come_back_bit_for_bit(tmp_path):
    policy = load_policy(some_trees(), TASK, interface=Interface(ODD.inputs, ODD.outputs))
    assert write_policy(policy, tmp_path / "trees.json") == [tmp_path / "trees.json"]
    again = load_policy(str(tmp_path / "trees.json"), TASK)
    assert again.interface == policy.interface
    assert same_policy(policy, again)
    assert len(set(again.decide_all(states()))) > 1


def test_names_that_are_no_text_for_files(tmp_path):
    interface = Interface((Input("v0"), Input("ä\ud800"), Input("v2")), ("a0", "a1", "a2", "\x1b"))
    loaded = Loaded(load_policy(some_trees(), TASK).model, interface)
    write_policy(loaded, tmp_path / "trees.json")
    from surefoot.policies.trees import own

    assert own.read(tmp_path / "trees.json").interface == interface


# -- what is refused ---------------------------------------------------------------------------


def test_policies_without_a_model(tmp_path):
    for source in ("first", "random", lambda state: "a0"):
        error = error_of(write_policy, load_policy(source, TASK), tmp_path / "net.safetensors")
        assert error.code == "no-model"
    rules = Rules(1, 2, ((0, 1),), ((True, ((0, False),)),), ((0, 0, 1.0),), (0.0, 0.5))
    assert isinstance(error_of(write_policy, Loaded(rules), tmp_path / "a.json"), Unsupported)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["net.json", "net.JSON"])
def test_suffixes_that_are_not_for_it(tmp_path, name):
    error = error_of(write_policy, Loaded(random_network(1, 3, 4)), tmp_path / name)
    assert (error.code, "*.safetensors or *.onnx" in error.message) == ("wrong-suffix", True)
    trees = load_policy(some_trees(), TASK)
    assert error_of(write_policy, trees, tmp_path / "trees.safetensors").code == "wrong-suffix"
    assert os.listdir(tmp_path) == []


def bad_place(tmp_path, case):
    (tmp_path / "folder.safetensors").mkdir()
    os.mkfifo(tmp_path / "pipe.safetensors")
    places = {
        "another suffix": ("net.pt", "unknown-suffix"),
        "no suffix": ("net", "unknown-suffix"),
        "a folder": ("folder.safetensors", "file-not-written"),
        "a pipe": ("pipe.safetensors", "file-not-written"),
        "no folder": ("no/net.safetensors", "file-not-written"),
        "below a file": ("pipe.safetensors/net.safetensors", "file-not-written"),
        "NUL": ("a\0.safetensors", "file-not-written"),
        "too long": ("a" * 300 + ".safetensors", "file-not-written"),
    }
    name, code = places[case]
    return tmp_path / name, code


CASES = ("another suffix", "no suffix", "a folder", "a pipe", "no folder", "below a file", "NUL")


@pytest.mark.parametrize("case", [*CASES, "too long"])
def test_where_nothing_can_be_written(tmp_path, case):
    file, code = bad_place(tmp_path, case)
    before = sorted(os.listdir(tmp_path))
    error = error_of(write_policy, Loaded(random_network(1, 3, 4)), file)
    assert (error.code, error.exit_code) == (code, 2)
    assert error_of(check_writable, file).code == code
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_not_mine(tmp_path):
    tmp_path.chmod(0o500)
    error = error_of(check_writable, tmp_path / "net.safetensors")
    tmp_path.chmod(0o700)
    assert (error.code, "Permission denied" in error.message) == ("file-not-written", True)


def test_suffixes_can_be_restricted(tmp_path):
    error = error_of(check_writable, tmp_path / "net.json", (".safetensors", ".onnx"))
    assert "is not a file *.safetensors or *.onnx" in error.message
    assert check_writable(str(tmp_path / "net.json")) == tmp_path / "net.json"
    assert os.listdir(tmp_path) == []


# -- all or nothing ----------------------------------------------------------------------------


def test_what_was_there_stays_if_something_goes_wrong(tmp_path, monkeypatch):
    file = tmp_path / "net.safetensors"
    file.write_bytes(b"precious")

    def broken(path):
        assert path.read_bytes() and path.name != file.name
        raise InputError("odd", "this cannot be read")

    form = replace(FORMATS["safetensors"], read=broken)
    monkeypatch.setattr(writing, "_writers", lambda: {".safetensors": form})
    error = error_of(write_policy, Loaded(random_network(1, 3, 4)), file)
    assert (error.code, error.file) == ("odd", str(file))
    assert file.read_bytes() == b"precious"
    assert os.listdir(tmp_path) == ["net.safetensors"]


def test_interrupted_in_the_middle(tmp_path):
    (tmp_path / "a.ubj").write_bytes(b"old")

    def interrupted(path):
        raise KeyboardInterrupt

    contents = {tmp_path / "a.ubj": b"new", tmp_path / "a.ubj.interface.json": b"{}"}
    with pytest.raises(KeyboardInterrupt):
        write_files(contents, read=interrupted)
    assert os.listdir(tmp_path) == ["a.ubj"]
    assert (tmp_path / "a.ubj").read_bytes() == b"old"
    assert write_files(contents) == list(contents)
    assert (tmp_path / "a.ubj").read_bytes() == b"new"


def test_what_cannot_be_read_again_is_not_written(tmp_path):
    network = random_network(1, 3, 4)
    network.layers[0].weights[0, 0] = np.nan
    file = tmp_path / "net.safetensors"
    error = error_of(write_policy, Loaded(network), file)
    assert (error.code, error.file) == ("bad-policy", str(file))
    assert os.listdir(tmp_path) == []


# -- convert -----------------------------------------------------------------------------------


def test_convert_to_onnx_and_back(tmp_path):
    pytest.importorskip("onnx")
    policy = load_policy(random_network(3, 3, 8, 4), TASK, interface=ODD, unfiltered=False)
    write_policy(policy, tmp_path / "a.safetensors")
    made = convert(tmp_path / "a.safetensors", tmp_path / "b.onnx")
    convert(tmp_path / "b.onnx", tmp_path / "c.safetensors")
    assert made.to_dict()["outputs"] == ["a3", "a0", "a2", "a1"]
    bytes_of = [(tmp_path / name).read_bytes() for name in ("a.safetensors", "c.safetensors")]
    assert bytes_of[0] == bytes_of[1]
    assert same_policy(load_policy(str(tmp_path / "b.onnx"), TASK), policy)


def test_convert_a_pickle_to_onnx_keeps_the_notes(tmp_path):
    pytest.importorskip("onnx")
    torch = pytest.importorskip("torch")
    network = random_network(1, 3, 6, 4)
    torch.save(torch_sequential(network).state_dict(), tmp_path / "net.pth")
    made = convert(tmp_path / "net.pth", tmp_path / "net.onnx", trust=True)
    assert same_network(made.model, network)
    assert "relu is assumed" in made.loaded.notes[0]
    expected = ["net.onnx", "net.onnx.interface.json", "net.pth"]
    assert sorted(os.listdir(tmp_path)) == expected


def test_convert_trees_to_onnx(tmp_path):
    pytest.importorskip("onnx")
    write_policy(load_policy(some_trees(), TASK), tmp_path / "trees.json")
    error = error_of(convert, tmp_path / "trees.json", tmp_path / "trees.onnx")
    assert (error.code, error.message) == ("bad-option", "trees are written to a file *.json")
    assert error.hint is None  # it would be the file that is read
    (tmp_path / "trees.json").rename(tmp_path / "old.json")
    error = error_of(convert, tmp_path / "old.json", tmp_path / "trees.onnx")
    assert error.hint.endswith(f"-o {tmp_path}/trees.json")


def test_onnx_file_that_is_moved_alone_keeps_its_interface(tmp_path):
    policy = load_policy(Loaded(random_network(3, 3, 8, 4), ODD), TASK)
    file, beside = write_policy(policy, tmp_path / "net.onnx")
    beside.unlink()
    alone = load_policy(file, TASK)
    assert alone.interface == ODD
    assert same_policy(policy, alone)
