"""tarjan_safe_printed, as the paper prints it: core/oracle/tarjan_safe_printed.h."""

from surefoot.oracles.algorithm import Algorithm

ORACLE = Algorithm.of_core("tarjan_safe_printed")
