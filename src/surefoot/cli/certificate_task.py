"""The task and the policy that a certificate is about, found again. Nothing it names is run."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.certificates import check_task
from surefoot.errors import InputError, printable, quoted
from surefoot.policies import BUILT_IN, Policy, load_policy
from surefoot.tasks import load_task_of_words
from surefoot.tasks.compiled_task import CompiledTask, has_description
from surefoot.tasks.source import Source

if TYPE_CHECKING:
    from surefoot.cli.arguments import TaskArguments
    from surefoot.cli.policy_arguments import PolicyArguments
    from surefoot.findings import Finding
    from surefoot.tasks.task import Task


class Tasks:
    """Loads the tasks of certificates, each once: many certificates may be about the same one."""

    def __init__(self, given: str | None, arguments: TaskArguments) -> None:
        self._given = given
        self._arguments = arguments
        self._loaded: dict[tuple[str, str], Task] = {}

    def of(self, file: Path, head: Mapping[str, object]) -> Task:
        """Return the task: the one given, or the one that the certificate says it is about.

        Relative paths in a certificate are looked for in the current directory, then beside it.
        Options on the command line win over those of the certificate. Raises InputError if it is
        another task by its SHA-256.
        """
        if self._given is not None:
            task = self._load(self._given, self._arguments.given())
        else:
            task = self._stored_task(file, head)
        try:
            check_task(task, head)
        except InputError as error:
            raise error.at(file=str(file)) from None
        return task

    def _stored_task(self, file: Path, head: Mapping[str, Any]) -> Task:
        source = _source(file, head)
        words = _words(source, head["options"], file) | self._arguments.given()
        try:
            return self._load(source.located(lambda path: _existing_file(path, file)), words)
        except InputError as error:
            if error.code == "file-not-found":
                error.hint = _give_task(file)
            raise

    def _load(self, text: str, words: Mapping[str, object]) -> Task:
        key = text, json.dumps(words)
        if key not in self._loaded:
            self._loaded[key] = load_task_of_words(text, words)
        return self._loaded[key]


def _give_task(file: Path) -> str:
    return f"give the task: surefoot check {_for_shell(str(file))} TASK"


def _source(file: Path, head: Mapping[str, Any]) -> Source:
    """Return what the certificate says its task is. Raises InputError if that says nothing, or
    would run code.
    """
    text: str | None = head["source"]
    if text is None:
        raise InputError(
            "certificate-no-task",
            "the certificate does not say where its task is from",
            file=str(file),
            hint=_give_task(file),
        )
    source = Source(text=text)
    if source.runs_code:
        raise InputError(
            "certificate-runs-code",
            f"the task is {quoted(text)}, and reading it would run {source.code}",
            file=str(file),
            hint=f"if you trust it: surefoot check {_for_shell(str(file))} {_for_shell(text)}",
        )
    return source


def _for_shell(text: str) -> str:
    return shlex.quote(printable(text))


def _existing_file(path: str, file: Path) -> Path:
    beside = file.parent / path
    return beside if not Path(path).exists() and beside.exists() else Path(path)


def _words(source: Source, options: Mapping[str, Any], file: Path) -> dict[str, object]:
    """Return the options of a certificate, with their files where they are found."""
    known = source.front_end.options
    words: dict[str, object] = {}
    for word, value in options.items():
        try:
            given = known.from_words({word: value}, locate=lambda path: _existing_file(path, file))
        except InputError:
            raise InputError(
                "not-a-certificate", f"there is no option {quoted(str(word))}", file=str(file)
            ) from None
        words |= given.to_words()
    return words


def policy_of(
    file: Path, content: Mapping[str, object], given: PolicyArguments, task: Task
) -> tuple[Policy | None, str | None]:
    """Return the policy whose decisions can be recomputed, or why there is none.

    Built-in policies and tables are found by the name in the certificate, except for tasks that
    Python code defines: there decisions depend on the order in which states were met. A certificate
    that is about no policy has neither.
    """
    is_about_policy = content.get("radius") is not None
    if given.policy is not None and not is_about_policy:
        raise InputError("bad-option", "the certificate is about no policy", file=str(file))
    if (policy := given.load_if_given(task)) is not None:
        return policy, None
    if not is_about_policy:
        return None, None
    name = content.get("policy")
    if not isinstance(name, str):
        return None, "no policy is named"
    if not has_description(task):
        return None, "Python code defines the task"
    return _policy_named(name, file, task)


def policy_of_finding(
    finding: Finding, given: PolicyArguments, task: Task
) -> tuple[Policy | None, str | None]:
    """Return the policy of a finding, or why its decisions cannot be recomputed."""
    if (policy := given.load_if_given(task)) is not None:
        return policy, None
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
        path = _existing_file(name, file)
        if path.exists():
            return load_policy(str(path), task), None
        return None, f"{printable(name)} is not there"
    if ".py:" in name:
        return None, "that would run Python code"
    path = _existing_file(name, file)
    if not path.is_file():
        return None, f"there is no policy {quoted(name)}"
    return _loaded(str(path), task)


def _loaded(name: str, task: CompiledTask) -> tuple[Policy | None, str | None]:
    try:
        return load_policy(name, task), None
    except InputError as error:
        return None, error.message
