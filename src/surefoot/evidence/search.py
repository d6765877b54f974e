"""The search for faults on failing runs: run after run, each fault is told once.

The command line, the debugging loop and the pytest plug-in all go this way. Give the shortest run
first: then each fault is found on a shortest run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from surefoot.faults import FaultFinder
from surefoot.options import FaultOptions
from surefoot.oracles.engine import ProgressCallback
from surefoot.policies import Policy
from surefoot.records import Bug, Fault, FaultsResult, Run
from surefoot.tasks.state import State

Key = tuple[State, str | None]
"""what tells one fault from another: its state and its action; of a bug, its state"""


@dataclass(frozen=True)
class Examined:
    """A run, the faults on it that were not known before (bugs, where only these are looked for),
    and whether it is unavoidable.
    """

    run: Run
    new: tuple[Fault | Bug, ...]
    is_unavoidable: bool


class FaultSearch:
    """Faults on failing runs of a policy; ``known`` are those that are not told again."""

    def __init__(self, policy: Policy, options: FaultOptions, *, known: Iterable[Key] = ()) -> None:
        self.finder = FaultFinder(policy.task, policy, options=options)
        self.is_complete = True
        self._wants_bugs = options.bugs_only
        self._known = set(known)

    def examined(
        self,
        runs: Sequence[Run],
        *,
        is_over: Callable[[], bool] = lambda: False,
        note: Callable[[int], ProgressCallback | None] = lambda number: None,
    ) -> Iterator[Examined]:
        """Yield one run after the other; it is not complete if it is over before the last.

        ``note`` is called with the number of each run before it is examined, and returns what is
        told how far that is.
        """
        for number, run in enumerate(runs):
            if is_over():
                self.is_complete = False
                return
            yield self._examined(run, note(number))

    def result(self) -> FaultsResult:
        """Return what was found on all runs so far."""
        return self.finder.result()

    def _examined(self, run: Run, progress: ProgressCallback | None) -> Examined:
        before = len(self.finder.unavoidable)
        faults = self.finder.add(run, progress=progress)
        candidates = self.finder.bugs if self._wants_bugs else faults
        new = tuple(each for each in candidates if self._is_new(each))
        return Examined(run, new, len(self.finder.unavoidable) > before)

    def _is_new(self, each: Fault | Bug) -> bool:
        key = (each.state, each.action if isinstance(each, Fault) else None)
        is_new = key not in self._known
        self._known.add(key)
        return is_new
