"""Findings: a failing run with what is wrong on it, in one file that somebody else can check.

A :class:`Finding` is of one of three kinds: a ``fault``, a ``bug``, or a ``run`` alone. ``check``
hands all of it to the checker. Its file is one JSON object:

* ``surefoot`` (version), ``finding`` (version of the format: 1), ``kind``
* ``task``: as in certificates; ``policy``: name, sha256, interface (a file or what stands in one),
  unfiltered. A path is as it was given: it begins in the current directory, or where the finding is
* ``run``: number, seed, ``known_reachable``, ``made`` if the start was made, ``variables``, the
  ``actions``, and the ``states``, each the values of the variables in their order
* ``fault``: step, state, action, an unsafe outcome, the alternatives, those of them that are
  ``uncertified``, ``more_unknown`` if others may be safe, radius, and deviations (a number, "inf"
  or null); ``bug``: step, state, radius, deviations
* ``certificates`` of a fault: ``outcome``, ``alternatives`` by name, ``deviations``; of a bug:
  ``state``, ``deviations``. That deviations are a number takes two: enough, and one fewer is not
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from surefoot import __version__, checker
from surefoot.certificates import (
    FASTEST_CHECK,
    TASK_MEMBERS,
    Certificate,
    checkers_policy,
    json_piece,
    model_of,
    pieces_of,
    run_checker,
    task_member,
    write_pieces,
)
from surefoot.errors import InputError, OutOfBudget, nearest_hint, printable, quoted, shown
from surefoot.files import read_json
from surefoot.policies import Policy, as_policy, load_policy
from surefoot.results import Bug, Fault, Run
from surefoot.results.runs import Change, Made
from surefoot.tasks import load_task, require_task
from surefoot.tasks.python_task import PythonTask
from surefoot.tasks.source import Source
from surefoot.tasks.state import State
from surefoot.tasks.task import Task

VERSION = 1
KINDS = ("fault", "bug", "run")
ENTRIES = ("choices", "ranks")
BUILT_IN = re.compile(r"first|random(\?seed=\d+)?", re.ASCII)
AnyTask = Task | PythonTask


class Finding:
    """A failing run of a policy, and the fault or bug on it.

    Make one with :func:`finding_of`, or read one with :func:`read_finding`. ``kind`` is ``fault``,
    ``bug`` or ``run``; ``steps`` is the length of the run. One that was read knows its task and
    policy by name only.
    """

    def __init__(
        self,
        content: Mapping[str, Any],
        *,
        task: AnyTask | None = None,
        policy: Policy | None = None,
        file: Path | None = None,
    ) -> None:
        self.content = content
        self.task = task
        self.policy = policy
        self.file = file

    @property
    def kind(self) -> str:
        """What was found: a fault, a bug, or a run alone."""
        return str(self.content["kind"])

    @property
    def claim(self) -> str:
        """The kind, which begins the name of the file."""
        return self.kind

    @property
    def about(self) -> Mapping[str, Any]:
        """The fault or the bug as plain data; empty for a run alone."""
        found: Mapping[str, Any] = self.content.get(self.kind, {}) if self.kind != "run" else {}
        return found

    @property
    def radius(self) -> int | None:
        """Within how many differences from the policy states are safe; None for any policy."""
        return self.about.get("radius")

    @property
    def steps(self) -> int:
        """How many steps the run has."""
        return len(self.content["run"]["actions"])

    @property
    def size(self) -> int:
        """How many certificates there are."""
        return sum(1 for _ in _certificates(self.content.get("certificates", {})))

    @property
    def num_entries(self) -> int:
        """How many steps, choices and ranks there are to check."""
        found = _certificates(self.content.get("certificates", {}))
        return 1 + self.steps + sum(map(_entries, found))

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the finding's file."""
        members = self.content.items()
        content = {name: dict(v) if isinstance(v, dict) else v for name, v in members}
        if "certificates" in content:
            content["certificates"] = _each_certificate(content["certificates"], _plain)
        return content

    def question(self) -> dict[str, Any]:
        """Return what the finding is about, without the evidence and without the way there."""
        run, about = self.content["run"], self.about
        content = {name: self.content[name] for name in ("kind", "task")}
        content["policy"] = {name: self.content["policy"][name] for name in ("name", "sha256")}
        content["variables"] = run["variables"]
        if self.kind == "run":
            return {**content, "states": run["states"], "actions": run["actions"]}
        wanted = ("state", "action", "radius")
        return {**content, **{name: about[name] for name in wanted if name in about}}

    def pieces(self) -> Iterator[str]:
        """Yield the JSON text of the finding, piece by piece."""
        before = "{\n"
        for name, value in self.content.items():
            yield f"{before}{json.dumps(name)}: "
            before = ",\n"
            if name == "run":
                yield from pieces_of(value)
            elif name == "certificates":
                yield from _certificate_pieces(value)
            else:
                yield json_piece(value)
        yield "\n}\n"

    def write(self, path: str | Path) -> None:
        """Write the finding as a JSON file, which is there completely or not at all.

        Raises InputError (``file-exists``) rather than to replace a file that is no finding.
        """
        file = Path(path)
        if file.exists() and not _is_finding(file):
            raise InputError("file-exists", "a file that is no finding is there", file=str(path))
        write_pieces(file, self.pieces(), what="finding")

    def check(
        self,
        task: AnyTask | None = None,
        policy: Any = None,
        *,
        max_seconds: float | None = None,
        recompute: bool = True,
    ) -> None:
        """Return if the checker accepts everything in the finding.

        Task and policy are found by name if they are not given. The policy's decisions are asked
        for again unless ``recompute`` is False; then those of the finding are taken. Raises
        CertificateRejected, OutOfBudget, and InputError if task or policy are not those of the
        finding.
        """
        task = self.find_task(task)
        check_same_task(self, task)
        who = self.find_policy(task, policy) if recompute else None
        if who is not None:
            check_same_policy(self, who)
        asked = None if who is None else _never_stuck(checkers_policy(task, who))
        if max_seconds is not None and self.num_entries > FASTEST_CHECK * max_seconds:
            raise OutOfBudget(
                "out-of-seconds", f"the finding cannot be checked within {max_seconds:,.3g} seconds"
            )
        content = self.to_dict()
        model = model_of(task, _all_actions(content))
        run_checker(checker.check_finding, model, content, asked, max_seconds)

    def run(self, task: AnyTask) -> Run:
        """Return the run, in states of this task. Raises InputError if they are none of them.

        Whether the task has its actions, and the run fails, is not asked: see ``replay``.
        """
        return _run_in(self.content["run"], task, file=self.file)

    def find_task(self, given: AnyTask | None = None) -> AnyTask:
        """Return the task given, or that of the finding. Raises InputError if it cannot be found,
        or if finding it would run code.
        """
        if given is not None:
            return require_task(given)
        return self.task if self.task is not None else _load_task(self)

    def find_policy(self, task: AnyTask, given: Any = None) -> Policy:
        """Return the policy given, or that of the finding, as ``find_task`` does."""
        if given is not None:
            return as_policy(given, task)
        is_own = self.policy is not None and self.policy.task is task
        return self.policy if is_own and self.policy is not None else _load_policy(self, task)

    def __str__(self) -> str:
        names = (self.content["task"]["name"], self.content["policy"]["name"])
        task, policy = (printable(str(name)) for name in names)
        return f"{self.kind} of policy {policy} on {task}, a run of {self.steps:,} steps"

    def __repr__(self) -> str:
        return f"<Finding: {self}>"


