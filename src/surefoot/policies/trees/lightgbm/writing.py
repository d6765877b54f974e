"""Repaired ensembles as models of LightGBM: the original's text with other leaf values and more
trees.

Everything else in the text stays. New trees are rounds of their own behind the others. A threshold
``t`` of ours is written as the number before it, since LightGBM goes left at most up to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from surefoot.policies.models import Trees
from surefoot.policies.trees.forest import Tree, leaf_values, same_trees, trees_behind
from surefoot.policies.trees.lightgbm import parts_of, trees_of
from surefoot.policies.trees.reading import Integers, Reals

END = "end of trees"
SIZES = "tree_sizes="
PLAIN_NODE = 2
"""decision type of a node that compares numbers, none of which stands for a missing one"""


def to_text(text: str, model: Trees) -> str:
    """Return the text of an original with the trees of a model.

    Raises ValueError if that cannot be: the result would not be read as the very same trees.
    """
    parts = parts_of(text)
    header, blocks, rest = _split(text, len(parts.trees))
    values = leaf_values(parts.trees, model)
    blocks = [_with_values(block, new) for block, new in zip(blocks, values, strict=True)]
    new = trees_behind(model, len(blocks))
    blocks += [_block(tree, number) for number, tree in enumerate(new, start=len(blocks))]
    written = _with_sizes(header, blocks) + "".join(blocks) + rest
    if not same_trees(trees_of(written), model):
        raise ValueError("the trees are not those of the original with more behind them")
    return written


def _split(text: str, count: int) -> tuple[str, list[str], str]:
    """Return what stands before the trees, the text of each tree, and what stands behind them."""
    lines = [line.rstrip() + "\n" for line in text.splitlines()]
    begins = [at for at, line in enumerate(lines) if line.startswith("Tree=")][:count]
    end = lines.index(f"{END}\n")
    bounds = [*begins, end]
    blocks = ["".join(lines[begin:after]) for begin, after in pairwise(bounds)]
    return "".join(lines[: bounds[0]]), blocks, "".join(lines[end:])


def _with_values(block: str, values: Reals) -> str:
    lines = block.split("\n")
    at = next(at for at, line in enumerate(lines) if line.strip().startswith("leaf_value="))
    lines[at] = _line("leaf_value", values)
    return "\n".join(lines)


def _with_sizes(header: str, blocks: Sequence[str]) -> str:
    """Return the header with how many bytes the text of each tree has."""
    sizes = SIZES + " ".join(str(len(block.encode())) for block in blocks)
    return "\n".join(sizes if line.startswith(SIZES) else line for line in header.split("\n"))


# -- trees -----------------------------------------------------------------------------------


def _block(tree: Tree, number: int) -> str:
    """Return the text of a tree; LightGBM numbers inner nodes and leaves apart."""
    inner, places = ~tree.leaf, np.arange(len(tree.leaf))
    inner_before: Integers = np.cumsum(inner) - inner
    numbers = np.where(tree.leaf, inner_before - places - 1, inner_before)
    nothing = np.zeros(int(inner.sum()), dtype=np.int64)
    no_leaves = np.zeros(len(places) - len(nothing), dtype=np.int64)
    columns: dict[str, object] = {
        "split_feature": tree.features[inner],
        "split_gain": nothing,
        "threshold": np.nextafter(tree.thresholds[inner], -np.inf),
        "decision_type": nothing + PLAIN_NODE,
        "left_child": numbers[tree.left[inner]],
        "right_child": numbers[tree.right[inner]],
        "leaf_value": tree.values[tree.places[tree.leaf]],
        "leaf_weight": no_leaves,
        "leaf_count": no_leaves,
        "internal_value": nothing,
        "internal_weight": nothing,
        "internal_count": nothing,
    }
    lines = [f"Tree={number}", f"num_leaves={len(no_leaves)}", "num_cat=0"]
    lines += [_line(name, column) for name, column in columns.items()]
    return "\n".join([*lines, "is_linear=0", "shrinkage=1", "", "", ""])


def _line(name: str, numbers: Any) -> str:
    return f"{name}={' '.join(repr(number) for number in numbers.tolist())}"
