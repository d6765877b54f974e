"""lao_star, of core/oracle/lao_star.h; docs/oracles.md says when to use it."""

from surefoot.oracles.algorithm import Algorithm

ORACLE = Algorithm.of_core("lao_star", takes_radius=True)
