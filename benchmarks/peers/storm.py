"""How many states Storm builds of a JANI file, how fast, and which of them it finds safe.

Storm (stormpy 2.0, GPL-3) is only ever run as a separate process: it may run long or crash, and
neither must take the caller along.

What is done so that the figures can be held against Surefoot's own:

* ``without_property`` makes a model that Storm reads: no properties, type ``mdp``.
* ``stopping_at`` adds "neither fail nor goal" to the guard of edges, so that fail and goal states
  are stored and not expanded, as in docs/semantics.md.
* Storm gives every state without choice a loop (one choice, one transition). Those are taken off
  again: ``choices`` and ``transitions`` are of the model. ``terminal`` is the number of such
  states: fail, goal and dead ends.

Storm counts one choice for every enabled combination of edges, Surefoot one *pair* for every
action label that has at least one. So the figures differ where two edges of one label, or two
silent edges of one element, are enabled together; else they are equal, and ``transitions`` are
Surefoot's outcomes: Storm too merges equal outcomes of one choice and drops those of
probability 0.

The longer guards cost Storm time. For its best rate build without conditions (``--expand-all``).

Safe are the states from which the least probability of ever reaching fail is 0. Storm finds them on
the graph alone (prob0E), without numbers. That is safety as in docs/semantics.md where every action
has one choice in Storm, and where silent edges leave no choice at all: Storm's scheduler may pick
among them, a policy may not.

Run:  python -m benchmarks.peers.storm FILE --const item_cost_bound=2 --max-seconds 60
"""

from __future__ import annotations

import argparse
import copy
import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Expression = Any
"""A JANI expression as it is in the file: a number, a Boolean, a name or an object with ``op``."""


def without_property(model: dict) -> dict:
    """Return a copy of ``model`` that Storm reads: without any property, and of type ``mdp``.

    The authors' ``PA`` properties are unknown to Storm, and ``lts`` is no type it builds. Features
    that the files use and often forget to declare are declared.
    """
    plain = copy.deepcopy(model)
    plain["type"] = "mdp"
    plain["properties"] = []
    declared = plain.get("features", [])
    needed = ["derived-operators", *(["arrays"] if _has_arrays(plain) else [])]
    plain["features"] = [*declared, *(name for name in needed if name not in declared)]
    return plain


def stopping_at(model: dict, *conditions: Expression) -> dict:
    """Return a copy of ``model`` in which no step leaves a state that satisfies a condition.

    Conditions are over global variables. A missing condition (None) holds nowhere.
    """
    stopped = copy.deepcopy(model)
    held = [condition for condition in conditions if condition is not None]
    for automaton in stopped["automata"]:
        for edge in automaton["edges"]:
            for condition in held:
                edge["guard"] = {"exp": _and_not(edge.get("guard"), condition)}
    return stopped


def conditions_of(path: Path | str) -> tuple[Expression, Expression]:
    """Return fail and goal of the first ``PA`` property in a model or property file.

    References to other files are followed. What the file does not say is None. Conditions on
    locations are not supported.
    """
    path = Path(path)
    for entry in _read(path).get("properties", []):
        expression = entry["expression"]
        if expression["op"] == "PA":
            objective = _resolved(expression.get("objective", {}), path)
            fail = _resolved(expression.get("reach", {}), path)
            goal = _resolved(objective.get("goal", {}), path)
            return _condition(fail), _condition(goal)
    return None, None


def starting_at(model: dict, condition: Expression) -> dict:
    """Return a copy of ``model`` that starts in all states that satisfy the condition.

    It is over global variables, whose initial values it replaces; None keeps them.
    """
    started = copy.deepcopy(model)
    if condition is not None:
        for variable in started.get("variables", []):
            variable.pop("initial-value", None)
        started["restrict-initial"] = {"exp": condition}
    return started


def start_of(path: Path | str) -> Expression:
    """Return the start of the first ``PA`` property in a model or property file as one condition.

    None if there is no such property. Of listed starts every entry must name all variables.
    """
    path = Path(path)
    for entry in _read(path).get("properties", []):
        if entry["expression"]["op"] == "PA":
            start = _resolved(entry["expression"]["start"], path)
            if start["op"] == "states-values":
                return _joined("∨", [_joined("∧", _equations(v)) for v in start["values"]])
            return _condition(start)
    return None


