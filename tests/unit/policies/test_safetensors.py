"""Networks in safetensors files."""

import json
import struct

import numpy as np
import pytest
from tests.support.networks import grid, random_network, same_network
from tests.support.repaired import corrected

from surefoot import InputError, Unsupported, convert, load_policy
from surefoot.errors import SurefootError
from surefoot.policies import safetensors
from surefoot.policies.interface import Input, Interface
from surefoot.policies.models import Corrected
from surefoot.policies.safetensors import to_bytes
from surefoot.policies.trees.forest import same_trees
from surefoot.policies.writing import write_policy

ACTIVATIONS = ("relu", "tanh", "sigmoid", "leaky_relu", "linear")


def raw(tensors, metadata=None, *, header=None, pad=b""):
    """Return a file of arrays by name, written without the code under test."""
    said, data = {}, b""
    types = {"float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64"}
    for name, array in tensors.items():
        piece = array.tobytes()
        said[name] = {
            "dtype": types[str(array.dtype)],
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + len(piece)],
        }
        data += piece
    if metadata is not None:
        said["__metadata__"] = metadata
    text = json.dumps(said if header is None else header(said)).encode()
    return struct.pack("<Q", len(text)) + text + data + pad


def read(tmp_path, data, **how):
    file = tmp_path / "net.safetensors"
    file.write_bytes(data)
    return safetensors.read(file, **how)


def code_of(tmp_path, data):
    with pytest.raises(SurefootError) as caught:
        read(tmp_path, data)
    assert caught.value.file.endswith("net.safetensors")
    return caught.value.code


def arrays(network, prefix="", step=2):
    found = {}
    for number, layer in enumerate(network.layers):
        found[f"{prefix}{step * number}.weight"] = layer.weights.astype(network.precision)
        found[f"{prefix}{step * number}.bias"] = layer.biases.astype(network.precision)
    return found


# -- files of our own --------------------------------------------------------------------------


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_written_and_read_again(tmp_path, activation, precision):
    network = random_network(1, 3, 7, 5, 4, activation=activation, precision=precision)
    interface = Interface((Input("x", mean=1.5), Input(constant=2.0), Input("y")), tuple("abcd"))
    loaded = read(tmp_path, to_bytes(network, interface, unfiltered=True, notes=["odd"]))
    assert same_network(loaded.model, network)
    assert (loaded.interface, loaded.unfiltered, loaded.notes) == (interface, True, ("odd",))
    plain = read(tmp_path, to_bytes(network))
    assert (plain.interface, plain.unfiltered, plain.notes) == (None, None, ())


def test_numbers_that_float32_cannot_hold_are_kept(tmp_path):
    network = random_network(1, 3, 4, precision="float64")
    single = type(network)(network.layers, "float32")
    assert same_network(read(tmp_path, to_bytes(single)).model, single)


def test_the_library_reads_what_we_write(tmp_path):
    library = pytest.importorskip("safetensors.numpy")
    network = random_network(1, 3, 7, 4)
    found = library.load(to_bytes(network))
    assert set(found) == {"0.weight", "0.bias", "1.weight", "1.bias"}
    assert np.array_equal(found["1.weight"], network.layers[1].weights)


# -- files of others ---------------------------------------------------------------------------


def test_we_read_what_the_library_writes(tmp_path):
    library = pytest.importorskip("safetensors.numpy")
    network = random_network(2, 3, 7, 5, 4)
    loaded = read(tmp_path, library.save(arrays(network, "model.")))
    assert same_network(loaded.model, network)
    assert "relu" in loaded.notes[0]


def test_layers_come_in_numeric_order(tmp_path):
    network = random_network(2, 3, *[4] * 11, activation="relu")
    shuffled = dict(sorted(arrays(network).items()))  # "10" before "2"
    assert same_network(read(tmp_path, raw(shuffled)).model, network)


def test_activation_can_be_said_in_the_interface(tmp_path):
    network = random_network(2, 3, 7, 4, activation="tanh")
    file = tmp_path / "net.safetensors"
    file.write_bytes(raw(arrays(network)))
    said = {"surefoot_interface": 1, "activation": "tanh"}
    policy = load_policy(str(file), grid(3, 4), interface=said)
    assert same_network(policy.model, network)
    assert policy.notes == ()
    said["activation"] = "gelu"
    with pytest.raises(InputError) as caught:
        load_policy(str(file), grid(3, 4), interface=said)
    assert caught.value.code == "unknown-activation"


def test_layers_without_biases(tmp_path):
    network = random_network(2, 3, 4)
    only = {"0.weight": network.layers[0].weights.astype(np.float32)}
    found = read(tmp_path, raw(only)).model
    assert np.array_equal(found.layers[0].weights, network.layers[0].weights)
    assert not found.layers[0].biases.any()


