"""Policy files made to harm: nothing in them is run, nothing is believed before it is there."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import struct
import time
import tracemalloc
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.networks import grid, nnet_text, onnx_model, random_network
from tests.support.repaired import corrected

from surefoot.cli import main
from surefoot.errors import SurefootError
from surefoot.policies import load_policy
from surefoot.policies.convert import convert
from surefoot.policies.safetensors import to_bytes

MAX_SECONDS = 3.0
MAX_MEMORY = 50 * 2**20
NETWORK = random_network(1, 3, 5, 4)


@contextmanager
def bounded() -> Iterator[None]:
    """Fail if the body takes long or much memory."""
    begin = time.monotonic()
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert time.monotonic() - begin < MAX_SECONDS
    assert peak < MAX_MEMORY


def refused(file: Path, *codes: int) -> SurefootError:
    """Return the error with which a policy file is refused, in time and with little memory."""
    task = grid(3, 4)
    with bounded(), pytest.raises(SurefootError) as caught:
        load_policy(str(file), task)
    assert caught.value.exit_code in (codes or (2,))
    return caught.value


# -- pickles -----------------------------------------------------------------------------------


class Canary:
    """Creates a file when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.file),)


def zipped(data: bytes, name: str, file: Path) -> bytes:
    with zipfile.ZipFile(file, "w") as made:
        made.writestr(name, data)
    return file.read_bytes()


def torch_file(canary: Path, tmp_path: Path) -> bytes:
    return zipped(pickle.dumps(Canary(canary)), "archive/data.pkl", tmp_path / "made")


PICKLES = {
    **{f"protocol {p}": lambda c, t, p=p: pickle.dumps(Canary(c), protocol=p) for p in range(6)},
    "torch": torch_file,
    "stable baselines": lambda c, t: zipped(pickle.dumps(Canary(c)), "policy.pth", t / "made"),
    "compressed by gzip": lambda c, t: gzip.compress(pickle.dumps(Canary(c))),
    "compressed by zlib": lambda c, t: zlib.compress(pickle.dumps(Canary(c))),
}
SUFFIXES = (".pt", ".pth", ".pkl", ".pickle", ".joblib", ".zip", ".bin", ".ckpt", ".PTH")
ESTIMATORS = (".pkl", ".pickle", ".joblib")  # mostly trees
MISLEADING = (".nnet", ".onnx", ".safetensors", ".json", ".ubj", ".txt", ".jani2nnet", "", ".jsonl")


@pytest.mark.parametrize("kind", PICKLES)
@pytest.mark.parametrize("suffix", [*SUFFIXES, *MISLEADING])
def test_pickles_are_never_opened(tmp_path: Path, kind: str, suffix: str) -> None:
    canary = tmp_path / "canary"
    file = tmp_path / f"policy{suffix}"
    file.write_bytes(PICKLES[kind](canary, tmp_path))
    error = refused(file)
    if suffix in SUFFIXES:
        assert error.code == "policy-is-pickle"
        new = "policy.json" if suffix in ESTIMATORS else "policy.safetensors"
        assert f"surefoot convert {file} -o {new} --trust" in (error.hint or "")
    with pytest.raises(SurefootError) as caught:
        convert(file, tmp_path / "new.safetensors")
    assert caught.value.exit_code == 2
    assert not canary.exists()
    assert not (tmp_path / "new.safetensors").exists()


def test_the_canary_would_sing(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Canary(tmp_path / "canary")))
    assert (tmp_path / "canary").exists()


