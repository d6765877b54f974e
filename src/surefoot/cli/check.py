"""``surefoot check``."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from surefoot.cli.arguments import Json, TaskArguments, checked_options
from surefoot.errors import CertificateRejected, InputError, OutOfBudget, SurefootError, printable
from surefoot.options import CheckOptions
from surefoot.results import counted

if TYPE_CHECKING:
    from surefoot.cli.certificate_task import Tasks
    from surefoot.policies import Policy
    from surefoot.tasks.python_task import PythonTask
    from surefoot.tasks.task import Task

Given = Annotated[
    str,
    Parameter(
        name="FILE",
        help="certificates that decide wrote, JSON files; one more at the end that is not called "
        "something.json is the task",
    ),
]
OtherTask = Annotated[
    str | None,
    Parameter(
        help="the task; needed if the certificate does not say it, or if it is FILE.py:NAME",
    ),
]
PolicyText = Annotated[
    str | None,
    Parameter(help="the policy, to recompute its decisions; needed if it is FILE.py:NAME"),
]
Seed = Annotated[int, Parameter(help="changes nothing here: checking draws nothing at random")]


@dataclass(frozen=True)
class Accepted:
    """A certificate that proves its claim. If decisions of a policy were not recomputed,
    ``not_recomputed`` says why.
    """

    file: Path
    task: Task | PythonTask
    content: dict[str, Any]
    policy: Policy | None
    not_recomputed: str | None
    seconds: float

    def proved(self) -> dict[str, Any]:
        """Return what is proved, as plain data."""
        content = self.content
        values = content["states"][content["state"]]
        proved = {
            "accepted": True,
            "claim": content["claim"],
            "radius": content["radius"],
            "state": dict(zip(content["variables"], values, strict=True)),
            "states": len(content["states"]),
            "entries": len(content[_kind(content) + "s"]),
            "recomputed": None if content["radius"] is None else self.policy is not None,
        }
        why = self.not_recomputed
        return proved if why is None else {**proved, "not_recomputed": why}


def check(
    *given: Given,
    task: OtherTask = None,
    policy: PolicyText = None,
    options: Annotated[CheckOptions, Parameter(name="*")] = CheckOptions(),  # noqa: B008
    seed: Seed = 0,
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),  # noqa: B008
) -> int:
    """Check certificates: whether they prove what they claim.

    Reads the task that a certificate names, compares its SHA-256, and goes
    through the certificate with code that shares nothing with the oracles.
    Exit code 0 if all are accepted, 5 if one is rejected, 4 if time runs out.

    For example:
      surefoot check surefoot-certificates/unsafe-2c26b46b68ffc68f.json
      surefoot check surefoot-certificates/*.json
      surefoot check unsafe.json truck.py:truck --policy truck.py:careful
    """
    from surefoot.cli.certificate_task import Tasks
    from surefoot.cli.output import json_text

    options = checked_options(options)
    begin = time.perf_counter()
    files, source = _files_and_task(given, task)
    tasks = Tasks(source, task_arguments)
    said = {**asdict(options), "policy": policy, **task_arguments.given()}
    if len(files) == 1:
        found = _checked(files[0], tasks, policy, options)
        if json:
            said = {**said, "file": str(files[0])}
            print(json_text(_document(found, said, seed, time.perf_counter() - begin)))
        else:
            _print(found)
        return 0
    about, worst = [], 0
    for file in files:
        result = _checked_or_error(file, tasks, policy, options)
        about.append(_about(file, result))
        if isinstance(result, SurefootError):
            worst = max(worst, result.exit_code)
        if not json:
            _tell(result)
    if json:
        said = {**said, "files": list(map(str, files)), "task": source}
        print(json_text(_documents(about, said, seed, time.perf_counter() - begin)))
    return worst


def _files_and_task(given: Sequence[str], task: str | None) -> tuple[list[Path], str | None]:
    """Return the certificates and the task, which may be the last of what is given."""
    files = list(given)
    if task is None and len(files) > 1 and not files[-1].endswith(".json"):
        task = files.pop()
    if not files:
        raise InputError("bad-option", "give the file of a certificate")
    return list(map(Path, files)), task


def _checked(file: Path, tasks: Tasks, policy: str | None, options: CheckOptions) -> Accepted:
    """Return the certificate of a file if it is accepted. Raises CertificateRejected, OutOfBudget,
    and InputError for what is no certificate or about another task.
    """
    from surefoot.cli.progress import Progress

    with redirect_stdout(sys.stderr), Progress("reading the certificate"):
        from surefoot.certificates import check_content, read_certificate
        from surefoot.cli.certificate_task import policy_of

        content = read_certificate(file)
        task = tasks.of(file, content["task"])
        who, why = policy_of(file, content, policy, task)
    begin = time.perf_counter()
    with redirect_stdout(sys.stderr), Progress("checking"):
        try:
            check_content(task, content, policy=who, max_seconds=options.max_seconds)
        except (CertificateRejected, OutOfBudget) as error:
            raise error.at(file=str(file)) from None
    return Accepted(file, task, content, who, why, time.perf_counter() - begin)


def _checked_or_error(
    file: Path, tasks: Tasks, policy: str | None, options: CheckOptions
) -> Accepted | SurefootError:
    try:
        return _checked(file, tasks, policy, options)
    except SurefootError as error:
        return error.at(file=str(file))


def _document(
    found: Accepted, options: dict[str, Any], seed: int, seconds: float
) -> dict[str, Any]:
    from surefoot.cli.output import document

    return document(
        "check",
        found.task,
        policy=found.content["policy"],
        policy_sha256=None if found.policy is None else found.policy.sha256,
        options=options,
        seed=seed,
        seconds=seconds,
        result=found.proved(),
    )


def _about(file: Path, result: Accepted | SurefootError) -> dict[str, Any]:
    """Return what became of one certificate of several, as plain data."""
    if isinstance(result, SurefootError):
        return {"file": str(file), "accepted": False, "error": result.to_dict()}
    return {"file": str(file), "task": result.task.name, **result.proved()}


def _documents(
    about: list[dict[str, Any]], options: dict[str, Any], seed: int, seconds: float
) -> dict[str, Any]:
    from surefoot import __version__
    from surefoot.cli.output import peak_memory_mb

    return {
        "surefoot": __version__,
        "command": "check",
        "options": options,
        "seed": seed,
        "seconds": seconds,
        "peak_memory_mb": peak_memory_mb(),
        "certificates": about,
    }


def _kind(content: dict[str, Any]) -> str:
    return "choice" if content["claim"] == "safe" else "rank"


def _tell(result: Accepted | SurefootError) -> None:
    """Print what became of one certificate of several."""
    if isinstance(result, SurefootError):
        sys.stdout.flush()
        print(f"error: {result}", file=sys.stderr, flush=True)
    else:
        _print(result, name=f"{printable(str(result.file))}: ")


def _print(found: Accepted, *, name: str = "") -> None:
    from rich.text import Text

    from surefoot.cli.decide_text import STYLES
    from surefoot.cli.output import console
    from surefoot.cli.state_text import labels_of, text_of
    from surefoot.tasks.python_task import PythonTask

    proved = found.proved()
    out = console()
    state = text_of(proved["state"], labels_of(found.task))
    how = f"{counted(proved['entries'], _kind(found.content))} checked in {found.seconds:,.3f} s"
    why = found.not_recomputed
    if why is not None:
        how += f"; decisions not recomputed: {why}"
    line = Text.assemble(
        f"{name}accepted: ",
        (proved["claim"], STYLES[proved["claim"]]),
        f"{_within(found.content)}: {state} ({how})",
    )
    out.print(line)
    if why is not None:
        out.print("the policy's decisions are those of the certificate; --policy recomputes them")
    if isinstance(found.task, PythonTask):
        out.print("Python code defines the task: whether it is the same one, nobody can tell")


def _within(content: dict[str, Any]) -> str:
    radius = content["radius"]
    if radius is None:
        return ""
    policy = printable(content["policy"])
    if radius == "finite":
        return f" within every finite number of differences from {policy}"
    return f" within {counted(radius, 'difference')} from {policy}"
