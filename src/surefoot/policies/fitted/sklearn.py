"""Estimators of scikit-learn, and pipelines that end in one."""

from __future__ import annotations

from typing import cast

from surefoot.policies import pipelines
from surefoot.policies.fitted.library import Fitted
from surefoot.policies.like import last_layer, trees_as_counted
from surefoot.policies.loaded import Loaded
from surefoot.policies.models import Model, Network
from surefoot.policies.trees import scikit_learn


def _read(thing: object) -> Loaded:
    if pipelines.is_pipeline(thing):
        return pipelines.loaded_of(thing)
    return scikit_learn.trees_of(thing)


def _like(model: Model | None, original: object) -> object:
    from surefoot.policies.trees import scikit_learn_writing

    if pipelines.is_pipeline(original):
        raise ValueError("the steps before its last one change what trees compare")
    kind = scikit_learn.kind_of(original)
    if kind in (*scikit_learn.HISTOGRAMS, *scikit_learn.VOTING):
        raise ValueError(f"trees of a {kind} are not written back")
    if kind not in scikit_learn.NETWORKS:
        return scikit_learn_writing.with_trees(original, trees_as_counted(model))
    last = last_layer(model, scikit_learn.trees_of(original).model)  # raises if more was changed
    if kind in scikit_learn.LINEAR:
        return scikit_learn_writing.with_layer(original, last)
    return scikit_learn_writing.with_network(original, cast("Network", model))


FITTED = Fitted(_read, _like)
