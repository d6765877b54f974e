"""Pictures of states: as text for a terminal, as SVG for reports and notebooks.

A family's ``draw`` fills a :class:`Canvas` for the SVG and writes lines of text beside it. Numbers
in an SVG are rounded, so that the same state has the same picture on every machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

INK, PAPER, GREY, BLUE, RED, GREEN, YELLOW, PALE = (
    "#222222",
    "#ffffff",
    "#c8c8c8",
    "#2f6fb2",
    "#c0392b",
    "#3a8f4d",
    "#e0a800",
    "#d6e9f8",
)
ARROW_HEAD = 5


@dataclass(frozen=True)
class Picture:
    """One state, drawn. Notebooks show the ``svg``, terminals the ``text``."""

    text: str
    svg: str

    def __str__(self) -> str:
        return self.text

    def _repr_svg_(self) -> str:
        return self.svg


class Canvas:
    """An SVG under construction; x goes to the right, y goes down."""

    def __init__(self, width: float, height: float) -> None:
        self._width = width
        self._height = height
        self._shapes: list[str] = []

    def rectangle(
        self, x: float, y: float, width: float, height: float, *, fill: str = PAPER, line: str = INK
    ) -> None:
        """Draw a rectangle with its upper left corner at (x, y)."""
        size = f'width="{_text(width)}" height="{_text(height)}"'
        self._add(f'rect x="{_text(x)}" y="{_text(y)}" {size}', fill, line)

    def circle(
        self, x: float, y: float, radius: float, *, fill: str = PAPER, line: str = INK
    ) -> None:
        """Draw a circle around (x, y)."""
        self._add(f'circle cx="{_text(x)}" cy="{_text(y)}" r="{_text(radius)}"', fill, line)

    def line(
        self, x1: float, y1: float, x2: float, y2: float, *, line: str = INK, width: float = 1.5
    ) -> None:
        """Draw a line from (x1, y1) to (x2, y2)."""
        ends = f'x1="{_text(x1)}" y1="{_text(y1)}" x2="{_text(x2)}" y2="{_text(y2)}"'
        self._add(f'line {ends} stroke-width="{_text(width)}"', "none", line)

    def arrow(
        self, x1: float, y1: float, x2: float, y2: float, *, line: str = INK, width: float = 1.5
    ) -> None:
        """Draw an arrow from (x1, y1) to (x2, y2)."""
        self.line(x1, y1, x2, y2, line=line, width=width)
        length = math.hypot(x2 - x1, y2 - y1)
        if length == 0:
            return
        ahead, aside = (x2 - x1) / length * ARROW_HEAD, (y2 - y1) / length * ARROW_HEAD
        for side in (-0.6, 0.6):
            back_x, back_y = x2 - ahead - side * aside, y2 - aside + side * ahead
            self.line(x2, y2, back_x, back_y, line=line, width=width)

    def label(self, x: float, y: float, text: object, *, size: float = 12, fill: str = INK) -> None:
        """Write a text with its middle at (x, y)."""
        place = f'x="{_text(x)}" y="{_text(y)}" font-size="{_text(size)}"'
        middle = 'text-anchor="middle" dominant-baseline="central" font-family="sans-serif"'
        content = escape(str(text), quote=False)
        self._shapes.append(f"<text {place} {middle} fill={_attribute(fill)}>{content}</text>")

    def svg(self) -> str:
        """Return the picture as a document."""
        size = f"{_text(self._width)} {_text(self._height)}"
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}"'
        head += f' width="{_text(self._width)}" height="{_text(self._height)}">'
        return "\n".join([head, *self._shapes, "</svg>"])

    def _add(self, shape: str, fill: str, line: str) -> None:
        self._shapes.append(f"<{shape} fill={_attribute(fill)} stroke={_attribute(line)}/>")


def _attribute(value: str) -> str:
    return f'"{escape(value)}"'


def _text(number: float) -> str:
    text = f"{number:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def window(at: int, count: int, most: int) -> range:
    """Return which of ``count`` things in a row to show, at most so many, with ``at`` among them:
    in the middle, but for the ends of the row.
    """
    first = max(0, min(at - most // 2, count - most))
    return range(first, min(count, first + most))
