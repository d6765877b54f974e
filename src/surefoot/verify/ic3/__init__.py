"""IC3 over a SAT solver: blocked boxes that prove a policy safe, or a failing run.

The parts, from below: ``circuit`` (clauses), ``numbers`` (integers in order encoding), ``encoding``
(the task), ``scores`` and ``decisions`` (the policy), ``transition`` (a step), ``boxes``,
``solver``, ``search`` (IC3 itself), ``replay`` (runs followed with the policy), ``method``.
"""

from surefoot.records import VerifyResult
from surefoot.text import counted
from surefoot.verify.constraints import find_constraints
from surefoot.verify.ic3.method import Verification, verify_ic3
from surefoot.verify.ic3.search import Ic3
from surefoot.verify.method import ON_SETS, Method, Numbers, memory_text

__all__ = ["METHOD", "Ic3", "Verification", "find_constraints", "verify_ic3"]


def _progress(name: str, numbers: Numbers) -> str:
    blocked, questions, frames, size, _ = numbers
    asked = f"{counted(questions, 'question')}, {counted(frames, 'frame')}"
    return f"{name}: {counted(blocked, 'blocked box')}, {asked}{memory_text(size)}"


def _effort(result: VerifyResult) -> str:
    return f"blocked, in {counted(result.depth, 'frame')}"


METHOD = Method(
    "ic3",
    verify_ic3,
    reads=ON_SETS,
    numbers=("blocked_boxes", "questions", "frames", "bytes"),
    progress=_progress,
    effort=_effort,
)
