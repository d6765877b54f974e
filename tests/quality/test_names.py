"""What a reader meets who looks around in the package."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

import pytest
from tests.quality.figures import trees

import surefoot


def test_the_package_shows_its_public_names_only() -> None:
    surefoot.explore(surefoot.domain("one-way-line"))  # loads modules
    assert dir(surefoot) == sorted(["__version__", *surefoot.__all__])


# -- one name, one thing -----------------------------------------------------------------------

PRONOUNS = {"found", "one", "how", "said", "who"}
# How often each may be defined: once they were defined up to fourteen times.
DEFINITIONS = {
    "Certificates": 1,
    "Finding": 1,
    "Job": 1,
    "MAX_RUNS": 0,
    "METHODS": 1,
    "Replay": 1,
    "SHOWN_FAULTS": 1,
    "Shown": 0,
    "Source": 1,
    "Stage": 1,
    "Suspect": 1,
    "_checked": 0,
    "sha256_of": 1,
}
SHARED_LIMIT = 21
PRONOUN_LIMIT = 0


def defined(tree: ast.Module) -> Iterator[str]:
    """Yield the names of the functions, methods, classes and constants that a module defines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def public_classes() -> Counter[str]:
    """Return in how many modules each public class is defined; checker and reference are apart."""
    return Counter(
        node.name
        for path, tree in trees().items()
        if not {"checker", "reference"} & set(path.parts)
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )


def pronouns() -> int:
    """Return how often a variable of the package is called by a pronoun."""
    return sum(
        (isinstance(node, ast.Name) and node.id in PRONOUNS)
        or (isinstance(node, ast.arg) and node.arg in PRONOUNS)
        for tree in trees().values()
        for node in ast.walk(tree)
    )


@pytest.mark.parametrize(("name", "most"), DEFINITIONS.items())
def test_a_name_stands_for_one_thing(name: str, most: int) -> None:
    names = Counter(name for tree in trees().values() for name in defined(tree))
    assert names[name] <= most


def test_few_classes_share_a_name() -> None:
    """Where this fails, find a telling name; lower the limit when the number falls."""
    shared = sorted(name for name, count in public_classes().items() if count > 1)
    assert len(shared) <= SHARED_LIMIT, shared


def test_variables_are_named_by_nouns() -> None:
    """Where this fails, find a noun; lower the limit when the number falls."""
    assert pronouns() <= PRONOUN_LIMIT


def test_private_names_stay_in_their_module() -> None:
    """What another module needs is public, and has a docstring."""
    private = [
        f"{path.name}:{node.lineno} {alias.name}"
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("surefoot.")
        for alias in node.names
        if alias.name.startswith("_")
    ]
    assert not private
