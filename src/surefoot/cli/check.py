"""``surefoot check``."""

from __future__ import annotations

import sys
import time
from contextlib import redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from surefoot.cli.arguments import Json, TaskArguments, checked_options
from surefoot.errors import CertificateRejected, OutOfBudget, printable
from surefoot.options import CheckOptions
from surefoot.results import counted

if TYPE_CHECKING:
    from surefoot.policies import Policy
    from surefoot.tasks.python_task import PythonTask
    from surefoot.tasks.task import Task

CertificateFile = Annotated[
    Path, Parameter(name="FILE", help="a certificate that decide wrote, a JSON file")
]
OtherTask = Annotated[
    str | None,
    Parameter(
        name="TASK",
        help="the task; needed if the certificate does not say it, or if it is FILE.py:NAME",
    ),
]
PolicyText = Annotated[
    str | None,
    Parameter(help="the policy, to recompute its decisions; needed if it is FILE.py:NAME"),
]
Seed = Annotated[int, Parameter(help="changes nothing here: checking draws nothing at random")]


def check(
    file: CertificateFile,
    task: OtherTask = None,
    /,
    *,
    policy: PolicyText = None,
    options: Annotated[CheckOptions, Parameter(name="*")] = CheckOptions(),  # noqa: B008
    seed: Seed = 0,
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),  # noqa: B008
) -> int:
    """Check a certificate: whether it proves what it claims.

    Reads the task that the certificate names, compares its SHA-256, and goes
    through the certificate with code that shares nothing with the oracles.
    Exit code 0 if it is accepted, 5 if it is rejected, 4 if time runs out.

    For example:
      surefoot check surefoot-certificates/unsafe-2c26b46b68ffc68f.json
      surefoot check unsafe.json truck.py:truck --policy truck.py:careful
    """
    from surefoot.cli.output import document, json_text
    from surefoot.cli.progress import Progress

    options = checked_options(options)
    begin = time.perf_counter()
    with redirect_stdout(sys.stderr), Progress("reading the certificate"):
        from surefoot.certificates import check_content, read_certificate
        from surefoot.cli.certificate_task import check_hash, policy_of, task_of

        content = read_certificate(file)
        loaded = task_of(file, content["task"], task, task_arguments)
        check_hash(file, content["task"], loaded)
        who = policy_of(file, content, policy, loaded)
    begin_check = time.perf_counter()
    with redirect_stdout(sys.stderr), Progress("checking"):
        try:
            check_content(loaded, content, policy=who, max_seconds=options.max_seconds)
        except (CertificateRejected, OutOfBudget) as error:
            raise error.at(file=str(file)) from None
    seconds = time.perf_counter() - begin_check
    if json:
        given = {**asdict(options), "file": str(file), "policy": policy, **task_arguments.given()}
        content_ = document(
            "check",
            loaded,
            policy=content["policy"],
            policy_sha256=None if who is None else who.sha256,
            options=given,
            seed=seed,
            seconds=time.perf_counter() - begin,
            result={"accepted": True, **_proved(content, who)},
        )
        print(json_text(content_))
    else:
        _print(loaded, content, who, seconds)
    return 0


def _proved(content: dict[str, Any], policy: Policy | None) -> dict[str, Any]:
    """Return what an accepted certificate proves, as plain data."""
    values = content["states"][content["state"]]
    return {
        "claim": content["claim"],
        "radius": content["radius"],
        "state": dict(zip(content["variables"], values, strict=True)),
        "states": len(content["states"]),
        "entries": len(content[_kind(content) + "s"]),
        "recomputed": None if content["radius"] is None else policy is not None,
    }


def _kind(content: dict[str, Any]) -> str:
    return "choice" if content["claim"] == "safe" else "rank"


def _print(
    task: Task | PythonTask, content: dict[str, Any], policy: Policy | None, seconds: float
) -> None:
    from rich.text import Text

    from surefoot.cli.decide_text import STYLES
    from surefoot.cli.output import console
    from surefoot.cli.state_text import labels_of, text_of
    from surefoot.tasks.python_task import PythonTask

    proved = _proved(content, policy)
    out = console()
    state = text_of(proved["state"], labels_of(task))
    entries = counted(proved["entries"], _kind(content))
    line = Text.assemble(
        "accepted: ",
        (proved["claim"], STYLES[proved["claim"]]),
        f"{_within(content)}: {state} ({entries} checked in {seconds:,.3f} s)",
    )
    out.print(line)
    if proved["recomputed"] is False:
        out.print("the policy's decisions are those of the certificate; --policy recomputes them")
    if isinstance(task, PythonTask):
        out.print("Python code defines the task: whether it is the same one, nobody can tell")


def _within(content: dict[str, Any]) -> str:
    radius = content["radius"]
    if radius is None:
        return ""
    policy = printable(content["policy"])
    if radius == "finite":
        return f" within every finite number of differences from {policy}"
    return f" within {counted(radius, 'difference')} from {policy}"
