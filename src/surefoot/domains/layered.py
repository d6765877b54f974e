"""Layered (P-IPI fig. 1): exponentially many paths through few states, all of them safe.

A root, ``depth`` layers of two states each, and one last state. Above the last state the one action
``down`` leads to both states of the next layer; from the last layer it leads to the last state.
There ``back`` leads to the root, and ``jump``, the second action, to fail. So every state is safe,
and 2^depth paths lead down: who forgets on the way up what was found on the way down walks all of
them. TarjanSafe as printed expands 3 * 2^depth - 1 states; the rest need 2 * depth + 2.

A state is a ``layer``, 0 the root and ``depth + 1`` the last state, and a ``side``; fail is one
layer further down.
"""

from __future__ import annotations

from surefoot.domains.parameters import check_range
from surefoot.tasks.description import Description

MAX_DEPTH = 1_000_000_000


def layered(*, depth: int = 10) -> Description:
    """Return the family's task with this many layers between the root and the last state."""
    check_range("depth", depth, least=1, most=MAX_DEPTH)
    d = Description(f"layered-{depth}")
    layer = d.int("layer", 0, depth + 2, initial=0)
    side = d.int("side", 0, 1, initial=0)
    below = [{layer: layer + 1, side: 0}, {layer: layer + 1, side: 1}]
    d.edge("down", guard=layer < depth, outcomes=below)
    d.edge("down", guard=layer == depth, outcomes=[{layer: depth + 1, side: 0}])
    d.edge("back", guard=layer == depth + 1, outcomes=[{layer: 0}])
    d.edge("jump", guard=layer == depth + 1, outcomes=[{layer: depth + 2}])
    d.start({"layer": 0, "side": 0})
    d.fail(layer == depth + 2)
    return d
