"""What files are, by name and beginning."""

import json
import pickle
import struct

import pytest
from tests.support.networks import grid, random_network

from surefoot import InputError, load_policy
from surefoot.policies.formats import kind_of
from surefoot.policies.safetensors import to_bytes

XGBOOST = json.dumps({"learner": {}, "version": [3, 1, 0]}).encode()
UBJSON = b"{L" + struct.pack(">q", 7) + b"learner{}}"
LIGHTGBM = b"tree\nversion=v4\nnum_class=4\n"
SAFETENSORS = to_bytes(random_network(1, 3, 4))

MISNAMED = {
    "LightGBM": ("policy.json", LIGHTGBM, "LightGBM", "policy.txt"),
    "UBJSON": ("policy.json", UBJSON, "UBJSON", "policy.ubj"),
    "XGBoost JSON": ("policy.txt", XGBOOST, "JSON", "policy.json"),
    "XGBoost JSON, spaced": ("policy.lgb", b" {\n " + XGBOOST[1:], "JSON", "policy.json"),
    "JSON as UBJSON": ("policy.ubj", XGBOOST, "JSON", "policy.json"),
    "JSON as safetensors": ("policy.safetensors", XGBOOST, "JSON", "policy.json"),
    "safetensors": ("policy.json", SAFETENSORS, "safetensors", "policy.safetensors"),
    "no suffix": ("policy", SAFETENSORS, "safetensors", "policy.safetensors"),
    "UBJSON in .bin": ("policy.bin", UBJSON, "UBJSON", "policy.ubj"),
}


def error_of(file):
    with pytest.raises(InputError) as caught:
        load_policy(str(file), grid(3, 4))
    assert caught.value.file == str(file)
    return caught.value


@pytest.mark.parametrize("case", MISNAMED)
def test_misnamed_files_are_told_what_they_look_like(tmp_path, case):
    name, content, looks, better = MISNAMED[case]
    (tmp_path / name).write_bytes(content)
    error = error_of(tmp_path / name)
    assert error.code == "unknown-policy-format"
    assert "looks like" in error.message and looks in error.message
    assert f'"{better}"' in error.hint


@pytest.mark.parametrize(
    "name, content",
    [("a.json", XGBOOST), ("a.ubj", UBJSON), ("a.txt", LIGHTGBM), ("a.safetensors", SAFETENSORS)],
)
def test_files_with_their_right_names(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert kind_of(tmp_path / name) in ("xgboost", "lightgbm", "safetensors")


@pytest.mark.parametrize("content", [b"", b"hello", bytes(range(256)), b"\x00" * 40])
def test_a_bin_file_that_is_no_pickle_is_not_called_one(tmp_path, content):
    (tmp_path / "policy.bin").write_bytes(content)
    assert error_of(tmp_path / "policy.bin").code == "unknown-policy-format"


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize(
    "thing",
    [{}, {"a": 1}, [1], grid, InputError],
    ids=["empty", "dict", "list", "function", "class"],
)
def test_pickles_in_bin_files(tmp_path, thing, protocol):
    (tmp_path / "policy.bin").write_bytes(pickle.dumps(thing, protocol=protocol))
    error = error_of(tmp_path / "policy.bin")
    assert error.code == "policy-is-pickle"
    assert "-o policy.safetensors --trust" in error.hint


@pytest.mark.parametrize("suffix", [".pkl", ".pickle", ".joblib"])
def test_pickles_of_estimators_are_mostly_trees(tmp_path, suffix):
    (tmp_path / f"policy{suffix}").write_bytes(pickle.dumps({}))
    assert "-o policy.json --trust" in error_of(tmp_path / f"policy{suffix}").hint


@pytest.mark.parametrize("content", [b"Hello, this is text and no network.", b"\xff" * 2000])
def test_what_is_no_safetensors_file(tmp_path, content):
    (tmp_path / "policy.safetensors").write_bytes(content)
    error = error_of(tmp_path / "policy.safetensors")
    assert (error.code, error.message) == ("bad-safetensors", "this is not a safetensors file")


def test_an_empty_table_is_named(tmp_path):
    (tmp_path / "table.jsonl").write_text("\n")
    error = error_of(tmp_path / "table.jsonl")
    assert (error.code, error.message) == ("bad-policy-table", "the table has no decisions")
