"""lrtdp, of core/oracle/lrtdp.h; docs/oracles.md says when to use it."""

from surefoot.oracles.algorithm import Algorithm

ORACLE = Algorithm.of_core("lrtdp", takes_radius=True)
