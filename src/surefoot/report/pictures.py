"""Pictures that a page embeds: as images, in which nothing can run, and within a bound."""

from __future__ import annotations

import base64
from collections.abc import Sequence

FIGURE_BYTES = 100_000
FRAME_BYTES = 200_000


def image_address(svg: str) -> str:
    """Return the picture as the address of an image that holds it."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


class Pictures:
    """Counts what is embedded. ``frames`` are the pictures of runs, each one only once."""

    def __init__(self) -> None:
        self.frames: list[str] = []
        self._numbers: dict[str, int] = {}
        self._figure_bytes = 0
        self._frame_bytes = 0

    def figure(self, svg: str | None) -> str | None:
        """Return the address of a picture that stands in the page; None if there is no room."""
        if svg is None or self._figure_bytes + len(svg) > FIGURE_BYTES:
            return None
        self._figure_bytes += len(svg)
        return image_address(svg)

    def run(self, svgs: Sequence[str | None]) -> list[int] | None:
        """Return the numbers of the pictures of a run; None if not all are there, or no room is."""
        drawn = [svg for svg in svgs if svg is not None]
        new = dict.fromkeys(svg for svg in drawn if svg not in self._numbers)
        size = sum(map(len, new))
        if len(drawn) < len(svgs) or self._frame_bytes + size > FRAME_BYTES:
            return None
        self._frame_bytes += size
        for svg in new:
            self._numbers[svg] = len(self.frames)
            self.frames.append(svg)
        return [self._numbers[svg] for svg in drawn]
