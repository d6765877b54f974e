"""Curves over the iterations, as the numbers of a drawing: the page writes the SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot.report.source import CampaignSource
from surefoot.report.words import number

WIDTH, HEIGHT = 340, 210
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 14, 40
SHOWN_TICKS = 8
SHOWN_POINTS = 500


@dataclass(frozen=True)
class Point:
    """A value on a curve, where it is drawn, and what to say about it."""

    x: float
    y: float
    text: str


@dataclass(frozen=True)
class Tick:
    """A mark on an axis: where, and what stands there."""

    at: float
    text: str


@dataclass(frozen=True)
class Chart:
    """One curve. ``title`` says what is counted, ``summary`` how it went, for who cannot see it."""

    name: str
    title: str
    summary: str
    points: tuple[Point, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]

    @property
    def line(self) -> str:
        """The points as an SVG polyline takes them."""
        return " ".join(f"{point.x},{point.y}" for point in self.points)

    @property
    def area(self) -> str:
        """The line, closed along the axis."""
        base = HEIGHT - BOTTOM
        first, last = self.points[0].x, self.points[-1].x
        return f"{first},{base} {self.line} {last},{base}"


def charts_of(source: CampaignSource) -> list[Chart]:
    """Return the curves: failing runs, faults so far, decisions changed. None without rounds."""
    rounds = source.iterations[:SHOWN_POINTS]
    numbers = [row["iteration"] for row in rounds]
    failing, faults = ([float(row[name]) for row in rounds] for name in ("unsafe_runs", "faults"))
    if not rounds:
        return []
    return [
        _chart("failing", "Failing runs", "failing runs", numbers, failing),
        _chart("faults", "Faults so far", "faults", numbers, faults),
        _chart("changed", "Decisions changed", "decisions", numbers, list(map(_changed, rounds))),
    ]


def _changed(row: Mapping[str, Any]) -> float | None:
    return None if row["diff"] is None else float(row["diff"]["changed"])


def _chart(
    name: str, title: str, what: str, numbers: Sequence[int], values: Sequence[float | None]
) -> Chart:
    known = [(n, v) for n, v in zip(numbers, values, strict=True) if v is not None]
    step = nice_step(max((value for _, value in known), default=0.0))
    top = step * max(1, math.ceil(max((value for _, value in known), default=0.0) / step))
    first, last = numbers[0], numbers[-1]
    points = tuple(
        Point(_x(n, first, last), _y(v, top), f"iteration {n}: {number(int(v))} {what}")
        for n, v in known
    )
    y_ticks = tuple(
        Tick(_y(step * i, top), number(int(step * i))) for i in range(round(top / step) + 1)
    )
    shown = numbers[:: math.ceil(len(numbers) / SHOWN_TICKS)]
    x_ticks = tuple(Tick(_x(n, first, last), str(n)) for n in shown)
    return Chart(name, title, _summary(what, known), points, x_ticks, y_ticks)


def _summary(what: str, known: Sequence[tuple[int, float]]) -> str:
    if not known:
        return f"{what}: nothing yet"
    (first, begin), (last, end) = known[0], known[-1]
    if first == last:
        return f"{number(int(begin))} {what} in iteration {first}"
    return (
        f"{what}: {number(int(begin))} in iteration {first}, {number(int(end))} in iteration {last}"
    )


def nice_step(largest: float) -> float:
    """Return the distance of the marks: 1, 2 or 5 times a power of ten, for at most five marks."""
    if largest <= 4:
        return 1.0
    power = 10.0 ** math.floor(math.log10(largest / 4))
    return next(power * n for n in (1, 2, 5, 10) if largest / (power * n) <= 4)


def _x(n: int, first: int, last: int) -> float:
    width = WIDTH - LEFT - RIGHT
    return round(LEFT + (width * (n - first) / (last - first) if last > first else width / 2), 1)


def _y(value: float, top: float) -> float:
    return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top, 1)
