"""Models of XGBoost: boosters, and estimators that hold one."""

from __future__ import annotations

import copy
from typing import Any

from surefoot.policies.fitted.library import Fitted
from surefoot.policies.like import trees_as_counted
from surefoot.policies.models import Model
from surefoot.policies.trees import xgboost


def _like(model: Model | None, original: Any) -> object:
    from surefoot.policies.trees.xgboost import writing

    content = xgboost.content_of(original)
    data = bytearray(writing.to_bytes(content, trees_as_counted(model), ".ubj"))
    made = copy.deepcopy(original)
    made.load_model(data)
    return made


FITTED = Fitted(xgboost.of, _like)
