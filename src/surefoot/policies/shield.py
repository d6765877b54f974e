"""Shields: a policy that takes a safe action in the states of known faults.

Elsewhere it decides as the policy below it. A shield's file is one JSON object:

* ``surefoot_shield`` (version of the format: 1), ``surefoot`` (version)
* ``policy``: name (a file, from where the shield is, or that of a policy which comes with
  Surefoot), sha256, interface (a file, from where the shield is, or what stands in one), unfiltered
* ``task``: name, sha256
* ``decisions``: ``{"state": {...}, "action": "..."}`` each

Reading one runs no code, and the policy below is not a shield itself.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from surefoot import __version__, _core
from surefoot.errors import InputError, SurefootError, Unsupported, printable, quoted, shown
from surefoot.files import read_json, sha256_of, write_files
from surefoot.policies import BUILT_IN, Policy, load_policy
from surefoot.policies.decisions import possible_decision
from surefoot.policies.formats import SHIELD, SHIELD_KEY, kind_of
from surefoot.policies.tables import Table
from surefoot.policies.writing import check_place
from surefoot.python_file import split_name
from surefoot.tasks.state import State
from surefoot.tasks.task import Task

VERSION = 1
MEMBERS = (SHIELD_KEY, "policy", "task", "decisions")
POLICY_MEMBERS: dict[str, object] = {
    "name": str,
    "sha256": str | None,
    "interface": str | dict | None,
    "unfiltered": bool,
}
LOOKS_LIKE = 'a decision looks like {"state": {"x": 3, "y": 0}, "action": "move"}'


class ShieldedPolicy(Policy):
    """A policy with a shield: ``decisions`` in some states, those of ``base`` in all others."""

    def __init__(self, base: Policy, decisions: Mapping[State, str], *, name: str) -> None:
        table = Table.of(decisions.items(), base.task)
        core = _core.ShieldedPolicy(base.core, base.task.core, table.states, table.actions)
        super().__init__(base.task, name, core=core, unfiltered=base.unfiltered, notes=base.notes)
        self.base = base
        self.decisions = dict(decisions)

    def _recipe(self) -> tuple[Callable[..., Policy], tuple[object, ...]]:
        return _shielded_again, (self.base, self.decisions, self.name)

    def scores(self, state: object) -> dict[str, float]:
        """Return what the policy below the shield thinks of each action."""
        return self.base.scores(state)


def _shielded_again(base: Policy, decisions: Mapping[State, str], name: str) -> Policy:
    return ShieldedPolicy(base, decisions, name=name)


# -- making ----------------------------------------------------------------------------------


def shield(policy: Policy, faults: Iterable[object]) -> ShieldedPolicy:
    """Return the policy with a shield: in the state of each fault it takes a safe action.

    That is what the policy decides, if this is known to be safe; else the first alternative of the
    fault, which has a certificate. A fault is anything with ``state``, ``action`` and
    ``alternatives``; what ``find_faults`` returns will do. A policy that has a shield already gets
    a larger one. Raises InputError if there is no safe action for a state.
    """
    if not isinstance(policy, Policy):
        raise InputError(
            "not-a-policy", f"{shown(policy)} is not a Policy", hint="load_policy(...) makes one"
        )
    new = _safe_decisions(policy, getattr(faults, "faults", faults))
    base = policy.base if isinstance(policy, ShieldedPolicy) else policy
    known = policy.decisions if isinstance(policy, ShieldedPolicy) else {}
    return ShieldedPolicy(base, {**known, **new}, name=f"shielded {base.name}")


def _safe_decisions(policy: Policy, faults: Iterable[Any]) -> dict[State, str]:
    """Return a safe action for the state of each fault."""
    blamed: dict[State, set[str]] = {}
    safe: dict[State, list[str]] = {}
    for fault in faults:
        state = policy.task.state(fault.state)
        blamed.setdefault(state, set()).add(fault.action)
        safe.setdefault(state, []).extend(_alternatives(fault))
    decisions = {}
    for state, names in safe.items():
        left = [name for name in names if name not in blamed[state]]
        if not left:
            raise InputError("no-safe-action", f"no safe action is known in state {state}")
        decided = possible_decision(policy, state)
        decisions[state] = decided if decided in left else left[0]
    return decisions


def _alternatives(fault: Any) -> tuple[str, ...]:
    """Return the safe actions, one with a certificate first.

    Where time ran out for single actions, the certificate of the state has chosen one.
    """
    if fault.alternatives or getattr(fault, "make_certificates", None) is None:
        return tuple(fault.alternatives)
    return tuple(fault.certificates.alternatives)


# -- reading ---------------------------------------------------------------------------------


def read_shield(
    text: str, task: Task, *, interface: object = None, unfiltered: bool | None = None
) -> ShieldedPolicy:
    """Return the policy of a shield's file. Raises InputError for anything else, or one of
    another task or policy.
    """
    path = Path(text)
    try:
        content = _shield_content(read_json(path))
        _check_task(content["task"], task)
        base = _base_of(content["policy"], path, task)
        _check_options(text, base, interface=interface, unfiltered=unfiltered)
        policy = ShieldedPolicy(base, _decisions_of(content["decisions"], task), name=text)
    except SurefootError as error:
        error.at(file=text)
        raise
    policy.file = path
    digests = [sha256_of(path), *([] if base.sha256 is None else [base.sha256])]
    policy.sha256 = hashlib.sha256("\n".join(digests).encode()).hexdigest()
    return policy


def _bad(message: str, place: str | None = None, *, hint: str | None = None) -> InputError:
    return InputError("bad-shield", message, place=place, hint=hint)


def _shield_content(content: object) -> dict[str, Any]:
    """Return the content of a shield's file if its frame is right."""
    if not isinstance(content, dict) or SHIELD_KEY not in content:
        raise _bad("this is not a shield")
    version = content[SHIELD_KEY]
    if version != VERSION or isinstance(version, bool):
        message = f"this is a shield of version {shown(version)}"
        hint = f"Surefoot {__version__} reads version {VERSION}"
        raise InputError("shield-version", message, hint=hint)
    for name in MEMBERS:
        if name not in content:
            raise _bad(f"{quoted(name)} is missing")
    for name in content:
        if name not in (*MEMBERS, "surefoot"):
            raise _bad(f"a shield has no member {quoted(name)}")
    _check_members(content["policy"], POLICY_MEMBERS, "policy")
    _check_members(content["task"], {"name": str, "sha256": str}, "task")
    if not isinstance(content["decisions"], list):
        raise _bad("this is not a list of decisions", "/decisions", hint=LOOKS_LIKE)
    return content


