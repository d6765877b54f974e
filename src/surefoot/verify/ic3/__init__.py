"""IC3 over a SAT solver: blocked boxes that prove a policy safe, or a failing run.

The parts, from below: ``circuit`` (clauses), ``numbers`` (integers in order encoding), ``encoding``
(the task), ``scores`` and ``decisions`` (the policy), ``transition`` (a step), ``boxes``,
``solver``, ``search`` (IC3 itself), ``replay`` (runs followed with the policy), ``method``.
"""

from surefoot.verify.constraints import find_constraints
from surefoot.verify.ic3.method import Verification, verify_ic3
from surefoot.verify.ic3.search import Ic3

__all__ = ["Ic3", "Verification", "find_constraints", "verify_ic3"]
