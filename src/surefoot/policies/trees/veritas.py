"""Tree ensembles of Veritas, as JSON ("AddTree").

A node goes left if its input is less than the split value. Scores are the base scores plus the
vectors of the leaves, added in double, tree by tree. The file does not say how many inputs there
are: as many as are used, at least.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import shown
from surefoot.files import read_json
from surefoot.policies.format import JSON, Format
from surefoot.policies.loaded import Loaded
from surefoot.policies.models import Trees
from surefoot.policies.trees.forest import Tree, assemble
from surefoot.policies.trees.reading import (
    MAX_INPUTS,
    MAX_OUTPUTS,
    bad,
    errors_in,
    listed,
    part,
    reals,
    unsupported,
    whole,
)


def read(path: str | Path) -> Loaded:
    """Return the ensemble in a JSON file of Veritas."""
    path = Path(path)
    with errors_in(path):
        return Loaded(_trees_of(read_json(path)), at_least=True)


def _trees_of(content: object) -> Trees:
    base = reals(part(content, "base_scores"), "/base_scores")
    if not 1 <= len(base) <= MAX_OUTPUTS:
        raise bad(f"there are {len(base):,} base scores", "/base_scores")
    trees = list(_trees(listed(part(content, "trees"), "/trees"), len(base)))
    used = [int(tree.features.max()) for tree in trees]
    return assemble(
        trees,
        num_inputs=max([0, *used]) + 1,
        base=base,
        input_precision="float64",
        sum_precision="float64",
    )


def _trees(trees: list[Any], num_outputs: int) -> Iterator[Tree]:
    for number, tree in enumerate(trees):
        place = f"/trees/{number}"
        for key, known in (("split_type", "LtSplit"), ("value_type", "FloatT")):
            if part(tree, key, place=place) != known:
                raise unsupported(f"Veritas trees whose {key} is {shown(tree[key])}")
        if "num_leaf_values" in tree:
            count = whole(tree["num_leaf_values"], f"{place}/num_leaf_values", most=MAX_OUTPUTS)
            if count != num_outputs:
                raise bad(f"leaves have {count:,} values for {num_outputs:,} outputs", place)
        yield _tree(part(tree, "structure", place=place), f"{place}/structure", num_outputs)


def _tree(structure: object, place: str, num_outputs: int) -> Tree:
    """Return a tree of nested objects; its nodes are numbered level by level."""
    nodes, rows, features, thresholds, left, values = [structure], [], [], [], [], []
    count = 0
    for node in nodes:  # grows while we go through it
        if isinstance(node, dict) and "leaf_value" in node:
            rows.append(count)
            count += num_outputs
            values.append(_leaf(node["leaf_value"], place, num_outputs))
            left.append(-1)
            features.append(0)
            thresholds.append(0.0)
            continue
        split = node["split"] if isinstance(node, dict) and "split" in node else node
        feature = part(split, "feat_id", place=place)
        features.append(whole(feature, f"{place}/feat_id", most=MAX_INPUTS - 1))
        thresholds.append(float(_reals_of(part(split, "split_value", place=place), place)[0]))
        rows.append(0)
        left.append(len(nodes))
        nodes += [part(node, side, place=place) for side in ("left", "right")]
    children = np.array(left, dtype=np.int64)
    return Tree(
        leaf=children == -1,
        features=np.array(features, dtype=np.int64),
        thresholds=np.array(thresholds, dtype=np.float64),
        left=children,
        right=children + 1,
        places=np.array(rows, dtype=np.int64),
        values=np.concatenate([np.zeros(0), *values]),
        output=-1,
    )


def _leaf(value: object, place: str, num_outputs: int) -> object:
    return reals(value if isinstance(value, list) else [value], place, count=num_outputs)


def _reals_of(value: object, place: str) -> Any:
    return reals([value], f"{place}/split_value")


FORMAT = Format(
    "veritas",
    read,
    (JSON,),
    members=frozenset({"trees", "base_scores"}),
    plural="Veritas ensembles",
)
