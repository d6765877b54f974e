"""What is known in the middle of the loop: the lines so far, folded together."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

from surefoot.loop.made import Failed, Made
from surefoot.loop.starts import Starts
from surefoot.policies import Policy
from surefoot.records import Fault
from surefoot.records.lines import FaultsLine, Line, RepairLine
from surefoot.tasks.state import State as TaskState

ORIGINAL = 0  # the number of the policy before any repair


@dataclass(frozen=True)
class State:
    """What is known so far. ``policies`` are the original and those of the rounds; ``failed`` says
    why the repair that was tried last was not possible.
    """

    policies: tuple[Policy, ...]
    lines: tuple[Line, ...] = ()
    starts: Starts | None = None
    faults: tuple[Fault, ...] = ()
    suspects: tuple[Fault, ...] = ()
    failed: Failed | None = None

    def after(self, made: Made | Failed) -> State:
        """Return what is known after a further stage."""
        if isinstance(made, Failed):
            return replace(self, failed=made)
        repaired = () if made.policy is None else (made.policy,)
        return replace(
            self,
            lines=(*self.lines, made.line),
            starts=made.starts or self.starts,
            policies=(*self.policies, *repaired),
            faults=(*self.faults, *made.faults),
            suspects=(*self.suspects, *made.suspects),
            failed=None,
        )

    @property
    def last(self) -> Line | None:
        """The line of the last stage; None if there was none."""
        return self.lines[-1] if self.lines else None

    @property
    def round(self) -> int:
        """Which round this is, from 1."""
        return len(self.policies)

    @property
    def policy(self) -> Policy:
        """The policy of this round."""
        return self.policies[-1]

    @property
    def repairs(self) -> dict[int, RepairLine]:
        """The repairs so far, by round."""
        return {line.iteration: line for line in self.lines if isinstance(line, RepairLine)}

    @property
    def seen(self) -> frozenset[tuple[TaskState, str]]:
        """Decisions that are not new. What is suspected in this round is not repaired yet."""
        repaired = [fault for fault in self.suspects if fault.iteration != self.round]
        return frozenset(fault.key for fault in (*self.faults, *repaired))

    @property
    def unsafe_runs(self) -> dict[int, int]:
        """How many runs of a policy failed, for each policy that was fuzzed from all starts."""
        wanted = None if self.starts is None else len(self.starts.debugging)
        return {
            line.iteration - 1: line.unsafe_runs
            for line in self.lines
            if isinstance(line, FaultsLine) and line.origin == "fuzz" and line.runs == wanted
        }

    @property
    def best(self) -> int:
        """The policy with the fewest failing runs: the latest of them."""
        counts = self.unsafe_runs
        return min(counts, key=lambda number: (counts[number], -number), default=ORIGINAL)

    @property
    def untried(self) -> int | None:
        """The policy of the last repair, if it was not fuzzed from all starts, and none that was is
        better than the original.
        """
        last = len(self.policies) - 1
        is_untried = last != ORIGINAL and last not in self.unsafe_runs
        return last if is_untried and self.best == ORIGINAL else None

    @property
    def careful_rounds(self) -> frozenset[int]:
        """The rounds with precautions."""
        looks = [line for line in self.lines if isinstance(line, FaultsLine)]
        return frozenset(line.iteration for line in looks if line.origin == "boxes" and line.is_new)

    @property
    def gave_up(self) -> bool:
        """Whether precautions could not be repaired; then there are no more of them."""
        if any(line.without_precautions for line in self.repairs.values()):
            return True
        behind = (*self.lines[1:], *(() if self.failed is None else (self.failed,)))
        return any(
            isinstance(line, FaultsLine)
            and line.is_precaution
            and not isinstance(after, RepairLine)
            for line, after in itertools.pairwise((*self.lines[:1], *behind))
        )

    def guilty(self, *, with_precautions: bool = True) -> list[Fault]:
        """Return all decisions that are to be changed. Of suspects in the same state the last one
        counts: what is safe after them was found for the policy of its round.
        """
        proved = {fault.state for fault in self.faults}
        leaves_out = self.gave_up or not with_precautions
        left_out = self.careful_rounds if leaves_out else frozenset()
        suspects = [fault for fault in self.suspects if fault.iteration not in left_out]
        last = {fault.state: fault for fault in suspects if fault.state not in proved}
        return [*self.faults, *last.values()]
