"""Universal Binary JSON (UBJSON, draft 12), as far as XGBoost writes it.

Arrays with a type become NumPy arrays; everything else becomes what JSON would give. Every length a
file claims is held against the bytes that are left before anything is made of it; there is no
recursion.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from surefoot.errors import InputError, quoted
from surefoot.files import file_bytes
from surefoot.policies.trees.reading import errors_in

MAX_DEPTH = 100
MAX_ITEMS = 1_500_000
"""values outside typed arrays, enough for 50,000 trees: more take long and much memory"""

_INTEGERS = {b"i": ">i1", b"U": ">u1", b"I": ">i2", b"l": ">i4", b"L": ">i8"}
_NUMBERS = _INTEGERS | {b"d": ">f4", b"D": ">f8"}
_FORMATS = {b"i": ">b", b"U": ">B", b"I": ">h", b"l": ">i", b"L": ">q", b"d": ">f", b"D": ">d"}
_WORDS = {b"Z": None, b"N": None, b"T": True, b"F": False}


def read_ubjson(path: str | Path) -> object:
    """Return the content of a UBJSON file. Raises InputError for anything else."""
    with errors_in(Path(path)):
        return parse_ubjson(file_bytes(path))


def parse_ubjson(data: bytes) -> object:
    """Return the value that the bytes are. Raises InputError if they are none, or more than one."""
    return _Reader(data).run()


@dataclass
class _Open:
    """An array or object that is not complete; ``left`` items are to come, if that is known."""

    value: Any
    left: int | None
    key: str = ""


@dataclass
class _Reader:
    data: bytes
    position: int = 0
    items: int = 0
    stack: list[_Open] = field(default_factory=list)

    def run(self) -> object:
        done, value = self._value(self._byte())
        while not done or self.stack:
            if done:
                self._put(value)
            done, value = self._next()
        if self.position != len(self.data):
            self._fail("there is something after the end")
        return value

    def _next(self) -> tuple[bool, object]:
        """Read on in the innermost container; return whether a value is complete, and it."""
        top = self.stack[-1]
        if top.left == 0:
            return True, self.stack.pop().value
        if top.left is not None:
            top.left -= 1
        is_object = type(top.value) is dict
        mark = self._peek()
        if top.left is None and mark == (b"}" if is_object else b"]"):
            self.position += 1
            return True, self.stack.pop().value
        if is_object:
            top.key = self._text()
            if top.key in top.value:
                self._fail(f"key {quoted(top.key)} occurs twice")
        return self._value(self._byte())

    def _put(self, value: object) -> None:
        top = self.stack[-1]
        if type(top.value) is dict:
            top.value[top.key] = value
        else:
            top.value.append(value)

    def _value(self, mark: bytes) -> tuple[bool, object]:
        self.items += 1
        if self.items > MAX_ITEMS:
            self._fail(f"there are more than {MAX_ITEMS:,} values")
        if mark in _FORMATS:
            return True, self._number(mark)
        if mark in _WORDS:
            return True, _WORDS[mark]
        if mark == b"S":
            return True, self._text()
        if mark == b"C":
            return True, self._taken(1).decode("latin-1")
        if mark in (b"[", b"{"):
            return self._opened(mark)
        self._fail(f"{quoted(mark.decode('latin-1'))} does not begin a value")

    def _opened(self, mark: bytes) -> tuple[bool, object]:
        if len(self.stack) >= MAX_DEPTH:
            self._fail(f"nested more than {MAX_DEPTH} deep")
        kind = None
        if self._peek() == b"$":
            self.position += 1
            kind = self._byte()
            if kind not in _NUMBERS or mark == b"{" or self._peek() != b"#":
                self._fail("a typed container is not as XGBoost writes them")
        count = None
        if self._peek() == b"#":
            self.position += 1
            count = self._length()
        if kind is not None:
            return True, self._typed(kind, count or 0)
        if count is not None and count > len(self.data) - self.position:
            self._fail(f"{count:,} items are claimed, the file does not have that many bytes left")
        self.stack.append(_Open([] if mark == b"[" else {}, count))
        return False, None

    def _typed(self, kind: bytes, count: int) -> object:
        dtype = np.dtype(_NUMBERS[kind])
        taken = self._taken(count * dtype.itemsize)
        return np.frombuffer(taken, dtype=dtype).astype(dtype.newbyteorder("="))

    def _number(self, mark: bytes) -> int | float:
        form = _FORMATS[mark]
        number: int | float = struct.unpack(form, self._taken(struct.calcsize(form)))[0]
        return number

    def _length(self) -> int:
        mark = self._byte()
        if mark not in _INTEGERS:
            self._fail("a length is not a whole number")
        length = int(self._number(mark))
        if length < 0:
            self._fail("a length is negative")
        return length

    def _text(self) -> str:
        taken = self._taken(self._length())
        try:
            return taken.decode("utf-8")
        except UnicodeDecodeError:
            self._fail("a text is not UTF-8")

    def _taken(self, count: int) -> bytes:
        left = len(self.data) - self.position
        if count > left:
            self._fail(f"{count:,} bytes are claimed, {left:,} are left")
        self.position += count
        return self.data[self.position - count : self.position]

    def _byte(self) -> bytes:
        return self._taken(1)

    def _peek(self) -> bytes:
        return self.data[self.position : self.position + 1]

    def _fail(self, message: str) -> NoReturn:
        raise InputError("ubjson-syntax", f"byte {self.position:,}: {message}")


# -- writing ---------------------------------------------------------------------------------

_SIGNED = {b"i": 7, b"I": 15, b"l": 31, b"L": 63}  # bits besides the sign
_MARKS = {np.dtype(form).newbyteorder("="): mark for mark, form in _NUMBERS.items()}


def to_ubjson(content: object) -> bytes:
    """Return content as XGBoost reads it: arrays of NumPy as typed ones.

    Raises ValueError for what UBJSON of XGBoost has no form for.
    """
    pieces: list[bytes] = []
    left = [content]
    while left:
        value = left.pop()
        if isinstance(value, _Raw):
            pieces.append(value)
        elif isinstance(value, dict):
            pieces.append(b"{")
            left.append(_Raw(b"}"))
            for key, item in reversed(value.items()):
                left += [item, _Raw(_text_bytes(key))]
        elif isinstance(value, list):
            pieces.append(b"[#" + _count(len(value)))
            left += reversed(value)
        else:
            pieces.append(_single(value))
    return b"".join(pieces)


class _Raw(bytes):
    """Bytes that are written as they are."""


def _single(value: object) -> bytes:
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype in _MARKS:
        mark = _MARKS[value.dtype]
        return b"[$" + mark + b"#" + _count(len(value)) + value.astype(_NUMBERS[mark]).tobytes()
    if value is None or isinstance(value, bool):
        return {None: b"Z", True: b"T", False: b"F"}[value]
    if isinstance(value, str):
        return b"S" + _text_bytes(value)
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        mark = next(mark for mark, bits in _SIGNED.items() if -(2**bits) <= value < 2**bits)
        return mark + struct.pack(_FORMATS[mark], value)
    if isinstance(value, float):
        is_short = float(np.float32(value)) == value
        return b"d" + struct.pack(">f", value) if is_short else b"D" + struct.pack(">d", value)
    raise ValueError("the content cannot be written as UBJSON")


def _text_bytes(text: str) -> bytes:
    data = text.encode()
    return _count(len(data)) + data


def _count(number: int) -> bytes:
    return b"L" + struct.pack(">q", number)