def test_half_precision(tmp_path):
    weights = np.array([[1.5, -2.0], [0.25, 1e-3]], np.float16)
    loaded = read(tmp_path, raw({"0.weight": weights}))
    assert loaded.model.precision == "float32"
    assert np.array_equal(loaded.model.layers[0].weights, weights.astype(np.float64))
    assert "16 bits" in loaded.notes[0]


def test_bfloat16(tmp_path):
    upper = (np.array([[1.5, -2.0]], np.float32).view(np.uint32) >> 16).astype(np.uint16)
    data = raw({"0.weight": upper.view(np.float16)}, header=lambda said: _typed(said, "BF16"))
    assert read(tmp_path, data).model.layers[0].weights.tolist() == [[1.5, -2.0]]


def _typed(said, name):
    return {key: {**value, "dtype": name} for key, value in said.items()}


def test_a_header_that_looks_like_a_pickle(tmp_path):
    """The length of a header of 640 bytes begins like a pickle of protocol 2."""
    network = random_network(2, 3, 7, 4)
    data = raw(arrays(network))
    (length,) = struct.unpack("<Q", data[:8])
    padded = struct.pack("<Q", 640) + data[8 : 8 + length].ljust(640) + data[8 + length :]
    assert padded[:2] == b"\x80\x02"
    file = tmp_path / "net.safetensors"
    file.write_bytes(padded)
    assert load_policy(str(file), grid(3, 4)).model.num_inputs == 3


# -- files that are refused --------------------------------------------------------------------

W = np.ones((2, 3), np.float32)
B = np.ones(2, np.float32)
GOOD = {"0.weight": W, "0.bias": B}


def placed(name, **changes):
    return lambda said: {**said, name: {**said[name], **changes}}


