"""ipi, of core/oracle/ipi.h; docs/oracles.md says when to use it."""

from surefoot.oracles.algorithm import Algorithm

ORACLE = Algorithm.of_core("ipi", takes_order=True)
