"""What a CI server asks about a campaign: checks that pass or do not, and why."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.records import Fault
from surefoot.report.source import CampaignSource
from surefoot.report.words import looked_at, number, percent, plain, state_text
from surefoot.text import counted

CHECKED_FAULTS = 100


@dataclass(frozen=True)
class Check:
    """A claim; ``problem`` says why it does not hold (None: it does), ``text`` what is known.

    ``is_open`` means that this is not known yet: the campaign has not come that far.
    """

    group: str
    name: str
    text: str
    problem: str | None = None
    is_open: bool = False


def checks_of(source: CampaignSource) -> list[Check]:
    """Return the checks of a campaign. All of them pass only if the outcome is safe."""
    return [
        _finished(source),
        _debugged(source),
        _evaluated(source),
        _verified(source),
        *_faults(source),
    ]


def _finished(source: CampaignSource) -> Check:
    problem = None if source.is_finished else source.outcome_text
    text = str(source.content.get("reason") or source.outcome_text)
    return Check(
        "campaign", "the campaign has finished", plain(text), problem, is_open=bool(problem)
    )


def _debugged(source: CampaignSource) -> Check:
    name = "no run fails from the start states that were debugged on"
    if not source.iterations:
        return Check("campaign", name, "", "no iteration is done yet", is_open=True)
    last = source.iterations[-1]
    failing = int(last.get("unsafe_runs") or 0)
    text = f"iteration {last.get('iteration')}: {failing:,} of {counted(last['runs'], 'run')} fail"
    return Check("campaign", name, text, text if failing else None)


def _evaluated(source: CampaignSource) -> Check:
    name = "the policy fails from none of the start states it was evaluated on"
    after = source.evaluation("after")
    if after is None:
        return Check("campaign", name, "", "the repaired policy is not evaluated yet", is_open=True)
    unsafe = int(after.get("unsafe") or 0)
    text = f"it may fail from {unsafe:,} of {counted(after['starts'], 'start state')}"
    return Check("campaign", name, text, text if unsafe else None)


def _verified(source: CampaignSource) -> Check:
    name = "the policy is verified: no run of it fails"
    verification = source.verification
    if not source.is_finished and verification is None:
        return Check("campaign", name, "", "verification is not reached yet", is_open=True)
    if source.outcome == "safe":
        seen = "" if verification is None else f"{looked_at(verification)}: none fails"
        return Check("campaign", name, seen)
    why = (verification or {}).get("reason") or source.content.get("reason") or source.outcome_text
    verdict = (
        "not verified" if verification is None else f"the verdict is {verification.get('verdict')}"
    )
    return Check("campaign", name, "", plain(f"{verdict}: {why}"))


def _faults(source: CampaignSource) -> list[Check]:
    faults = source.faults
    checks = [
        _fault(source, at, fault) for at, fault in enumerate(faults[:CHECKED_FAULTS], start=1)
    ]
    rest = faults[CHECKED_FAULTS:]
    if rest:
        left = sum(not source.is_repaired(fault) for fault in rest)
        name = f"{counted(len(rest), 'further fault')} repaired"
        problem = f"{left:,} of them are not repaired" if left else None
        checks.append(Check("faults", name, "", problem))
    return checks


def _fault(source: CampaignSource, at: int, fault: Fault) -> Check:
    is_repaired = source.is_repaired(fault)
    name = f"fault {at} is repaired: {plain(fault.action)} {fault_id(fault)}"
    problem = None if is_repaired else f"{plain(fault.action)} is a fault, and not repaired"
    return Check("faults", name, fault_text(fault), problem)


def fault_id(fault: Fault) -> str:
    """Return a short name of the decision, the same wherever it is found again."""
    import hashlib
    import json

    decision = json.dumps([fault.state.to_dict(), fault.action], sort_keys=True)
    return hashlib.sha256(decision.encode()).hexdigest()[:12]


def fault_text(fault: Fault, limit: int = 1_000) -> str:
    """Return the fault in words."""
    alternatives = [plain(action, 100) for action in fault.alternatives[:10]]
    instead = f"; safe alternative: {', '.join(alternatives)}" if alternatives else ""
    return (
        f"{plain(fault.action)} in {state_text(fault.state, limit=limit)} may lead "
        f"to {state_text(changed(fault), limit=limit)}, which is unsafe{instead}"
    )


def changed(fault: Fault) -> dict[str, object]:
    """Return the values of the outcome that the step changes; all if it changes none."""
    state, outcome = fault.state.to_dict(), dict(fault.outcome or {})
    new = {name: value for name, value in outcome.items() if state.get(name) != value}
    return new or outcome


def summary(source: CampaignSource) -> dict[str, str]:
    """Return the numbers of a campaign, in words."""
    lines = {"outcome": source.outcome, "iterations": number(len(source.iterations))}
    for when in ("before", "after"):
        result = source.evaluation(when) or {}
        for name in ("unsafe_fraction", "goal_fraction"):
            lines[f"{name} {when}"] = percent(result.get(name))
    repaired = sum(map(source.is_repaired, source.faults))
    return {**lines, "faults": number(len(source.faults)), "faults repaired": number(repaired)}
