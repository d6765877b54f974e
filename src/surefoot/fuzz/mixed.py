"""The bias ``mixed``: each run by one of several strategies, most by those that find something new.

What it does: a bandit over greedy and weighted, each with a lookahead of one step and with one that
goes as far as states allow, and uniform. Runs come in rounds of 50; in each, every strategy makes a
run, and the others are shared out by what the runs of each have found that was new
(``core/fuzz/mix.h``). What it guarantees: a run is the one of that number and seed that its
strategy alone would make; which strategy that is depends on the runs before it only. Cost: that of
its strategies. When to use it: always, unless it is known which strategy suits.
"""

from __future__ import annotations

from surefoot.fuzz.bias import Bias

BIAS = Bias("mixed", "mixed")
