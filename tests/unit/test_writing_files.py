"""Files of ours are there completely or not at all, whatever happens while they are written."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from surefoot import InputError, Unsupported
from surefoot.files import sha256_of, write_files, write_pieces, writing

SOURCE = Path(__file__).parents[2] / "src" / "surefoot"
RENAMES = re.compile(r"os\.(replace|rename)\(|\.replace\((file|path|out|target)\)")


def names(directory):
    return sorted(path.name for path in directory.iterdir())


@pytest.fixture
def old(tmp_path):
    file = tmp_path / "old.json"
    file.write_text("old")
    return file


def failing_pieces(error):
    yield "new" * 100_000
    raise error


@pytest.mark.parametrize("error", [OSError(28, "No space left"), KeyboardInterrupt(), KeyError(1)])
def test_a_failing_write_leaves_the_old_file_whole(old, error):
    expected = InputError if isinstance(error, OSError) else type(error)
    with pytest.raises(expected):
        write_pieces(old, failing_pieces(error), what="file")
    assert (old.read_text(), names(old.parent)) == ("old", ["old.json"])


def test_a_failing_rename_leaves_the_old_file_whole(old, monkeypatch):
    def refuse(self, target):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(InputError, match="cannot be written: Permission denied"):
        write_files({old: b"new"}, is_durable=True)
    assert (old.read_text(), names(old.parent)) == ("old", ["old.json"])


def test_a_killed_process_leaves_the_old_file_whole(old):
    code = (
        "import os, signal, sys\nfrom surefoot.files import write_pieces\n"
        "def pieces():\n    yield 'new' * 100_000\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_pieces(sys.argv[1], pieces(), what='file')\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(old)], env=dict(os.environ))
    assert done.returncode == -signal.SIGKILL
    assert old.read_text() == "old"
    left = set(names(old.parent)) - {"old.json"}
    assert all(re.fullmatch(r"\.surefoot-[0-9a-f]{8}\.json", name) for name in left)


def test_what_was_too_large_or_no_text_is_not_written(old, monkeypatch):
    with pytest.raises(InputError) as info:
        write_pieces(old, ["\ud800"], what="file")
    assert info.value.code == "file-not-written"
    monkeypatch.setattr(writing, "MAX_BYTES", 3)
    with pytest.raises(Unsupported, match="could not be read again"):
        write_pieces(old, ["ab", "cd"], what="file")
    assert (old.read_text(), names(old.parent)) == ("old", ["old.json"])


@pytest.mark.parametrize("path", ["", ".", "/", "a\0b", "missing/file.json"])
def test_places_for_no_file_are_input_errors(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as info:
        write_pieces(path, ["text"], what="file")
    assert info.value.code == "file-not-written"


def test_the_first_of_several_files_is_put_in_its_place_last(tmp_path, monkeypatch):
    files = [tmp_path / "policy.onnx", tmp_path / "policy.onnx.interface.json"]
    order = []
    replace = Path.replace
    monkeypatch.setattr(Path, "replace", lambda *two: (order.append(two[1]), replace(*two)))
    assert write_files(dict.fromkeys(files, b"new"), is_durable=True) == files
    assert order == files[::-1]
    assert {sha256_of(file) for file in files} == {hashlib.sha256(b"new").hexdigest()}


def test_nobody_else_renames_files():
    """One place writes files completely or not at all."""
    elsewhere = [
        str(file.relative_to(SOURCE))
        for file in sorted(SOURCE.rglob("*.py"))
        if re.search(
            r"os\.(replace|rename)\(|\.replace\((file|path|out|target)\)", file.read_text()
        )
    ]
    assert elsewhere == ["files/writing.py"]
    defined = [f for f in SOURCE.rglob("*.py") if re.search(r"def _?sha256_of\(", f.read_text())]
    assert defined == [SOURCE / "files" / "writing.py"]
