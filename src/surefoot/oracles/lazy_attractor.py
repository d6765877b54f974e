"""lazy_attractor, of core/oracle/lazy_attractor.h; docs/oracles.md says when to use it."""

from surefoot.oracles.algorithm import Algorithm

ORACLE = Algorithm.of_core("lazy_attractor", takes_radius=True)
