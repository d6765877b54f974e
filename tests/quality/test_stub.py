"""The stub of the extension says what the extension has."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import TypeGuard

import pytest

STUB = Path(__file__).parents[2] / "src" / "surefoot" / "_core.pyi"


def test_stub_is_what_stubgen_makes(tmp_path: Path) -> None:
    """If this fails: python -m nanobind.stubgen -m surefoot._core -o src/surefoot/_core.pyi"""
    pytest.importorskip("nanobind")
    made = tmp_path / "_core.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "surefoot._core"]
    subprocess.run([*command, "-o", str(made)], check=True, timeout=60)
    assert made.read_text("utf-8") == STUB.read_text("utf-8")


def test_results_have_names() -> None:
    """The core hands out structs: no dictionaries, no tuples whose places mean something."""
    functions = [node for node in ast.walk(ast.parse(STUB.read_text("utf-8"))) if is_function(node)]
    assert len(functions) > 150
    nameless = [node.name for node in functions if has_nameless(node.returns)]
    assert not nameless


def is_function(node: ast.AST) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef)


def has_nameless(annotation: ast.expr | None) -> bool:
    """Return whether a type has a dictionary, an object that may be anything, or a tuple of unequal
    parts in it.
    """
    if isinstance(annotation, ast.Subscript):
        name = ast.unparse(annotation.value)
        inner = annotation.slice
        parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        if name == "Annotated":
            return has_nameless(parts[0])
        types = {ast.unparse(part) for part in parts} - {"..."}
        return (
            name == "dict" or (name == "tuple" and len(types) > 1) or any(map(has_nameless, parts))
        )
    if isinstance(annotation, ast.BinOp):
        return has_nameless(annotation.left) or has_nameless(annotation.right)
    return annotation is not None and ast.unparse(annotation) in ("dict", "tuple", "list", "object")


NAMELESS = ("dict", "dict[str, int]", "tuple", "tuple[str, int]", "list[tuple[int, str]]")
NAMED = ("Run", "Run | None", "tuple[int, int]", "tuple[int | str, ...]", "list[Run]", "None")


@pytest.mark.parametrize("text", [*NAMELESS, *NAMED])
def test_which_results_have_names(text: str) -> None:
    assert has_nameless(ast.parse(text, mode="eval").body) == (text in NAMELESS)
