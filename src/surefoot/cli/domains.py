"""``surefoot domains``."""

from __future__ import annotations

import sys
import time
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from surefoot.cli.arguments import Json
from surefoot.cli.deadline import Deadline
from surefoot.errors import InputError, OutOfBudget, quoted, shown

if TYPE_CHECKING:
    from surefoot.domains.family import Family
    from surefoot.domains.pictures import Picture
    from surefoot.tasks.compiled_task import CompiledTask
    from surefoot.tasks.state import State

SVG = ".svg"
Name = Annotated[
    str | None, Parameter(name="NAME", help="a family, or one task of it: NAME?param=value&...")
]
Out = Annotated[
    Path | None,
    Parameter(
        name=["--out", "-o"],
        help="write the task to this *.jani file, or the picture to this *.svg file",
    ),
]
Seed = Annotated[int, Parameter(help="draws the start state of the picture")]
MaxSeconds = Annotated[float, Parameter(help="time for drawing the start state")]
MemoryMb = Annotated[int, Parameter(help="changes nothing here: nothing large is kept")]


@dataclass(frozen=True)
class Example:
    """A task of a family with all its parameters, and a start state of it, if one was drawn."""

    family: Family
    parameters: dict[str, object]
    task: CompiledTask
    start: State | None
    picture: Picture | None


def domains(
    name: Name = None,
    /,
    *,
    out: Out = None,
    seed: Seed = 0,
    max_seconds: MaxSeconds = 60.0,
    memory_mb: MemoryMb = 8192,
    json: Json = False,
) -> int:
    """List the built-in task families; show one, draw it, or write it as JANI.

    With NAME: its rules, parameters, sizes and policies, and a picture of a start
    state. NAME?param=value&... is one task: put it in quotes, as & and ? mean
    something to shells. What is not given is as in the list. size=SIZE stands for
    the parameters of one of the sizes; parameters beside it win.

    For example:
      surefoot domains
      surefoot domains one-way-line
      surefoot domains "one-way-line?size=15-10&variant=icy" -o line.jani
      surefoot domains "flappy-bird?seed=3" -o tunnel.svg
    """

    _check(name, out, max_seconds, memory_mb)
    begin, deadline = time.perf_counter(), Deadline(max_seconds, memory_mb)
    limits = {"max_seconds": max_seconds, "memory_mb": memory_mb}
    given = {"name": name, "out": out and str(out), **limits}
    if name is None:
        with redirect_stdout(sys.stderr):
            content = _list_content()
    else:
        with deadline.working("making the task"):
            needs_picture = out is not None and out.suffix.lower() == SVG
            example = _example(name, seed, deadline.left, needs_picture=needs_picture)
            is_family = "?" not in name and out is None
            content = _family_content(example.family) if is_family else {}
            content |= _task_content(example)
            _write(example, out)
    _show(content, given, seed, time.perf_counter() - begin, as_json=json)
    return 0


def _check(name: str | None, out: Path | None, max_seconds: float, memory_mb: int) -> None:
    """Raise InputError if an option has no effect, before anything is made."""
    for option, value in (("--max-seconds", max_seconds), ("--memory-mb", memory_mb)):
        if not 0 < value < 2**31:
            raise InputError("bad-option", f"{option} must be positive, not {shown(value)}")
    if out is None:
        return
    if name is None:
        hint = "for example: surefoot domains one-way-line -o line.jani"
        raise InputError("bad-option", "--out needs a NAME", hint=hint)
    if out.suffix.lower() != SVG:
        _check_task_file(out)


def _check_task_file(out: Path) -> None:
    """Raise InputError unless the task can be written to such a file."""
    from surefoot.tasks.front_ends import writers

    known = " or ".join(f"*.{name}" for name in writers())
    if out.suffix.lower()[1:] not in writers():
        raise InputError(
            "unknown-suffix",
            f"--out {quoted(str(out))} is neither a {known} nor a *{SVG} file",
            hint=f"{known} is the task, *{SVG} the picture of a start state",
        )


def _example(text: str, seed: int, max_seconds: float, *, needs_picture: bool) -> Example:
    from surefoot.domains import domain, domain_family, parse_domain

    name, given = parse_domain(text)
    family = domain_family(name)
    task = domain(name, **given)
    try:
        (start,) = task.sample_starts(1, seed=seed, max_seconds=max_seconds)
    except OutOfBudget:
        if needs_picture:
            raise
        return Example(family, family.parameters(given), task, None, None)
    return Example(family, family.parameters(given), task, start, task.picture(start))


def _write(example: Example, out: Path | None) -> None:
    from surefoot.files import write_pieces

    if out is None:
        return
    if out.suffix.lower() != SVG:
        example.task.write(out, front_end=out.suffix.lower()[1:])
        return
    assert example.picture is not None
    write_pieces(out, [example.picture.svg, "\n"], what="picture")


# -- what is told ------------------------------------------------------------------------------


def _list_content() -> dict[str, object]:
    from surefoot.domains import DOMAINS, domain_family

    return {"domains": [_brief(domain_family(name)) for name in DOMAINS]}


def _brief(family: Family) -> dict[str, object]:
    return {
        "name": family.name,
        "summary": family.summary,
        "parameters": family.defaults,
        "sizes": list(family.sizes),
    }


def _family_content(family: Family) -> dict[str, object]:
    sizes = {name: _size_content(family, name) for name in family.sizes}
    content = {"rules": family.rules, "sizes": sizes, "policies": _policies(family)}
    return {"domain": _brief(family) | content}


def _size_content(family: Family, size: str) -> dict[str, object]:
    description = family.make(**family.parameters({"size": size}))
    return {
        "parameters": dict(family.sizes[size]),
        "variables": len(description.variables),
        "actions": len(description.actions) + len(description.silent),
        "edges": len(description.edges),
    }


def _policies(family: Family) -> list[dict[str, object]]:
    """Return the shipped policies of a family."""
    from surefoot.policies.builtin import cards

    mine = [card for card in cards() if card.task.partition("?")[0] == f"domain:{family.name}"]
    names = ("name", "task", "kind", "goal_fraction", "unsafe_fraction")
    return [{name: getattr(card, name) for name in names} for card in mine]


def _task_content(example: Example) -> dict[str, object]:
    task = example.task
    source = task.source
    assert source is not None
    about = {"name": task.name, "file": None, "sha256": task.sha256, "text": source.text}
    return {
        "task": about,
        "parameters": example.parameters,
        "variables": [
            {"name": v.name, "type": v.type, "lower": v.lower, "upper": v.upper}
            for v in task.variables
        ],
        "actions": list(task.actions),
        "edges": len(task.description.edges),
        "start": example.start and example.start.to_dict(),
        "picture": example.picture and asdict(example.picture),
    }


def _show(
    content: dict[str, object], given: dict[str, Any], seed: int, seconds: float, *, as_json: bool
) -> None:
    if not as_json:
        from surefoot.cli.domains_text import print_domains

        print_domains(content, seed=seed, out=given["out"])
        return
    from surefoot import __version__
    from surefoot.cli.output import json_text, peak_memory_mb

    head = {"surefoot": __version__, "command": "domains", "options": given, "seed": seed}
    spent = {"seconds": seconds, "peak_memory_mb": peak_memory_mb()}
    print(json_text({**head, **spent, **content}))
