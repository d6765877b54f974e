"""What the corpus says about its entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from surefoot.errors import SurefootError, printable
from surefoot.records.common import Result
from surefoot.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

Status = Literal["kept", "new", "replaced", "known", "fails", "mended", "removed", "refused"]
SHOWN_STATE = 300


@dataclass(frozen=True)
class CorpusEntry(Result):
    """A finding in the corpus, by what it is about, and what became of it.

    ``status`` is ``kept`` where nothing was asked. Adding says ``new``, ``replaced`` (there was one
    that is longer, or does not fail any more), or ``known``; pruning ``fails``, ``removed``, or
    ``mended`` if it would be removed; both ``refused``, with the ``error``, where it could not be
    tried. ``state`` and ``action`` are those of the fault; of a run alone there are none.
    """

    file: str
    kind: str
    task: str
    policy: str
    steps: int
    state: Mapping[str, object] | None = None
    action: str | None = None
    status: Status = "kept"
    error: SurefootError | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as plain data, without what does not apply."""
        names = ("file", "kind", "task", "policy", "steps", "state", "action", "status")
        content: dict[str, Any] = {name: getattr(self, name) for name in names}
        if self.error is not None:
            content["error"] = self.error.to_dict()
        return {name: value for name, value in content.items() if value is not None}

    @property
    def what(self) -> str:
        """What it is about, in words."""
        if self.state is None:
            return f"{self.kind} of {counted(self.steps, 'step')}"
        values = ",".join(f"{name}={value}" for name, value in self.state.items())
        action = "" if self.action is None else f" {printable(self.action)}"
        where = printable(values, SHOWN_STATE)
        return f"{self.kind}:{action} in {where}, {counted(self.steps, 'step')}"

    def __str__(self) -> str:
        if self.error is not None:
            return f"{printable(self.file, 400)}: {self.error.message} [{self.error.code}]"
        return f"{printable(self.file, 400)}: {self.what}"
