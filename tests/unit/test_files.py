"""Reading JSON files of strangers."""

import json
import os
import random
import string
import time

import pytest

from surefoot.errors import InputError
from surefoot.files import parse_json, read_json


def random_document(rng, depth=0):
    """Return a random JSON value."""
    kind = rng.randrange(9 if depth < 5 else 6)
    if kind < 6:
        text = "".join(
            rng.choice(string.printable + 'äπ"\\😀\x00') for _ in range(rng.randrange(6))
        )
        numbers = rng.randint(-(10**20), 10**20), rng.uniform(-1e9, 1e9), 1e300
        return (None, True, False, text, rng.choice(numbers), rng.randint(-9, 9))[kind]
    if kind == 6:
        return [random_document(rng, depth + 1) for _ in range(rng.randrange(5))]
    return {f"k{i}é": random_document(rng, depth + 1) for i in range(rng.randrange(5))}


def test_our_parser_and_the_standard_one_agree():
    rng = random.Random(1)
    for _ in range(2000):
        document = random_document(rng)
        text = json.dumps(document, indent=rng.choice((None, 1)), ensure_ascii=rng.random() < 0.5)
        assert parse_json(f" \n{text}\t") == json.loads(text) == document


def test_both_parsers_refuse_the_same_texts():
    rng = random.Random(2)
    for _ in range(3000):
        text = list(json.dumps(random_document(rng)))
        for _ in range(rng.randrange(1, 3)):
            at = rng.randrange(len(text) + 1)
            text[at : at + rng.randrange(2)] = rng.choice(["", "{", "]", ",", '"', "0", ":", "\\"])
        damaged = "".join(text)
        try:
            expected = json.loads(damaged)
        except json.JSONDecodeError:
            with pytest.raises(InputError):
                parse_json(damaged)
            continue
        assert _value_or_code(damaged) in (expected, "json-duplicate-key")


def _value_or_code(text):
    try:
        return parse_json(text)
    except InputError as error:
        return error.code


@pytest.fixture
def refused(tmp_path):
    """Return a function that says with which error a text is refused."""

    def refused(content):
        file = tmp_path / "file.json"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(InputError) as caught:
            read_json(file)
        assert caught.value.file == str(file)
        return caught.value

    return refused


@pytest.mark.parametrize(
    "content, code, message",
    [
        ("", "json-syntax", "the file is empty"),
        (" \n ", "json-syntax", "the file is empty"),
        ('{"a": [1,', "json-syntax", "line 1, column 10: the file ends too early"),
        ('{"a":\n  1,\n  b}', "json-syntax", "line 3, column 3"),
        ("[1] 2", "json-syntax", "extra data"),
        ("[NaN]", "json-syntax", "line 1, column 2"),
        ("-Infinity", "json-syntax", "line 1, column 1"),
        ('{"a": 1,\n "a": 2}', "json-duplicate-key", 'line 2, column 2: key "a" occurs twice'),
        ("[1,\n" + "9" * 5000 + "]", "number-too-large", "line 2, column 1"),
        ("[" * 100_000, "json-too-deep", "nested more than 10000 deep"),
        ('{"a":' * 100_000, "json-too-deep", "nested more than 10000 deep"),
        (b'"\xff"', "not-utf8", "byte 1"),
        ('"a\nb"', "json-syntax", "line 1, column 3"),
    ],
)
def test_what_is_refused(refused, content, code, message):
    started = time.process_time()
    error = refused(content)
    assert time.process_time() - started < 1
    assert error.code == code
    assert message in error.message


def test_deep_documents_are_read(tmp_path):
    file = tmp_path / "deep.json"
    file.write_text('{"a":' * 9_999 + "7" + "}" * 9_999)
    value = read_json(file)
    depth = 0
    while isinstance(value, dict):
        value, depth = value["a"], depth + 1
    assert (value, depth) == (7, 9_999)


def test_a_byte_order_mark_is_skipped(tmp_path):
    file = tmp_path / "bom.json"
    file.write_text('{"π": 1}', "utf-8-sig")
    assert read_json(str(file)) == {"π": 1}


def test_only_regular_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "model.jani").write_text("{}")
    for path, code in (
        (tmp_path / "fifo", "not-a-file"),
        (tmp_path, "not-a-file"),
        ("/dev/zero", "not-a-file"),
        (tmp_path / "modell.jani", "file-not-found"),
        (tmp_path / "model.jani" / "x", "file-not-found"),
        ("nul\0byte", "file-not-found"),
        ("x" * 5000, "file-not-readable"),
    ):
        with pytest.raises(InputError) as caught:
            read_json(path)
        assert caught.value.code == code
        if str(path).endswith("modell.jani"):
            assert caught.value.hint == 'did you mean "model.jani"?'