# -- making ------------------------------------------------------------------------------------


def finding_of(task: AnyTask, policy: Any, found: Fault | Bug | Run, *, seed: int = 0) -> Finding:
    """Return the finding of a fault, a bug or a failing run.

    ``seed`` is that of the fuzzing which found the run. Raises OutOfBudget if the certificates
    cannot be made in time.
    """
    task = require_task(task)
    who = as_policy(policy, task)
    kind, run = _kind_and_run(found)
    content: dict[str, Any] = {
        "surefoot": __version__,
        "finding": VERSION,
        "kind": kind,
        "task": dict(task_member(task)),
        "policy": _policy_member(who),
        "run": _run_member(run, task, seed),
    }
    if isinstance(found, Fault):
        content |= _of_fault(found)
    elif isinstance(found, Bug):
        content |= _of_bug(found)
    return Finding(content, task=task, policy=who)


def _kind_and_run(found: Any) -> tuple[str, Run]:
    if isinstance(found, Run) and found.is_complete:
        return "run", found
    if isinstance(found, Fault):
        return "fault", found.run
    if isinstance(found, Bug) and found.failing is not None:
        return "bug", found.failing
    raise InputError(
        "not-a-finding", f"{shown(found)} is neither a fault, nor a bug, nor a run with all states"
    )


