"""Models of LightGBM: text files, and boosters in memory.

Scores are what ``predict(raw_score=True)`` gives, bit for bit: a node goes left if the input is at
most its threshold, and leaf values are added in double, tree by tree. LightGBM takes every input
from -1e-35 to 1e-35 for zero, and so does what we make of its trees. For two classes the scores are
0 and the raw score. The scores of a random forest are divided by its rounds, as ``predict`` does.

Of a model that stopped early LightGBM itself saves the trees up to the best iteration.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import InputError, printable, quoted
from surefoot.files import file_bytes
from surefoot.policies.format import Format, Looks
from surefoot.policies.loaded import Loaded
from surefoot.policies.models import Model, Trees
from surefoot.policies.original import Original, columns, installed, not_installed, refusal
from surefoot.policies.trees.forest import ZERO, Tree, assemble, at_most
from surefoot.policies.trees.reading import (
    MAX_INPUTS,
    MAX_OUTPUTS,
    Integers,
    Reals,
    bad,
    errors_in,
    unsupported,
    whole,
)

VERSIONS = ("v3", "v4")
_CATEGORY, _DEFAULT_LEFT, _ZERO_IS_MISSING = 1, 2, 1 << 2
_MISSING = 3 << 2

Fields = dict[str, str]


def read(path: str | Path) -> Loaded:
    """Return the ensemble in a text file that LightGBM wrote."""
    path = Path(path)
    with errors_in(path):
        try:
            text = file_bytes(path).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InputError("not-utf8", "the file is not UTF-8 text") from None
        return Loaded(trees_of(text))


def of(model: Any) -> Trees:
    """Return the ensemble of a Booster, or of an estimator like LGBMClassifier, in memory.

    The outputs of a classifier are its classes in order, whatever they are called.
    """
    booster = getattr(model, "booster_", model)
    try:
        return trees_of(booster.model_to_string())
    except ValueError as error:
        raise InputError("bad-trees", str(error)) from None


@dataclass(frozen=True)
class Parts:
    """What stands in a model: its trees one by one, and how many of them make a round."""

    trees: list[Tree]
    num_inputs: int
    per_round: int
    is_binary: bool
    is_mean: bool


def trees_of(text: str) -> Trees:
    """Return the ensemble of a model, given as its text."""
    parts = parts_of(text)
    rounds = max(1, len(parts.trees) // parts.per_round)
    return assemble(
        parts.trees,
        num_inputs=parts.num_inputs,
        base=np.zeros(2 if parts.is_binary else parts.per_round),
        input_precision="float64",
        sum_precision="float64",
        divide_by=float(rounds) if parts.is_mean else 1.0,
    )


def parts_of(text: str) -> Parts:
    """Return the parts of a model, given as its text."""
    header, blocks = _blocks(text)
    if header.get("version") not in VERSIONS:
        version = printable(header.get("version", "without a version"))
        raise unsupported(f"LightGBM files {version}", hint=f"supported are {', '.join(VERSIONS)}")
    num_inputs = _whole(header, "max_feature_idx", "header", most=MAX_INPUTS - 1) + 1
    per_round = _whole(header, "num_tree_per_iteration", "header", least=1, most=MAX_OUTPUTS)
    if len(blocks) % per_round:
        raise bad(f"there are {len(blocks):,} trees, {per_round:,} in each round")
    is_binary = per_round == 1 and header.get("objective", "").split(" ")[0] == "binary"
    trees = list(_trees(blocks, per_round, first_output=int(is_binary)))
    return Parts(trees, num_inputs, per_round, is_binary, "average_output" in header)


# -- lines -----------------------------------------------------------------------------------


def _blocks(text: str) -> tuple[Fields, list[Fields]]:
    """Return the fields of the header and of each tree; what comes behind the trees is left out."""
    lines = iter(text.splitlines())
    if next(lines, "").strip() != "tree":
        raise bad("this is not a model of LightGBM: its first line is not 'tree'")
    header: Fields = {}
    blocks: list[Fields] = []
    current = header
    for line in lines:
        name, _, value = line.strip().partition("=")
        if name == "end of trees":
            _check_count(header, blocks)
            return header, blocks
        if name == "Tree":
            if value != str(len(blocks)):
                raise bad(f"tree {len(blocks)} is called {quoted(value)}")
            current = {}
            blocks.append(current)
        elif name in current:
            raise bad(f"{quoted(name)} is listed twice", _tree_place(len(blocks)))
        elif name:
            current[name] = value
    raise bad("the file ends too early: there is no line 'end of trees'")


def _check_count(header: Fields, blocks: list[Fields]) -> None:
    claimed = len(header["tree_sizes"].split()) if "tree_sizes" in header else len(blocks)
    if claimed != len(blocks):
        raise bad(f"there are {len(blocks):,} trees, but the header lists {claimed:,}")


def _tree_place(count: int) -> str:
    return f"Tree={count - 1}" if count else "header"


def _field(fields: Fields, name: str, place: str) -> str:
    if name not in fields:
        raise bad(f"{quoted(name)} is missing", place)
    return fields[name]


def _whole(fields: Fields, name: str, place: str, *, least: int = 0, most: int) -> int:
    return whole(_field(fields, name, place), f"{place}/{name}", least=least, most=most)


def _reals(fields: Fields, name: str, place: str, count: int) -> Reals:
    words = _words(fields, name, place, count)
    try:
        return np.array([float(word) for word in words], dtype=np.float64)
    except ValueError:
        raise bad("one of these is not a number", f"{place}/{name}") from None


def _integers(fields: Fields, name: str, place: str, count: int) -> Integers:
    words = _words(fields, name, place, count)
    try:
        return np.array([int(word) for word in words], dtype=np.int64)
    except (ValueError, OverflowError):
        raise bad("one of these is not a whole number", f"{place}/{name}") from None


def _words(fields: Fields, name: str, place: str, count: int) -> list[str]:
    words = _field(fields, name, place).split()
    if len(words) != count:
        message = f"there are {len(words):,} numbers where {count:,} belong"
        raise bad(message, f"{place}/{name}")
    return words


# -- trees -----------------------------------------------------------------------------------


def _trees(blocks: list[Fields], per_round: int, first_output: int) -> Iterator[Tree]:
    for number, fields in enumerate(blocks):
        yield _tree(fields, f"Tree={number}", number % per_round + first_output)


def _tree(fields: Fields, place: str, output: int) -> Tree:
    """Return a tree with its inner nodes first, then its leaves."""
    if fields.get("is_linear", "0") != "0":
        raise unsupported("linear trees of LightGBM", hint="train with linear_tree=false")
    if fields.get("num_cat", "0") != "0":
        raise _categories()
    leaves = _whole(fields, "num_leaves", place, least=1, most=2**31 - 1)
    values = _reals(fields, "leaf_value", place, leaves)
    inner = leaves - 1
    columns = {
        name: _integers(fields, name, place, inner)
        for name in ("split_feature", "decision_type", "left_child", "right_child")
    }
    thresholds = _reals(fields, "threshold", place, inner)
    if not np.isfinite(thresholds).all():
        raise bad("a number is infinite or not a number", f"{place}/threshold")
    none = np.zeros(leaves, dtype=np.int64)
    return Tree(
        leaf=np.arange(inner + leaves) >= inner,
        features=np.concatenate([columns["split_feature"], none]),
        thresholds=np.concatenate([_below(thresholds, columns["decision_type"]), none]),
        left=np.concatenate([_children(columns["left_child"], leaves, place), none]),
        right=np.concatenate([_children(columns["right_child"], leaves, place), none]),
        places=np.concatenate([np.zeros(inner, dtype=np.int64), np.arange(leaves)]),
        values=values,
        output=output,
    )


def _children(children: Integers, leaves: int, place: str) -> Integers:
    """Return the children as numbers of nodes; LightGBM writes leaf k as -1 - k."""
    if ((children < -leaves) | (children >= leaves - 1)).any():
        raise bad("a node has a child that is not there", place)
    return np.where(children >= 0, children, leaves - 2 - children)


def _below(thresholds: Reals, kinds: Integers) -> Reals:
    """Return the thresholds with which an input goes left if it is less than that.

    Inputs near zero go where zero goes: to the side of the threshold it is on or, where zero stands
    for a missing value, the side the node names. That is one threshold unless zero is sent to
    another side than its neighbours on both sides.
    """
    if (kinds & _CATEGORY).any():
        raise _categories()
    is_missing = (kinds & _MISSING) == _ZERO_IS_MISSING
    zero_left = np.where(is_missing, (kinds & _DEFAULT_LEFT) != 0, thresholds >= 0)
    is_above, is_below = thresholds > ZERO, thresholds < np.nextafter(-ZERO, -1.0)
    if ((is_above & ~zero_left) | (is_below & zero_left)).any():
        raise unsupported(
            "nodes of LightGBM that send zero, taken as missing, away from the numbers around it",
            hint="train with zero_as_missing=false",
        )
    near = np.where(zero_left, at_most(np.full_like(thresholds, ZERO)), -ZERO)
    return np.where(is_above | is_below, at_most(thresholds), near)


def _categories() -> Exception:
    return unsupported("splits by category in LightGBM models", hint="train with numbers only")


def _write_like(model: Model, source: Path) -> bytes:
    from surefoot.policies.like import trees_as_counted
    from surefoot.policies.trees.lightgbm import writing

    text = file_bytes(source).decode("utf-8-sig")
    return writing.to_text(text, trees_as_counted(model)).encode()


def _original(path: Path, outputs: int) -> Original | str:
    lightgbm = installed("lightgbm")
    if lightgbm is None:
        return not_installed("LightGBM", "trees")
    try:
        booster = lightgbm.Booster(model_file=str(path))
    except Exception as error:
        return refusal("LightGBM", error)

    def scores(rows: Reals) -> Reals:
        inputs = np.ascontiguousarray(rows[:, : booster.num_feature()])
        return columns(booster.predict(inputs, raw_score=True, num_threads=1), len(rows), outputs)

    return Original(f"LightGBM {lightgbm.__version__}", scores)


FORMAT = Format(
    "lightgbm",
    read,
    (".txt", ".lgb"),
    looks=Looks(begins=re.compile(rb"tree\r?\n"), words="a text file of LightGBM", suffix=".txt"),
    is_whole=True,
    write_like=_write_like,
    original=_original,
)
