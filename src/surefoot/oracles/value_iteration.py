"""value_iteration, of core/oracle/value_iteration.h; docs/oracles.md says when to use it."""

from surefoot.oracles.algorithm import Algorithm

ORACLE = Algorithm.of_core("value_iteration", takes_radius=True)
