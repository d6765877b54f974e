"""Check runs and findings: that a policy's run fails, and that a decision on it is to blame.

A finding holds a run, and what is found on it:

* a *run* begins in a start state (unless it says that nobody knows whether its start can be
  reached), takes the policy's decision in each state, goes on to a possible outcome, and fails in
  its last state and nowhere before.
* a *fault* on it is a decision that may have an unsafe outcome although the state is safe. One
  certificate shows that the outcome is unsafe, one for each alternative that the state is safe by
  taking that.
* a *bug* on it is a state of the run that is safe, as a certificate shows.

With a radius, safe means safe within so many differences from the policy. Numbers of runs, seeds,
and how a start was made say where a finding comes from. Nobody can check them, and nothing follows
from them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from .arithmetic import Scalar
from .certificates import Place, Policy, Steps, check_certificate
from .evidence import (
    Clock,
    Evidence,
    Key,
    Rejected,
    check_policy_member,
    check_task_member,
    is_whole,
    read_claim,
    read_evidence,
    read_list,
    read_members,
    read_names,
    read_rows,
    shown,
)

__all__ = ["RunSteps", "check_finding", "check_run"]

_VERSION = 1
_MEMBERS = ("surefoot", "finding", "kind", "task", "policy", "run")
_RUN_MEMBERS = ("run", "seed", "variables", "known_reachable", "states", "actions")
_OF_ALL = ("step", "state", "radius", "deviations")
_OF_A_FAULT = (*_OF_ALL, "action", "outcome", "alternatives", "uncertified", "more_unknown")


class RunSteps(Steps, Protocol):
    """What is asked of a model about runs."""

    def is_start(self, state: Mapping[str, Scalar]) -> bool: ...


def check_run(
    model: RunSteps,
    run: Mapping[str, object],
    *,
    policy: Policy | None = None,
    max_seconds: float | None = None,
) -> None:
    """Return if the policy fails by this run, and raise Rejected if not.

    Without `policy` its decisions are taken to be those of the run. Raises OutOfTime, and
    ModelError if the model has an error in a state of the run.
    """
    clock = Clock(max_seconds)
    _check_steps(model, _read_run(model, run, clock), policy, clock)


def check_finding(
    model: RunSteps,
    finding: Mapping[str, object],
    *,
    policy: Policy | None = None,
    max_seconds: float | None = None,
) -> None:
    """Return if everything that the finding claims about the model is true, else raise Rejected.

    Without `policy` its decisions are taken to be those of the finding, which must agree among
    themselves. Raises OutOfTime and ModelError as check_certificate does.
    """
    kind = _check_members(finding)
    check = _Check(model, finding, policy, max_seconds)
    check.run()
    if kind == "fault":
        check.fault()
    elif kind == "bug":
        check.bug()


# -- reading -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Run:
    keys: tuple[Key, ...]
    actions: tuple[str, ...]
    is_known_reachable: bool
    variables: object  # their names, as the run has them


def _check_members(finding: object) -> str:
    """Return the kind of a finding. Raises Rejected unless it has the members of that kind."""
    if not isinstance(finding, Mapping):
        raise Rejected(f"a finding is an object, not {shown(finding)}")
    version, kind = finding.get("finding"), finding.get("kind")
    if not is_whole(version) or version != _VERSION:
        raise Rejected(f"version {shown(version)} of findings is not known")
    if kind not in ("run", "fault", "bug"):
        raise Rejected(f"the kind is {shown(kind)}, not run, fault or bug")
    more = () if kind == "run" else (kind, "certificates")
    read_members(finding, (*_MEMBERS, *more), "the finding")
    check_task_member(finding["task"])
    check_policy_member(finding["policy"])
    if not isinstance(finding["surefoot"], str):
        raise Rejected("the version of Surefoot must be a string")
    return str(kind)


def _read_run(model: RunSteps, given: object, clock: Clock) -> _Run:
    is_made = isinstance(given, Mapping) and "made" in given
    run = read_members(given, (*_RUN_MEMBERS, *(("made",) if is_made else ())), "the run")
    is_known = run["known_reachable"]
    if not isinstance(is_known, bool) or (is_known and is_made):
        raise Rejected("known_reachable must be true or false, and false if the start was made")
    if type(run["run"]) is not int or type(run["seed"]) is not int:
        raise Rejected("the number of the run and the seed must be whole numbers")
    if is_made:
        _check_made(run["made"])
    keys = tuple(read_rows(run, model.variables, clock))
    if not keys:
        raise Rejected("the run has no state")
    actions: list[str] = []
    for name in read_list(run["actions"], "actions", len(keys) - 1):
        if not isinstance(name, str) or name not in model.actions:
            raise Rejected(f"actions: {shown(name)} is not known")
        actions.append(name)
    return _Run(keys, tuple(actions), is_known, run["variables"])


def _check_made(made: object) -> None:
    """How a start was made must be told in its own words; nothing follows from it."""
    made = read_members(made, ("reached", "changes"), "what the start was made of")
    changes = read_list(made["changes"], "the changes of the start")
    states = [made["reached"]]
    for change in changes:
        is_action = isinstance(change, Mapping) and "action" in change
        names = ("action", "state") if is_action else ("variable", "value", "state")
        members = read_members(change, names, "a change of the start")
        if not isinstance(members[names[0]], str):
            raise Rejected(f"a change of the start has the {names[0]} {shown(members[names[0]])}")
        states.append(members["state"])
    if not all(isinstance(state, Mapping) for state in states):
        raise Rejected("the states that the start was made of must be objects")


# -- runs --------------------------------------------------------------------------------------


def _check_steps(model: RunSteps, run: _Run, policy: Policy | None, clock: Clock) -> None:
    place = Place(model, run.keys[0])
    if run.is_known_reachable and not model.is_start(place.state):
        raise Rejected(f"the run begins in {_named(model, run, 0)}, which is not a start state")
    for number, action in enumerate(run.actions):
        clock.tick()
        place = Place(model, run.keys[number])
        where = _named(model, run, number)
        if not place.choices:
            raise Rejected(f"the run goes on after {where}, which is terminal")
        _check_decision(model, place, action, policy, where)
        if run.keys[number + 1] not in place.outcomes(action):
            after = _named(model, run, number + 1)
            raise Rejected(f"{after} is not an outcome of {action} in {where}")
    if not Place(model, run.keys[-1]).is_fail:
        raise Rejected(f"the run does not fail: it ends in {_named(model, run, -1)}")


def _check_decision(
    model: RunSteps, place: Place, action: str, policy: Policy | None, where: str
) -> None:
    """An action must be what the policy decides, or a silent one where only those are left."""
    if place.choices == (None,):
        if action not in model.silent:
            raise Rejected(
                f"only silent actions are applicable in {where}, and {action} is not silent"
            )
        return
    loud = tuple(name for name in place.choices if name is not None)
    if action not in loud:
        raise Rejected(f"{action} cannot be decided in {where}")
    decision = action if policy is None else policy(place.state, loud)
    if decision != action:
        raise Rejected(f"the policy decides {shown(decision)}, not {action}, in {where}")


def _named(model: RunSteps, run: _Run, number: int) -> str:
    return f"state {number % len(run.keys)} of the run ({_text(model, run.keys[number])})"


def _text(model: RunSteps, key: Key) -> str:
    names = (variable.name for variable in model.variables)
    text = ", ".join(f"{n} = {shown(value)}" for n, value in zip(names, key, strict=True))
    return f"{text[:200]}{'...' if len(text) > 200 else ''}"


# -- what is found on them ---------------------------------------------------------------------


class _Check:
    """The rules of findings. Each method raises Rejected if its rule is broken."""

    def __init__(
        self,
        model: RunSteps,
        finding: Mapping[str, object],
        policy: Policy | None,
        max_seconds: float | None,
    ) -> None:
        self._model = model
        self._finding = finding
        self._task = check_task_member(finding["task"])
        self._policy_member = check_policy_member(finding["policy"])
        self._policy = policy
        self._end = None if max_seconds is None else time.monotonic() + max_seconds
        self._clock = Clock(max_seconds)
        self._run = _read_run(model, finding["run"], self._clock)
        self._decisions: dict[Key, str] = {}

    def run(self) -> None:
        """The policy must fail by the run, and decide alike where the run comes twice."""
        _check_steps(self._model, self._run, self._policy, self._clock)
        self._agree(zip(self._run.keys, self._run.actions, strict=False))

    def fault(self) -> None:
        """The outcome must be unsafe, and the state safe by each alternative."""
        fault = read_members(self._finding["fault"], _OF_A_FAULT, "the fault")
        step, key = self._state_of(fault, "the fault")
        action, taken = fault["action"], self._run.actions[step]
        if action != taken or taken in self._model.silent:
            raise Rejected(f"the fault is about {shown(action)}, but the run takes {taken}")
        (outcome,) = self._keys([fault["outcome"]])
        if outcome not in Place(self._model, key).outcomes(taken):
            raise Rejected(f"{_text(self._model, outcome)} is not an outcome of the decision")
        given = self._certificates(("outcome", "alternatives", "deviations"))
        self._claim(given["outcome"], "unsafe", fault["radius"], outcome)
        self._alternatives(fault, key, given["alternatives"])
        self._deviations(fault, key, given["deviations"])

    def bug(self) -> None:
        """The state must be safe."""
        bug = read_members(self._finding["bug"], _OF_ALL, "the bug")
        _, key = self._state_of(bug, "the bug")
        given = self._certificates(("state", "deviations"))
        self._claim(given["state"], "safe", bug["radius"], key)
        self._deviations(bug, key, given["deviations"])

    def _certificates(self, names: Sequence[str]) -> Mapping[str, object]:
        return read_members(self._finding["certificates"], names, "the certificates")

    def _state_of(self, entry: Mapping[str, object], what: str) -> tuple[int, Key]:
        """Return step and state of a fault or bug, which must be that of the step on the run."""
        step = entry["step"]
        if not is_whole(step) or step >= len(self._run.actions):
            raise Rejected(f"{what} is at step {shown(step)}, which the run does not have")
        (key,) = self._keys([entry["state"]])
        if key != self._run.keys[step]:
            where = _named(self._model, self._run, step)
            raise Rejected(f"{what} is about {_text(self._model, key)}, not about {where}")
        return step, key

    def _keys(self, states: list[object]) -> list[Key]:
        holder = {"variables": self._run.variables, "states": states}
        return list(read_rows(holder, self._model.variables, self._clock))

    def _alternatives(self, fault: Mapping[str, object], key: Key, given: object) -> None:
        """Each alternative must be certified, or listed as one that is not; one must be."""
        loud = [name for name in self._model.actions if name not in self._model.silent]
        alternatives = read_names(fault["alternatives"], "alternatives", loud)
        uncertified = read_names(fault["uncertified"], "uncertified", alternatives)
        if not isinstance(fault["more_unknown"], bool):
            raise Rejected("more_unknown must be true or false")
        certified = [name for name in alternatives if name not in uncertified]
        if not certified:
            raise Rejected("no alternative has a certificate")
        if fault["action"] in alternatives:
            raise Rejected(f"{fault['action']} is not an alternative to itself")
        for name in uncertified:
            if not Place(self._model, key).outcomes(name):
                raise Rejected(f"{name} is not applicable in the state of the fault")
        certificates = read_members(given, certified, "the certificates of the alternatives")
        for name in certified:
            evidence = self._claim(certificates[name], "safe", fault["radius"], key)
            if name not in evidence.entries.get(evidence.state, {}).values():
                raise Rejected(f"the certificate of {name} does not choose it in that state")

    def _deviations(self, entry: Mapping[str, object], key: Key, given: object) -> None:
        """The number must be enough, and one fewer too few; infinity: no finite one is enough."""
        least, certificates = entry["deviations"], read_list(given, "deviations")
        claims: Sequence[tuple[str, object]]
        if least is None:
            claims = []
        elif least == "inf":
            claims = [("unsafe", "finite")]
        elif is_whole(least):
            claims = [("safe", least), ("unsafe", least - 1)][: 1 + bool(least)]
        else:
            raise Rejected(f"deviations are a number, inf or null, not {shown(least)}")
        if len(certificates) != len(claims):
            raise Rejected(f"{len(claims)} certificates of deviations are needed")
        for certificate, (verdict, radius) in zip(certificates, claims, strict=True):
            self._claim(certificate, verdict, radius, key)

    def _claim(self, given: object, verdict: str, radius: object, key: Key) -> Evidence:
        """Return the evidence of a certificate that proves this and nothing else."""
        left = None if self._end is None else max(self._end - time.monotonic(), 0.0)
        check_certificate(self._model, given, policy=self._policy, max_seconds=left)
        loud = {name for name in self._model.actions if name not in self._model.silent}
        evidence = read_evidence(
            given, variables=self._model.variables, actions=loud, clock=self._clock
        )
        certificate = read_claim(given)
        about = (certificate["claim"], certificate["radius"], evidence.keys[evidence.state])
        if type(certificate["radius"]) is not type(radius) or about != (verdict, radius, key):
            within = "" if radius is None else f" within {radius} differences"
            what = f"{verdict}{within}: {_text(self._model, key)}"
            raise Rejected(f"a certificate is about something else than {what}")
        if check_task_member(certificate["task"])["sha256"] != self._task["sha256"]:
            raise Rejected("a certificate is about another task")
        if radius is not None and certificate["policy"] != self._policy_member["name"]:
            raise Rejected("a certificate is about another policy")
        self._agree(zip(evidence.keys, evidence.decisions, strict=True))
        return evidence

    def _agree(self, decisions: Iterator[tuple[Key, str | None]]) -> None:
        """A policy is a function: the same state, the same decision, wherever it is listed."""
        for key, action in decisions:
            if action is None or action in self._model.silent:
                continue
            if self._decisions.setdefault(key, action) != action:
                where = _text(self._model, key)
                raise Rejected(f"two decisions are listed for the state {where}")
