"""Models of XGBoost: ``.json`` and ``.ubj`` files, and boosters in memory.

Scores are what ``predict(output_margin=True)`` gives for a DMatrix, bit for bit: inputs are rounded
to float32, a node goes left if the input is less than its threshold, and leaf values are added to
the base score in float32, tree by tree. For two classes the scores are 0 and the margin.

All trees count, as they do for ``Booster.predict``; of an XGBClassifier that stopped early in
memory, those up to its best iteration, as for its own ``predict``.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import InputError, quoted, shown
from surefoot.files import read_json
from surefoot.policies.format import JSON, Format, Looks
from surefoot.policies.loaded import Loaded
from surefoot.policies.models import Model, Trees
from surefoot.policies.original import Original, columns, installed, not_installed, refusal
from surefoot.policies.trees.forest import Tree, assemble
from surefoot.policies.trees.reading import (
    MAX_INPUTS,
    MAX_OUTPUTS,
    Reals,
    bad,
    errors_in,
    integers,
    listed,
    part,
    reals,
    unsupported,
    whole,
)
from surefoot.policies.trees.ubjson import parse_ubjson, read_ubjson

MULTI_CLASS = ("multi:softmax", "multi:softprob")
BINARY = ("binary:logistic", "binary:logitraw")
SCORES = ("reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror")
"""objectives whose outputs are scores as they are"""

MODEL = "/learner/gradient_booster/model"


def read(path: str | Path) -> Loaded:
    """Return the ensemble in a ``.ubj`` or ``.json`` file that XGBoost wrote."""
    path = Path(path)
    with errors_in(path):
        is_binary = path.suffix.lower() == ".ubj"
        return Loaded(trees_of(read_ubjson(path) if is_binary else read_json(path)))


def of(model: object) -> Trees:
    """Return the ensemble of a Booster, or of an estimator like XGBClassifier, in memory."""
    try:
        return trees_of(content_of(model))
    except ValueError as error:
        raise InputError("bad-trees", str(error)) from None


def content_of(model: Any) -> object:
    """Return what the JSON of a Booster or estimator says, of its best iterations if it knows."""
    booster = model
    if hasattr(model, "get_booster"):
        _check_missing(model)
        booster = model.get_booster()
        if booster.attr("best_iteration") is not None:
            booster = booster[: int(booster.attr("best_iteration")) + 1]
    return parse_ubjson(bytes(booster.save_raw("ubj")))


def _check_missing(model: object) -> None:
    missing = getattr(model, "missing", None)
    if missing is not None and not math.isnan(missing):
        raise unsupported(f"models that take {shown(missing)} as a missing value")


@dataclass(frozen=True)
class Parts:
    """What stands in a model: its trees one by one, where they stand, and the base scores."""

    trees: list[Tree]
    model: dict[str, Any]
    """the part of the content that lists the trees"""
    num_inputs: int
    base: Reals
    first_output: int
    """which output is XGBoost's first"""


def trees_of(content: object) -> Trees:
    """Return the ensemble of a model, given as what its JSON says."""
    parts = parts_of(content)
    return assemble(
        parts.trees,
        num_inputs=parts.num_inputs,
        base=parts.base,
        input_precision="float32",
        sum_precision="float32",
    )


def parts_of(content: object) -> Parts:
    """Return the parts of a model, given as what its JSON says."""
    learner = part(content, "learner")
    booster = part(learner, "gradient_booster", place="/learner")
    name = part(booster, "name", place="/learner/gradient_booster")
    if name == "dart":
        weights = reals(part(booster, "weight_drop"), "/learner/gradient_booster/weight_drop")
        booster = part(booster, "gbtree")
    elif name == "gbtree":
        weights = None
    elif name == "gblinear":
        raise unsupported("linear models of XGBoost (gblinear)")
    else:
        raise bad(f"{shown(name)} is not a booster that is known", "/learner/gradient_booster/name")
    model = part(booster, "model", place="/learner/gradient_booster")
    num_inputs = _parameter(learner, "num_feature", least=1, most=MAX_INPUTS)
    base, first_output = _base(learner)
    trees = list(_trees(model, len(base), first_output, weights))
    return Parts(trees, model, num_inputs, base, first_output)


