"""The task and the policy that a certificate is about, found again. Nothing it names is run."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.certificates import check_task
from surefoot.cli.arguments import TaskArguments
from surefoot.errors import InputError, printable, quoted
from surefoot.policies import BUILT_IN, Policy, load_policy
from surefoot.tasks.compiled_task import CompiledTask
from surefoot.tasks.source import Source

if TYPE_CHECKING:
    from surefoot.findings import Finding
    from surefoot.tasks.task import Task

PATHS = ("property", "start", "goal", "fail")
TEXTS = ("property_name", "int_range")


class Tasks:
    """Loads the tasks of certificates, each once: many certificates may be about the same one."""

    def __init__(self, given: str | None, arguments: TaskArguments) -> None:
        self._given = given
        self._arguments = arguments
        self._loaded: dict[tuple[str, TaskArguments], Task] = {}

    def of(self, file: Path, said: Mapping[str, Any]) -> Task:
        """Return the task: the one given, or the one that the certificate says it is about.

        Relative paths in a certificate are looked for in the current directory, then beside it.
        Options on the command line win over those of the certificate. Raises InputError if it is
        another task by its SHA-256.
        """
        if self._given is not None:
            task = self._load(self._given, self._arguments)
        else:
            task = self._said(file, said)
        try:
            check_task(task, said)
        except InputError as error:
            raise error.at(file=str(file)) from None
        return task

    def _said(self, file: Path, said: Mapping[str, Any]) -> Task:
        text = _source(file, said)
        arguments = _merged(_arguments(said["options"], file), self._arguments)
        try:
            return self._load(text, arguments)
        except InputError as error:
            if error.code == "file-not-found":
                error.hint = _give_task(file)
            raise

    def _load(self, text: str, arguments: TaskArguments) -> Task:
        key = text, arguments
        if key not in self._loaded:
            self._loaded[key] = arguments.load(text)
        return self._loaded[key]


def _give_task(file: Path) -> str:
    return f"give the task: surefoot check {_for_shell(str(file))} TASK"


def _source(file: Path, said: Mapping[str, Any]) -> str:
    """Return what the certificate says its task is. Raises InputError if that says nothing, or
    would run code.
    """
    source: str | None = said["source"]
    if source is None:
        raise InputError(
            "certificate-no-task",
            "the certificate does not say where its task is from",
            file=str(file),
            hint=_give_task(file),
        )
    if Source(text=source).runs_code:
        raise InputError(
            "certificate-runs-code",
            f"the task is {quoted(source)}, and reading it would run that file",
            file=str(file),
            hint=f"if you trust it: surefoot check {_for_shell(str(file))} {_for_shell(source)}",
        )
    is_domain = Source(text=source).is_domain
    return source if is_domain else str(_found(source, file))


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


def policy_of(
    file: Path, content: Mapping[str, Any], given: str | None, task: Task
) -> tuple[Policy | None, str | None]:
    """Return the policy whose decisions can be recomputed, or why there is none.

    Built-in policies and tables are found by the name in the certificate, except for tasks that
    Python code defines: there decisions depend on the order in which states were met. A certificate
    that is about no policy has neither.
    """
    is_about_policy = content.get("radius") is not None
    if given is not None:
        if not is_about_policy:
            raise InputError("bad-option", "the certificate is about no policy", file=str(file))
        return load_policy(given, task), None
    if not is_about_policy:
        return None, None
    name = content.get("policy")
    if not isinstance(name, str):
        return None, "no policy is named"
    if not isinstance(task, CompiledTask):
        return None, "Python code defines the task"
    return _policy_named(name, file, task)


def policy_of_finding(
    finding: Finding, given: str | None, task: Task
) -> tuple[Policy | None, str | None]:
    """Return the policy of a finding, or why its decisions cannot be recomputed."""
    if given is not None:
        return load_policy(given, task), None
    try:
        return finding.find_policy(task), None
    except InputError as error:
        if error.code == "finding-runs-code":
            return None, "that would run Python code"
        if error.code == "unknown-policy":
            return None, error.message
        raise


def _policy_named(name: str, file: Path, task: CompiledTask) -> tuple[Policy | None, str | None]:
    if BUILT_IN.fullmatch(name):
        return _loaded(name, task)
    if name.endswith(".jsonl"):
        path = _found(name, file)
        if path.exists():
            return load_policy(str(path), task), None
        return None, f"{printable(name)} is not there"
    if ".py:" in name:
        return None, "that would run Python code"
    path = _found(name, file)
    if not path.is_file():
        return None, f"there is no policy {quoted(name)}"
    return _loaded(str(path), task)


def _loaded(name: str, task: CompiledTask) -> tuple[Policy | None, str | None]:
    try:
        return load_policy(name, task), None
    except InputError as error:
        return None, error.message
