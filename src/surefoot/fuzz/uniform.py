"""The bias ``uniform``: goes on from any state that it sees, each as likely."""

from __future__ import annotations

from surefoot.fuzz.bias import Bias

BIAS = Bias("uniform", "uniform")
