"""What a job tells while it runs, and at its end. Each event has one form as a line of JSON."""

from __future__ import annotations

import msgspec

from surefoot.errors import (
    CertificateRejected,
    InputError,
    OutOfBudget,
    SurefootError,
    Unsupported,
)

ERRORS: dict[str, type[SurefootError]] = {
    "input": InputError,
    "unsupported": Unsupported,
    "budget": OutOfBudget,
    "certificate": CertificateRejected,
}
"""the families of errors by the names that they travel under"""


class Progress(msgspec.Struct, frozen=True, tag="progress", forbid_unknown_fields=True):
    """How far the job is. ``numbers`` have names: states, runs, bytes, ..."""

    stage: str
    numbers: dict[str, int | float]
    seconds: float = 0.0
    method: str | None = None


class Found(msgspec.Struct, frozen=True, tag="found", forbid_unknown_fields=True):
    """Something that the job has found already: a failing run, a better policy, an iteration."""

    kind: str
    content: dict[str, object]


class Note(msgspec.Struct, frozen=True, tag="note", forbid_unknown_fields=True):
    """What the job does now, in words."""

    text: str


class Done(msgspec.Struct, frozen=True, tag="done", forbid_unknown_fields=True):
    """The job has ended with a result: plain data, and files as bytes."""

    content: dict[str, object]
    files: dict[str, bytes] = {}


class Failed(msgspec.Struct, frozen=True, tag="failed", forbid_unknown_fields=True):
    """The job has ended with one of Surefoot's errors; ``kind`` is its family."""

    kind: str
    code: str
    message: str
    file: str | None = None
    place: str | None = None
    hint: str | None = None

    def error(self) -> SurefootError:
        """Return the error, to be raised again."""
        return ERRORS[self.kind](
            self.code, self.message, file=self.file, place=self.place, hint=self.hint
        )


Event = Progress | Found | Note | Done | Failed
_DECODER: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


def line_of(event: Event) -> bytes:
    """Return an event as a line of JSON."""
    return msgspec.json.encode(event) + b"\n"


def event_of(line: bytes) -> Event:
    """Return the event that stands in a line. Raises ValueError if there is none."""
    event = _DECODER.decode(line)
    if isinstance(event, Failed) and event.kind not in ERRORS:
        raise ValueError(f"there are no errors of the kind {event.kind!r}")
    return event


def failed(error: SurefootError) -> Failed:
    """Return the event for an error."""
    kind = next((name for name, family in ERRORS.items() if isinstance(error, family)), "input")
    return Failed(kind, error.code, error.message, error.file, error.place, error.hint)
