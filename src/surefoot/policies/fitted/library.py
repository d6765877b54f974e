"""What makes fitted models of a library policies, and repaired policies its models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.policies.loaded import Loaded
    from surefoot.policies.models import Model


@dataclass(frozen=True)
class Fitted:
    """Fitted models of a library.

    ``read`` returns what an object of the library scores actions with. ``like`` returns a copy of
    the object given that holds another model; it raises ValueError, with the reason, if such an
    object cannot hold it.
    """

    read: Callable[[Any], Loaded | Model]
    like: Callable[[Model | None, Any], object]