def _policy_member(policy: Policy) -> dict[str, Any]:
    """Return what a finding says about its policy; its interface by file, or else as data."""
    interface: Any = None
    if policy.interface is not None:
        file = policy.interface.origin.file
        interface = policy.interface.to_dict() if file is None else file
    return {
        "name": policy.name,
        "sha256": policy.sha256,
        "interface": None if interface == policy.name else interface,
        "unfiltered": policy.unfiltered,
    }


def _run_member(run: Run, task: AnyTask, seed: int) -> dict[str, Any]:
    made = {} if run.made is None else {"made": run.made.to_dict()}
    return {
        "run": run.run,
        "seed": seed,
        "known_reachable": run.is_known_reachable,
        **made,
        "variables": list(task.names),
        "actions": list(run.actions),
        "states": [_row(state, task) for state in run.states],
    }


def _row(state: State, task: AnyTask) -> list[Any]:
    return [state[name] for name in task.names]


def _of_fault(fault: Fault) -> dict[str, Any]:
    evidence, task = fault.certificates, fault.certificates.outcome.task
    alternatives = fault.alternatives or tuple(evidence.alternatives)
    certified = evidence.alternatives
    return {
        "fault": {
            "step": fault.step,
            "state": _row(fault.state, task),
            "action": fault.action,
            "outcome": _row(fault.outcome, task),
            "alternatives": list(alternatives),
            "uncertified": [name for name in alternatives if name not in certified],
            "more_unknown": fault.has_unknown_alternatives,
            "radius": fault.radius,
            "deviations": _least(fault),
        },
        "certificates": {
            "outcome": evidence.outcome,
            "alternatives": dict(certified),
            "deviations": [] if fault.deviations is None else list(fault.deviations.certificates),
        },
    }


def _least(fault: Fault) -> int | str | None:
    if fault.deviations is None or fault.deviations.least is None:
        return None
    return "inf" if math.isinf(fault.deviations.least) else int(fault.deviations.least)


def _of_bug(bug: Bug) -> dict[str, Any]:
    certificate = bug.certificate
    state = _row(bug.state, certificate.task)
    return {
        "bug": {"step": bug.step, "state": state, "radius": bug.radius, "deviations": None},
        "certificates": {"state": certificate, "deviations": []},
    }


# -- JSON --------------------------------------------------------------------------------------


def _certificates(value: Any) -> Iterator[Any]:
    """Yield the certificates of the member that holds them, and what stands in their place."""
    members = value.values() if isinstance(value, Mapping) else ()
    for member in members:
        if isinstance(member, list):
            yield from member
        elif isinstance(member, Mapping) and "certificate" not in member:
            yield from member.values()
        else:
            yield member


def _entries(certificate: Any) -> int:
    if isinstance(certificate, Certificate):
        return certificate.size
    lists = [certificate.get(name) for name in ENTRIES] if isinstance(certificate, Mapping) else []
    return sum(len(each) for each in lists if isinstance(each, list))


