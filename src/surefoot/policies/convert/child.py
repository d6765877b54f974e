"""The job that opens a pickle that somebody trusts and returns the policy in it.

Everything that unpickles is in this module and is run nowhere but in an isolated process. torch
files are first read without running anything in them (``weights_only``), and unpickled only if that
does not work.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

from surefoot.errors import InputError, SurefootError, Unsupported, printable
from surefoot.files import MAX_BYTES
from surefoot.jobs.job import Result
from surefoot.jobs.stages import Work
from surefoot.policies.convert import TREES_HAVE_NONE
from surefoot.policies.libraries import library
from surefoot.policies.loaded import Loaded
from surefoot.policies.writing import policy_bytes

TORCH_SUFFIXES = (".pt", ".pth", ".bin", ".ckpt")
READING = "reading this file"
UNPICKLED = "the file could be read only by running what is in it"


def convert_job(work: Work) -> Result:
    """Return the file that the policy of a pickle is written to.

    Files: the pickle, under a name with its own suffix. Arguments: ``activation``, and ``made``,
    the name of the new file.
    """
    ((name, content),) = work.job.files.items()
    source, made = work.scratch / name, Path(str(work.job.arguments["made"]))
    source.write_bytes(content)
    activation = work.job.arguments["activation"]
    try:
        loaded = loaded_of(source, None if activation is None else str(activation))
        return Result({}, {made.name: policy_bytes(loaded, made.suffix)})
    except (SurefootError, MemoryError):
        raise
    except Exception as error:  # whatever unpickling may raise is a property of the file
        message = f"the file cannot be read: {_reason(error)}"
        raise InputError("policy-not-read", message, hint=_way_round(error)) from None


def _way_round(error: Exception) -> str | None:
    """Return what to do about an object whose class is not to be had here."""
    if not isinstance(error, AttributeError | ImportError):
        return None
    return (
        "the file holds an object of a class of your own: save its numbers alone, "
        "torch.save(model.state_dict(), ...), or make the model in a Python file and give it as "
        "FILE.py:NAME"
    )


def _reason(error: Exception) -> str:
    """Return the first line of what a library says."""
    if isinstance(error, EOFError):
        return "it ends too early"
    lines = str(error).strip().splitlines()
    return printable(": ".join([type(error).__name__, *lines[:1]]), 300)


def loaded_of(path: Path, activation: str | None) -> Loaded:
    """Return the policy in a pickle or in a zip file that holds pickles."""
    names = _zip_names(path)
    if "policy.pth" in names:
        return _stable_baselines(path, activation)
    if any(name.endswith("/data.pkl") for name in names) or path.suffix.lower() in TORCH_SUFFIXES:
        return _torch_file(path, activation)
    if names:
        raise Unsupported("policy-zip", "the zip holds neither a torch file nor policy.pth")
    return _estimator(_unpickled(path), activation)


def _zip_names(path: Path) -> list[str]:
    if not zipfile.is_zipfile(path):
        return []
    with zipfile.ZipFile(path) as file:
        return file.namelist()


# -- torch -----------------------------------------------------------------------------------


def _torch_file(path: Path, activation: str | None) -> Loaded:
    from surefoot.policies.convert.states import policy_of

    content, notes = _torch_content(path)
    if type(content).__module__.startswith("sklearn"):
        return _estimator(content, activation)
    loaded = policy_of(content, activation)
    return replace(loaded, notes=(*loaded.notes, *notes))


def _torch_content(path: Path | io.BytesIO) -> tuple[object, list[str]]:
    torch = library("torch", extra="train", what=READING)
    try:
        return torch.load(path, map_location="cpu", weights_only=True), []
    except MemoryError:
        raise
    except Exception:  # it says no in several ways; then this is for those who trust the file
        if isinstance(path, io.BytesIO):
            path.seek(0)
        return torch.load(path, map_location="cpu", weights_only=False), [UNPICKLED]


def _stable_baselines(path: Path, activation: str | None) -> Loaded:
    """Return the policy of a Stable-Baselines3 zip; the pickles in its ``data`` are not opened."""
    from surefoot.policies.convert.states import activation_in_data, policy_of

    with zipfile.ZipFile(path) as file:
        weights = io.BytesIO(_member(file, "policy.pth"))
        data = json.loads(_member(file, "data")) if "data" in file.namelist() else {}
    content, notes = _torch_content(weights)
    loaded = policy_of(content, activation or activation_in_data(data))
    return replace(loaded, notes=(*loaded.notes, *notes))


def _member(file: zipfile.ZipFile, name: str) -> bytes:
    if file.getinfo(name).file_size > MAX_BYTES:
        raise InputError("file-too-large", f"{name} has more than {MAX_BYTES // 2**20} MB")
    return file.read(name)


# -- scikit-learn and its friends ------------------------------------------------------------


def _unpickled(path: Path) -> object:
    joblib = library("joblib", extra="trees", what=READING)
    return joblib.load(path)


def _estimator(thing: object, activation: str | None) -> Loaded:
    from surefoot.policies.convert.states import policy_of
    from surefoot.policies.fitted import model_of

    if isinstance(thing, dict):
        return policy_of(thing, activation)
    loaded = model_of(thing)
    if loaded is None:
        kind = printable(f"{type(thing).__module__}.{type(thing).__name__}")
        raise Unsupported("policy-pickle", f"the pickle holds an object of {kind}, no known model")
    if activation is not None:
        is_trees = loaded.model.kind == "trees"
        message = TREES_HAVE_NONE if is_trees else "the model names its activations itself"
        raise InputError("bad-option", message)
    return loaded
