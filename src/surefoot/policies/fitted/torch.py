"""Networks of PyTorch: ``torch.nn.Sequential``."""

from __future__ import annotations

from surefoot.policies.convert.torch_modules import network_of, with_last_layer
from surefoot.policies.fitted.library import Fitted
from surefoot.policies.like import last_layer
from surefoot.policies.models import Model


def _like(model: Model | None, original: object) -> object:
    return with_last_layer(original, last_layer(model, network_of(original).model))


FITTED = Fitted(network_of, _like)
