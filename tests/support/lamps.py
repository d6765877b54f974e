"""A small task in files of its own, policies of several kinds on it, and the truth about them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import checker, load_policy, load_task
from surefoot.policies import Policy
from surefoot.policies.models import Layer, Network
from surefoot.policies.writing import write_policy
from surefoot.reference import deviations, explicit_of, unsafe_ranks
from surefoot.reference.policies import failing_states
from tests.support.program import environment, run_here


def node(op: str, left: object, right: object) -> dict[str, object]:
    return {"op": op, "left": left, "right": right}


def both(left: object, right: object) -> dict[str, object]:
    return node("∧", left, right)


def edge(action: str, guard: object, *changes: dict[str, object]) -> dict[str, object]:
    share = {"exp": node("/", 1, len(changes))}
    destinations = [
        {
            "location": "l",
            "probability": share,
            "assignments": [{"ref": name, "value": value} for name, value in change.items()],
        }
        for change in changes
    ]
    return {
        "location": "l",
        "action": action,
        "guard": {"exp": guard},
        "destinations": destinations,
    }


def bounded(upper: int) -> dict[str, object]:
    return {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": upper}


ACTIONS = ("up", "down", "flip")
IS_PLAIN = node("=", "y", 0)
MODEL = {
    "jani-version": 1,
    "name": "lamp",
    "type": "mdp",
    "constants": [{"name": "TOP", "type": "int"}],
    "actions": [{"name": name} for name in ACTIONS],
    "variables": [{"name": "x", "type": bounded(3)}, {"name": "y", "type": bounded(1)}],
    "automata": [
        {
            "name": "m",
            "locations": [{"name": "l"}],
            "initial-locations": ["l"],
            "edges": [
                edge("up", node("<", "x", 3), {"x": node("+", "x", 1)}, {}),
                edge("down", both(node(">", "x", 0), IS_PLAIN), {"x": node("-", "x", 1)}),
                edge("flip", IS_PLAIN, {"y": 1}),
            ],
        }
    ],
    "system": {
        "elements": [{"automaton": "m"}],
        "syncs": [{"synchronise": [name], "result": name} for name in ACTIONS],
    },
}
CONDITIONS = {
    "start": both(node("≤", "x", 2), IS_PLAIN),
    "goal": both(node("=", "x", 1), node("=", "y", 1)),
    "fail": node("=", "x", "TOP"),
}
OPTIONS = ("--const", "TOP=3", *(f"--{name}={name}.json" for name in CONDITIONS))
TASK = ("lamp.jani", *OPTIONS)

# The network goes up unless x is above 2.5, and so fails; fed with 5 it goes down where it can.
LAYER = Layer(np.array([[0.0], [1.0], [0.0]]), np.array([0.0, -2.5, -9.0]), "linear")
INPUTS = {"plain.json": {"variable": "x"}, "fed.json": {"constant": 5}}
TABLE = {(0, 0): "up", (1, 0): "flip", (2, 0): "up", (0, 1): "up", (2, 1): "up"}
CODE = "def climb(state): return 'up'\n"
NET = ("--policy", "net.safetensors", "--interface")
POLICIES = {
    "plain": (*NET, "plain.json"),
    "fed": (*NET, "fed.json"),
    "unfiltered": (*NET, "fed.json", "--unfiltered"),
    "table": ("--policy", "table.jsonl"),
    "first": ("--policy", "first"),
    "code": ("--policy", "code.py:climb"),
    "repaired": ("--policy", "repaired.safetensors"),
}


class Lamp:
    """A directory with a task, policies, and documents of all kinds about them."""

    def __init__(self, folder: Path, **conditions: object) -> None:
        self.folder = folder
        self._write("lamp.jani", MODEL)
        for name, condition in {**CONDITIONS, **conditions}.items():
            self._write(f"{name}.json", condition)
        for name, fed in INPUTS.items():
            content = {"surefoot_interface": 1, "inputs": [fed], "outputs": list(ACTIONS)}
            self._write(name, content)
        rows = [{"state": {"x": x, "y": y}, "action": what} for (x, y), what in TABLE.items()]
        (folder / "table.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        (folder / "code.py").write_text(CODE)
        network = Network((LAYER,), "float64")
        made = load_policy(network, self.task, interface=folder / "plain.json")
        write_policy(made, folder / "net.safetensors")

    def _write(self, name: str, content: object) -> None:
        (self.folder / name).write_text(json.dumps(content), encoding="utf-8")

    def run(self, *arguments: str) -> dict[str, Any]:
        """Return the document that a command prints."""
        done = run_here((*arguments, "--json"), folder=self.folder, env=environment())
        document = done.document
        assert "error" not in document, done.err
        return document

    @cached_property
    def task(self) -> Any:
        files = {name: self.folder / f"{name}.json" for name in CONDITIONS}
        return load_task(self.folder / "lamp.jani", constants={"TOP": 3}, **files)

    def policy(self, name: str) -> Policy:
        options = POLICIES[name]
        text = options[1]
        file = text if text == "first" else str(self.folder / text)
        interface = self.folder / options[3] if len(options) > 2 else None
        unfiltered = True if "--unfiltered" in options else None
        return load_policy(file, self.task, interface=interface, unfiltered=unfiltered)

    @cached_property
    def explicit(self) -> Any:
        files = {name: self.folder / f"{name}.json" for name in CONDITIONS}
        model = checker.load(self.folder / "lamp.jani", constants={"TOP": 3}, **files)
        return explicit_of(model, [{"x": x, "y": y} for x in range(4) for y in range(2)])

    def truth(self, name: str) -> Truth:
        policy, explicit, decisions = self.policy(name), self.explicit, {}
        for number in explicit.states:
            if explicit.choices(number):
                try:
                    action = policy.decide(explicit.state(number))
                except Exception:  # an unfiltered one, where its decision is not applicable
                    continue
                decisions[number] = explicit.names.index(action)
        return Truth(explicit, decisions)


@dataclass(frozen=True)
class Truth:
    """What is true about a policy, by brute force on all states."""

    explicit: Any
    decisions: Mapping[int, int]

    @cached_property
    def least(self) -> Any:
        return deviations(self.explicit, {s: self.decisions.get(s) for s in self.explicit.states})

    @cached_property
    def ranks(self) -> Any:
        return unsafe_ranks(self.explicit)

    def number(self, values: Any) -> int:
        state = values if isinstance(values, dict) else {"x": values[0], "y": values[1]}
        return int(self.explicit.number(state))

    def is_safe(self, state: int, radius: object) -> bool:
        if radius is None:
            return state not in self.ranks
        least = self.least[state]
        return least is not None and (radius == "finite" or least <= radius)

    def is_start(self, state: int) -> bool:
        values = self.explicit.state(state)
        return bool(values["x"] <= 2 and values["y"] == 0)

    def is_policy_safe(self) -> bool:
        policy = {state: self.decisions.get(state) for state in self.explicit.states}
        return not any(map(self.is_start, failing_states(self.explicit, policy)))

    def is_failing_run(self, run: Mapping[str, Any]) -> bool:
        order = [run["variables"].index(name) for name in ("x", "y")]
        states = [self.number([row[i] for i in order]) for row in run["states"]]
        for state, action, after in zip(states, run["actions"], states[1:], strict=False):
            number = self.explicit.names.index(action)
            if self.decisions[state] != number:
                return False
            if after not in self.explicit.choices(state)[number]:
                return False
        may_start = self.is_start(states[0]) or not run["known_reachable"]
        return may_start and states[-1] in self.explicit.fail

    def is_fault(self, said: Mapping[str, Any]) -> bool:
        """Return whether the fault, or the bug, of an answer is one."""
        state, radius = self.number(said["state"]), said["radius"]
        if not self.is_safe(state, radius) or not self._has_deviations(state, said["deviations"]):
            return False
        if "action" not in said:
            return True
        outcome, action = self.number(said["outcome"]), self.explicit.names.index(said["action"])
        certified = [each for each in said["alternatives"] if each not in said["uncertified"]]
        return (
            self.decisions[state] == action
            and outcome in self.explicit.choices(state)[action]
            and not self.is_safe(outcome, radius)
            and bool(certified)
            and all(self._is_safe_by(state, each, radius) for each in certified)
        )

    def _is_safe_by(self, state: int, name: str, radius: int | None) -> bool:
        action = self.explicit.names.index(name)
        left = radius if radius is None or self.decisions[state] == action else radius - 1
        outcomes = self.explicit.choices(state)[action]
        return all(self.is_safe(outcome, left) for outcome in outcomes)

    def _has_deviations(self, state: int, said: object) -> bool:
        return said is None or self.least[state] == (None if said == "inf" else said)
