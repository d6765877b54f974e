"""Malicious and damaged files of trees and rules are refused: quickly, in little memory, and with
an error made for that."""

import json
import pickle
import random
import resource
import struct
import tempfile
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.fuzz_loader import Loader, Summary, _try_file
from tests.support.jani import model as jani_model
from tests.support.mutate import _DAMAGES, mutate
from tests.support.tree_files import LIGHTGBM, RULES, VERITAS, chain
from tests.support.trees import lightgbm_booster, xgboost_booster

import surefoot
from surefoot.errors import InputError, SurefootError
from surefoot.policies import rules
from surefoot.policies.interface import Input, Interface
from surefoot.policies.trees import lightgbm, own, veritas, xgboost

MAX_SECONDS = 2.0
MAX_GROWTH_MB = 300

READERS = {
    "model.json": xgboost.read,
    "model.ubj": xgboost.read,
    "model.txt": lightgbm.read,
    "veritas.json": veritas.read,
    "own.json": own.read,
    "rules.json": rules.read,
}


@cache
def xgboost_text(vector=False):
    """Return a small model of XGBoost as JSON text."""
    more = {"multi_strategy": "multi_output_tree"} if vector else {}
    parameters = {"objective": "multi:softprob", "num_class": 4, **more}
    booster = xgboost_booster(parameters, depth=2, seed=1, rounds=2)
    return bytes(booster.save_raw("json")).decode()


def xgboost_content(vector=False):
    return json.loads(xgboost_text(vector))


@cache
def own_text():
    booster = xgboost_booster({"objective": "binary:logistic"}, depth=2, seed=1, rounds=2)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "own.json"
        inputs = tuple(map(Input, "abcd"))
        own.write(xgboost.of(booster), file, Interface(inputs, ("x", "y")))
        return file.read_text()


def tree(**changes):
    """Return an XGBoost model whose first tree has other arrays."""
    content = xgboost_content()
    first = content["learner"]["gradient_booster"]["model"]["trees"][0]
    fresh = {
        "left_children": [1, 3, -1, -1, -1],
        "right_children": [2, 4, -1, -1, -1],
        "split_indices": [0, 1, 0, 0, 0],
        "split_conditions": [0.5, 1.5, 1.0, 2.0, 3.0],
        "split_type": [0] * 5,
    }
    first.update({**fresh, **changes})
    return content


def vectors(**changes):
    content = xgboost_content(vector=True)
    content["learner"]["gradient_booster"]["model"]["trees"][0].update(changes)
    return content


def shared_vectors():
    """Return a model in which all leaves have the same row of values."""
    content = xgboost_content(vector=True)
    first = content["learner"]["gradient_booster"]["model"]["trees"][0]
    pairs = zip(first["left_children"], first["right_children"], strict=True)
    first["right_children"] = [0 if left == -1 else right for left, right in pairs]
    return content


DAMAGED = {
    "cyclic children": tree(left_children=[1, 0, -1, -1, -1]),
    "its own child": tree(left_children=[0, 3, -1, -1, -1]),
    "circle apart": tree(left_children=[2, 1, -1, -1, -1], right_children=[1, 4, -1, -1, -1]),
    "child out of range": tree(left_children=[1, 5, -1, -1, -1]),
    "huge child": tree(left_children=[1, 2**31 - 1, -1, -1, -1]),
    "huger child": tree(left_children=[1, 2**63 - 1, -1, -1, -1]),
    "negative child": tree(left_children=[1, -7, -1, -1, -1]),
    "negative right child": tree(right_children=[-2, 4, -1, -1, -1]),
    "shared node": tree(right_children=[1, 4, -1, -1, -1]),
    "shared leaf": tree(right_children=[2, 3, -1, -1, -1]),
    "feature out of range": tree(split_indices=[0, 4, 0, 0, 0]),
    "negative feature": tree(split_indices=[-1, 1, 0, 0, 0]),
    "leaf too large for float32": tree(split_conditions=[0.5, 1.5, 1e300, 2.0, 3.0]),
    "short array": tree(split_conditions=[0.5]),
    "long array": tree(split_indices=[0] * 6),
    "no nodes": tree(**{name: [] for name in (
        "left_children", "right_children", "split_indices", "split_conditions", "split_type")}),
    "too few vectors": vectors(leaf_weights=[1.0, 2.0]),
    "other vectors": vectors(tree_param={"size_leaf_vector": "3"}),
    "leaves share vectors": shared_vectors(),
}  # fmt: skip


