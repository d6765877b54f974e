"""Which stages there are, by name. Each is registered in its own module, imported when needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from surefoot.errors import InputError, listed_hint, quoted
from surefoot.jobs.events import Event, Progress
from surefoot.jobs.job import Job, Pair, Result

STAGES: dict[str, str] = {
    "convert": "surefoot.policies.convert.child:convert_job",
    "verify": "surefoot.verify.as_job:verify_job",
}
"""where the function of each stage stands, as ``MODULE:FUNCTION``"""


@dataclass(frozen=True)
class Work:
    """What the function of a stage is given: the job, its pair, where to tell events, and a folder
    for files that goes when the job is done.
    """

    job: Job
    pair: Pair | None
    emit: Callable[[Event], None]
    scratch: Path

    def progress(
        self, names: tuple[str, ...], method: str | None = None
    ) -> Callable[[int, int, int, int, float], None]:
        """Return a callback for numbers by position, the last of which are seconds: it emits them
        under these names.
        """

        def tell(*numbers: float) -> None:
            named = dict(zip(names, numbers, strict=False))
            self.emit(Progress(self.job.stage, named, numbers[-1], method))

        return tell


StageFunction = Callable[[Work], Result]


def register(name: str, home: str) -> None:
    """Add a stage: ``home`` is ``MODULE:FUNCTION``, importable wherever its jobs run."""
    if name in STAGES and STAGES[name] != home:
        raise InputError("bad-stage", f"there is a stage {quoted(name)} already")
    STAGES[name] = home


def stage_of(name: str) -> StageFunction:
    """Return the function of a stage: a registered one, or ``MODULE:FUNCTION`` itself."""
    if name not in STAGES and ":" not in name:
        hint = listed_hint(name, STAGES, "stages")
        raise InputError("unknown-stage", f"there is no stage {quoted(name)}", hint=hint)
    module, _, function = STAGES.get(name, name).partition(":")
    run: StageFunction = getattr(import_module(module), function)
    return run
