"""The journal of a campaign: a line for each stage that is complete, and none is ever changed.

A line is a JSON object whose last member, ``check``, is a SHA-256 over the check of the line before
and over this line without it; before the first line stands the SHA-256 of ``campaign.json``. So
nothing in the middle can change unseen. A line that does not end is one that was being written when
the process died: it is cut off.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from surefoot.errors import InputError
from surefoot.files import file_bytes, not_written, parse_line, to_disk
from surefoot.records.files import plain
from surefoot.records.lines import Line, line_from

NAME = "journal.jsonl"
_CHECK = re.compile(rb', "check": "([0-9a-f]{64})"\}')
_CHECK_LENGTH = len(', "check": ""}') + 64
REMEDY = "put the file back as it was; or remove this line and all lines behind it"
HINT = f"{REMEDY}: surefoot resume does their work again"


@dataclass(frozen=True)
class Read:
    """What a journal says: its lines, where the last whole line ends, and that line's check."""

    lines: tuple[Line, ...]
    length: int
    check: str


def read_journal(path: Path, first: str) -> Read:
    """Return the lines of a journal, without one that does not end. ``first`` is the check before
    the first line.

    Raises InputError (``campaign-damaged``) if a line is not what was written.
    """
    content = file_bytes(path)
    length = content.rfind(b"\n") + 1
    lines: list[Line] = []
    check = first
    for number, text in enumerate(content[:length].split(b"\n")[:-1], 1):
        try:
            check, line = _read_line(text, number, check)
        except InputError as error:
            place = f"{number}{error.place or ''}"
            raise damaged(path, error.message, place=place) from None
        lines.append(line)
    return Read(tuple(lines), length, check)


def damaged(path: Path, message: str, *, place: str | None = None) -> InputError:
    """Return the error for a journal that says something else than what was written."""
    return InputError("campaign-damaged", message, file=str(path), place=place, hint=HINT)


def _read_line(text: bytes, number: int, before: str) -> tuple[str, Line]:
    """Return check and content of a line. Raises InputError if the check is wrong."""
    body, end = text[:-_CHECK_LENGTH] + b"}", text[-_CHECK_LENGTH:]
    match = _CHECK.fullmatch(end)
    if match is None or match[1].decode() != _check_of(before, body):
        what = "it" if number > 1 else "it or campaign.json"
        message = f"the check of this line is wrong: {what} was changed"
        raise InputError("campaign-damaged", message)
    try:
        line = line_from(parse_line(body.decode(), hint=HINT))
    except UnicodeDecodeError:
        raise InputError("campaign-damaged", "this line is not UTF-8 text") from None
    if line.n != number or line.check:
        raise InputError("campaign-damaged", "the number of this line does not match its position")
    return match[1].decode(), line


def _check_of(before: str, body: bytes) -> str:
    return hashlib.sha256(before.encode() + body).hexdigest()


class Journal:
    """Adds lines to a journal, each on disk before the next thing happens."""

    def __init__(self, path: Path, read: Read) -> None:
        self._path = path
        self._number = len(read.lines)
        self._length = read.length
        self._check = read.check

    def append(self, line: Line) -> Line:
        """Write a line to the disk and return it as it will be read, with its number. Raises
        InputError if the disk does not take it: then the journal is as it was before.
        """
        body = self.append_plain({**plain(line), "files": line.files})
        return line_from(json.loads(body))

    def append_plain(self, content: Mapping[str, object]) -> bytes:
        """Write plain data as a line, with its number and check; return it without the check."""
        body = json.dumps({**content, "n": self._number + 1}, default=repr).encode()
        check = _check_of(self._check, body)
        self._write(body[:-1] + f', "check": "{check}"}}\n'.encode())
        self._number, self._check = self._number + 1, check
        return body

    def _write(self, text: bytes) -> None:
        try:
            # Whatever was cut off, or is left of a line that could not be written, goes.
            flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            handle = os.open(self._path, flags, 0o666)
            try:
                os.ftruncate(handle, self._length)
                _write_all(handle, text, self._length)
                os.fsync(handle)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.ftruncate(handle, self._length)
                raise
            finally:
                os.close(handle)
        except OSError as error:
            raise not_written(self._path, error) from None
        if not self._length:
            to_disk(self._path)  # its name, too
        self._length += len(text)


def _write_all(handle: int, text: bytes, position: int) -> None:
    done = 0
    while done < len(text):
        done += os.pwrite(handle, text[done:], position + done)
