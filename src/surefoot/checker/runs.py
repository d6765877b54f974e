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
from typing import Any, Protocol

from .certificates import Place, Policy, Steps, check_certificate
from .evidence import (
    Clock,
    Evidence,
    Key,
    Rejected,
    check_task_member,
    is_whole,
    read_evidence,
    read_list,
    read_names,
    read_rows,
    shown,
)

__all__ = ["RunSteps", "check_finding", "check_run"]

_VERSION = 1
_MEMBERS = ("surefoot", "finding", "kind", "task", "policy", "run")
_POLICY_MEMBERS = ("name", "sha256", "interface", "unfiltered")
_RUN_MEMBERS = ("run", "seed", "variables", "known_reachable", "states", "actions")
_OF_ALL = ("step", "state", "radius", "deviations")
_OF_A_FAULT = (*_OF_ALL, "action", "outcome", "alternatives", "uncertified", "more_unknown")


class RunSteps(Steps, Protocol):
    """What is asked of a model about runs."""

    def is_start(self, state: Mapping[str, Any]) -> bool: ...


def check_run(
    model: RunSteps,
    run: Mapping[str, Any],
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
    finding: Mapping[str, Any],
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


def _check_members(finding: Any) -> str:
    """Return the kind of a finding. Raises Rejected unless it has the members of that kind."""
    if not isinstance(finding, Mapping):
        raise Rejected(f"a finding is an object, not {shown(finding)}")
    version, kind = finding.get("finding"), finding.get("kind")
    if not is_whole(version) or version != _VERSION:
        raise Rejected(f"version {shown(version)} of findings is not known")
    if kind not in ("run", "fault", "bug"):
        raise Rejected(f"the kind is {shown(kind)}, not run, fault or bug")
    more = () if kind == "run" else (kind, "certificates")
    _check_names(finding, (*_MEMBERS, *more), "the finding")
    check_task_member(finding["task"])
    _check_names(finding["policy"], _POLICY_MEMBERS, "the policy")
    texts = (finding["surefoot"], finding["policy"]["name"])
    if not all(isinstance(each, str) for each in texts):
        raise Rejected("the version of Surefoot and the name of the policy must be strings")
    return str(kind)


def _check_names(value: Any, wanted: Sequence[str], what: str) -> None:
    if not isinstance(value, Mapping):
        raise Rejected(f"{what} must be an object, not {shown(value)}")
    for name in (*wanted, *value):
        if name not in value or name not in wanted:
            why = "has no place in" if name in value else "is missing in"
            raise Rejected(f"{shown(name)} {why} {what}")


def _read_run(model: RunSteps, run: Any, clock: Clock) -> _Run:
    is_made = isinstance(run, Mapping) and "made" in run
    _check_names(run, (*_RUN_MEMBERS, *(("made",) if is_made else ())), "the run")
    is_known = run["known_reachable"]
    if not isinstance(is_known, bool) or (is_known and is_made):
        raise Rejected("known_reachable must be true or false, and false if the start was made")
    keys = tuple(read_rows(run, model.variables, clock))
    if not keys:
        raise Rejected("the run has no state")
    actions = read_list(run["actions"], "actions", len(keys) - 1)
    for name in actions:
        if not isinstance(name, str) or name not in model.actions:
            raise Rejected(f"actions: {shown(name)} is not known")
    return _Run(keys, tuple(actions), is_known)


# -- runs --------------------------------------------------------------------------------------


def _check_steps(model: RunSteps, run: _Run, policy: Policy | None, clock: Clock) -> None:
    place = Place(model, run.keys[0])
    if run.is_known_reachable and not model.is_start(place.state):
        raise Rejected(f"the run begins in {_named(model, run, 0)}, which is no start state")
    for number, action in enumerate(run.actions):
        clock.tick()
        place = Place(model, run.keys[number])
        where = _named(model, run, number)
        if not place.choices:
            raise Rejected(f"the run goes on after {where}, which is terminal")
        _check_decision(model, place, action, policy, where)
        if run.keys[number + 1] not in place.outcomes(action):
            after = _named(model, run, number + 1)
            raise Rejected(f"{after} is no outcome of {action} in {where}")
    if not Place(model, run.keys[-1]).is_fail:
        raise Rejected(f"the run does not fail: it ends in {_named(model, run, -1)}")


def _check_decision(
    model: RunSteps, place: Place, action: str, policy: Policy | None, where: str
) -> None:
    """An action must be what the policy decides, or a silent one where only those are left."""
    if place.choices == (None,):
        if action not in model.silent:
            raise Rejected(f"only silent actions are applicable in {where}, and {action} is none")
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
        finding: Mapping[str, Any],
        policy: Policy | None,
        max_seconds: float | None,
    ) -> None:
        self._model = model
        self._finding = finding
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
        fault = self._finding["fault"]
        _check_names(fault, _OF_A_FAULT, "the fault")
        key = self._state_of(fault, "the fault")
        step, action = fault["step"], fault["action"]
        if action != self._run.actions[step] or action in self._model.silent:
            taken = self._run.actions[step]
            raise Rejected(f"the fault is about {shown(action)}, but the run takes {taken}")
        (outcome,) = self._keys([fault["outcome"]])
        if outcome not in Place(self._model, key).outcomes(action):
            raise Rejected(f"{_text(self._model, outcome)} is no outcome of the decision")
        given = self._certificates(("outcome", "alternatives", "deviations"))
        self._claim(given["outcome"], "unsafe", fault["radius"], outcome)
        self._alternatives(fault, key, given["alternatives"])
        self._deviations(fault, key, given["deviations"])

    def bug(self) -> None:
        """The state must be safe."""
        bug = self._finding["bug"]
        _check_names(bug, _OF_ALL, "the bug")
        key = self._state_of(bug, "the bug")
        given = self._certificates(("state", "deviations"))
        self._claim(given["state"], "safe", bug["radius"], key)
        self._deviations(bug, key, given["deviations"])

    def _certificates(self, names: Sequence[str]) -> Mapping[str, Any]:
        given: Mapping[str, Any] = self._finding["certificates"]
        _check_names(given, names, "the certificates")
        return given

    def _state_of(self, found: Mapping[str, Any], what: str) -> Key:
        """Return the state of a fault or bug, which must be that of its step on the run."""
        step = found["step"]
        if not is_whole(step) or step >= len(self._run.actions):
            raise Rejected(f"{what} is at step {shown(step)}, which the run does not have")
        (key,) = self._keys([found["state"]])
        if key != self._run.keys[step]:
            where = _named(self._model, self._run, step)
            raise Rejected(f"{what} is about {_text(self._model, key)}, not about {where}")
        return key

    def _keys(self, states: list[Any]) -> list[Key]:
        holder = {"variables": self._finding["run"]["variables"], "states": states}
        return list(read_rows(holder, self._model.variables, self._clock))

    def _alternatives(self, fault: Mapping[str, Any], key: Key, given: Any) -> None:
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
        _check_names(given, certified, "the certificates of the alternatives")
        for name in certified:
            evidence = self._claim(given[name], "safe", fault["radius"], key)
            if name not in evidence.entries.get(evidence.state, {}).values():
                raise Rejected(f"the certificate of {name} does not choose it in that state")

    def _deviations(self, found: Mapping[str, Any], key: Key, given: Any) -> None:
        """The number must be enough, and one fewer too few; infinity: no finite one is enough."""
        least, certificates = found["deviations"], read_list(given, "deviations")
        claims: list[tuple[str, int | str]]
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

    def _claim(
        self, certificate: Any, verdict: str, radius: int | str | None, key: Key
    ) -> Evidence:
        """Return the evidence of a certificate that proves this and nothing else."""
        left = None if self._end is None else max(self._end - time.monotonic(), 0.0)
        check_certificate(self._model, certificate, policy=self._policy, max_seconds=left)
        loud = {name for name in self._model.actions if name not in self._model.silent}
        evidence = read_evidence(
            certificate, variables=self._model.variables, actions=loud, clock=self._clock
        )
        about = (certificate["claim"], certificate["radius"], evidence.keys[evidence.state])
        if type(certificate["radius"]) is not type(radius) or about != (verdict, radius, key):
            within = "" if radius is None else f" within {radius} differences"
            what = f"{verdict}{within}: {_text(self._model, key)}"
            raise Rejected(f"a certificate is about something else than {what}")
        if certificate["task"]["sha256"] != self._finding["task"]["sha256"]:
            raise Rejected("a certificate is about another task")
        if radius is not None and certificate["policy"] != self._finding["policy"]["name"]:
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
