"""UBJSON as XGBoost writes it, read back."""

import json
import struct

import numpy as np
import pytest
from tests.support.trees import xgboost_booster

from surefoot.errors import InputError
from surefoot.policies.trees.ubjson import (
    MAX_DEPTH,
    MAX_ITEMS,
    parse_ubjson,
    read_ubjson,
    to_ubjson,
)


def length(number):
    return b"L" + struct.pack(">q", number)


def text(word):
    return length(len(word.encode())) + word.encode()


def counted(*items):
    return b"[#" + length(len(items)) + b"".join(items)


def typed(mark, form, *numbers):
    packed = struct.pack(f">{len(numbers)}{form}", *numbers)
    return b"[$" + mark + b"#" + length(len(numbers)) + packed


def plain(value):
    """Return the value with arrays as lists."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


VALUES = {
    "int8": (b"i\xff", -1),
    "uint8": (b"U\xff", 255),
    "int16": (b"I\x80\x00", -(2**15)),
    "int32": (b"l\x7f\xff\xff\xff", 2**31 - 1),
    "int64": (b"L" + struct.pack(">q", -(2**40)), -(2**40)),
    "float": (b"d" + struct.pack(">f", 0.1), float(np.float32(0.1))),
    "double": (b"D" + struct.pack(">d", 0.1), 0.1),
    "null": (b"Z", None),
    "true": (b"T", True),
    "false": (b"F", False),
    "char": (b"Cx", "x"),
    "text": (b"S" + text("größe"), "größe"),
    "empty text": (b"S" + text(""), ""),
    "short length": (b"Si\x02ab", "ab"),
    "empty array": (b"[]", []),
    "empty counted array": (b"[#i\x00", []),
    "array": (b"[i\x01[Z]T]", [1, [None], True]),
    "counted array": (counted(b"i\x01", counted(b"Z"), b"T"), [1, [None], True]),
    "empty object": (b"{}", {}),
    "object": (b"{" + text("a") + b"i\x01" + text("b") + b"{}" + b"}", {"a": 1, "b": {}}),
    "counted object": (b"{#i\x01" + text("a") + b"i\x01", {"a": 1}),
    "typed floats": (typed(b"d", "f", 0.5, -2.0), [0.5, -2.0]),
    "typed doubles": (typed(b"D", "d", 0.1), [0.1]),
    "typed int32": (typed(b"l", "i", 1, -7), [1, -7]),
    "typed int64": (typed(b"L", "q", 2**40), [2**40]),
    "typed uint8": (typed(b"U", "B", 0, 255), [0, 255]),
    "typed empty": (typed(b"d", "f"), []),
    "after a typed array": (b"[" + typed(b"U", "B", 1) + b"i\x02]", [[1], 2]),
}
BROKEN = {
    "nothing": (b"", "1 bytes are claimed"),
    "unknown mark": (b"x", "does not begin a value"),
    "pickle": (b"\x80\x04\x95", "does not begin a value"),
    "json": (b'{"a": 1}', "not a whole number"),
    "text too long": (b"SU\x05ab", "5 bytes are claimed, 2 are left"),
    "negative length": (b"Si\xff", "negative"),
    "length is a float": (b"Sd\x00\x00\x00\x00", "not a whole number"),
    "2 GB of floats": (b"[$d#" + length(2**29), "are claimed"),
    "2**62 doubles": (b"[$D#" + length(2**62), "are claimed"),
    "2 GB of items": (b"[#" + length(2**31) + b"Z", "not have that many bytes"),
    "counted object": (b"{#" + length(2**31), "not have that many bytes"),
    "typed without count": (b"[$d]", "not as XGBoost"),
    "typed text": (b"[$S#i\x01", "not as XGBoost"),
    "typed object": (b"{$i#i\x01", "not as XGBoost"),
    "not closed": (b"[i\x01", "bytes are claimed"),
    "wrong bracket": (b"[i\x01}", "does not begin a value"),
    "twice": (b"ZZ", "after the end"),
    "duplicate key": (b"{" + text("a") + b"Z" + text("a") + b"Z}", "occurs twice"),
    "not UTF-8": (b"Si\x01\xff", "not UTF-8"),
    "too many values": (b"[" + b"Z" * MAX_ITEMS, "more than 1,500,000 values"),
    "deep": (b"[" * 1_000_000, f"nested more than {MAX_DEPTH}"),
    "deep objects": ((b"{" + text("a")) * 1000, f"nested more than {MAX_DEPTH}"),
}


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    data, wanted = VALUES[name]
    found = plain(parse_ubjson(data))
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused(name):
    data, message = BROKEN[name]
    with pytest.raises(InputError, match=message) as caught:
        parse_ubjson(data)
    assert caught.value.code == "ubjson-syntax"


def test_deepest_nesting():
    assert parse_ubjson(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH) is not None


def test_every_truncation_is_refused():
    data = counted(b"i\x01", b"{" + text("a") + typed(b"d", "f", 1.0, 2.0) + b"}", b"S" + text("b"))
    assert len(parse_ubjson(data)) == 3
    for end in range(len(data)):
        with pytest.raises(InputError):
            parse_ubjson(data[:end])


@pytest.mark.parametrize(
    "more", [{}, {"multi_strategy": "multi_output_tree"}, {"booster": "dart", "rate_drop": 0.5}]
)
def test_the_same_content_as_the_json_file(more, tmp_path):
    booster = xgboost_booster(
        {"objective": "multi:softprob", "num_class": 4, **more}, depth=4, seed=1
    )
    booster.save_model(tmp_path / "model.ubj")
    booster.save_model(tmp_path / "model.json")
    binary = plain(read_ubjson(tmp_path / "model.ubj"))
    written = json.loads((tmp_path / "model.json").read_text())
    assert rounded(binary) == rounded(written)


def rounded(value):
    """Return the value with every real number in float32, as both files mean it."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(np.float32(value)) if isinstance(value, float) else value


def test_errors_name_the_file(tmp_path):
    (tmp_path / "a.ubj").write_bytes(b"x")
    with pytest.raises(InputError) as caught:
        read_ubjson(tmp_path / "a.ubj")
    assert caught.value.file == str(tmp_path / "a.ubj")


# -- writing ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more", [{}, {"multi_strategy": "multi_output_tree"}, {"booster": "dart", "rate_drop": 0.5}]
)
def test_models_are_written_with_the_very_same_bytes(more):
    booster = xgboost_booster(
        {"objective": "multi:softprob", "num_class": 4, **more}, depth=4, seed=1
    )
    raw = bytes(booster.save_raw("ubj"))
    assert to_ubjson(parse_ubjson(raw)) == raw


def test_what_is_written_is_read_again():
    content = {
        "a": [1, -(2**63), 0.5, 0.1, True, False, None, "é\n", [], {}],
        "": {"b": [[[1]]]},
    }
    assert parse_ubjson(to_ubjson(content)) == content
    for kind in ("i1", "u1", "i2", "i4", "i8", "f4", "f8"):
        array = np.array([1, 2, 100], dtype=kind)
        found = parse_ubjson(to_ubjson([array]))[0]
        assert found.dtype == array.dtype and np.array_equal(found, array)


@pytest.mark.parametrize("value", [2**63, {1}, np.zeros((2, 2)), np.zeros(2, dtype=complex)])
def test_what_has_no_form_is_not_written(value):
    with pytest.raises(ValueError, match="cannot be written"):
        to_ubjson([value])
