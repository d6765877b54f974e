"""What ``surefoot check`` says about records of repairs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.cli.checked_policy import interface_member, interface_text
from surefoot.cli.policy_arguments import PolicyArguments
from surefoot.errors import InputError
from surefoot.text import counted

if TYPE_CHECKING:
    from rich.text import Text

    from surefoot.cli.deadline import Deadline
    from surefoot.findings.repairs import RepairRecord
    from surefoot.policies import Policy
    from surefoot.tasks.task import Task


@dataclass(frozen=True)
class AcceptedRepair:
    """A repair of which everything holds. ``not_recomputed`` says why decisions of a policy are
    those of the record, ``distance_not_recomputed`` the same of the distance.
    """

    file: Path
    task: Task
    record: RepairRecord
    before: Policy | None
    policy: Policy | None
    not_recomputed: str | None
    distance_not_recomputed: str | None
    seconds: float

    @property
    def policy_name(self) -> str | None:
        """The repaired policy: that which was asked, if any."""
        named = self.record.record.after.name
        return str(named) if self.policy is None else self.policy.name

    def proved(self) -> dict[str, Any]:
        """Return what is proved, as plain data."""
        record = self.record.record
        proved = {
            "accepted": True,
            "repair": record.repair,
            "before": record.before.name,
            "after": record.after.name,
            "faults": len({(str(fault.state), fault.action) for fault in record.faults}),
            "any_other": record.any_other,
            "distance": record.distance,
            "recomputed": self.not_recomputed is None,
            "distance_recomputed": self.distance_not_recomputed is None,
        }
        proved |= interface_member(self.policy)
        proved |= {f"before_{name}": each for name, each in self._of_the_old_policy().items()}
        why = self.not_recomputed or self.distance_not_recomputed
        return proved if why is None else {**proved, "not_recomputed": why}

    def _of_the_old_policy(self) -> dict[str, object]:
        return interface_member(self.before)

    def text(self) -> Text:
        """Return what is proved, in words."""
        from rich.text import Text

        proved = self.proved()
        distance = f"distance {proved['distance']:.4g}"
        if self.distance_not_recomputed is not None:
            distance += f" as the record says: {self.distance_not_recomputed}"
        summary = f"{distance}; checked in {self.seconds:,.3f} s"
        if self.not_recomputed is not None:
            summary += f"; decisions not recomputed: {self.not_recomputed}"
        gone = "is gone" if proved["faults"] == 1 else "are gone"
        old = interface_text(self._of_the_old_policy())
        return Text.assemble(
            ("repair", "bold green"),
            f": {counted(proved['faults'], 'fault')} {gone} ({summary})",
            interface_text(proved),
            old and f"; before{old.removeprefix(';').replace(';', ',')}",
        )


def checked_repair(
    record: RepairRecord,
    file: Path,
    task: Task,
    policy: PolicyArguments,
    deadline: Deadline,
) -> AcceptedRepair:
    """Return the repair of a file if it is accepted; ``policy`` is the repaired one, if given."""
    from surefoot.cli.certificate_task import policy_of_finding

    with deadline.working("checking"):
        before, why_before = policy_of_finding(record.about("before"), PolicyArguments(), task)
        after, why_after = policy_of_finding(record.about("after"), policy, task)
        begin = time.perf_counter()
        distance = record.check(task, before, after, max_seconds=deadline.left)
    why = why_before or why_after
    seconds = time.perf_counter() - begin
    return AcceptedRepair(file, task, record, before, after, why, distance, seconds)


def repair_in(content: object, file: Path) -> RepairRecord | None:
    """Return the record of a repair if this is one; None if it is something else."""
    if not isinstance(content, dict) or "repair" not in content or "finding" in content:
        return None
    from surefoot.findings.repairs import repair_from

    try:
        return repair_from(content, file)
    except InputError as error:
        raise error.at(file=str(file)) from None
