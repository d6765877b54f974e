"""Reading JSON files of strangers.

:func:`read_json` reads regular files only, refuses what JSON leaves open (duplicate keys, NaN), and
never recurses: what is nested too deeply for the standard parser is read by :func:`parse_json`,
which keeps its own stack. Both give the same results. Files with one JSON value per line are read
by :func:`text_lines` and :func:`parse_line`.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined]
from pathlib import Path
from typing import Any, NoReturn

from surefoot.errors import InputError, nearest_hint, quoted

MAX_BYTES = 512 * 2**20
MAX_DEPTH = 10_000
MAX_LINE = 10_000_000
UNREADABLE = frozenset({"file-not-found", "not-a-file", "file-not-readable", "file-too-large"})
"""codes of errors that do not look into the file"""

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORDS = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}


def read_json(path: str | Path) -> Any:
    """Return the content of a JSON file. Raises InputError for anything else."""
    try:
        return _loads(_decoded(_content(Path(path))))
    except InputError as error:
        error.at(file=str(path))
        raise


def file_bytes(path: str | Path, count: int = -1) -> bytes:
    """Return the content of a file, or how it begins.

    Raises InputError unless it is a regular file of bounded size.
    """
    try:
        return _content(Path(path), count)
    except InputError as error:
        error.at(file=str(path))
        raise


def _content(path: Path, count: int = -1) -> bytes:
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise InputError("not-a-file", "this is not a regular file")
        if status.st_size > MAX_BYTES:
            raise InputError("file-too-large", f"the file has more than {MAX_BYTES // 2**20} MB")
        with path.open("rb") as file:
            return file.read(count)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise InputError(
            "file-not-found", "there is no such file", hint=neighbour_hint(path)
        ) from None
    except OSError as error:
        raise InputError(
            "file-not-readable", f"the file cannot be read: {error.strerror}"
        ) from None


def neighbour_hint(path: Path) -> str | None:
    """Return 'did you mean ...?' for the file in the same folder whose name is most alike."""
    try:
        return nearest_hint(path.name, sorted(os.listdir(path.parent)))
    except (OSError, ValueError):
        return None


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            "not-utf8", f"the file is not UTF-8 text: byte {error.start} is wrong"
        ) from None


def _loads(text: str) -> object:
    """Return the value of a JSON text by the standard parser, or by ours where that gives up."""
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        _fail(text, error.pos, error.msg)
    except (RecursionError, ValueError):
        return parse_json(text)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("duplicate key")
    return made


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _fail(text: str, position: int, message: str, code: str = "json-syntax") -> NoReturn:
    if code == "json-syntax" and not text.strip():
        raise InputError(code, "the file is empty")
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    ended = "the file ends too early: " if position >= len(text.rstrip()) else ""
    lowered = message[:1].lower() + message[1:]
    raise InputError(code, f"line {line}, column {column}: {ended}{lowered}")


@dataclass
class _Open:
    """An array or object that is not closed yet; ``key`` waits for its value."""

    value: Any
    key: str = ""


@dataclass
class _Parser:
    text: str
    position: int = 0
    stack: list[_Open] = field(default_factory=list)

    def run(self) -> object:
        """Return the value of the whole text."""
        while True:
            done, value = self._value()
            while done and self.stack:
                done, value = self._into_container(value)
            if done:
                break
        self._skip()
        if self.position < len(self.text):
            self._fail("extra data")
        return value

    def _value(self) -> tuple[bool, object]:
        """Read a scalar or an opening bracket; return whether that completes a value, and it."""
        char = self._skip()
        if char in ("{", "["):
            return self._opened(char)
        if char == '"':
            return True, self._string()
        if char in _WORDS:
            word, meaning = _WORDS[char]
            if self.text.startswith(word, self.position):
                self.position += len(word)
                return True, meaning
        return True, self._number()

    def _opened(self, char: str) -> tuple[bool, object]:
        if len(self.stack) >= MAX_DEPTH:
            self._fail(f"nested more than {MAX_DEPTH} deep", "json-too-deep")
        self.position += 1
        is_object = char == "{"
        value: object = {} if is_object else []
        if self._skip() == ("}" if is_object else "]"):
            self.position += 1
            return True, value
        self.stack.append(_Open(value))
        if is_object:
            self._key()
        return False, None

    def _into_container(self, value: object) -> tuple[bool, object]:
        """Put a complete value into the innermost container; return whether that closed it."""
        top = self.stack[-1]
        is_object = type(top.value) is dict
        if is_object:
            top.value[top.key] = value
        else:
            top.value.append(value)
        char = self._skip()
        if char == ",":
            self.position += 1
            if is_object:
                self._key()
            return False, None
        if char != ("}" if is_object else "]"):
            self._fail("expecting ',' delimiter")
        self.position += 1
        return True, self.stack.pop().value

    def _key(self) -> None:
        top = self.stack[-1]
        if self._skip() != '"':
            self._fail("expecting property name enclosed in double quotes")
        start = self.position
        top.key = self._string()
        if top.key in top.value:
            self.position = start
            self._fail(f"key {quoted(top.key)} occurs twice", "json-duplicate-key")
        if self._skip() != ":":
            self._fail("expecting ':' delimiter")
        self.position += 1

    def _string(self) -> str:
        try:
            value, self.position = scanstring(self.text, self.position + 1, True)
        except json.JSONDecodeError as error:
            _fail(self.text, error.pos, error.msg)
        return str(value)

    def _number(self) -> int | float:
        match = _NUMBER.match(self.text, self.position)
        if match is None:
            self._fail("expecting value")
        whole, fraction, exponent = match.groups()
        try:
            is_real = fraction is not None or exponent is not None
            value = float(match.group()) if is_real else int(whole)
        except ValueError:
            self._fail("integer with too many digits", "number-too-large")
        self.position = match.end()
        return value

    def _skip(self) -> str:
        """Skip white space and return the next character, or nothing at the end."""
        match = _SPACE.match(self.text, self.position)
        assert match is not None
        self.position = match.end()
        return self.text[self.position : self.position + 1]

    def _fail(self, message: str, code: str = "json-syntax") -> NoReturn:
        _fail(self.text, self.position, message, code)


def parse_json(text: str) -> object:
    """Return the value of a JSON text, nested up to ``MAX_DEPTH`` deep, without recursion."""
    return _Parser(text).run()


def text_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines of a file that are not empty; pipes are welcome."""
    number = 0
    try:
        with Path(path).open(encoding="utf-8-sig") as lines:
            while line := lines.readline(MAX_LINE):
                number += 1
                if line.strip():
                    yield number, line
    except OSError as error:
        raise _unreadable(Path(path), error) from None
    except UnicodeDecodeError:
        raise InputError("not-utf8", "the file is not UTF-8 text", file=str(path)) from None


def _unreadable(path: Path, error: OSError) -> InputError:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        hint = neighbour_hint(path)
        return InputError("file-not-found", "there is no such file", file=str(path), hint=hint)
    if isinstance(error, IsADirectoryError):
        return InputError("not-a-file", "this is not a regular file", file=str(path))
    message = f"the file cannot be read: {error.strerror}"
    return InputError("file-not-readable", message, file=str(path))


def parse_line(text: str, *, hint: str) -> object:
    """Return the JSON value of a line. Raises InputError with the hint if it is not JSON."""
    try:
        return json.loads(text, object_pairs_hook=without_duplicates)
    except json.JSONDecodeError as error:
        message = f"{error.msg} at column {error.colno}"
        raise InputError("bad-json", message, hint=hint) from None
    except (ValueError, RecursionError):
        raise InputError("bad-json", "a number is too long or the nesting too deep") from None


def without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the pairs as a dictionary. Raises InputError if a name is listed twice."""
    members: dict[str, object] = {}
    for name, value in pairs:
        if name in members:
            raise InputError("duplicate-name", f"{quoted(name)} is given twice")
        members[name] = value
    return members
