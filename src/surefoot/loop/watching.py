"""Who wants to see how a loop gets on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from surefoot.records import EvaluateResult, Fault, Iteration

Numbers = Callable[[int, int, int, int, float], object]


class Watch:
    """Is told what happens in a loop; does nothing with it. Derive from it to show something."""

    def stage(self, name: str, iteration: int) -> Numbers | None:
        """Hear that a stage begins; return what its numbers are told to while it runs."""

    def note(self, text: str) -> None:
        """Hear how far the stage is, in words."""

    def evaluated(self, which: str, result: EvaluateResult) -> None:
        """Hear how good the policy is, ``before`` or ``after``."""

    def found(self, iteration: int, faults: Sequence[Fault]) -> None:
        """Hear of new faults, the smallest first: they are on disk."""

    def iterated(self, iteration: Iteration) -> None:
        """Hear of a round that is complete, also of one from before an interruption."""