def storm_counts(
    path: Path | str,
    constants: Mapping[str, object] | None = None,
    max_seconds: float = 60.0,
    *,
    fail: Expression = None,
    goal: Expression = None,
) -> dict:
    """Return what Storm's sparse builder makes of a JANI file, from its initial values.

    ``fail`` and ``goal`` are JANI expressions (see ``conditions_of``); None holds nowhere. The
    ``status`` of the answer is ``done``, ``timeout`` or ``failed`` (with ``message``); only
    ``done`` has figures. ``seconds`` is the time of the builder alone, ``load_seconds`` that for
    reading the model; the process as a whole, with the start of Python, has ``max_seconds``.
    """
    model = stopping_at(without_property(_read(Path(path))), fail, goal)
    return _answer({"model": model, "constants": dict(constants or {})}, max_seconds)


def storm_safe_states(
    path: Path | str,
    constants: Mapping[str, object] | None = None,
    max_seconds: float = 60.0,
    *,
    fail: Expression,
    goal: Expression = None,
    start: Expression = None,
) -> dict:
    """Return the reachable states of a JANI file that Storm finds safe, and those it does not.

    ``status`` and conditions are as in ``storm_counts``; ``start`` is as in ``starting_at``. Each
    state of ``safe`` and of ``unsafe`` is a list of values of the ``variables``, under Storm's
    names: location ``_loc_m``, cell ``a_at_0``, local ``m_x``. Storm has no variable where nothing
    is ever assigned, nor locations where an automaton has but one. ``graph_seconds`` is the time
    for telling safe from unsafe.
    """
    model = stopping_at(without_property(_read(Path(path))), fail, goal)
    model = _asking_for(starting_at(model, start), fail)
    return _answer({"model": model, "constants": dict(constants or {}), "safe": True}, max_seconds)


def _answer(job: dict, max_seconds: float) -> dict:
    """Return what the worker says about the job, with its status."""
    command = [sys.executable, __file__, "--worker"]
    text = json.dumps(job)
    try:
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=max_seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return {"status": "timeout", "max_seconds": max_seconds}
    if done.returncode != 0:
        return {"status": "failed", "message": _last_line(done), "exit_code": done.returncode}
    return {"status": "done", **json.loads(done.stdout.splitlines()[-1])}


def _asking_for(model: dict, fail: Expression) -> dict:
    """Return the model with the least probability of fail as its only property."""
    least = {"op": "Pmin", "exp": {"op": "F", "exp": fail}}
    values = {"op": "filter", "fun": "values", "values": least, "states": {"op": "initial"}}
    return {**model, "properties": [{"name": "fail", "expression": values}]}


def _equations(values: dict) -> list[Expression]:
    pairs = [(entry["var"], entry["value"]) for entry in values["variables"]]
    return [{"op": "=", "left": name, "right": value} for name, value in pairs]


def _joined(operator: str, conditions: list[Expression]) -> Expression:
    """Return the conditions joined as a balanced tree: Storm recurses over expressions."""
    if len(conditions) == 1:
        return conditions[0]
    middle = len(conditions) // 2
    left, right = _joined(operator, conditions[:middle]), _joined(operator, conditions[middle:])
    return {"op": operator, "left": left, "right": right}


def _and_not(guard: dict | None, condition: Expression) -> Expression:
    negation = {"op": "¬", "exp": condition}
    if guard is None:
        return negation
    return {"op": "∧", "left": negation, "right": guard["exp"]}


def _condition(structure: dict) -> Expression:
    if structure.get("locations"):
        raise ValueError("conditions on locations are not supported here")
    return structure.get("exp")


def _resolved(structure: dict, path: Path) -> dict:
    return _read(path.parent / structure["file"]) if "file" in structure else structure


def _read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8-sig"))


def _has_arrays(model: dict) -> bool:
    owners = [model, *model["automata"]]
    types = [variable["type"] for owner in owners for variable in owner.get("variables", [])]
    return any(isinstance(kind, dict) and kind["kind"] == "array" for kind in types)