@pytest.mark.parametrize("suffix", [".pth", ".zip", ".safetensors"])
def test_pickles_on_the_command_line(
    tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    canary = tmp_path / "canary"
    file = tmp_path / f"policy{suffix}"
    file.write_bytes(torch_file(canary, tmp_path))
    task = "domain:one-way-line?packages=3&locations=4"
    given = ["decide", task, "--sample", "1", "--radius", "0", "--policy", str(file)]
    assert main(given) == 2
    assert "--trust" in capsys.readouterr().err
    assert not canary.exists()


@pytest.mark.parametrize("kind", PICKLES)
def test_pickles_behind_an_interface(tmp_path: Path, kind: str) -> None:
    canary = tmp_path / "canary"
    (tmp_path / "net.nnet").write_bytes(PICKLES[kind](canary, tmp_path))
    entries = [{"name": "v0", "automaton": None}]
    content: dict[str, Any] = {"file": "net.nnet", "input": entries, "output": ["a0"]}
    (tmp_path / "policy.jani2nnet").write_text(json.dumps(content))
    refused(tmp_path / "policy.jani2nnet")
    (tmp_path / "policy.json").write_text(json.dumps({"surefoot_interface": 1, "file": "net.nnet"}))
    refused(tmp_path / "policy.json")
    assert not canary.exists()


# -- files that are no files -------------------------------------------------------------------


@pytest.mark.parametrize("suffix", MISLEADING)
def test_pipes_folders_and_nothing(tmp_path: Path, suffix: str) -> None:
    if suffix == ".jsonl":
        pytest.skip("tables may come through pipes")
    os.mkfifo(tmp_path / f"pipe{suffix}")
    refused(tmp_path / f"pipe{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    refused(tmp_path / f"folder{suffix}")
    refused(tmp_path / f"gone{suffix}")
    refused(Path(f"nul\0{suffix}/"))


def test_huge_files_are_not_read(tmp_path: Path) -> None:
    for suffix in (".nnet", ".onnx", ".safetensors", ".jani2nnet"):
        file = tmp_path / f"huge{suffix}"
        with file.open("wb") as made:
            made.truncate(3 * 2**30)
        assert refused(file).code == "file-too-large"


@pytest.mark.parametrize("suffix", [".nnet", ".onnx", ".safetensors", ".json", ".jani2nnet"])
def test_noise(tmp_path: Path, suffix: str) -> None:
    rng = np.random.default_rng(1)
    file = tmp_path / f"noise{suffix}"
    for size in (0, 1, 7, 8, 9, 100, 10_000):
        file.write_bytes(rng.bytes(size))
        refused(file, 2, 3)


# -- networks ----------------------------------------------------------------------------------


def nnet_of(sizes: list[int]) -> str:
    head = f"{len(sizes) - 1},{sizes[0]},{sizes[-1]},9,\n{','.join(map(str, sizes))},\n0,\n"
    return head + "0,0,0,\n" * 2 + "0,0,0,0,\n" + "1,1,1,1,\n" + "1,1,1,\n" * 20


SIZES = {
    "2 GB of weights": [3, 2**14, 2**14, 4],
    "more than memory": [3, 2**30, 2**30, 4],
    "wide input": [2**30, 4],
    "wide output": [3, 2**30],
    "many layers": [3, *[2**20] * 1000, 4],
}


@pytest.mark.parametrize("case", SIZES)
def test_claimed_sizes_of_nnet(tmp_path: Path, case: str) -> None:
    file = tmp_path / "net.nnet"
    file.write_text(nnet_of(SIZES[case]))
    error = refused(file)
    assert error.code == "bad-nnet"
    assert "more than the file can hold" in error.message


@pytest.mark.parametrize("word", ["nan", "inf", "-Infinity", "1e400"])
def test_weights_that_are_no_numbers(tmp_path: Path, word: str) -> None:
    lines = nnet_text(random_network(1, 3, 5, 4, precision="float64")).splitlines()
    lines[8] = f"1,{word},2,"
    file = tmp_path / "net.nnet"
    file.write_text("\n".join(lines))
    assert refused(file).code == "bad-nnet"


def test_names_from_files_are_escaped(tmp_path: Path) -> None:
    evil = "\x1b[2J" * 100
    entries = [{"name": evil, "automaton": None}]
    content = {"file": evil, "input": entries, "output": ["a0"]}
    file = tmp_path / "policy.jani2nnet"
    file.write_text(json.dumps(content))
    assert "\x1b" not in str(refused(file))
    (tmp_path / "net.nnet").write_text(f"{evil},3")
    assert "\x1b" not in str(refused(tmp_path / "net.nnet"))


def test_claimed_sizes_of_safetensors(tmp_path: Path) -> None:
    file = tmp_path / "net.safetensors"
    for shape in ([2**15, 2**14], [2**40, 2**40]):
        said = {"dtype": "F32", "shape": shape, "data_offsets": [0, 4 * shape[0] * shape[1]]}
        text = json.dumps({"0.weight": said}).encode()
        file.write_bytes(struct.pack("<Q", len(text)) + text + b"1234")
        assert refused(file).code == "bad-safetensors"
    deep = b'{"a":' * 100_000
    file.write_bytes(struct.pack("<Q", len(deep)) + deep)
    assert refused(file).code == "bad-safetensors"


# -- networks with trees -----------------------------------------------------------------------


def corrected_file(file: Path, *, said: Any = None, header: Any = None, data: Any = None) -> Path:
    """Write a corrected network whose description, header or data were changed by functions."""
    content = to_bytes(corrected())
    length = struct.unpack("<Q", content[:8])[0]
    whole = json.loads(content[8 : 8 + length])
    trees = json.loads(whole["__metadata__"]["surefoot"])
    tensors = bytearray(content[8 + length :])
    if said is not None:
        said(trees)
    whole["__metadata__"]["surefoot"] = json.dumps(trees)
    if header is not None:
        header(whole)
    if data is not None:
        data(whole, tensors)
    text = json.dumps(whole).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text + bytes(tensors))
    return file


def put(name: str, number: int, value: bytes) -> Any:
    """Return a change of one number of a tensor."""

    def change(header: Any, data: bytearray) -> None:
        begin = header[name]["data_offsets"][0] + number * len(value)
        data[begin : begin + len(value)] = value

    return change


BAD_TREES: dict[str, tuple[dict[str, Any], str]] = {
    "no object": ({"said": lambda d: d.update(trees=[])}, "not described"),
    "no tensor": ({"said": lambda d: d["trees"].pop("left")}, 'no tensor is named for "left"'),
    "numbers in text": ({"said": lambda d: d["trees"].update(left=[1, 2])}, "no tensor is named"),
    "other tensor": ({"said": lambda d: d["trees"].update(left="trees.lift")}, "no tensor"),
    "version": ({"said": lambda d: d["trees"].update(surefoot_trees=2)}, "not a version"),
    "key": ({"said": lambda d: d["trees"].update(leaf=1)}, 'there is no "leaf"'),
    "inputs": ({"said": lambda d: d["trees"].update(num_inputs=10**9)}, "not a whole number"),
    "more inputs": ({"said": lambda d: d["trees"].update(num_inputs=4)}, "network has 3 inputs"),
    "divisor": ({"said": lambda d: d["trees"].update(divide_by=-1)}, "not positive"),
    "precision": ({"said": lambda d: d["trees"].update(sum_precision="half")}, "float32 or"),
    "matrix": ({"said": lambda d: d["trees"].update(values="0.weight")}, "not a list of numbers"),
    "another's": ({"said": lambda d: d["trees"].update(values="trees.base")}, "no values"),
    "lengths": ({"said": lambda d: d["trees"].update(left="trees.roots")}, "differ in length"),
    "cycle": ({"data": put("trees.left", 0, struct.pack("<i", 0))}, "shared, cyclic"),
    "child": ({"data": put("trees.right", 0, struct.pack("<i", 2**31 - 1))}, "not there"),
    "feature": ({"data": put("trees.features", 0, struct.pack("<i", 3))}, "the 3 inputs"),
    "negative": ({"data": put("trees.features", 0, struct.pack("<i", -(2**31)))}, "too large"),
    "infinite": ({"data": put("trees.values", 1, struct.pack("<d", np.inf))}, "infinite"),
    "no number": ({"data": put("trees.thresholds", 0, struct.pack("<d", np.nan))}, "infinite"),
    "gap": ({"header": lambda h: h.pop("trees.right")}, "the tensors take"),
}


@pytest.mark.parametrize("case", BAD_TREES)
def test_networks_with_bad_trees(tmp_path: Path, case: str) -> None:
    changes, message = BAD_TREES[case]
    error = refused(corrected_file(tmp_path / "net.safetensors", **changes))
    assert message in error.message, error.message
    assert error.file is not None and error.file.endswith("net.safetensors")


def test_trees_of_numbers_of_another_type(tmp_path: Path) -> None:
    for name, other in (("left", "trees.thresholds"), ("values", "trees.left")):
        change = {"said": lambda d, name=name, other=other: d["trees"].update({name: other})}
        error = refused(corrected_file(tmp_path / "net.safetensors", **change), 3)
        assert error.code == "policy-number-type"


def test_the_corrected_network_that_was_changed_is_good(tmp_path: Path) -> None:
    file = corrected_file(tmp_path / "net.safetensors")
    policy = load_policy(str(file), grid(3, 4))
    assert policy.model is not None and policy.model.kind == "corrected"


# -- ONNX --------------------------------------------------------------------------------------


@pytest.fixture
def onnx() -> Any:
    return pytest.importorskip("onnx", reason="the extra onnx is not installed")


def write_onnx(file: Path, model: Any) -> Path:
    file.write_bytes(model.SerializeToString())
    return file


def test_claimed_dimensions(tmp_path: Path, onnx: Any) -> None:
    for dims in ([2**16, 2**15], [2**62, 4], [-1, -15], [3, 5, 1, 0], []):
        model = onnx_model(NETWORK)
        tensor = model.graph.initializer[1]
        tensor.ClearField("dims")
        tensor.dims.extend(dims)
        assert refused(write_onnx(tmp_path / "net.onnx", model)).code == "bad-onnx"


def test_numbers_that_are_cut_or_none(tmp_path: Path, onnx: Any) -> None:
    model = onnx_model(NETWORK)
    tensor = model.graph.initializer[1]
    whole = tensor.raw_data
    for data, code in (
        (whole[:-1], "bad-onnx"),
        (whole[:-4], "bad-onnx"),
        (np.full(15, np.nan, np.float32).tobytes(), "bad-policy"),
        (np.full(15, np.inf, np.float32).tobytes(), "bad-policy"),
    ):
        tensor.raw_data = data
        assert refused(write_onnx(tmp_path / "net.onnx", model)).code == code


def test_external_data_is_read_beside_the_file_only(tmp_path: Path, onnx: Any) -> None:
    (tmp_path / "weights").write_bytes(NETWORK.layers[0].weights.astype(np.float32).tobytes())
    for place in (".", "/etc/passwd", "../../weights", "c:weights", "missing"):
        model = onnx_model(NETWORK)
        tensor = model.graph.initializer[1]
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        entry = tensor.external_data.add()
        entry.key, entry.value = "location", place
        error = refused(write_onnx(tmp_path / "net.onnx", model))
        assert error.code == "policy-external-data"


def test_cyclic_and_odd_graphs(tmp_path: Path, onnx: Any) -> None:
    helper = onnx.helper

    def changed(change: Any) -> SurefootError:
        model = onnx_model(NETWORK)
        change(model.graph)
        return refused(write_onnx(tmp_path / "net.onnx", model), 2, 3)

    def cycle(graph: Any) -> None:
        graph.node[0].input[0] = graph.node[-1].output[0]

    def itself(graph: Any) -> None:
        graph.node[0].input[0] = graph.node[0].output[0]

    assert changed(cycle).code == "bad-onnx"
    assert changed(itself).code == "bad-onnx"
    assert changed(lambda graph: graph.node.reverse()).code == "bad-onnx"
    assert changed(lambda graph: graph.node[0].output.append("more")).code == "bad-onnx"
    assert changed(lambda graph: graph.node[0].input.extend("xxx")).code == "bad-onnx"
    assert changed(lambda graph: graph.ClearField("node")).code == "bad-onnx"
    assert changed(lambda graph: graph.ClearField("output")).code == "onnx-outputs"
    twice = helper.make_node("Relu", ["x"], [onnx_model(NETWORK).graph.node[0].output[0]])
    changed(lambda graph: graph.node.append(twice))
    loop = helper.make_node("Loop", [], ["z"], body=onnx_model(NETWORK).graph)
    assert changed(lambda graph: graph.node.append(loop)).code == "onnx-operator"
    dead = onnx_model(NETWORK)
    dead.graph.output[0].name = "x"
    assert refused(write_onnx(tmp_path / "net.onnx", dead)).code == "bad-onnx"


def test_one_matrix_used_without_end(tmp_path: Path, onnx: Any) -> None:
    """A small file must not become a large network by using its numbers again and again."""
    square = random_network(1, 200, 200)
    model = onnx_model(square)
    first = model.graph.node[0]
    value = first.output[0]
    for i in range(2000):
        node = onnx.helper.make_node("Gemm", [value, *first.input[1:]], [f"z{i}"], transB=1)
        model.graph.node.append(node)
        value = f"z{i}"
    model.graph.output[0].name = value
    assert refused(write_onnx(tmp_path / "net.onnx", model), 3).code == "onnx-too-large"


def test_identities_without_end(tmp_path: Path, onnx: Any) -> None:
    wide = random_network(1, 1, 1900)
    model = onnx_model(wide)
    value = model.graph.node[0].output[0]
    for i in range(500):
        name = ("Relu", "Tanh")[i % 2]
        model.graph.node.append(onnx.helper.make_node(name, [value], [f"z{i}"]))
        value = f"z{i}"
    model.graph.output[0].name = value
    assert refused(write_onnx(tmp_path / "net.onnx", model), 3).code == "onnx-too-large"


@pytest.mark.parametrize("seed", range(3))
def test_files_with_bytes_changed(tmp_path: Path, onnx: Any, seed: int) -> None:
    """Whatever a byte becomes: a policy, or an error of ours; nothing else."""
    rng = np.random.default_rng(seed)
    files = {
        ".onnx": onnx_model(NETWORK).SerializeToString(),
        ".safetensors": to_bytes(NETWORK if seed % 2 else corrected()),
        ".nnet": nnet_text(NETWORK).encode(),
    }
    task = grid(3, 4)
    for suffix, data in files.items():
        file = tmp_path / f"net{suffix}"
        for _ in range(150):
            changed = bytearray(data)
            for place in rng.integers(0, min(len(data), 700), rng.integers(1, 4)):
                changed[place] = rng.integers(0, 256)
            file.write_bytes(changed[: rng.integers(len(data) // 2, len(data) + 1)])
            try:
                load_policy(str(file), task)
            except SurefootError as error:
                assert error.exit_code in (2, 3)
