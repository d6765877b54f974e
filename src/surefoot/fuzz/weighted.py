"""The bias ``weighted``: goes on from any state that it sees, those near fail more likely."""

from __future__ import annotations

from surefoot.fuzz.bias import Bias

BIAS = Bias("weighted", "weighted")