def _last_line(done: subprocess.CompletedProcess) -> str:
    lines = (done.stdout + done.stderr).strip().splitlines()
    return lines[-1] if lines else "no message"


def _parse(job: dict) -> tuple[Any, list]:
    """Return the model and its properties as Storm reads them. Imports Storm."""
    import stormpy

    text = json.dumps(_with_constants(job["model"], job["constants"]), ensure_ascii=False)
    return stormpy.parse_jani_model_from_string(text)


def _count(job: dict) -> dict:
    """Build the model in this process and return the figures. Imports Storm."""
    import stormpy

    begin = time.perf_counter()
    model, _ = _parse(job)
    loaded, cpu_loaded = time.perf_counter(), time.process_time()
    built = stormpy.build_model(model, options=stormpy.BuilderOptions())
    seconds, cpu_seconds = time.perf_counter() - loaded, time.process_time() - cpu_loaded
    terminal = built.labeling.get_states("deadlock").get_number_of_set_bits()
    return {
        "states": built.nr_states,
        "choices": built.nr_choices - terminal,
        "transitions": built.nr_transitions - terminal,
        "terminal": terminal,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "load_seconds": loaded - begin,
        "states_per_second": built.nr_states / seconds,
    }


def _separate(job: dict) -> dict:
    """Build the model in this process and tell safe from unsafe states. Imports Storm."""
    import stormpy
    from stormpy.analysis import compute_prob01_states

    model, properties = _parse(job)
    options = stormpy.BuilderOptions(properties)
    options.set_build_state_valuations()
    begin = time.perf_counter()
    built = stormpy.build_model(model, options=options)
    done = time.perf_counter()
    least_is_zero, _ = compute_prob01_states(built, properties[0])
    graph_seconds = time.perf_counter() - done
    names, rows = _valuations(built.state_valuations, job["model"])
    return {
        "variables": names,
        "safe": [row for i, row in enumerate(rows) if least_is_zero.get(i)],
        "unsafe": [row for i, row in enumerate(rows) if not least_is_zero.get(i)],
        "seconds": done - begin,
        "graph_seconds": graph_seconds,
    }


def _valuations(valuations: Any, model: dict) -> tuple[list[str], list[tuple]]:
    """Return the names of the variables, and of every state their values."""
    single = {f"_loc_{a['name']}" for a in model["automata"] if len(a["locations"]) == 1}
    known = {v.name: v for v in valuations.get_all_variables() if v.name not in single}
    names = sorted(known)
    columns = [valuations.get_values_states(known[name]) for name in names]
    return names, list(zip(*columns, strict=True))


def _with_constants(model: dict, constants: Mapping[str, object]) -> dict:
    """Return the model with values for constants; a name that is not declared is an error."""
    unknown = set(constants) - {constant["name"] for constant in model.get("constants", [])}
    if unknown:
        raise ValueError(f"not constants of the model: {', '.join(sorted(unknown))}")
    given = [
        {**constant, "value": constants[constant["name"]]}
        if constant["name"] in constants
        else constant
        for constant in model.get("constants", [])
    ]
    return {**model, "constants": given}


def _constant(text: str) -> tuple[str, object]:
    name, _, value = text.partition("=")
    return name, json.loads(value)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Count what Storm builds of a JANI file.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--const", type=_constant, action="append", default=[], metavar="A=B")
    parser.add_argument("--property", type=Path, help="file with fail and goal; default: FILE")
    parser.add_argument("--expand-all", action="store_true", help="do not stop at fail and goal")
    parser.add_argument("--max-seconds", type=float, default=60.0)
    return parser.parse_args()


def main() -> int:
    """Print the figures of one file as one line of JSON."""
    if sys.argv[1:] == ["--worker"]:
        job = json.load(sys.stdin)
        print(json.dumps(_separate(job) if job.get("safe") else _count(job)))
        return 0
    options = _arguments()
    fail, goal = (None, None)
    if not options.expand_all:
        fail, goal = conditions_of(options.property or options.file)
    counts = storm_counts(
        options.file, dict(options.const), options.max_seconds, fail=fail, goal=goal
    )
    print(json.dumps(counts))
    return {"done": 0, "timeout": 4}.get(counts["status"], 3)


if __name__ == "__main__":
    sys.exit(main())
