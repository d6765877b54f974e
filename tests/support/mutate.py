"""Damaged files for the loaders: JSON documents with a few wrong things at random places.

``mutate`` changes the structure of a document (most of the result is still a model, so the damage
reaches the deeper checks) and now and then the text it is written as. What JSON of Python cannot
write (duplicate keys, huge numbers, 100,000 levels) stands in the tree as a *mark*, a unique string
that is replaced in the text.
"""

from __future__ import annotations

import json
import marshal
import random
from collections.abc import Callable
from typing import Any

Json = Any

MAX_NESTING = 100_000

_OPERATORS = (
    "∧", "∨", "⇒", "¬", "=", "≠", "<", "≤", ">", "≥", "+", "-", "*", "/", "%", "min", "max", "abs",
    "pow", "log", "floor", "ceil", "trc", "sgn", "ite", "aa", "av", "ac", "let", "call", "der", "F",
    "state-condition", "states-values", "objective", "PA", "filter", "initial", "nonsense", "",
)  # fmt: skip
_KEYS = (
    "op", "exp", "left", "right", "if", "then", "else", "index", "name", "type", "value", "kind",
    "base", "lower-bound", "upper-bound", "initial-value", "ref", "location", "action", "guard",
    "destinations", "assignments", "probability", "elements", "syncs", "file", "label", "variables",
    "functions", "locations", "transient", "transient-values", "restrict-initial", "rate",
    "time-progress", "__proto__", "x-unknown", "",
)  # fmt: skip
_STRINGS = (
    "", " ", "x", "y", "m", "a", "loc_0", "m.location", "bool", "int", "real", "clock", "bounded",
    "array", "true", "NaN", "../../../../etc/passwd", "/dev/zero", ".", "%s%n", "x\u202ey", "🦶",
)  # fmt: skip
_RAW_NUMBERS = (
    "1e999", "-1e999", "NaN", "Infinity", "-Infinity", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "-9223372036854775809", "18446744073709551616", "1" + "0" * 400,
    "9" * 5000, "-1", "-0", "-0.0", "0.1e-400", "1.0", "4294967296", "2147483648", "1E5", "01",
    "+1", "0x10", "1.", ".5", "0." + "3" * 5000, "-7", "-3.5", "5e-324",
)  # fmt: skip
_RAW_STRINGS = (
    r'"\ud800"', r'"\udc00\ud800"', '"\ud800"', '"\x00"', '"\x01\x1f"', r'"\u0000"', r'"\u001b[2J"',
    '"a\nb"', r'"\x"', "'x'", '"unterminated', r'"\u12"', '"\x7f\x85\u2028"',
)  # fmt: skip
_RAW_OTHER = (
    "", "undefined", "True", "// comment", "/* */ 1", "[1,]", '{"a":1,}', "[", "}", "{}", "]",
)  # fmt: skip
_NESTS = (
    ("[", "", "]"),
    ('{"a":', "1", "}"),
    ('{"op":"¬","exp":', "true", "}"),
    ('{"op":"-","exp":', "1", "}"),
    ('{"op":"+","left":1,"right":', "1", "}"),
    ('{"op":"∧","right":true,"left":', "true", "}"),
    ('{"op":"ite","if":true,"then":1,"else":', "1", "}"),
    ('{"op":"let","variables":[],"expression":', "true", "}"),
    ('{"op":"aa","index":0,"exp":', '"x"', "}"),
    ('{"kind":"array","base":', '"bool"', "}"),
    ('{"op":"av","elements":[', "1", "]}"),
)

Place = tuple[Any, Any]
"""a container of the document and a key or index in it"""


