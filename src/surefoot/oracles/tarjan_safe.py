"""tarjan_safe, of core/oracle/tarjan_safe.h; docs/oracles.md says when to use it."""

from surefoot.oracles.algorithm import Algorithm

ORACLE = Algorithm.of_core("tarjan_safe", takes_radius=True)
