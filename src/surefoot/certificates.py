"""Certificates: evidence for a verdict that somebody else can check.

A :class:`Certificate` comes with an answer, or is read from a file. ``check`` hands it to the
checker, which knows nothing of how it was made: it reads the task's files itself. The format is
described in docs/oracles.md.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import json
import os
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Protocol

from surefoot import __version__, _core, checker
from surefoot.errors import (
    CertificateRejected,
    InputError,
    OutOfBudget,
    Unsupported,
    printable,
    quoted,
    shown,
)
from surefoot.files import MAX_BYTES, read_json
from surefoot.policies import Policy
from surefoot.tasks.compiled_task import CompiledTask
from surefoot.tasks.python_task import PythonTask
from surefoot.tasks.source import Source
from surefoot.tasks.state import State
from surefoot.tasks.task import Task

VERSION = 1
ROWS_PER_PIECE = 4096
FASTEST_CHECK = 200_000  # entries per second; the checker never reaches that
TASK_MEMBERS = {"name": str, "sha256": str, "source": str | None, "options": dict}
POLICY_MEMBERS = {
    "name": str,
    "sha256": str | None,
    "interface": str | dict | None,
    "unfiltered": bool,
}
POLICY_VERSION = 1
POLICY_CLAIM = "policy-safe"
MAX_HEAD = 2**24  # characters of the first line of a policy's certificate
MAX_ROW = 2**20  # and of each of the others


class Rows:
    """A list of lists that is made while it is read, so that huge ones are never in memory."""

    def __init__(self, columns: Sequence[Sequence[Any]]) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns[0])

    def __iter__(self) -> Iterator[list[Any]]:
        return map(list, zip(*self._columns, strict=True))


class States(Rows):
    """The values of packed states that stand one after the other."""

    def __init__(self, task: Task, packed: bytes) -> None:
        self._task = task
        self._packed = packed
        self._width: int = task.core.words * 8

    def __len__(self) -> int:
        return len(self._packed) // self._width

    def __iter__(self) -> Iterator[list[Any]]:
        step = ROWS_PER_PIECE * self._width
        for begin in range(0, len(self._packed), step):
            piece = self._packed[begin : begin + step]
            columns = self._task.columns(piece)
            if columns:
                yield from map(list, zip(*columns, strict=True))
            else:  # a task without variables has one state
                yield from ([] for _ in range(len(piece) // self._width))


@dataclass(frozen=True)
class Claim:
    """What a certificate should prove; ``radius`` as in its file."""

    verdict: str
    radius: int | str | None
    state: State

    def check(self, content: Mapping[str, Any]) -> None:
        """Raise CertificateRejected if the certificate is about something else."""
        found = content["states"][content["state"]]
        wanted = [self.state[name] for name in content["variables"]]
        is_same = (content["claim"], content["radius"]) == (self.verdict, self.radius)
        if not is_same or found != wanted:
            raise CertificateRejected(
                "certificate-rejected", f"the certificate does not claim {self.verdict}: {self}"
            )

    def __str__(self) -> str:
        return str(self.state)


class Certificate:
    """Evidence that a state is safe or unsafe.

    ``claim`` is ``safe`` or ``unsafe``; ``radius`` is None, a whole number, or ``finite``: unsafe
    however often, but finitely often, a run may differ from the policy. ``size`` counts the
    choices or ranks in it.
    """

    def __init__(
        self,
        task: Task,
        content: Mapping[str, Any],
        *,
        policy: Policy | None = None,
        expected: Claim | None = None,
    ) -> None:
        self.task = task
        self.policy = policy
        self._content = content
        self._expected = expected

    @property
    def claim(self) -> str:
        """What is claimed: safe or unsafe."""
        return str(self._content.get("claim"))

    @property
    def radius(self) -> int | str | None:
        """How often runs may differ from the policy: None for any policy."""
        return self._content.get("radius")

    @property
    def size(self) -> int:
        """How many choices or ranks there are."""
        entries = self._content.get("choices" if self.claim == "safe" else "ranks")
        return len(entries) if isinstance(entries, list | Rows) else 0

    @property
    def num_values(self) -> int:
        """How many values of states there are, which tells how large its file will be."""
        return len(self._content["states"]) * max(len(self._content["variables"]), 1)

    def choice_in_state(self) -> str:
        """Return the action that a certificate of a safe state takes in this state."""
        number = self._content["state"]
        (action,) = {row[-1] for row in self._content["choices"] if row[0] == number}
        return str(self._content["actions"][action])

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the certificate's file."""
        items = self._content.items()
        return {name: list(value) if isinstance(value, Rows) else value for name, value in items}

    def question(self) -> dict[str, Any]:
        """Return what the certificate is about, without the evidence."""
        names = ("claim", "radius", "task", "policy", "variables")
        number = self._content["state"]
        state = next(itertools.islice(iter(self._content["states"]), number, None))
        return {**{name: self._content[name] for name in names}, "state": state}

    def write(self, path: str | Path) -> None:
        """Write the certificate as a JSON file, which is there completely or not at all."""
        write_pieces(path, self.pieces(), what="certificate")

    def pieces(self) -> Iterator[str]:
        """Yield the JSON text of the certificate, piece by piece."""
        return pieces_of(self._content)

    def check(self, *, max_seconds: float | None = None) -> None:
        """Return if the checker accepts the certificate.

        Raises CertificateRejected if it does not, OutOfBudget if it does not get through in time,
        and InputError if it is about another task. The time to read the task's files is not
        counted: they are read once per task.
        """
        check_task(self.task, self._content.get("task"))
        if max_seconds is not None and self.size > FASTEST_CHECK * max_seconds:
            raise _too_large(max_seconds)
        model = model_of(self.task, self._content.get("actions"))
        begin = time.monotonic()
        content = self.to_dict()
        spent = time.monotonic() - begin
        policy = checkers_policy(self.task, self.policy)
        run_checker(
            checker.check_certificate, model, content, policy, max_seconds, spent_seconds=spent
        )
        if self._expected is not None:
            self._expected.check(content)

    def __repr__(self) -> str:
        return f"<Certificate {self.claim}, {self.size:,} entries>"