# -- the base score --------------------------------------------------------------------------


def _base(learner: object) -> tuple[Reals, int]:
    """Return the base scores of all outputs, and which output is XGBoost's first."""
    objective = part(learner, "objective", "name", place="/learner")
    if not isinstance(objective, str):
        raise bad(f"{shown(objective)} is not an objective", "/learner/objective/name")
    classes = _parameter(learner, "num_class", most=MAX_OUTPUTS)
    targets = _parameter(learner, "num_target", most=MAX_OUTPUTS, default=1)
    if objective in MULTI_CLASS:
        return _base_scores(learner, max(classes, 1)), 0
    if objective in SCORES:
        return _base_scores(learner, max(targets, 1)), 0
    if objective in BINARY and targets <= 1:
        score = _base_scores(learner, 1)[0]
        margin = _logit(score) if objective == "binary:logistic" else float(score)
        return np.array([0.0, margin]), 1
    raise unsupported(
        f"XGBoost models with the objective {quoted(objective)} for "
        f"{max(targets, classes, 1):,} outputs",
        hint=f"supported are {', '.join((*MULTI_CLASS, *BINARY, *SCORES))}",
    )


def _parameter(
    learner: object, name: str, *, least: int = 0, most: int, default: int | None = None
) -> int:
    parameters = part(learner, "learner_model_param", place="/learner")
    place = "/learner/learner_model_param"
    if default is not None and isinstance(parameters, dict) and name not in parameters:
        return default
    return whole(part(parameters, name, place=place), f"{place}/{name}", least=least, most=most)


def _base_scores(learner: object, count: int) -> Reals:
    """Return the base scores; before XGBoost 3 there is one for all outputs."""
    place = "/learner/learner_model_param/base_score"
    text = part(learner, "learner_model_param", "base_score", place="/learner")
    try:
        numbers = [float(each) for each in text.removeprefix("[").removesuffix("]").split(",")]
    except (AttributeError, ValueError):
        raise bad(f"{shown(text)} is not a base score", place) from None
    scores = _float32(np.array(numbers), place)
    if len(scores) not in (1, count):
        raise bad(f"there are {len(scores):,} base scores for {count:,} outputs", place)
    return np.repeat(scores, count) if len(scores) == 1 else scores


def _logit(probability: float) -> float:
    """Return the margin of a probability, in float32 as XGBoost computes it."""
    if not 0.0 < probability < 1.0:
        raise bad("the base score of two classes is not a probability between 0 and 1")
    unit = np.float32(1)
    odds = unit / np.float32(probability) - unit
    if odds <= 0:
        raise bad("the base score of two classes is not a probability between 0 and 1")
    return -_logf(float(odds))


def _logf(number: float) -> float:
    """Return the logarithm in float32: that of the C library, which XGBoost uses.

    It differs in the last bit from the logarithm in double, rounded, for 1 of 500 numbers.
    """
    try:
        logf = ctypes.CDLL(None).logf
    except (AttributeError, OSError, TypeError):
        return float(np.float32(math.log(number)))
    logf.restype, logf.argtypes = ctypes.c_float, (ctypes.c_float,)
    return float(logf(number))


# -- the trees -------------------------------------------------------------------------------


def _trees(
    model: object, num_outputs: int, first_output: int, weights: Reals | None
) -> Iterator[Tree]:
    trees = listed(part(model, "trees", place=MODEL), f"{MODEL}/trees")
    count = len(trees)
    outputs = integers(part(model, "tree_info", place=MODEL), f"{MODEL}/tree_info", count=count)
    outputs = outputs + first_output
    if ((outputs < first_output) | (outputs >= num_outputs)).any():
        raise bad("a tree is for an output that is not there", f"{MODEL}/tree_info")
    if weights is not None and len(weights) != count:
        raise bad(f"there are {len(weights):,} weights for {count:,} trees")
    for number, (tree, output) in enumerate(zip(trees, outputs.tolist(), strict=True)):
        weight = None if weights is None else np.float32(weights[number])
        yield _tree(tree, f"{MODEL}/trees/{number}", output, num_outputs, weight)


