"""Values that no reader expects, and the places where they can stand."""

import math


def nested(depth):
    """Return lists in lists, built without recursion."""
    value = []
    for _ in range(depth):
        value = [value]
    return value


SCALARS = (
    *(None, True, False, 0, 1, -1, 2, 7, 2**31, 2**63, -(2**63), 2**64, 10**400, -(10**5000)),
    *(0.0, -0.0, 1.0, 0.5, 1e308, 5e-324, math.nan, math.inf, -math.inf),
    *("", "safe", "unsafe", "finite", "1", "a0", "state", "\x1b[2J\x00\n", "é" * 1000, "\ud800"),
)
KEYS = ("certificate", "claim", "radius", "states", "name", "0", "", "\x00")


def junk(rng, depth=3):
    """Return something that a JSON reader could return."""
    kind = rng.random()
    if depth == 0 or kind < 0.6:
        return rng.choice(SCALARS)
    if kind < 0.85:
        return [junk(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {rng.choice(KEYS): junk(rng, depth - 1) for _ in range(rng.randrange(3))}


def places(value):
    """Return (container, key) for everything inside a JSON value."""
    found, waiting = [], [value]
    while waiting:
        each = waiting.pop()
        keys = each if isinstance(each, dict) else range(len(each))
        found += [(each, key) for key in keys]
        waiting += [each[key] for key in keys if isinstance(each[key], dict | list)]
    return found