# -- from the core -----------------------------------------------------------------------------


def certificate_of(
    task: Task,
    made: Mapping[str, Any],
    *,
    radius: int | str | None,
    policy: Policy | None,
    expected: Claim,
) -> Certificate:
    """Return the certificate that the core made for an answer."""
    has_policy = radius is not None
    is_safe = made["claim"] == "safe"
    used = _Actions(task, [*(made["entries_value"] if is_safe else ()), *made["decisions"]])
    columns = [made["entries_state"]]
    if isinstance(radius, int):
        columns.append(made["entries_remaining"] or [])
    columns.append(used.numbers(made["entries_value"]) if is_safe else made["entries_value"])
    content = {
        "surefoot": __version__,
        "certificate": VERSION,
        "claim": made["claim"],
        "radius": radius,
        "task": task_member(task),
        "policy": policy.name if policy is not None and has_policy else None,
        "variables": list(task.names),
        "actions": used.names,
        "state": made["state"],
        "states": States(task, made["states"]),
    }
    if has_policy:
        content["decisions"] = used.numbers(made["decisions"])
    content["choices" if is_safe else "ranks"] = Rows(columns)
    return Certificate(task, content, policy=policy if has_policy else None, expected=expected)


class _Actions:
    """The actions that a certificate mentions, with numbers of their own."""

    def __init__(self, task: Task, numbers: Iterable[int]) -> None:
        used = sorted(set(numbers) - {-1})
        all_names = task.actions
        self.names = [all_names[number] for number in used]
        self._new = {-1: None, **{old: new for new, old in enumerate(used)}}

    def numbers(self, old: Iterable[int]) -> list[int | None]:
        """Return the certificate's numbers of core's ones; -1, for none, becomes None."""
        return [self._new[number] for number in old]


_MEMBERS: weakref.WeakKeyDictionary[Any, dict[str, Any]] = weakref.WeakKeyDictionary()