def _tree(
    content: object, place: str, output: int, num_outputs: int, weight: np.float32 | None
) -> Tree:
    left = integers(part(content, "left_children", place=place), f"{place}/left_children")
    count = len(left)
    arrays = {
        name: integers(part(content, name, place=place), f"{place}/{name}", count=count)
        for name in ("right_children", "split_indices")
    }
    _check_numerical(content, place)
    conditions = reals(
        part(content, "split_conditions", place=place), f"{place}/split_conditions", count=count
    )
    conditions = _float32(conditions, f"{place}/split_conditions")
    leaf = left == -1
    if (arrays["right_children"][~leaf] != left[~leaf] + 1).any():
        raise bad("the children of a node do not stand side by side, as XGBoost has them", place)
    places, values = np.arange(count), conditions
    if (size := _leaf_size(content, place)) > 1:
        if size != num_outputs or weight is not None:
            raise bad(f"leaves have {size:,} values for {num_outputs:,} outputs", place)
        values, output = _vectors(content, place), -1
        rows = np.where(leaf, arrays["right_children"], 0)
        if ((rows < 0) | (rows * size >= len(values))).any():
            raise bad("a leaf has no values", place)
        places = rows * size
    elif weight is not None:
        values = _float32(values.astype(np.float32) * weight, place)
    return Tree(
        leaf=leaf,
        features=arrays["split_indices"],
        thresholds=conditions,
        left=left,
        right=arrays["right_children"],
        places=places,
        values=values,
        output=output,
    )


def _check_numerical(content: Any, place: str) -> None:
    """Raise Unsupported for splits by category."""
    kinds = [
        integers(content.get(name, []), f"{place}/{name}")
        for name in ("split_type", "categories_nodes", "categories_sizes")
    ]
    if kinds[0].any() or len(kinds[1]) or len(kinds[2]):
        raise unsupported(
            "splits by category in XGBoost models", hint="train with enable_categorical=False"
        )


def _leaf_size(content: object, place: str) -> int:
    size = part(content, "tree_param", "size_leaf_vector", place=place)
    return whole(size, f"{place}/tree_param/size_leaf_vector", most=MAX_OUTPUTS)


def _vectors(content: Any, place: str) -> Reals:
    if "leaf_weights" not in content:
        raise unsupported(
            "vector leaves as XGBoost before 3.1 writes them",
            hint="load the model with a newer XGBoost and save it again",
        )
    return _float32(reals(content["leaf_weights"], f"{place}/leaf_weights"), place)


def _float32(numbers: object, place: str) -> Reals:
    """Return the numbers rounded to float32. Raises InputError if one has no finite value."""
    with np.errstate(over="ignore"):
        rounded = np.asarray(numbers).astype(np.float32).astype(np.float64)
    if not np.isfinite(rounded).all():
        raise bad("a number is infinite or not a number", place)
    return rounded


def _write_like(model: Model, source: Path) -> bytes:
    from surefoot.policies.like import trees_as_counted
    from surefoot.policies.trees.xgboost import writing

    suffix = source.suffix.lower()
    content = read_ubjson(source) if suffix == ".ubj" else read_json(source)
    return writing.to_bytes(content, trees_as_counted(model), suffix)


def _original(path: Path, outputs: int) -> Original | str:
    xgboost = installed("xgboost")
    if xgboost is None:
        return not_installed("XGBoost", "trees")
    try:
        booster = xgboost.Booster({"nthread": 1}, model_file=str(path))
    except Exception as error:
        return refusal("XGBoost", error)

    def scores(rows: Reals) -> Reals:
        matrix = xgboost.DMatrix(rows[:, : booster.num_features()])
        margins = booster.predict(matrix, output_margin=True, validate_features=False)
        return columns(margins, len(rows), outputs)

    return Original(f"XGBoost {xgboost.__version__}", scores)


FORMAT = Format(
    "xgboost",
    read,
    (".ubj", JSON),
    members=frozenset({"learner"}),
    looks=Looks(begins=re.compile(rb"\{[LilIU#$]"), words="UBJSON of XGBoost", suffix=".ubj"),
    is_whole=True,
    write_like=_write_like,
    original=_original,
)
