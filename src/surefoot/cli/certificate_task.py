"""The task and the policy that a certificate is about, found again. Nothing it names is run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.certificates import sha256_of
from surefoot.cli.arguments import TaskArguments
from surefoot.errors import InputError, printable, quoted
from surefoot.policies import Policy, load_policy
from surefoot.tasks.python_task import PythonTask
from surefoot.tasks.source import Source

if TYPE_CHECKING:
    from surefoot.tasks.task import Task

PATHS = ("property", "start", "goal", "fail")
TEXTS = ("property_name", "int_range")
BUILT_IN = re.compile(r"first|random(\?seed=\d+)?", re.ASCII)


def task_of(
    file: Path, said: Mapping[str, Any], given: str | None, arguments: TaskArguments
) -> Task | PythonTask:
    """Return the task: the one ``given``, or the one that the certificate says it is about.

    Relative paths in a certificate are looked for in the current directory, then beside it. Options
    on the command line win over those of the certificate.
    """
    if given is not None:
        return arguments.load(given)
    source = said["source"]
    if source is None:
        raise InputError(
            "certificate-no-task",
            "the certificate does not say where its task is from",
            file=str(file),
            hint=f"give the task: surefoot check {_for_shell(str(file))} TASK",
        )
    if Source(text=source).runs_code:
        raise InputError(
            "certificate-runs-code",
            f"the task is {quoted(source)}, and reading it would run that file",
            file=str(file),
            hint=f"if you trust it: surefoot check {_for_shell(str(file))} {_for_shell(source)}",
        )
    is_domain = Source(text=source).is_domain
    text = source if is_domain else str(_found(source, file))
    return _merged(_arguments(said["options"], file), arguments).load(text)


def _for_shell(text: str) -> str:
    return shlex.quote(printable(text))


def _found(path: str, file: Path) -> Path:
    beside = file.parent / path
    return beside if not Path(path).exists() and beside.exists() else Path(path)


def _arguments(options: Mapping[str, Any], file: Path) -> TaskArguments:
    """Return the options of a certificate as those of the command line."""
    values: dict[str, Any] = {}
    for name, value in options.items():
        is_list = isinstance(value, list) and all(isinstance(each, str) for each in value)
        if name in PATHS and isinstance(value, str):
            values["property_file" if name == "property" else name] = _found(value, file)
        elif name in TEXTS and isinstance(value, str):
            values[name] = value
        elif name == "const" and is_list:
            values[name] = tuple(value)
        else:
            raise InputError(
                "not-a-certificate", f"there is no option {quoted(str(name))}", file=str(file)
            )
    return TaskArguments(**values)


def _merged(said: TaskArguments, given: TaskArguments) -> TaskArguments:
    names = [field.name for field in fields(TaskArguments)]
    return replace(said, **{name: getattr(given, name) for name in names if getattr(given, name)})


def check_hash(file: Path, said: Mapping[str, Any], task: Task | PythonTask) -> None:
    """Raise InputError if the certificate is about another task than this."""
    real = sha256_of(task)
    if said["sha256"] == real:
        return
    raise InputError(
        "certificate-other-task",
        f"the certificate is about a task with SHA-256 {_short(said['sha256'])}, "
        f"but {quoted(task.name)} has {_short(real)}",
        file=str(file),
        hint="the task has changed since, or other files or options are needed",
    )


def _short(digest: str) -> str:
    return quoted(f"{digest[:12]}...") if digest else "none (Python code defines it)"


def policy_of(
    file: Path, content: Mapping[str, Any], given: str | None, task: Task | PythonTask
) -> Policy | None:
    """Return the policy whose decisions can be recomputed, if there is one.

    Built-in policies and tables are found by the name in the certificate, except for tasks that
    Python code defines: there decisions depend on the order in which states were met.
    """
    is_about_policy = content.get("radius") is not None
    if given is not None:
        if not is_about_policy:
            raise InputError("bad-option", "the certificate is about no policy", file=str(file))
        return load_policy(given, task)
    name = content.get("policy")
    if not is_about_policy or not isinstance(name, str) or isinstance(task, PythonTask):
        return None
    if BUILT_IN.fullmatch(name):
        return load_policy(name, task)
    if name.endswith(".jsonl") and _found(name, file).exists():
        return load_policy(str(_found(name, file)), task)
    return None
