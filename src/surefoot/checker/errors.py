"""What the checker raises."""

from __future__ import annotations


class ReadError(Exception):
    """The file cannot be read, or what it says means nothing."""


class NotSupported(Exception):
    """The file uses a feature that Surefoot gives no meaning to."""


class ModelError(Exception):
    """The model went wrong in a state: an evaluation error or an update out of range.

    ``kind`` is one of overflow, division-by-zero, not-finite, negative-exponent, bad-log,
    index-out-of-bounds, out-of-range, conflicting-assignments, empty-interval and
    negative-probability; ``detail`` says where and with which values.
    """

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail
