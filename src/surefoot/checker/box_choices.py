"""Which actions a policy may decide for on a box.

It decides for the best-scored applicable action, of equally good ones for that with the lowest
output; where one alone is applicable it takes that. So on a box it may decide for those that no
surely applicable action surely beats. A policy of which nothing is known is asked in each state:
it might not decide.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .box_cuts import RealCuts
from .box_sets import Spans
from .box_steps import Live
from .evidence import Rejected, shown
from .intervals import Box
from .model import Model, Variable
from .networks import Corrected, Network
from .rules import Rules
from .scores import Cut, Input, Scorer, Scores
from .trees import Trees

_MAX_RIVALS = 3
_RULES = ("ask", "best", "first", "any")


def scorer_of(data: Mapping[str, Any], variables: Sequence[Variable]) -> Scorer:
    """Return the scorer of a model."""
    by_name = {variable.name: variable for variable in variables}
    inputs = [Input.of(each, by_name) for each in data["inputs"]]
    return _made(data["model"], inputs)


def _made(model: Mapping[str, Any], inputs: Sequence[Input]) -> Scorer:
    if model["kind"] == "trees":
        return Trees(model, inputs)
    if model["kind"] == "rules":
        return Rules(model, inputs)
    if model["kind"] == "network":
        return Network(model, inputs)
    if model["kind"] != "corrected":
        raise Rejected(f"policies of the kind {shown(model['kind'])} are not known")
    return Corrected(Network(model["network"], inputs), Trees(model["trees"], inputs))


@dataclass
class Item:
    """A part of the set that has still to be looked at, and what is known of a larger one.

    ``moves`` are those that may be possible, ``near`` the blocked boxes that have states in common
    with it.
    """

    box: Box
    cuts: RealCuts
    depth: int = 0
    is_fail_open: bool = True
    is_goal_open: bool = True
    moves: Sequence[Live] = ()
    near: Sequence[Spans] = ()
    scores: Scores | None = None
    scores_box: Box = field(default_factory=dict)


class Undecided(Exception):
    """It is not known what the policy decides on a box; ``cut`` may help."""

    def __init__(self, cut: Cut | None) -> None:
        super().__init__()
        self.cut = cut


@dataclass(frozen=True)
class Options:
    """The actions that are not silent and perhaps, or surely, applicable on a box."""

    perhaps: Sequence[str]
    surely: Collection[str]


class Chooser:
    """Says which actions the policy may decide for on a box."""

    def __init__(self, model: Model, scores: Mapping[str, Any] | None, is_unfiltered: bool) -> None:
        self._scorer: Scorer | None = None
        self._output_of: dict[str, int] = {}
        self._is_unfiltered = is_unfiltered
        self._rule = "ask" if scores is None else scores.get("rule", "best")
        if self._rule not in _RULES:
            raise Rejected(
                f"the rule {shown(self._rule)}, by which the policy decides, is not known"
            )
        self._actions = list(model.actions)
        if scores is not None and self._rule == "best":
            self._scorer = scorer_of(scores, model.variables)
            self._output_of = {name: i for i, name in enumerate(scores["outputs"])}

    def choices(self, item: Item, options: Options) -> list[str]:
        """Return the actions that may be decided for. Raises Undecided."""
        if self._scorer is None:
            return self._by_rule(options)
        if len(options.perhaps) == 1 and not self._is_unfiltered:
            return list(options.perhaps)
        outputs = self._output_of
        rivals, asked = list(outputs.values()), list(outputs.values())
        if not self._is_unfiltered:
            rivals = [outputs[a] for a in options.surely if a in outputs]
            asked = [outputs[a] for a in options.perhaps if a in outputs]
            if not rivals and sum(a not in outputs for a in options.perhaps) > 1:
                raise Undecided(None)  # several actions without output may be all there is
        scores = self._scores(item)
        if any(scores.span(output)[0] == -math.inf for output in asked):
            raise Undecided(scores.cut(asked))
        ranked = sorted(rivals, key=lambda output: (-scores.span(output)[0], output))
        return [each for each in options.perhaps if self._may_win(each, scores, ranked, options)]

    def _by_rule(self, options: Options) -> list[str]:
        """Return the actions that a policy without scores may decide for."""
        if self._rule == "ask" or self._is_unfiltered:
            raise Undecided(None)
        if self._rule == "any":
            return list(options.perhaps)
        actions: list[str] = []
        for name in sorted(options.perhaps, key=self._actions.index):
            actions.append(name)
            if name in options.surely:
                break
        return actions

    def _may_win(
        self, action: str, scores: Scores, rivals: Sequence[int], options: Options
    ) -> bool:
        if not self._is_unfiltered and not any(other != action for other in options.surely):
            return True  # it may be the only one that is applicable
        own = self._output_of.get(action)
        if own is None:
            return False
        others = [output for output in rivals if output != own][:_MAX_RIVALS]
        return not any(scores.beats(output, own) for output in others)

    def _scores(self, item: Item) -> Scores:
        assert self._scorer is not None
        if item.scores is None:
            item.scores = self._scorer.on(item.box)
        elif item.scores_box is not item.box:
            before = item.scores_box
            changed = {name for name, span in item.box.items() if before[name] != span}
            item.scores = self._scorer.on(item.box, item.scores, changed)
        item.scores_box = item.box
        return item.scores

    def cut(self, item: Item, choices: Iterable[str]) -> Cut | None:
        """Return a cut by which fewer choices may be left."""
        if item.scores is None or item.scores_box is not item.box:
            return None
        return item.scores.cut([self._output_of[a] for a in choices if a in self._output_of])
