"""The published instances, where they are present, and how to load each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[3] / "shared" / "data" / "jani"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the published instances are not here")


@dataclass(frozen=True)
class Instance:
    """Files and constants of one instance."""

    model: str
    files: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """The model file."""
        return DATA / self.model

    @property
    def arguments(self) -> dict[str, Any]:
        """The keyword arguments for ``load_task`` and ``checker.load``."""
        folder = self.path.parent
        files = {name: folder / file for name, file in self.files.items()}
        return {**files, "constants": dict(self.constants)}


SEPARATE = {"start": "start.jani", "goal": "objective.jani", "fail": "reach.jani"}
BALL = {"goal": "objective.jani", "fail": "safe.jani"}
PUZZLE = {"failing_probability": 0.5, "item_cost_bound": 3, "cost_terminal": False}
INSTANCES = {
    "blocksworld 4": Instance(
        "blocksworld_4_3_legacy/model.jani",
        constants={"failing_probability": 0.5, "item_cost_bound": 50},
    ),
    "blocksworld 6, property file": Instance(
        "blocksworld_6_5_cost05/model.jani", {"properties": "pa_original.jani"}
    ),
    "blocksworld 6, separate files": Instance("blocksworld_6_5_cost05/model.jani", SEPARATE),
    "bouncing ball, listed starts": Instance(
        "bouncing_ball_0.3/bouncing_ball.jani", {**BALL, "start": "start.jani"}
    ),
    "bouncing ball, start condition": Instance(
        "bouncing_ball_0.3/bouncing_ball.jani", {**BALL, "start": "start_compact.jani"}
    ),
    "n-puzzle": Instance("npuzzle_3_3/model.jani", constants=PUZZLE),
    "n-puzzle, property file": Instance(
        "npuzzle_3_3/model.jani", {"properties": "preds_property.jani"}, PUZZLE
    ),
    "one-way line": Instance("one_way_line_15_10_det/one_way_line_15_10.jani"),
    "one-way line, 1,000 starts": Instance(
        "one_way_line_15_10_det/one_way_line_15_10.jani",
        {"properties": "pa_one_way_line_15_10_random_starts_1000.jani"},
    ),
    "racetrack": Instance("racetrack_tiny_4automata/model.jani"),
    "two-way line": Instance("two_way_line_15_10_det/model.jani"),
}
