"""Replay: does the run of a finding still fail?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from surefoot.errors import NOT_DETERMINISTIC, InputError, printable
from surefoot.findings import Finding, check_same_policy, check_same_task, read_finding
from surefoot.policies import Policy
from surefoot.records import Run
from surefoot.records.common import Result
from surefoot.tasks.state import State
from surefoot.tasks.task import Task
from surefoot.text import counted


@dataclass(frozen=True)
class ReplayResult(Result):
    """What became of a run: whether it still fails, and if not, where it ends.

    At ``step``, in ``state``, the policy now decides on ``now`` where it decided on ``was``; or
    ``reason`` says why the run is not possible there any more.
    """

    still_fails: bool
    steps: int
    step: int
    state: State
    was: str | None = None
    now: str | None = None
    reason: str | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the result as plain data, without what does not apply."""
        content: dict[str, object] = {
            "still_fails": self.still_fails,
            "steps": self.steps,
            "step": self.step,
            "state": self.state.to_dict(),
        }
        more = {"was": self.was, "now": self.now, "reason": self.reason}
        return content | {name: value for name, value in more.items() if value is not None}

    def __str__(self) -> str:
        if self.still_fails:
            return f"still fails after {counted(self.steps, 'step')}, in {self.state}"
        where = f"at step {self.step}, in {self.state}"
        if self.reason is not None:
            return f"does not fail any more: {where}, {self.reason}"
        was, now = printable(self.was or ""), printable(self.now or "")
        return f"does not fail any more: {where}, the policy now decides on {now}, not on {was}"


def replay(
    finding: Finding | str | Path, task: Task | None = None, policy: object = None
) -> ReplayResult:
    """Return whether the run of a finding still fails: every decision is asked for again, the
    outcomes are those of the finding.

    Task and policy are those that the finding names: InputError (``finding-other-task``,
    ``finding-other-policy``) if they have changed since. One that is given is tried as it is.
    """
    loaded_finding = finding if isinstance(finding, Finding) else read_finding(finding)
    loaded = loaded_finding.find_task(task)
    if task is None:
        check_same_task(loaded_finding, loaded)
    bound_policy = loaded_finding.find_policy(loaded, policy)
    if policy is None:
        check_same_policy(loaded_finding, bound_policy)
    return replayed(bound_policy, loaded_finding.run(loaded))


def replayed(policy: Policy, run: Run) -> ReplayResult:
    """Return whether the policy still fails by the run."""
    task = policy.task
    if run.is_known_reachable and not task.is_start(run.start):
        return _over(run, 0, "runs do not start here")
    for step, action in enumerate(run.actions):
        change = _change_at(policy, run, step, action)
        if change is not None:
            return change
    if not task.is_fail(run.states[-1]):
        return _over(run, run.steps, "which is not fail")
    return ReplayResult(True, run.steps, run.steps, run.states[-1])


def _change_at(policy: Policy, run: Run, step: int, action: str) -> ReplayResult | None:
    """Return how the run ends at a step; None if it goes on there as it did."""
    task, state = policy.task, run.states[step]
    if task.is_fail(state) or task.is_goal(state):
        return _over(run, step, "where runs now stop")
    applicable = task.applicable(state)
    if not applicable:
        return _over(run, step, "where no action is applicable now")
    if any(name not in task.silent for name in applicable):
        try:
            now = policy.decide(state)
        except InputError as error:
            if not error.code.startswith("policy-") or error.code == NOT_DETERMINISTIC:
                raise
            return _over(run, step, error.message)
        if now != action:
            return ReplayResult(False, run.steps, step, state, was=action, now=now)
    if action not in applicable or run.states[step + 1] not in task.outcomes(state, action):
        return _over(run, step, f"{printable(action)} cannot lead on as it did")
    return None


def _over(run: Run, step: int, reason: str) -> ReplayResult:
    return ReplayResult(False, run.steps, step, run.states[step], reason=reason)
