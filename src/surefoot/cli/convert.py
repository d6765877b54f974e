"""``surefoot convert``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from surefoot.cli.arguments import Json
from surefoot.cli.deadline import Deadline

if TYPE_CHECKING:
    from surefoot.policies.convert import Converted

PolicyFile = Annotated[Path, Parameter(name="FILE", help="a policy file")]
Out = Annotated[
    Path,
    Parameter(
        name=["--out", "-o"],
        help="the new file: *.safetensors or *.onnx for a network, *.json for trees",
    ),
]
Trust = Annotated[
    bool,
    Parameter(help="open a pickle, which may run any code: only if you trust who made it"),
]
Activation = Annotated[
    str | None,
    Parameter(help="of hidden layers, where the file does not say: relu, tanh, sigmoid, ..."),
]
InterfaceFile = Annotated[
    Path | None,
    Parameter(
        name="--interface", help="write these inputs and outputs, from a file, into the new file"
    ),
]
MaxSeconds = Annotated[float, Parameter(help="time for opening a pickle")]
MemoryMb = Annotated[int, Parameter(help="memory for opening a pickle")]
Seed = Annotated[int, Parameter(help="changes nothing here: nothing is drawn at random")]


def convert(
    file: PolicyFile,
    /,
    *,
    out: Out,
    trust: Trust = False,
    activation: Activation = None,
    interface: InterfaceFile = None,
    max_seconds: MaxSeconds = 300.0,
    memory_mb: MemoryMb = 8192,
    seed: Seed = 0,
    json: Json = False,
) -> int:
    """Bring a policy file into a format that is safe to load.

    Networks become *.safetensors or *.onnx, trees *.json. torch files,
    Stable-Baselines3 zips and pickles of scikit-learn can run any code when they
    are opened: they need --trust, and are opened in a process of their own.

    For example:
      surefoot convert best_model.zip -o best_model.safetensors --trust
      surefoot convert policy.onnx -o policy.safetensors --json
      surefoot convert policy.safetensors -o policy.onnx
    """
    from surefoot.cli.output import json_text

    begin = time.perf_counter()
    limits = _checked_limits(max_seconds, memory_mb)
    deadline = Deadline(max_seconds, memory_mb)
    with deadline.working("converting"):
        from surefoot.policies.convert import convert as run

        made = run(file, out, trust=trust, activation=activation, interface=interface, **limits)
    if json:
        options = {"trust": trust, "activation": activation, **limits}
        options["interface"] = None if interface is None else str(interface)
        print(json_text(_document(made, options, seed, time.perf_counter() - begin)))
    else:
        from surefoot.cli.output import console

        console().print(str(made))
    return 0


def _checked_limits(max_seconds: float, memory_mb: int) -> dict[str, Any]:
    from surefoot.errors import InputError, shown

    for name, value in (("--max-seconds", max_seconds), ("--memory-mb", memory_mb)):
        if not 0 < value < 2**31:
            raise InputError("bad-option", f"{name} must be positive, not {shown(value)}")
    return {"max_seconds": max_seconds, "memory_mb": memory_mb}


def _document(
    made: Converted, options: dict[str, object], seed: int, seconds: float
) -> dict[str, object]:
    from surefoot import __version__
    from surefoot.cli.output import peak_memory_mb

    return {
        "surefoot": __version__,
        "command": "convert",
        "options": options,
        "seed": seed,
        "seconds": seconds,
        "peak_memory_mb": peak_memory_mb(),
        **made.to_dict(),
    }
