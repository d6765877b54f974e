"""How many states Storm builds of a JANI file, and how fast.

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
    job = json.dumps({"model": model, "constants": dict(constants or {})})
    command = [sys.executable, __file__, "--worker"]
    try:
        done = subprocess.run(
            command, input=job, capture_output=True, text=True, timeout=max_seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return {"status": "timeout", "max_seconds": max_seconds}
    if done.returncode != 0:
        return {"status": "failed", "message": _last_line(done), "exit_code": done.returncode}
    return {"status": "done", **json.loads(done.stdout.splitlines()[-1])}


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


def _build(job: dict) -> dict:
    """Build the model in this process and return the figures. Imports Storm."""
    import stormpy

    begin = time.perf_counter()
    text = json.dumps(_with_constants(job["model"], job["constants"]), ensure_ascii=False)
    model, _ = stormpy.parse_jani_model_from_string(text)
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
        print(json.dumps(_build(json.load(sys.stdin))))
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