def _check_members(member: object, wanted: Mapping[str, Any], what: str) -> None:
    if not isinstance(member, dict) or set(member) != set(wanted):
        raise _bad(f"a {what} has {', '.join(wanted)} here", f"/{what}")
    for name, kind in wanted.items():
        if not isinstance(member[name], kind):
            raise _bad(
                f"{shown(member[name])} is not a valid {name} of a {what}", f"/{what}/{name}"
            )


def _check_task(head: Mapping[str, Any], task: Task) -> None:
    if not task.has_sha256(head["sha256"]):
        raise InputError(
            "shield-other-task",
            f"the shield is for {quoted(head['name'])}, not for {quoted(task.name)} as it is now",
            place="/task",
        )


def _base_of(head: Mapping[str, Any], path: Path, task: Task) -> Policy:
    """Return the policy below the shield, which must be the one it was made for."""
    name = head["name"]
    if BUILT_IN.fullmatch(name):
        if head["interface"] is not None:
            raise _bad(f"{quoted(name)} takes no interface", "/policy/interface")
        base = load_policy(name, task, unfiltered=head["unfiltered"] or None)
    else:
        base = _base_of_file(head, path, task)
    if head["sha256"] != base.sha256:
        raise InputError(
            "shield-other-policy",
            f"{quoted(name)} is not the policy that the shield was made for: it has another "
            "SHA-256",
            place="/policy",
            hint="make the shield again: surefoot export FINDING... --shield FILE",
        )
    return base