def _each_certificate(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return the member that holds the certificates with each of them changed.

    They stand there by name, in an object or in a list. What is deeper is left alone: a file may
    hold anything.
    """
    if not isinstance(value, Mapping):
        return value
    return {name: _each_in_member(member, change) for name, member in value.items()}


def _each_in_member(member: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(member, list):
        return [change(each) for each in member]
    if isinstance(member, Mapping) and "certificate" not in member:
        return {name: change(each) for name, each in member.items()}
    return change(member)


def _plain(certificate: Any) -> Any:
    return certificate.to_dict() if isinstance(certificate, Certificate) else certificate


def _certificate_pieces(value: Any) -> Iterator[str]:
    """Yield the text of the member that holds the certificates, each of them piece by piece."""
    before = "{\n"
    for name, member in value.items():
        yield f"{before}{json.dumps(name)}: "
        before = ",\n"
        if isinstance(member, list):
            yield from _joined("[", "]", (("", each) for each in member))
        elif isinstance(member, Mapping) and "certificate" not in member:
            named = ((f"{json.dumps(key)}: ", each) for key, each in member.items())
            yield from _joined("{", "}", named)
        else:
            yield from _pieces(member)
    yield "\n}"


def _joined(left: str, right: str, named: Iterable[tuple[str, Any]]) -> Iterator[str]:
    before = f"{left}\n"
    for name, each in named:
        yield f"{before}{name}"
        yield from _pieces(each)
        before = ",\n"
    yield f"{left}{right}" if before.startswith(left) else f"\n{right}"


def _pieces(certificate: Any) -> Iterator[str]:
    if isinstance(certificate, Certificate):
        return certificate.pieces()
    if isinstance(certificate, Mapping):
        return pieces_of(certificate)
    return iter([json_piece(certificate)])


def _all_actions(content: Mapping[str, Any]) -> list[str]:
    """Return the names of actions in the finding: of Python-defined tasks no others are known."""
    names: list[Any] = list(content["run"]["actions"])
    about = content.get(content["kind"], {})
    if isinstance(about, Mapping) and isinstance(about.get("alternatives"), list):
        names += about["alternatives"]
    for certificate in _certificates(content.get("certificates")):
        if isinstance(certificate, Mapping) and isinstance(certificate.get("actions"), list):
            names += certificate["actions"]
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))


# -- reading -----------------------------------------------------------------------------------


def read_finding(path: str | Path) -> Finding:
    """Return the finding of a file, of which only the frame is checked; ``check`` does the rest.

    Raises InputError if the file is no finding (``not-a-finding``), or of another version
    (``finding-version``).
    """
    return finding_from(read_json(path), path)


def finding_from(content: Any, path: str | Path) -> Finding:
    """Return the finding that was read from a file."""
    if not isinstance(content, dict) or "finding" not in content:
        raise _no_finding(path, "the file is not a finding")
    version = content["finding"]
    if version != VERSION or isinstance(version, bool):
        raise InputError(
            "finding-version",
            f"this is a finding of version {shown(version)}",
            file=str(path),
            hint=f"Surefoot {__version__} reads version {VERSION}",
        )
    kind = content.get("kind")
    if kind not in KINDS:
        raise _no_finding(path, f"there are no findings of kind {shown(kind)}")
    _check_frame(content, path)
    return Finding(content, file=Path(path))


FRAME: dict[str, dict[str, Any]] = {
    "task": TASK_MEMBERS,
    "policy": {
        "name": str,
        "sha256": str | None,
        "interface": str | dict | None,
        "unfiltered": bool,
    },
    "run": {
        "run": int,
        "seed": int,
        "known_reachable": bool,
        "variables": list,
        "actions": list,
        "states": list,
    },
    "fault": {"step": int, "state": list, "action": str, "outcome": list, "alternatives": list},
    "bug": {"step": int, "state": list},
    "certificates": {},
}
"""the members that every finding has, and those of its kind"""


def _check_frame(content: dict[str, Any], path: str | Path) -> None:
    kind = content["kind"]
    more = () if kind == "run" else (kind, "certificates")
    for name in ("task", "policy", "run", *more):
        member = content.get(name)
        if not isinstance(member, dict):
            raise _no_finding(path, f"the finding has no {name}")
        for key, type_ in FRAME[name].items():
            value = member.get(key)
            is_number = type_ is int and isinstance(value, bool)
            if key not in member or not isinstance(value, type_) or is_number:
                raise _no_finding(path, f"the finding has no {key} of the {name}")
    radius = content[kind].get("radius") if kind != "run" else None
    if radius is not None and (type(radius) is not int or radius < 0):
        raise _no_finding(path, f"the radius is {shown(radius)}")


def _no_finding(path: str | Path, message: str) -> InputError:
    return InputError("not-a-finding", message, file=str(path))


def _is_finding(file: Path) -> bool:
    try:
        read_finding(file)
    except InputError as error:
        return error.code == "finding-version"
    return True


# -- runs from plain data ----------------------------------------------------------------------


def run_from(content: Any, task: AnyTask, *, file: str | Path | None = None) -> Run:
    """Return the run of plain data: ``states`` and ``actions``, as fuzzing writes them.

    States are objects, or lists if ``variables`` says in which order. Raises InputError if that is
    no run in states of the task; whether it fails is not asked.
    """
    is_run = isinstance(content, Mapping) and all(
        isinstance(content.get(name), list) for name in ("states", "actions")
    )
    if not is_run or len(content["states"]) != len(content["actions"]) + 1:
        raise InputError(
            "bad-run",
            "this is no run: there must be states and actions, one action fewer",
            file=None if file is None else str(file),
            hint='as in {"states": [{"x": 0}, {"x": 1}], "actions": ["up"]}',
        )
    run = _run_in(content, task, file=file)
    for action in run.actions:
        if not isinstance(task, PythonTask) and task.action_number(action) is None:
            raise InputError(
                "unknown-action",
                f"the task has no action {quoted(action)}",
                file=None if file is None else str(file),
                hint=nearest_hint(action, task.actions),
            )
    return run


def _run_in(content: Mapping[str, Any], task: AnyTask, *, file: str | Path | None) -> Run:
    try:
        names = content.get("variables")
        states = tuple(_state_in(each, names, task) for each in content["states"])
        actions = tuple(map(_action_in, content["actions"]))
        if len(states) != len(actions) + 1:
            raise InputError("bad-run", "a run has one state more than actions")
        made = _made_in(content, task, states[0])
    except InputError as error:
        error.file, error.place = None if file is None else str(file), "/run"
        raise
    number, same = content.get("run", 0), content.get("same", [])
    return Run(
        run=number if type(number) is int else 0,
        states=states,
        actions=actions,
        result="fail",
        made=made,
        same=tuple(each for each in same if type(each) is int) if isinstance(same, list) else (),
    )


def _state_in(given: Any, names: Any, task: AnyTask) -> State:
    if isinstance(given, list):
        if not isinstance(names, list) or len(names) != len(given):
            raise InputError("bad-state", "a state has not as many values as there are variables")
        if not all(isinstance(name, str) for name in names):
            raise InputError("bad-state", "the name of a variable is no text")
        given = dict(zip(names, given, strict=True))
    if not isinstance(given, Mapping):
        raise InputError("bad-state", f"{shown(given)} is no state")
    is_plain = isinstance(task, Task)
    for name, value in given.items():
        if isinstance(value, dict) or (is_plain and isinstance(value, list)):
            raise InputError("bad-state", f"the value of {quoted(str(name))} is no value")
    try:
        return task.state({name: _frozen(value) for name, value in given.items()})
    except RecursionError:
        raise InputError("bad-state", "a value is nested too deeply") from None


def _frozen(value: Any) -> Any:
    """Return a value; lists, as JSON has them, become the tuples they were."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _action_in(given: Any) -> str:
    if not isinstance(given, str):
        raise InputError("unknown-action", f"{shown(given)} is no name of an action")
    return given


def _made_in(content: Mapping[str, Any], task: AnyTask, start: State) -> Made | None:
    """Return how the start was made. Where that is not said, nobody knows more than the start."""
    if content.get("known_reachable", True) is True and "made" not in content:
        return None
    made = content.get("made")
    if not isinstance(made, Mapping) or not isinstance(made.get("changes"), list):
        return Made(start, ())
    changes = [each for each in made["changes"] if isinstance(each, Mapping)]
    reached = _state_in(made.get("reached"), None, task)
    return Made(reached, tuple(_change_in(each, task) for each in changes))


def _change_in(content: Mapping[str, Any], task: AnyTask) -> Change:
    state = _state_in(content.get("state"), None, task)
    if "action" in content:
        return Change(state, action=_action_in(content["action"]))
    variable = str(content.get("variable"))
    return Change(state, variable=variable, value=state.get(variable))


# -- task and policy ---------------------------------------------------------------------------


def check_same_task(finding: Finding, task: AnyTask) -> None:
    """Raise InputError (``finding-other-task``) if the finding is about another task."""
    said, real = finding.content["task"]["sha256"], task_member(task)["sha256"]
    if said != real:
        raise InputError(
            "finding-other-task",
            f"the finding is about {_task_text(said)}, but {quoted(task.name)} is "
            f"{_task_text(real)}",
            file=_file_text(finding),
            hint="the task has changed since, or other files or options are needed",
        )


def _task_text(digest: str) -> str:
    return f"a task with SHA-256 {quoted(digest[:12] + '...')}" if digest else "one of Python code"


def check_same_policy(finding: Finding, policy: Policy) -> None:
    """Raise InputError (``finding-other-policy``) if the finding is about another policy."""
    said = finding.content["policy"]
    if said["sha256"] != policy.sha256 and said["sha256"] and policy.sha256:
        raise InputError(
            "finding-other-policy",
            f"the finding is about a policy with SHA-256 {quoted(said['sha256'][:12] + '...')}, "
            f"but {quoted(policy.name)} has {quoted(policy.sha256[:12] + '...')}",
            file=_file_text(finding),
            hint="the policy has changed since; replay tells whether it still fails",
        )


def _file_text(finding: Finding) -> str | None:
    return None if finding.file is None else str(finding.file)


def _found(path: str, finding: Finding) -> Path:
    """Return a path of a finding: from the current directory, or else from where the finding is."""
    if finding.file is None:
        return Path(path)
    beside = finding.file.parent / path
    return beside if not Path(path).exists() and beside.exists() else Path(path)


def _load_task(finding: Finding) -> AnyTask:
    said = finding.content["task"]
    text, options = said["source"], said["options"]
    file = _file_text(finding)
    if text is None:
        raise InputError(
            "finding-no-task",
            "the finding does not say where its task is from",
            file=file,
            hint="give the task",
        )
    source = Source(text=text)
    if source.runs_code:
        raise InputError(
            "finding-runs-code",
            f"the task is {quoted(text)}, and reading it would run that file",
            file=file,
            hint="if you trust it, give the task yourself",
        )
    more = _task_options(options, finding)
    return load_task(text if source.is_domain else _found(text, finding), **more)


PATHS = {"property": "properties", "start": "start", "goal": "goal", "fail": "fail"}


def _task_options(options: Mapping[str, Any], finding: Finding) -> dict[str, Any]:
    """Return the options of a finding's task as load_task takes them."""
    values: dict[str, Any] = {}
    for name, value in options.items():
        if name in PATHS and isinstance(value, str):
            values[PATHS[name]] = _found(value, finding)
        elif name == "property_name" and isinstance(value, str):
            values[name] = value
        elif name == "const" and isinstance(value, list):
            values["constants"] = dict(_constant(each, finding) for each in value)
        elif name == "int_range" and isinstance(value, str) and _RANGE.fullmatch(value):
            lower, upper = value.split("..")
            values[name] = (int(lower), int(upper))
        else:
            raise _bad_option(str(name), finding)
    return values


_RANGE = re.compile(r"-?\d{1,19}\.\.-?\d{1,19}", re.ASCII)


def _constant(text: Any, finding: Finding) -> tuple[str, Any]:
    name, sign, value = text.partition("=") if isinstance(text, str) else ("", "", "")
    try:
        number = json.loads(value)
    except (ValueError, RecursionError):
        number = None
    if not sign or not isinstance(number, bool | int | float):
        raise _bad_option("const", finding)
    return name, number


def _bad_option(name: str, finding: Finding) -> InputError:
    message = f"the option {quoted(name)} of the task means nothing"
    return InputError("not-a-finding", message, file=_file_text(finding))


def _load_policy(finding: Finding, task: AnyTask) -> Policy:
    said = finding.content["policy"]
    name, interface = said["name"], said["interface"]
    file = _file_text(finding)
    if BUILT_IN.fullmatch(name):
        return load_policy(name, task)
    if ".py:" in name:
        raise InputError(
            "finding-runs-code",
            f"the policy is {quoted(name)}, and reading it would run that file",
            file=file,
            hint=f"if you trust it: --policy {printable(name)}",
        )
    path = _found(name, finding)
    if not path.exists():
        raise InputError(
            "unknown-policy",
            f"there is no policy file {quoted(name)}",
            file=file,
            hint="give the policy",
        )
    if path.suffix == ".jsonl":
        return load_policy(path, task)
    if isinstance(interface, str):
        interface = _found(interface, finding)
    return load_policy(path, task, interface=interface, unfiltered=said["unfiltered"])


def _never_stuck(policy: Any) -> Any:
    """Return the checker's policy, for which being unable to decide is no error but a rejection:
    then the run is not one of this policy.
    """

    def decide(state: Mapping[str, Any], choices: tuple[str, ...]) -> Any:
        try:
            return policy(state, choices)
        except InputError as error:
            if not error.code.startswith("policy-"):
                raise
            raise checker.Rejected(f"the policy does not decide: {error.message}") from None

    return decide