def ubjson(value):
    """Return the value in UBJSON; lists of numbers with their type, as XGBoost writes them."""
    if value is None or isinstance(value, bool):
        return {None: b"Z", True: b"T", False: b"F"}[value]
    if isinstance(value, int):
        fits = -(2**63) <= value < 2**63
        return b"L" + struct.pack(">q", value) if fits else ubjson(float("inf"))
    if isinstance(value, float):
        return b"D" + struct.pack(">d", value)
    if isinstance(value, str):
        return b"S" + key(value)
    if isinstance(value, dict):
        items = (key(str(name)) + ubjson(each) for name, each in value.items())
        return b"{" + b"".join(items) + b"}"
    if value and all(type(each) is float for each in value):
        return b"[$D#" + ubjson(len(value)) + struct.pack(f">{len(value)}d", *value)
    if value and all(type(each) is int and abs(each) < 2**31 for each in value):
        return b"[$l#" + ubjson(len(value)) + struct.pack(f">{len(value)}i", *value)
    return b"[#" + ubjson(len(value)) + b"".join(map(ubjson, value))


def key(name):
    data = name.encode("utf-8", "surrogatepass")
    return b"L" + struct.pack(">q", len(data)) + data


def refused(reader, path):
    """Return the error of a file that must be refused within time and memory."""
    before = peak_mb()
    started = time.monotonic()
    with pytest.raises(InputError) as caught:
        reader(path)
    assert time.monotonic() - started < MAX_SECONDS
    assert peak_mb() - before < MAX_GROWTH_MB
    assert caught.value.exit_code == 2
    assert caught.value.file == str(path)
    return caught.value


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.mark.parametrize("form", ["json", "ubj"])
@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_trees_of_xgboost(name, form, tmp_path):
    file = tmp_path / f"model.{form}"
    content = DAMAGED[name]
    file.write_bytes(json.dumps(content).encode() if form == "json" else ubjson(content))
    refused(xgboost.read, file)


def test_the_undamaged_trees_are_read(tmp_path):
    for form, encode in (("json", lambda c: json.dumps(c).encode()), ("ubj", ubjson)):
        for content in (tree(), vectors(), xgboost_content()):
            (tmp_path / f"model.{form}").write_bytes(encode(content))
            assert xgboost.read(tmp_path / f"model.{form}").model.num_outputs == 4
    first = xgboost.read(tmp_path / "model.json")
    second = xgboost.read(tmp_path / "model.ubj")
    assert first.model.values.tolist() == second.model.values.tolist()


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("form", ["json", "ubj"])
@pytest.mark.parametrize("node", [0, 2])
def test_thresholds_and_leaves_that_are_no_numbers(node, form, number, tmp_path):
    conditions = [0.5, 1.5, 1.0, 2.0, 3.0]
    conditions[node] = number
    content = tree(split_conditions=conditions)
    file = tmp_path / f"model.{form}"
    file.write_bytes(json.dumps(content).encode() if form == "json" else ubjson(content))
    refused(xgboost.read, file)


CLAIMS = {
    "2 GB of floats": b"[$d#L" + struct.pack(">q", 2**29),
    "2**62 floats": b"[$d#L" + struct.pack(">q", 2**62),
    "2 GB of text": b"SL" + struct.pack(">q", 2**31),
    "a billion items": b"[#L" + struct.pack(">q", 10**9),
    "negative": b"[$d#L" + struct.pack(">q", -1),
    "deep": b"[" * 10_000_000,
}