def task_member(task: Task) -> dict[str, Any]:
    """Return what a certificate says about its task: computed once, a hash takes its time."""
    found = _MEMBERS.get(task)
    if found is None:
        source = task.source
        found = _MEMBERS[task] = {
            "name": task.name,
            "sha256": sha256_of(task),
            "source": None if source is None else source.text,
            "options": {} if source is None else source.options(),
        }
    return found


def sha256_of(task: Task) -> str:
    """Return the SHA-256 by which certificates know their task; empty for Python-defined ones."""
    return task.sha256 or ""


def check_task(task: Task, said: Any) -> None:
    """Raise InputError if what a certificate says about its task does not fit this one.

    Where it says nothing at all there is nothing to compare: the checker rejects it.
    """
    if not isinstance(said, Mapping):
        return
    real, digest = task_member(task)["sha256"], said.get("sha256")
    if digest == real:
        return
    raise InputError(
        "certificate-other-task",
        f"the certificate is about a task with SHA-256 {_short(digest)}, "
        f"but {quoted(task.name)} has {_short(real)}",
        hint="the task has changed since, or other files or options are needed",
    )


def _short(digest: Any) -> str:
    if not isinstance(digest, str):
        return shown(digest)
    return quoted(f"{digest[:12]}...") if digest else "none (Python code defines it)"


# -- files -------------------------------------------------------------------------------------


def write_pieces(path: str | Path, pieces: Iterable[str], *, what: str) -> None:
    """Write a file of ours, which is there completely or not at all; ``what`` is its name in
    messages. Raises InputError, and Unsupported if the file is too large to be read again.
    """
    file = Path(path)
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with unfinished.open("w", encoding="utf-8") as out:
            for piece in _bounded(pieces, what):
                out.write(piece)
        unfinished.replace(file)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            "file-not-written", f"the file cannot be written: {reason}", file=str(path)
        ) from None
    finally:
        with contextlib.suppress(OSError, ValueError):
            unfinished.unlink()


def _bounded(pieces: Iterable[str], what: str) -> Iterator[str]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > MAX_BYTES:
            raise Unsupported(
                "file-too-large",
                f"the {what} has more than {MAX_BYTES // 2**20} MB: nobody could read it",
            )
        yield piece


class Asked(Protocol):
    """A certificate or a finding: it claims something about a question."""

    @property
    def claim(self) -> str: ...
    def question(self) -> dict[str, Any]: ...


