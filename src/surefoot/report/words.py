"""Numbers, states and names as a report writes them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from surefoot.errors import printable, shown
from surefoot.text import counted

CUT = 2_000  # characters of a name, or of a state in one line


def plain(text: object, limit: int = CUT) -> str:
    """Return a text from somewhere else: control characters escaped, cut."""
    return printable(text if isinstance(text, str) else shown(text), limit)


def number(value: object, digits: int = 4) -> str:
    """Return a number with separators for thousands, reals rounded; a dash for none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "–" if value is None else plain(value)
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**15 else f"{float(value):.3g}"
    if not math.isfinite(value):
        return str(value)
    return f"{value:,.{digits}g}" if abs(value) < 1e4 else f"{value:,.0f}"


def looked_at(verification: Mapping[str, Any]) -> str:
    """Return what a verdict is about: states, or boxes of states, from which start states."""
    boxes, states = verification.get("boxes"), verification.get("states")
    if isinstance(boxes, int) and boxes and not states:
        return f"{counted(boxes, 'box')} with everything that is reachable from all start states"
    which = "all" if verification.get("all_starts") else "a sample of"
    starts = counted(verification["starts"], "start state")
    return f"{counted(verification['states'], 'state')} from {which} {starts}"


def score(value: float | None) -> str:
    """Return a score to five digits, with a real minus sign."""
    return "–" if value is None else f"{value:.5g}".replace("-", "−")


def percent(fraction: object) -> str:
    """Return a fraction in percent. What is not quite nothing, or not quite all, stays so."""
    if not isinstance(fraction, int | float) or isinstance(fraction, bool):
        return "–"
    value = 100 * float(fraction)
    text = f"{value:.2f}"
    if text == "0.00" and value > 0:
        return "< 0.01 %"
    if text == "100.00" and value < 100:
        return "> 99.99 %"
    return f"{text.rstrip('0').rstrip('.')} %"


def seconds(value: object) -> str:
    """Return a duration, in the unit that people would use."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return "–"
    if value < 60:
        return f"{value:.3g} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60:,} h {minutes % 60} min"


def value_text(value: object, labels: tuple[str, ...] | None = None) -> str:
    """Return the value of a variable, a location by its name."""
    if labels is not None and isinstance(value, int) and 0 <= value < len(labels):
        return plain(labels[value], 100)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.6g}"
    return plain(value if isinstance(value, str) else shown(value), 100)


def state_text(
    state: object, labels: Mapping[str, tuple[str, ...]] | None = None, limit: int = CUT
) -> str:
    """Return a state in one line: ``x=3, y=0``."""
    if not isinstance(state, Mapping):
        return plain(state, limit)
    known = labels or {}
    parts = (
        f"{plain(name, 100)}={value_text(value, known.get(name))}" for name, value in state.items()
    )
    text = ", ".join(parts)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def same_variables(state: object, outcome: object) -> list[str]:
    """Return the names of the variables of a state and an outcome of it, in their order."""
    names: dict[str, None] = {}
    for values in (state, outcome):
        names |= dict.fromkeys(map(str, values)) if isinstance(values, Mapping) else {}
    return list(names)
