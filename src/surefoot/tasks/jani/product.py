"""The system: edges of the elements put together to the flat edges of the description."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from surefoot.errors import quoted
from surefoot.tasks.description import Assignment, Edge, Outcome
from surefoot.tasks.expressions import all_of
from surefoot.tasks.jani.edges import Destination, LocalEdge, read_edges
from surefoot.tasks.jani.model import Model
from surefoot.tasks.jani.reading import (
    Json,
    Place,
    json_items,
    json_list,
    json_object,
    json_string,
    named,
    refuse,
    unsupported,
)

MAX_EDGES = 200_000
MAX_OUTCOMES = 1_000_000
LEAST_WEIGHT = sys.float_info.min
"""of an outcome whose factors are all positive: it stays possible where their product underflows"""


@dataclass(frozen=True)
class _Sync:
    labels: tuple[str | None, ...]
    result: str | None
    place: Place


def add_edges(model: Model) -> None:
    """Fill in the edges and the silent actions of the description."""
    _Product(model).run()


class _Product:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.actions = frozenset(model.description.actions)
        self.edges = [read_edges(model, element) for element in model.elements]
        self.outcomes = 0

    def run(self) -> None:
        syncs = [self._sync(*item) for item in self._sync_nodes()]
        for element, edges in zip(self.model.elements, self.edges, strict=True):
            silent = [edge for edge in edges if edge.label is None]
            if silent:
                action = self._silent_action([element.name])
                self._add(action, ((edge,) for edge in silent), element.place)
        for sync in syncs:
            self._add_sync(sync)
        self._warn_of_idle_edges(syncs)

    def _warn_of_idle_edges(self, syncs: list[_Sync]) -> None:
        """Note the labels that no sync mentions and the edges without possible outcome."""
        for i, (element, edges) in enumerate(zip(self.model.elements, self.edges, strict=True)):
            mentioned = {sync.labels[i] for sync in syncs}
            for label in dict.fromkeys(edge.label for edge in edges):
                if label is not None and label not in mentioned:
                    text = f"edges labelled {quoted(label)} of {quoted(element.name)} never fire"
                    self.model.warn(f"{text}: no sync mentions them", element.place)
            for edge in edges:
                if not edge.destinations:
                    self.model.warn("the edge never fires: it has no possible outcome", edge.place)

    def _sync_nodes(self) -> Iterable[tuple[Json, Place]]:
        return json_items(self.model.node["system"], "syncs", Place() / "system")

    def _sync(self, node: Json, place: Place) -> _Sync:
        required = ("synchronise",)
        json_object(node, place, required=required, optional=("result",), warn=self.model.warn)
        at = place / "synchronise"
        labels = json_list(node["synchronise"], at)
        if len(labels) != len(self.model.elements):
            wanted = f"{len(self.model.elements)} elements"
            refuse("sync-length", f"{len(labels)} labels for {wanted}", at)
        for i, label in enumerate(labels):
            if label is not None:
                self._check_action(label, at / i)
        if not any(label is not None for label in labels):
            refuse("sync-of-nobody", "no element takes part", at)
        result = node.get("result")
        if result is not None:
            self._check_action(result, place / "result")
        return _Sync(tuple(labels), result, place)

    def _check_action(self, label: Json, place: Place) -> None:
        named(json_string(label, place), self.actions, "unknown-action", "action", place)

    def _silent_action(self, names: list[str]) -> str:
        name = "+".join(names)
        while name in self.actions:
            name += "(silent)"
        silent = self.model.description.silent
        if name not in silent:
            silent.append(name)
        return name

    def _add_sync(self, sync: _Sync) -> None:
        taking_part = [i for i, label in enumerate(sync.labels) if label is not None]
        names = [self.model.elements[i].name for i in taking_part]
        action = sync.result if sync.result is not None else self._silent_action(names)
        choices = [[e for e in self.edges[i] if e.label == sync.labels[i]] for i in taking_part]
        self._add(action, itertools.product(*choices), sync.place)

    def _add(self, action: str, combinations: Iterable[Sequence[LocalEdge]], place: Place) -> None:
        edges = self.model.description.edges
        for combination in combinations:
            outcomes = self._joint_outcomes(combination, place)
            if not outcomes:
                continue
            if len(edges) >= MAX_EDGES:
                self._too_large(f"more than {MAX_EDGES:,} combinations of edges", place)
            tests = [edge.test for edge in combination] + [edge.guard for edge in combination]
            guard = all_of([test for test in tests if test is not None])
            at = " + ".join(edge.place for edge in combination)
            edges.append(Edge(action, guard, outcomes, at))

    def _joint_outcomes(
        self, combination: Sequence[LocalEdge], place: Place
    ) -> tuple[Outcome, ...]:
        count = 1
        for edge in combination:
            count *= len(edge.destinations)
        self.outcomes += count
        if self.outcomes > MAX_OUTCOMES:
            self._too_large(f"more than {MAX_OUTCOMES:,} outcomes of edges", place)
        joint = itertools.product(*(edge.destinations for edge in combination))
        return tuple(_outcome(each) for each in joint)

    def _too_large(self, what: str, place: Place) -> None:
        name = quoted(self.model.description.name)
        unsupported("product-too-large", f"the system of {name} has {what}", place)


def _outcome(destinations: Sequence[Destination]) -> Outcome:
    assignments = [a for each in destinations for a in each.assignments]
    last = max((a.index for a in assignments), default=0)
    for each in destinations:
        if each.move is not None:
            variable, location = each.move
            assignments.append(Assignment(variable, location, index=last))
    probabilities = (d.probability for d in destinations if d.probability is not None)
    weight = math.prod(each.weight for each in destinations)
    return Outcome(tuple(assignments), tuple(probabilities), max(weight, LEAST_WEIGHT))