def _base_of_file(head: Mapping[str, Any], path: Path, task: Task) -> Policy:
    name = head["name"]
    if "\0" in name or not name:
        raise _bad("this is not a name of a policy", "/policy/name")
    text = str(path.parent / name)
    if split_name(text, what="policy") is not None:
        message = f"the policy is {quoted(name)}, and reading it would run that file"
        hint = "surefoot.shield(policy, faults) does it in Python"
        raise InputError("shield-runs-code", message, place="/policy/name", hint=hint)
    if not os.path.isfile(text):
        message = f"there is no policy {quoted(name)} where the shield is"
        raise InputError("file-not-found", message, place="/policy/name")
    if text.endswith(".jsonl"):
        return load_policy(text, task)
    if kind_of(Path(text)) == SHIELD:
        message = f"the policy {quoted(name)} is a shield itself"
        raise InputError("shield-of-shield", message, place="/policy/name")
    interface = head["interface"]
    interface = path.parent / interface if isinstance(interface, str) else interface
    return load_policy(text, task, interface=interface, unfiltered=head["unfiltered"])


def _check_options(text: str, base: Policy, *, interface: object, unfiltered: bool | None) -> None:
    is_other = unfiltered is not None and unfiltered != base.unfiltered
    if interface is not None or is_other:
        option = "interface" if interface is not None else "unfiltered"
        message = f"the shield {quoted(text)} takes no {option}"
        raise InputError("bad-option", message, hint="it says itself how its policy is read")


def _decisions_of(listed: list[object], task: Task) -> dict[State, str]:
    decisions: dict[State, str] = {}
    for number, entry in enumerate(listed):
        try:
            state, action = _decision_of(entry, task)
            if state in decisions:
                raise InputError("duplicate-state", "this state is listed twice")
            decisions[state] = action
        except SurefootError as error:
            # The place of a variable in the model says nothing about this file.
            error.file, error.place = None, f"/decisions/{number}"
            raise
    return decisions


def _decision_of(entry: Any, task: Task) -> tuple[State, str]:
    is_one = isinstance(entry, dict) and set(entry) == {"state", "action"}
    if not is_one or not isinstance(entry["state"], dict) or not isinstance(entry["action"], str):
        raise _bad("this is not a decision", hint=LOOKS_LIKE)
    try:
        state = task.state({name: _frozen(value) for name, value in entry["state"].items()})
    except (RecursionError, TypeError):
        raise InputError("bad-state", "a value of the state is not a value") from None
    Table.of([(state, entry["action"])], task)  # the action can be taken
    return state, entry["action"]


