"""The way that is open to every model: a function of many states. Refusals name it."""

from __future__ import annotations

from typing import Any

SCORING = ("predict_proba", "decision_function")


def batched_hint(model: Any) -> str:
    """Return how a model that is not read is given as a function of many states."""
    classes = getattr(model, "classes_", None)
    scoring = [name for name in SCORING if hasattr(model, name)]
    if classes is None or not scoring:
        call = "model.predict" if hasattr(model, "predict") else "model"
        return f"give it as a function: surefoot.batched({call})"
    method = scoring[0]
    if method == "decision_function" and len(classes) == 2:
        method = "predict"
    if all(isinstance(name, str) for name in classes):
        actions = "model.classes_"
    else:
        actions = "[task.actions[at] for at in model.classes_]"
    return f"give it as a function: surefoot.batched(model.{method}, actions={actions})"
