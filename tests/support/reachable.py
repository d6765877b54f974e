"""All states that a run may meet, found one by one."""

from __future__ import annotations

from collections.abc import Iterable

from surefoot import State, Task


def reachable(task: Task, starts: Iterable[State]) -> list[State]:
    """Return all states that a run may meet."""
    core = task.core
    found = list(dict.fromkeys(state.packed for state in starts))
    seen = set(found)
    for packed in found:
        if core.kind(packed) != 0:
            continue
        for action in core.applicable(packed):
            new = [outcome for outcome in core.outcomes(packed, action) if outcome not in seen]
            found += new
            seen.update(new)
    return [task.unpack(packed) for packed in found]
