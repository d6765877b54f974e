"""Policy predicate abstraction: sets of states by which predicates hold in them.

The parts, from below: ``ranges`` (expressions over boxes), ``atoms`` (predicates), ``reading``
(their files), ``changes`` (what outcomes do), ``solver`` (Z3), ``cells`` (the abstract states),
``parts`` (what the policy does in them), ``spurious`` (abstract runs followed), ``cover``
(certificates) and ``method``, which is the search itself.
"""

from surefoot.verify.method import BOX_NUMBERS, ON_SETS, Method, boxes_text
from surefoot.verify.predicates.method import verify_predicates
from surefoot.verify.predicates.reading import read_cuts, read_predicates

__all__ = ["METHOD", "read_cuts", "read_predicates", "verify_predicates"]

METHOD = Method(
    "predicates",
    verify_predicates,
    reads=ON_SETS,
    takes_predicates=True,
    numbers=BOX_NUMBERS,
    progress=boxes_text,
)
