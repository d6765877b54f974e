"""The bias ``greedy``: goes on from one that is nearest to fail, among those furthest ahead."""

from __future__ import annotations

from surefoot.fuzz.bias import Bias

BIAS = Bias("greedy", "greedy")
