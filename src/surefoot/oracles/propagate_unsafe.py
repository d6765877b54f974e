"""propagate_unsafe, of core/oracle/propagate_unsafe.h; docs/oracles.md says when to use it."""

from surefoot.oracles.algorithm import Algorithm

ORACLE = Algorithm.of_core("propagate_unsafe")