def mutate(document: Json, rng: random.Random) -> bytes:
    """Return the bytes of a file that holds ``document`` with one to four random mutations.

    The document itself is not changed.
    """
    mutation = _Mutation(marshal.loads(marshal.dumps(document)), rng)
    damages_text = 0
    for _ in range(rng.choice((1, 1, 1, 1, 2, 2, 3, 4))):
        if rng.random() < 0.12:
            damages_text += 1
        else:
            mutation.change_tree()
    data = _encoded(mutation.text(), rng)
    for _ in range(damages_text):
        data = rng.choice(_DAMAGES)(data, rng)
    return data


class _Mutation:
    """A document under change: its tree, and the raw text that its marks stand for."""

    def __init__(self, document: Json, rng: random.Random) -> None:
        self.root = [document]  # so that the document itself is a place, too
        self.rng = rng
        self.marks: dict[str, str] = {}

    def change_tree(self) -> None:
        places = _places(self.root)
        _CHANGES[self.rng.randrange(len(_CHANGES))](self, places)

    def text(self) -> str:
        is_ascii = self.rng.random() < 0.2
        written = json.dumps(self.root[0], ensure_ascii=is_ascii, allow_nan=True)
        for mark, raw in self.marks.items():
            written = written.replace(f'"{mark}"', raw)
        return written

    def mark(self, raw: str) -> str:
        """Return a string that becomes ``raw`` when the document is written."""
        mark = f"@@mark-{len(self.marks)}@@"
        self.marks[mark] = raw
        return mark

    def replacement(self) -> Json:
        """Return a value that is probably wrong wherever it is put."""
        rng = self.rng
        options: tuple[Callable[[], Json], ...] = (
            lambda: rng.choice((None, True, False, 0, 1, -1, 0.5, [], {}, [[]], [None], {"op": 1})),
            lambda: rng.choice((None, [], {}, "", -1)),
            lambda: rng.choice(_STRINGS),
            lambda: self.mark(rng.choice(_RAW_NUMBERS)),
            lambda: self.mark(rng.choice(_RAW_NUMBERS)),
            lambda: self.mark(rng.choice(_RAW_STRINGS)),
            lambda: self.mark(rng.choice(_RAW_OTHER)),
            lambda: self.mark(self.nest()),
            lambda: "s" * rng.choice((300, 10_000, 1_000_000)),
            lambda: [rng.choice((0, None, "x"))] * rng.choice((1, 3, 10_000)),
        )
        return rng.choice(options)()

    def nest(self) -> str:
        """Return text that is nested a few hundred to 100,000 levels deep."""
        start, middle, end = self.rng.choice(_NESTS)
        levels = self.rng.choice((200, 1_000, 5_000, 20_000, MAX_NESTING))
        return start * levels + middle + end * levels

    # changes

    def replace(self, places: list[Place]) -> None:
        container, key = self.rng.choice(places)
        container[key] = self.replacement()

    def delete(self, places: list[Place]) -> None:
        container, key = self.rng.choice(places)
        if container is self.root:
            container[key] = {}
        else:
            del container[key]

    def repeat(self, places: list[Place]) -> None:
        """Write a list item twice, or a key twice with the same or another value."""
        container, key = self.rng.choice(places)
        if isinstance(container, list):
            if container is not self.root:
                container.insert(key, container[key])
            return
        value = container[key] if self.rng.random() < 0.5 else self.replacement()
        container[self.mark(json.dumps(key))] = value

    def rename_key(self, places: list[Place]) -> None:
        keyed = [place for place in places if isinstance(place[0], dict)]
        if keyed:
            container, key = self.rng.choice(keyed)
            new = key + "_" if self.rng.random() < 0.3 else self.rng.choice(_KEYS)
            container[new] = container.pop(key)

    def change_operator(self, places: list[Place]) -> None:
        operators = [place for place in places if place[1] == "op"]
        if operators:
            self.rng.choice(operators)[0]["op"] = self.rng.choice(_OPERATORS)

    def rename(self, places: list[Place]) -> None:
        """Replace a string by another one of the document, or by a new name."""
        named = [place for place in places if isinstance(place[0][place[1]], str)]
        if named:
            container, key = self.rng.choice(named)
            other_container, other_key = self.rng.choice(named)
            is_known = self.rng.random() < 0.7
            new = other_container[other_key] if is_known else self.rng.choice(_STRINGS)
            container[key] = new

    def swap(self, places: list[Place]) -> None:
        """Exchange two parts of the document, or copy one to the place of the other."""
        (one, i), (two, j) = self.rng.choice(places), self.rng.choice(places)
        first, second = _copy(one[i]), _copy(two[j])  # copies: a part must not hold itself
        one[i] = second
        is_still_there = j in two if isinstance(two, dict) else j < len(two)
        if is_still_there and self.rng.random() < 0.5:
            two[j] = first

    def swap_bounds(self, places: list[Place]) -> None:
        bounded = [place[0] for place in places if place[1] == "lower-bound"]
        bounded = [part for part in bounded if "upper-bound" in part]
        if bounded:
            part = self.rng.choice(bounded)
            lower, upper = part["lower-bound"], part["upper-bound"]
            part["lower-bound"], part["upper-bound"] = upper, lower

    def negate(self, places: list[Place]) -> None:
        numbers = [place for place in places if type(place[0][place[1]]) in (int, float)]
        if numbers:
            container, key = self.rng.choice(numbers)
            value = container[key]
            container[key] = self.rng.choice((-value, value + 1, value * 1_000_003, float(value)))

    def shuffle(self, places: list[Place]) -> None:
        lists = [c[k] for c, k in places if isinstance(c[k], list) and len(c[k]) > 1]
        if lists:
            self.rng.shuffle(self.rng.choice(lists))