def file_name(certificate: Asked) -> str:
    """Return a name of our own making for a file, the same for the same question."""
    question = json.dumps(certificate.question(), default=repr, sort_keys=True)
    digest = hashlib.sha256(question.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{certificate.claim}-{digest[:16]}.json"


def pieces_of(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield the JSON text: a line for each member, and for each row of the long ones."""
    yield from object_pieces(content, _member_pieces)
    yield "\n"


def object_pieces(
    content: Mapping[str, Any], pieces: Callable[[str, Any], Iterable[str]]
) -> Iterator[str]:
    """Yield the JSON text of an object: a line for each member, whose value has these pieces."""
    before = "{\n"
    for name, value in content.items():
        yield f"{before}{json.dumps(name)}: "
        before = ",\n"
        yield from pieces(name, value)
    yield "\n}"


def _member_pieces(name: str, value: Any) -> Iterable[str]:
    is_long = isinstance(value, Rows) or name in ("states", "choices", "ranks")
    return _row_pieces(value) if is_long else [json_piece(value)]


def _row_pieces(rows: Iterable[Any]) -> Iterator[str]:
    """Yield the text of a list of rows, many at once: that is ten times as fast as one by one."""
    before, left = "[\n", iter(rows)
    while piece := list(itertools.islice(left, ROWS_PER_PIECE)):
        text = json_piece(piece)[1:-1]
        yield before + (text if '"' in text else text.replace("], [", "],\n["))
        before = ",\n"
    yield "[]" if before == "[\n" else "\n]"


_encode = json.JSONEncoder(allow_nan=False).encode


def json_piece(value: Any) -> str:
    """Return a value as JSON. Raises Unsupported if JSON does not have such."""
    try:
        return _encode(value)
    except (TypeError, ValueError):
        raise Unsupported(
            "certificate-values", f"JSON cannot hold the values of a state: {shown(value)}"
        ) from None


def read_certificate(path: str | Path) -> dict[str, Any]:
    """Return the content of a certificate's file, of which only the frame is checked.

    Raises InputError if the file is none (``not-a-certificate``), or of another version
    (``certificate-version``).
    """
    return certificate_from(read_json(path), path)


def certificate_from(content: Any, path: str | Path) -> dict[str, Any]:
    """Return the content of a certificate's file if that is what was read."""
    if not isinstance(content, dict) or "certificate" not in content:
        raise _no_certificate(path, "the file is not a certificate")
    version = content["certificate"]
    if version != VERSION or isinstance(version, bool):
        raise _other_version(version, VERSION, path)
    _check_said(content.get("task"), TASK_MEMBERS, path, "task")
    return content


def _check_said(said: Any, members: Mapping[str, Any], path: str | Path, what: str) -> None:
    """Raise InputError unless a certificate says about its task or policy what it must."""
    is_complete = isinstance(said, dict) and set(said) == set(members)
    if not is_complete or not all(isinstance(said[name], kind) for name, kind in members.items()):
        raise _no_certificate(path, f"the certificate does not say for which {what} it is")


def _other_version(version: Any, wanted: int, path: str | Path) -> InputError:
    return InputError(
        "certificate-version",
        f"this is a certificate of version {shown(version)}",
        file=str(path),
        hint=f"Surefoot {__version__} reads version {wanted}",
    )


def _no_certificate(path: str | Path, message: str) -> InputError:
    return InputError("not-a-certificate", message, file=str(path))


# -- the checker -------------------------------------------------------------------------------


def check_content(
    task: Task,
    content: Mapping[str, Any],
    *,
    policy: Policy | None = None,
    max_seconds: float | None = None,
) -> None:
    """Return if the checker accepts what was read from a certificate's file.

    The policy's decisions are recomputed if it is given. Raises CertificateRejected, OutOfBudget
    after ``max_seconds``, and InputError if the certificate is about another task.
    """
    check_task(task, content.get("task"))
    model = model_of(task, content.get("actions"))
    asked = checkers_policy(task, policy)
    run_checker(checker.check_certificate, model, content, asked, max_seconds)


def run_checker(
    check: Callable[..., None],
    model: Any,
    content: Any,
    policy: Any,
    max_seconds: float | None,
    *,
    spent_seconds: float = 0.0,
) -> None:
    """Return if one of the checker's functions accepts the content of a file.

    Raises CertificateRejected, OutOfBudget and InputError: the checker's errors in our words.
    """
    left = None if max_seconds is None else max_seconds - spent_seconds
    try:
        check(model, content, policy=policy, max_seconds=left)
    except checker.Rejected as error:
        raise CertificateRejected("certificate-rejected", printable(str(error), 2000)) from None
    except checker.OutOfTime:
        raise _too_large(max_seconds) from None
    except checker.ModelError as error:
        detail = printable(error.detail, 2000)
        raise InputError(f"model-{error.kind}", f"the checker met {detail}") from None


def _too_large(max_seconds: float | None) -> OutOfBudget:
    limit = f"{max_seconds or 0:,.3g} seconds"
    return OutOfBudget("out-of-seconds", f"the certificate cannot be checked within {limit}")


def checkers_policy(task: Task, policy: Policy | None) -> Any:
    """Return the policy as the checker asks it; None if there is none to ask."""
    if policy is None:
        return None
    names = task.names
    return lambda state, _: policy.decide({name: state[name] for name in names})


# -- certificates of policies ------------------------------------------------------------------


def read_policy_head(path: str | Path) -> dict[str, Any] | None:
    """Return the first line of a policy's certificate, of which only the frame is checked; None if
    the file is none.

    Raises InputError for another version (``certificate-version``), or if it does not say for
    which task and policy it is (``not-a-certificate``).
    """
    try:
        if not Path(path).is_file():
            return None  # a pipe would wait for ever
        with Path(path).open("rb") as file:
            head = json.loads(file.readline(MAX_HEAD))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(head, dict) or "policy_certificate" not in head:
        return None
    if head["policy_certificate"] != POLICY_VERSION:
        raise _other_version(head["policy_certificate"], POLICY_VERSION, path)
    _check_said(head.get("task"), TASK_MEMBERS, path, "task")
    _check_said(head.get("policy"), POLICY_MEMBERS, path, "policy")
    return head


def check_policy_certificate(
    task: Task,
    path: str | Path,
    *,
    policy: Policy,
    max_seconds: float | None = None,
    size: int = 0,
) -> None:
    """Return if the checker accepts the file as evidence that no run of the policy fails.

    Raises CertificateRejected, OutOfBudget after ``max_seconds``, and InputError if the certificate
    is about another task or policy. ``size`` is the number of states, where that is known.
    """
    head = read_policy_head(path)
    if head is None:
        raise _no_certificate(path, "the file is not a certificate of a policy")
    check_task(task, head["task"])
    _check_same_policy(policy, head["policy"])
    if max_seconds is not None and size > FASTEST_CHECK * max_seconds:
        raise _too_large(max_seconds)
    model = model_of(task, [])
    check = checker.check_policy_safety
    if "states" not in head:
        check = functools.partial(check, scores=scores_of(policy))
    run_checker(check, model, _lines(path), _decisions_of(policy), max_seconds)


def _check_same_policy(policy: Policy, said: Mapping[str, Any]) -> None:
    digest = said.get("sha256")
    is_other = digest != policy.sha256 and digest and policy.sha256
    if is_other or said.get("unfiltered") is not policy.unfiltered:
        raise InputError(
            "certificate-other-policy",
            f"the certificate is about another policy than {quoted(policy.name)}",
            hint="it has changed since, or was loaded with other options",
        )


def scores_of(policy: Policy) -> dict[str, Any] | None:
    """Return how a policy decides, as the checker takes it: lists, numbers and strings. None for
    one that has to be asked.
    """
    model, interface = policy.model, policy.interface
    if isinstance(policy.core, _core.FirstPolicy | _core.RandomPolicy):
        return {"rule": "first" if isinstance(policy.core, _core.FirstPolicy) else "any"}
    if model is None or interface is None:
        return None
    inputs = [
        {name: getattr(one, name) for name in ("variable", "constant", "mean", "scale")}
        for one in interface.inputs
    ]
    return {"inputs": inputs, "outputs": list(interface.outputs), "model": _plain(model)}


def _plain(value: Any) -> Any:
    """Return a model, or a part of one, as plain data."""
    if is_dataclass(value):
        said = {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
        kind = getattr(value, "kind", None)
        return said if kind is None else {"kind": kind, **said}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.tolist() if hasattr(value, "tolist") else value


def _lines(path: str | Path) -> Iterator[str]:
    """Yield the lines of a file; one that is too long, or no text, is rejected."""
    limit = MAX_HEAD
    try:
        with Path(path).open(encoding="utf-8", newline="\n") as file:
            while line := file.readline(limit):
                if len(line) == limit:
                    raise checker.Rejected("a line is too long")
                yield line
                limit = MAX_ROW
    except UnicodeDecodeError:
        raise checker.Rejected("the file is no text") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            "file-not-readable", f"the file cannot be read: {reason}", file=str(path)
        ) from None


def _decisions_of(policy: Policy) -> Callable[[Sequence[Mapping[str, Any]]], list[str | None]]:
    """Return the policy as the checker asks it about many states; None where what it decides is
    not applicable.
    """

    def decide_all(states: Sequence[Mapping[str, Any]]) -> list[str | None]:
        try:
            return list(policy.decide_all(states))
        except InputError as error:
            if not error.code.startswith("policy-"):
                raise
        return [decide(state) for state in states]

    def decide(state: Mapping[str, Any]) -> str | None:
        try:
            return policy.decide(state)
        except InputError as error:
            if error.code == "policy-not-applicable":
                return None
            if not error.code.startswith("policy-"):
                raise
            raise checker.Rejected(f"the policy does not decide: {error.message}") from None

    return decide_all


_MODELS: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def model_of(task: Task, actions: Any) -> Any:
    """Return the task as the checker sees it, from the same files where there are any."""
    if isinstance(task, PythonTask):
        return PythonSteps(task, actions)
    found = _MODELS.get(task)
    if found is None:
        try:
            assert isinstance(task, CompiledTask)
            found = _MODELS[task] = _load(task)
        except (checker.ReadError, checker.NotSupported, checker.ModelError) as error:
            raise Unsupported(
                "checker-cannot-read",
                f"the checker cannot read the task: {printable(str(error), 2000)}",
                hint="--no-check prints answers that nobody checked",
            ) from None
    return found


def _load(task: CompiledTask) -> Any:
    source = task.source
    if source is not None and source.is_jani:
        return _load_files(source)
    with tempfile.TemporaryDirectory(prefix="surefoot-") as directory:
        file = Path(directory, "task.jani")
        task.write_jani(file)
        return checker.load(file)


def _load_files(source: Source) -> Any:
    return checker.load(
        Path(source.directory, source.text),
        properties=source.path(source.properties),
        start=source.path(source.start),
        goal=source.path(source.goal),
        fail=source.path(source.fail),
        constants=source.constants,
        int_range=source.int_range,
        property_name=source.property_name,
    )


class PythonSteps:
    """A Python-defined task as the checker takes it: the definition's own methods.

    Which actions there are is known only where they are applicable, so those that the certificate
    names are taken to exist.
    """

    silent: frozenset[str] = frozenset()

    def __init__(self, task: PythonTask, actions: Any) -> None:
        self._task = task
        self._definition = task.definition
        self.variables = tuple(_AnyValue(name, "any", 0, 0) for name in task.names)
        named = actions if isinstance(actions, list) else []
        self.actions = tuple(name for name in named if isinstance(name, str))

    def applicable(self, state: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the names of the applicable actions."""
        return tuple(dict.fromkeys(self._definition.actions(self._task.own_state(state))))

    def outcomes(self, state: Mapping[str, Any], action: str) -> list[dict[str, Any]]:
        """Return the outcomes of an action by the names of the variables."""
        found = self._definition.outcomes(self._task.own_state(state), action)
        states = [self._task.state(outcome) for outcome in found]
        return [{name: _frozen(value) for name, value in state.items()} for state in states]

    def starts(self, limit: int) -> list[dict[str, Any]]:
        """Return all start states by the names of the variables."""
        found = self._starts()
        return [{name: _frozen(value) for name, value in state.items()} for state in found]

    def is_start(self, state: Mapping[str, Any]) -> bool:
        """Return whether runs may start here."""
        here = self._task.own_state(state)
        return any(here == self._task.own_state(each) for each in self._starts())

    def _starts(self) -> list[Mapping[str, Any]]:
        return [self._task.state(each) for each in self._definition.start()]

    def is_fail(self, state: Mapping[str, Any]) -> bool:
        """Return whether the state fails."""
        return bool(self._definition.is_fail(self._task.own_state(state)))

    def is_goal(self, state: Mapping[str, Any]) -> bool:
        """Return whether the state is a goal."""
        return bool(self._definition.is_goal(self._task.own_state(state)))


class _AnyValue(checker.Variable):
    """A variable of a Python-defined task, which may have any value."""

    def accept(self, value: Any) -> Any:
        """Return the value; lists, as JSON has them, become the tuples they were."""
        return _frozen(value)

    def has(self, value: Any) -> bool:
        """Return True: what is a state, the definition says."""
        return True


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_frozen(each) for each in value)
    try:
        hash(value)
    except TypeError:
        raise ValueError("not a value of a state") from None
    return value
