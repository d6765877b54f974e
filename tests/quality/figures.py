"""Figures of the house: how much of what makes it hard to change is there.

``python -m tests.quality.figures`` prints them. ``test_figures.py`` keeps them from growing: a
figure that has not reached its target yet may not be above its limit, which is lowered whenever
the figure falls.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from unittest import mock

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "surefoot"
TASK = "domain:two-way-line?packages=2&locations=6&variant=icy"
POLICY = "builtin:two-way-line-icy-trees"


@cache
def sources() -> dict[Path, str]:
    """Return the text of each Python file of the package."""
    return {path: path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def trees() -> dict[Path, ast.Module]:
    """Return the syntax of each Python file of the package."""
    return {path: ast.parse(text) for path, text in sources().items()}


def occurrences(pattern: str) -> int:
    """Return how often a pattern occurs in the package."""
    return sum(len(re.findall(pattern, text)) for text in sources().values())


# -- forms of a fault --------------------------------------------------------------------------


def fault_forms() -> list[str]:
    """Return the forms that a fault has on its way from the core to the user.

    What tells a fault is that it has safe alternatives: classes and structs with such a member,
    the demands of repair, tuples of the bindings, and plain data that are taken apart. Checker and
    reference do not count: they share nothing with the rest.
    """
    forms = [
        f"{path.relative_to(PACKAGE)}:{node.name}"
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and _holds_a_fault(node) and not _is_apart(path)
    ]
    forms += [f"core:{name}" for name in _structs("core") if name.endswith("Fault")]
    bindings = "".join(path.read_text("utf-8") for path in (ROOT / "bindings").glob("*.cc"))
    if re.search(r"make_tuple\([^;]*fault\.alternatives", bindings):
        forms.append("bindings:tuple")
    if any(_takes_apart(text) for path, text in sources().items() if not _is_apart(path)):
        forms.append("plain data")
    return forms


def _holds_a_fault(node: ast.ClassDef) -> bool:
    members = {
        statement.target.id
        for statement in node.body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    }
    return {"action", "alternatives"} <= members or node.name == "Demand"


def _structs(folder: str) -> list[str]:
    """Return the structs of a folder that have a member ``alternatives``."""
    text = "".join(path.read_text("utf-8") for path in sorted((ROOT / folder).rglob("*.h")))
    structs = re.findall(r"^struct (\w+) \{(.*?)^\};", text, re.M | re.S)
    return [name for name, body in structs if re.search(r"\balternatives\b", body)]


def _is_apart(path: Path) -> bool:
    return path.relative_to(PACKAGE).parts[0] in ("checker", "reference")


def _takes_apart(text: str) -> bool:
    return re.search(r"fault(?:\[|\.get\()\"alternatives\"", text) is not None


# -- places that name a component --------------------------------------------------------------


def files_to_add(component: str, *words: str) -> list[str]:
    """Return the files that one must touch to add a component like this one: its own, counted
    once, and each other file that says one of its words as a text, or imports from it.
    """
    own = PACKAGE / component
    others = [
        str(path.relative_to(PACKAGE))
        for path, tree in trees().items()
        if path != own.with_suffix(".py")
        and own not in path.parents
        and any(_names(node, component, words) for node in ast.walk(tree))
    ]
    return [component, *others]


def _names(node: ast.AST, component: str, words: tuple[str, ...]) -> bool:
    module = "surefoot." + component.replace("/", ".")
    if isinstance(node, ast.Constant):
        return node.value in words
    if isinstance(node, ast.ImportFrom):
        return f"{node.module}.".startswith(f"{module}.")
    return False


# -- what happens while a command runs ---------------------------------------------------------


def _run(*arguments: str) -> None:
    """Run a command here; what it prints is dropped."""
    from surefoot.cli import main

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        main(arguments)


def frames_to_core(*arguments: str) -> list[str]:
    """Return the functions from ``main`` to the core's ``fuzz``, both included, when most of them
    were on the stack.
    """
    from surefoot import _core

    longest: list[str] = []
    real = _core.fuzz

    def watched(*given: object, **more: object) -> object:
        stack = _functions(sys._getframe(1))
        if len(stack) > len(longest):
            longest[:] = stack
        return real(*given, **more)  # type: ignore[arg-type]

    with mock.patch.object(_core, "fuzz", watched):
        _run(*arguments)
    return [*longest, "_core.fuzz"]


def _functions(frame: FrameType | None) -> list[str]:
    """Return the functions from ``main`` of the command line to this frame."""
    names: list[str] = []
    while frame is not None:
        names.insert(0, f"{Path(frame.f_code.co_filename).name}:{frame.f_code.co_name}")
        if names[0] == "__init__.py:main":
            return names
        frame = frame.f_back
    return []


def policy_reads() -> list[str]:
    """Return who read a policy's file, once for each time, in a campaign of one repair."""
    reads: list[str] = []

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and _is_reader(frame.f_code) and not _is_within_reader(frame):
            reads.append(_caller(frame))

    with tempfile.TemporaryDirectory() as folder:
        sys.setprofile(watch)
        try:
            _run("debug", TASK, "--policy", POLICY, "-o", f"{folder}/campaign")
        finally:
            sys.setprofile(None)
    return reads