_CHANGES = (
    _Mutation.replace,
    _Mutation.replace,
    _Mutation.replace,
    _Mutation.delete,
    _Mutation.delete,
    _Mutation.repeat,
    _Mutation.rename_key,
    _Mutation.change_operator,
    _Mutation.rename,
    _Mutation.rename,
    _Mutation.swap,
    _Mutation.swap,
    _Mutation.swap_bounds,
    _Mutation.negate,
    _Mutation.shuffle,
)


def _places(root: list[Json]) -> list[Place]:
    """Return every container and key of the document, the outermost first."""
    places: list[Place] = []
    waiting: list[Any] = [root]
    while waiting:
        container = waiting.pop()
        keys = container if isinstance(container, dict) else range(len(container))
        for key in keys:
            places.append((container, key))
            if isinstance(container[key], dict | list):
                waiting.append(container[key])
    return places


def _copy(part: Json) -> Json:
    return marshal.loads(marshal.dumps(part))


# --- text and bytes -------------------------------------------------------------------------------


def _encoded(text: str, rng: random.Random) -> bytes:
    if rng.random() < 0.05:
        encoding = rng.choice(("utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1"))
        return text.encode(encoding, "replace" if encoding == "latin-1" else "surrogatepass")
    return text.encode("utf-8", "surrogatepass")  # a lone surrogate becomes invalid UTF-8


def _truncated(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _with_flips(data: bytes, rng: random.Random) -> bytes:
    flipped = bytearray(data)
    for _ in range(rng.choice((1, 2, 5, 50)) if data else 0):
        flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
    return bytes(flipped)


def _with_garbage(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.randbytes(rng.choice((1, 2, 16))) + data[at:]


def _twice(data: bytes, rng: random.Random) -> bytes:
    return data + rng.choice((b"", b"\n", b",")) + data


def _with_mark_in_front(data: bytes, rng: random.Random) -> bytes:
    return rng.choice((b"\xef\xbb\xbf", b"\xef\xbb\xbf\xef\xbb\xbf", b"\xff\xfe", b"\x00")) + data


_DAMAGES = (_truncated, _truncated, _with_flips, _with_flips, _with_garbage, _twice,
            _with_mark_in_front)  # fmt: skip
