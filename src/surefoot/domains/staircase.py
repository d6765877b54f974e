"""Staircase: the root enters one unsafe step after the other, and for each the way up is the same.

Step ``k`` has the one action ``climb`` with the outcomes step ``k + 1`` and step ``k - 1``, in this
order; above the last step is the safe landing, below step 1 is fail. The root has the actions
``enter_1``, ..., ``enter_n`` to the steps, in this order, and then ``rest`` to the landing. Every
step is unsafe, as the way down may end in fail; the root is safe by ``rest`` alone. An oracle that
finds step ``k`` unsafe and forgets the steps above explores them again from step ``k + 1``: iPI and
TarjanSafe are quadratic. One that hands unsafety on when it is found is linear.

On the landing ``rest`` leads nowhere else. Without any action the landing would be terminal, and
oracles would not agree on whether such a state counts as expanded.
"""

from __future__ import annotations

from surefoot.domains.parameters import check_range
from surefoot.tasks.description import Description
from surefoot.tasks.expressions import Expr

MAX_STEPS = 100_000
ROOT, STEPS, LANDING, FAIL = range(4)


def staircase(*, steps: int = 10) -> Description:
    """Return the staircase of this many steps.

    A state is a ``place`` (0 root, 1 on the steps, 2 landing, 3 fail) and a ``step`` (0 if it is on
    none). The place is a variable of its own so that the guard index need not tell the steps apart
    to rule out the actions of the root.
    """
    check_range("steps", steps, least=1, most=MAX_STEPS)
    d = Description(f"staircase-{steps}")
    place = d.int("place", ROOT, FAIL, initial=ROOT)
    step = d.int("step", 0, steps, initial=0)
    is_root = place == ROOT
    for k in range(1, steps + 1):
        d.edge(f"enter_{k}", guard=is_root, outcomes=[{place: STEPS, step: k}])
    d.edge("rest", guard=is_root | (place == LANDING), outcomes=[{place: LANDING, step: 0}])
    for first, last in dict.fromkeys([(1, 1), (2, steps - 1), (steps, steps)]):
        up: dict[Expr, object] = {step: step + 1}
        down: dict[Expr, object] = {step: step - 1}
        if last == steps:
            up = {place: LANDING, step: 0}
        if first == 1:
            down = {place: FAIL, step: 0}
        guard = (place == STEPS) & (step >= first) & (step <= last)
        if first <= last:
            d.edge("climb", guard=guard, outcomes=[up, down])
    d.start({"place": ROOT, "step": 0})
    d.fail(place == FAIL)
    return d