def _frozen(value: object) -> object:
    """Return a value; lists, as JSON has them, become the tuples they were."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


# -- writing ---------------------------------------------------------------------------------


def write_shield(policy: ShieldedPolicy, path: str | Path) -> Path:
    """Write a shield to a JSON file; the policy below it stays where it is.

    Raises InputError if that policy is in no file, or another kind of file is in the place;
    Unsupported if it is Python code.
    """
    file = check_place(path, (".json",))
    if file.exists() and not _is_shield(file):
        raise InputError(
            "file-exists", "there is already a file here, and it is not a shield", file=str(file)
        )
    member = _policy_member(policy.base, file)
    task = {"name": policy.task.name, "sha256": policy.task.sha256 or ""}
    head = {"surefoot": __version__, SHIELD_KEY: VERSION, "policy": member, "task": task}
    write_files({file: "".join(_pieces(head, policy.decisions)).encode()})
    return file


def _is_shield(file: Path) -> bool:
    try:
        return kind_of(file) == SHIELD
    except InputError:
        return False


def _pieces(head: Mapping[str, object], decisions: Mapping[State, str]) -> Iterator[str]:
    yield json.dumps(head, indent=1)[:-2] + ',\n "decisions": ['
    before = "\n"
    for state, action in decisions.items():
        yield f"{before}  {_json_text({'state': state.to_dict(), 'action': action})}"
        before = ",\n"
    yield "\n ]\n}\n"


def _json_text(content: dict[str, object]) -> str:
    try:
        return json.dumps(content)
    except (TypeError, ValueError):
        message = f"the state {shown(content['state'])} cannot be written as JSON"
        raise Unsupported("state-not-json", message) from None


def _policy_member(base: Policy, file: Path) -> dict[str, object]:
    """Return what a shield says about the policy below it."""
    more = {"sha256": base.sha256, "unfiltered": base.unfiltered}
    if BUILT_IN.fullmatch(base.name):
        return {"name": base.name, "interface": None, **more}
    if base.file is None:
        message = f"policy {quoted(base.name)} is in no file"
        raise InputError("no-policy-file", message, hint="write_policy(...) writes it to one")
    if base.file.suffix == ".py":
        raise Unsupported(
            "shield-of-python",
            f"policy {quoted(base.name)} is Python code, which a shield's file does not run",
            hint="--python FILE.py writes the shield as Python code, too",
        )
    return {"name": _from(file, base.file), "interface": _interface(base, file), **more}


def _interface(base: Policy, file: Path) -> object:
    if base.interface is None:
        return None
    origin = base.interface.origin.file
    if origin is None:
        return base.interface.to_dict()
    is_own = base.file is not None and os.path.realpath(origin) == os.path.realpath(base.file)
    return None if is_own else _from(file, origin)


def _from(file: Path, other: str | Path) -> str:
    """Return the way to another file from where a file is."""
    return os.path.relpath(os.path.realpath(other), os.path.realpath(file.parent))


# -- as Python code ----------------------------------------------------------------------------

MODULE = '''"""A shield that Surefoot {version} made: safe actions in the states of known faults.

Needs nothing but Python. In your program:

    action = shield(state, policy(state))
"""

TASK = {task}
POLICY = {policy}
VARIABLES = {variables}

# The values of the variables, in their order, and the action that is safe there.
DECISIONS = {{
{decisions}}}


def shield(state: dict, action: str) -> str:
    """Return the safe action in the state of a known fault, else the action that was given."""
    return DECISIONS.get(tuple(state[name] for name in VARIABLES), action)
'''


def write_module(policy: ShieldedPolicy, path: str | Path) -> Path:
    """Write the decisions of a shield as a Python module that needs nothing else."""
    file = check_place(path, (".py",))
    if file.exists() and MODULE[:24].encode() not in file.read_bytes()[:100]:
        raise InputError(
            "file-exists", "there is already a file here, and it is not a shield", file=str(file)
        )
    write_files({file: module_text(policy).encode()})
    return file


def module_text(policy: ShieldedPolicy) -> str:
    """Return the decisions of a shield as Python code. Names in it are text, and nothing else."""
    lines = (
        f"    {_literal(state.values_tuple)}: {_literal(action)},\n"
        for state, action in policy.decisions.items()
    )
    return MODULE.format(
        version=__version__,
        task=_literal(policy.task.name),
        policy=_literal(policy.base.name),
        variables=_literal(tuple(policy.task.names)),
        decisions="".join(lines),
    )


def _literal(value: object) -> str:
    """Return a value as Python code. Raises Unsupported for anything but a plain value."""
    text = ascii(value)
    try:
        is_same = ast.literal_eval(text) == value
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        is_same = False
    if not is_same:
        message = f"{printable(text)} cannot be written as Python code"
        raise Unsupported("state-not-literal", message)
    return text
