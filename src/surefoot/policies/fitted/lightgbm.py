"""Models of LightGBM: boosters, and estimators that hold one."""

from __future__ import annotations

import copy
from typing import Any

from surefoot.policies.fitted.library import Fitted
from surefoot.policies.like import trees_as_counted
from surefoot.policies.models import Model
from surefoot.policies.trees import lightgbm as trees


def _like(model: Model | None, original: Any) -> object:
    import lightgbm

    from surefoot.policies.trees.lightgbm import writing

    booster = getattr(original, "booster_", original)
    text = writing.to_text(booster.model_to_string(), trees_as_counted(model))
    new = lightgbm.Booster(model_str=text)
    if booster is original:
        return new
    made = copy.deepcopy(original)
    made._Booster, made._best_iteration = new, None
    return made


FITTED = Fitted(trees.of, _like)