@pytest.mark.parametrize("name", CLAIMS)
def test_claims_of_ubjson(name, tmp_path):
    (tmp_path / "a.ubj").write_bytes(b"{" + key("learner") + CLAIMS[name])
    assert refused(xgboost.read, tmp_path / "a.ubj").code == "ubjson-syntax"


def test_nested_json(tmp_path):
    node = '{"feat_id":0,"split_value":1,"left":{"leaf_value":[1,2]},"right":'
    head = '{"base_scores":[0,0],"trees":[{"split_type":"LtSplit","value_type":"FloatT",'
    text = head + '"structure":' + node * 100_000 + '{"leaf_value":[3,4]}' + "}" * 100_000 + "}]}"
    (tmp_path / "a.json").write_text(text)
    assert refused(veritas.read, tmp_path / "a.json").code == "json-too-deep"
    for reader in READERS.values():
        (tmp_path / "a.json").write_text('{"learner":' * 100_000)
        refused(reader, tmp_path / "a.json")


def test_chains_of_nodes(tmp_path):
    """A tree of 200,000 levels, in every format that could write it."""
    levels = 200_000
    content = tree(
        left_children=[1, *[c for n in range(1, levels) for c in (-1, 2 * n + 1)], -1, -1],
        right_children=[2, *[c for n in range(1, levels) for c in (-1, 2 * n + 2)], -1, -1],
        split_indices=[0] * (2 * levels + 1),
        split_conditions=[0.5] * (2 * levels + 1),
        split_type=[],
    )
    (tmp_path / "a.json").write_text(json.dumps(content))
    assert "levels" in refused(xgboost.read, tmp_path / "a.json").message
    own.write(chain(levels), tmp_path / "b.json")
    assert "levels" in refused(own.read, tmp_path / "b.json").message


CLASSES = {
    "model.json": ('"num_class":"4"', '"num_class":"1000000000"'),
    "model.txt": ("num_tree_per_iteration=1", "num_tree_per_iteration=1000000000"),
    "own.json": ('"num_outputs": 2', '"num_outputs": 1000000000'),
    "veritas.json": ('"num_leaf_values": 2', '"num_leaf_values": 1000000000'),
}


@pytest.mark.parametrize("name", CLASSES)
def test_a_billion_classes(name, tmp_path):
    before, after = CLASSES[name]
    text = sources()[name].decode()
    assert before in text
    (tmp_path / name).write_text(text.replace(before, after))
    refused(READERS[name], tmp_path / name)


@cache
def sources():
    """Return a good file of each format."""
    return {
        "model.json": xgboost_text().encode(),
        "model.ubj": ubjson(xgboost_content()),
        "model.txt": LIGHTGBM.encode(),
        "veritas.json": json.dumps(VERITAS).encode(),
        "own.json": own_text().encode(),
        "rules.json": json.dumps(RULES).encode(),
    }


OTHER_FILES = {
    "empty": b"",
    "pickle": pickle.dumps({"learner": np.zeros(3)}, protocol=4),
    "old pickle": pickle.dumps({"learner": [1, 2]}, protocol=0),
    "zip": b"PK\x03\x04" + b"\0" * 100,
    "zeros": b"\0" * 1000,
    "list": b"[]",
    "number": b"7",
    "null": b"null",
    "object": b"{}",
    "text": b"tree",
    "learner is null": b'{"learner": null, "trees": null, "base_scores": null, "atoms": null}',
}


@pytest.mark.parametrize("name", OTHER_FILES)
@pytest.mark.parametrize("file", READERS)
def test_files_that_are_something_else(file, name, tmp_path):
    (tmp_path / file).write_bytes(OTHER_FILES[name])
    refused(READERS[file], tmp_path / file)


@pytest.mark.parametrize("name", ["pickle", "old pickle", "zip"])
@pytest.mark.parametrize("file", READERS)
def test_pickles_under_another_name_are_no_policies(file, name, tmp_path):
    (tmp_path / file).write_bytes(OTHER_FILES[name])
    (tmp_path / "task.jani").write_text(json.dumps(jani_model()))
    task = surefoot.load_task(tmp_path / "task.jani")
    with pytest.raises(InputError) as caught:
        surefoot.load_policy(str(tmp_path / file), task)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("file", READERS)