def _is_reader(code: CodeType) -> bool:
    """Return whether this is the function of a format that makes a model of a file."""
    return code.co_name == "read" and "/surefoot/policies/" in code.co_filename


def _is_within_reader(frame: FrameType) -> bool:
    back = frame.f_back
    while back is not None and "/surefoot/policies/" in back.f_code.co_filename:
        if _is_reader(back.f_code):
            return True
        back = back.f_back
    return False


def _caller(frame: FrameType) -> str:
    """Return the function, outside of the readers, that wanted the policy."""
    back: FrameType | None = frame
    while back is not None and "/surefoot/policies/" in back.f_code.co_filename:
        back = back.f_back
    return "" if back is None else f"{Path(back.f_code.co_filename).name}:{back.f_lineno}"


# -- the table ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Figure:
    """A figure with what it should be at most, and what it may be at most today."""

    name: str
    target: int
    limit: int
    measure: Callable[[], int]


def figures() -> Iterator[Figure]:
    """Yield the figures in the order of the table."""
    yield Figure("forms of a fault", 4, 4, lambda: len(fault_forms()))
    yield Figure("policy reads, one repair", 2, 2, lambda: len(policy_reads()))
    kind_of_task = r"isinstance[(][^)]*(PythonTask|CompiledTask)"
    yield Figure("isinstance of a kind of task", 3, 3, lambda: occurrences(kind_of_task))
    yield Figure("Any in src", 600, 600, lambda: occurrences(r"[^A-Za-z]Any[^A-Za-z]"))
    fuzz = ("fuzz", TASK, "--policy", POLICY, "--runs", "1")
    yield Figure("frames, fuzz to core", 10, 5, lambda: len(frames_to_core(*fuzz)))
    yield Figure("frames, debug to core", 10, 10, debug_frames)
    yield Figure("files for a method", 2, 2, lambda: len(files_to_add("verify/ic3", "ic3")))
    front_end = ("tasks/jani", "jani", ".jani")
    yield Figure("files for a front end", 2, 2, lambda: len(files_to_add(*front_end)))
    yield Figure("files for a format", 2, 2, files_for_a_format)


def files_for_a_format() -> int:
    """Return how many files the format takes that takes most."""
    formats = (
        ("policies/nnet", "nnet", ".nnet"),
        ("policies/onnx", "onnx", ".onnx"),
        ("policies/trees/lightgbm", "lightgbm", ".lgb"),
    )
    return max(len(files_to_add(*one)) for one in formats)


def debug_frames() -> int:
    """Return how many functions are between ``main`` and the core in ``debug``."""
    with tempfile.TemporaryDirectory() as folder:
        campaign = ("debug", TASK, "--policy", POLICY, "-o", f"{folder}/campaign")
        return len(frames_to_core(*campaign))


def main() -> None:
    """Print all figures."""
    print(f"{'figure':<28}{'today':>8}{'limit':>8}{'target':>8}")
    for figure in figures():
        print(f"{figure.name:<28}{figure.measure():>8}{figure.limit:>8}{figure.target:>8}")


if __name__ == "__main__":
    main()