BAD = {
    "empty": b"",
    "seven bytes": b"1234567",
    "header beyond the file": struct.pack("<Q", 1000) + b"{}",
    "header of 2 GB": struct.pack("<Q", 2**31) + b"{}",
    "header of 2^63": struct.pack("<Q", 2**63) + b"{}",
    "header is not JSON": struct.pack("<Q", 2) + b"{]",
    "header is not text": struct.pack("<Q", 2) + b"\xff\xff",
    "header is a list": struct.pack("<Q", 2) + b"[]",
    "no tensors": raw({}),
    "truncated": raw(GOOD)[:-1],
    "bytes too many": raw(GOOD, pad=b"1"),
    "overlap": raw(GOOD, header=placed("0.bias", data_offsets=[16, 24])),
    "gap": raw(GOOD, header=placed("0.bias", data_offsets=[28, 36])),
    "overlap that fills the file": raw(GOOD, header=placed("0.bias", data_offsets=[16, 24]))[:-8],
    "gap that fills the file": raw(
        GOOD, header=placed("0.bias", data_offsets=[28, 36]), pad=b"1234"
    ),
    "out of the file": raw(GOOD, header=placed("0.bias", data_offsets=[2**40, 2**40 + 8])),
    "negative place": raw(GOOD, header=placed("0.bias", data_offsets=[-8, 0])),
    "backwards": raw(GOOD, header=placed("0.bias", data_offsets=[32, 24])),
    "2 GB claimed": raw(GOOD, header=placed("0.weight", shape=[2**16, 2**15])),
    "shape beyond all": raw(GOOD, header=placed("0.weight", shape=[2**47] * 8)),
    "negative shape": raw(GOOD, header=placed("0.weight", shape=[-2, -3])),
    "shape is true": raw(GOOD, header=placed("0.bias", shape=[2, True])),
    "too many dimensions": raw(GOOD, header=placed("0.weight", shape=[1] * 9 + [6])),
    "unknown key": raw(GOOD, header=placed("0.weight", more=1)),
    "tensor is a number": raw(GOOD, header=lambda said: {**said, "0.bias": 3}),
    "metadata are numbers": raw(GOOD, {"a": 1}),
    "other names": raw({"weight": W, "bias": B}),
    "two networks": raw({"a.0.weight": W, "b.0.weight": W}),
    "description is not JSON": raw(GOOD, {"surefoot": "{"}),
    "description without layers": raw(GOOD, {"surefoot": "{}"}),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files(tmp_path, case):
    assert code_of(tmp_path, BAD[case]) == "bad-safetensors"


UNFIT = {
    "not a number": ({"0.weight": W * np.nan}, "bad-policy"),
    "infinite": ({"0.weight": W, "0.bias": B * np.inf}, "bad-policy"),
    "biases of another size": ({"0.weight": W, "0.bias": np.ones(3, np.float32)}, "bad-policy"),
    "layers that do not fit": ({"0.weight": W, "2.weight": W}, "bad-policy"),
    "integers": ({"0.weight": np.ones((2, 3), np.int64)}, "policy-number-type"),
    "no linear layer": ({"0.weight": np.ones((2, 3, 3), np.float32)}, "policy-layer"),
    "biases alone": ({"0.bias": B}, "policy-layer"),
    "nothing in a dimension": ({"0.weight": np.ones((0, 3), np.float32)}, "bad-policy"),
}


@pytest.mark.parametrize("case", UNFIT)
def test_files_that_hold_no_network(tmp_path, case):
    tensors, code = UNFIT[case]
    assert code_of(tmp_path, raw(tensors)) == code


def described(**changes):
    layer = {"weights": "0.weight", "biases": "0.bias", "activation": "linear"}
    said = {"surefoot_interface": 1, "layers": [layer], "precision": "float32"}
    return raw(GOOD, {"surefoot": json.dumps({**said, **changes})})


LAYER = {"weights": "0.weight", "biases": "0.bias", "activation": "linear"}
DESCRIPTIONS = {
    "unknown tensor": ({"layers": [{**LAYER, "weights": "1.weight"}]}, "bad-safetensors"),
    "unknown activation": ({"layers": [{**LAYER, "activation": "gelu"}]}, "unknown-activation"),
    "slope is text": ({"layers": [{**LAYER, "slope": "1"}]}, "bad-safetensors"),
    "layer is text": ({"layers": ["0"]}, "bad-safetensors"),
    "no layers": ({"layers": []}, "bad-policy"),
    "unknown precision": ({"precision": "float8"}, "bad-safetensors"),
    "bad inputs": ({"inputs": [3]}, "bad-interface"),
    "unknown key": ({"more": 1}, "bad-interface"),
}


@pytest.mark.parametrize("case", DESCRIPTIONS)
def test_bad_descriptions(tmp_path, case):
    changes, code = DESCRIPTIONS[case]
    assert read(tmp_path, described()).model.num_inputs == 3
    assert code_of(tmp_path, described(**changes)) == code


def test_unknown_types_are_unsupported(tmp_path):
    with pytest.raises(Unsupported):
        read(tmp_path, raw(GOOD, header=placed("0.weight", dtype="F8_E4M3")))


# -- trees that correct a network ------------------------------------------------------------


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("seed", range(3))
def test_a_corrected_network_is_one_file(seed, precision, tmp_path):
    changes = {"divide_by": 1 / 3, "base_last": True} if seed == 1 else {}
    model = corrected(seed, precision=precision, **changes)
    interface = Interface(outputs=("a3", "a1", "a0", "a2"))
    file = tmp_path / "x.safetensors"
    file.write_bytes(to_bytes(model, interface, unfiltered=True, notes=["repaired"]))
    found = safetensors.read(file)
    assert isinstance(found.model, Corrected)
    assert same_network(found.model.network, model.network)
    assert same_trees(found.model.trees, model.trees)
    assert found.model.trees.features.dtype == np.int32
    assert (found.interface, found.unfiltered) == (interface, True)
    assert found.notes == ("repaired",)
    rows = np.random.default_rng(0).normal(size=(200, 3))
    assert np.array_equal(found.model.scorer().scores(rows), model.scorer().scores(rows))
    task = grid(3, 4)
    state = task.state(v0=5, v1=1, v2=7)
    policy = load_policy(str(file), task)
    again = write_policy(policy, tmp_path / "again.safetensors")
    assert load_policy(str(again[0]), task).scores(state) == policy.scores(state)


def test_other_programs_read_the_tensors_of_a_corrected_network(tmp_path):
    library = pytest.importorskip("safetensors.numpy")
    model = corrected(1)
    found = library.load(to_bytes(model))
    assert np.array_equal(found["trees.features"], model.trees.features)
    assert np.array_equal(found["trees.values"], model.trees.values)
    assert np.array_equal(found["0.weight"], model.network.layers[0].weights)


@pytest.mark.parametrize("suffix", [".onnx", ".json"])
def test_a_corrected_network_is_written_to_safetensors_only(suffix, tmp_path):
    policy = load_policy(corrected(), grid(3, 4))
    with pytest.raises(InputError) as caught:
        write_policy(policy, tmp_path / f"x{suffix}")
    assert caught.value.code == "wrong-suffix"
    wanted = "a network with trees that correct it is written to a file *.safetensors"
    assert caught.value.message == wanted
    file = tmp_path / "x.safetensors"
    write_policy(policy, file)
    with pytest.raises(InputError) as caught:
        convert(file, tmp_path / f"y{suffix}")
    assert caught.value.hint.endswith("y.safetensors")
    assert convert(file, tmp_path / "z.safetensors").model.kind == "corrected"