def test_every_file_is_read_whole_and_refused_in_part(file, tmp_path):
    data = sources()[file]
    (tmp_path / file).write_bytes(data)
    assert READERS[file](tmp_path / file).model.num_outputs in (1, 2, 4)
    end = data.find(b"end of trees") if file.endswith("txt") else len(data.rstrip())
    for cut in sorted({0, 1, 2, *random.Random(0).sample(range(end), 60), end - 1}):
        (tmp_path / file).write_bytes(data[:cut])
        refused(READERS[file], tmp_path / file)


def test_folders_and_missing_files(tmp_path):
    for reader in READERS.values():
        refused(reader, tmp_path)
        refused(reader, tmp_path / "nothing.ubj")


# -- damaged at random -----------------------------------------------------------------------

FILES = 2_500


def damaged(file, rng):
    """Return a damaged file of a format."""
    if file == "model.txt":
        return damaged_text(rng)
    if file == "model.ubj":
        return damaged_binary(rng)
    content = json.loads(rng.choice(variants(file)))
    return mutate(content, rng)


@cache
def variants(file):
    if file not in ("model.json", "model.ubj"):
        return (sources()[file].decode(),)
    return (xgboost_text(), xgboost_text(vector=True))


def damaged_text(rng):
    """Return LightGBM text with another word somewhere, a line too many or too few, or noise."""
    lines = rng.choice(lightgbm_texts()).splitlines()
    for _ in range(rng.choice((1, 1, 2, 3))):
        number = rng.randrange(len(lines))
        name, sign, value = lines[number].partition("=")
        words = value.split(" ")
        words[rng.randrange(len(words))] = rng.choice(WORDS)
        others = (
            [name + sign + " ".join(words)],
            [name + sign + " ".join(words)],
            [],
            [rng.choice(lines), lines[number]],
            [rng.choice(WORDS) + sign + value],
        )
        lines[number : number + 1] = rng.choice(others) or [""]
    data = "\n".join(lines).encode()
    return rng.choice(_DAMAGES)(data, rng) if rng.random() < 0.2 else data


WORDS = (
    "", "-1", "0", "1", "2", "3", "-2", "-4", "1e999", "nan", "inf", "-inf", "1e-400", "x", "0x1",
    "9223372036854775808", "9" * 5000, "-9223372036854775809", "1.5", "٣", "\x00", "1_0", "=", "4",
    "6", "8", "1e308", "1.7976931348623157e308",
)  # fmt: skip


@cache
def lightgbm_texts():
    parameters = {"objective": "multiclass", "num_class": 4}
    booster = lightgbm_booster(parameters, leaves=4, seed=1, rounds=2)
    return (LIGHTGBM, booster.model_to_string().split("feature_importances")[0])


def damaged_binary(rng):
    """Return UBJSON of a damaged document, or a file with damaged bytes."""
    if rng.random() < 0.5:
        try:
            content = json.loads(mutate(json.loads(rng.choice(variants("model.ubj"))), rng))
            return ubjson(content)
        except (ValueError, RecursionError):
            pass
    data = ubjson(json.loads(rng.choice(variants("model.ubj"))))
    for _ in range(rng.choice((1, 1, 2, 3))):
        data = rng.choice(_DAMAGES)(data, rng)
    return data


def use(reader):
    def read_and_score(path):
        model = reader(path).model
        model.scorer().scores(np.zeros((1, model.num_inputs)))

    return Loader(read_and_score, (SurefootError,))


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.parametrize("file", READERS)
def test_readers_survive_damaged_files(file, tmp_path):
    summary, loader = Summary(), use(READERS[file])
    for number in range(FILES):
        (tmp_path / file).write_bytes(damaged(file, random.Random(f"{file}/{number}")))
        _try_file(loader, tmp_path / file, summary)
        assert summary.finding is None, f"file {number}: {summary.finding}"
    assert summary.loaded > FILES // 100
    assert summary.refused.total() > FILES // 3
