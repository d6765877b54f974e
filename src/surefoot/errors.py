"""What can go wrong, in four families.

* :class:`InputError` - something you gave Surefoot is wrong: a file, an option, a state, or the
  model itself (an update that leaves a variable's range). The message names the place and the
  remedy.
* :class:`Unsupported` - the input is legal, but Surefoot does not handle it.
* :class:`OutOfBudget` - time, memory or states ran out before the answer was known.
* :class:`CertificateRejected` - a certificate does not prove what it claims.

Each carries a stable ``code``. Anything else that is raised is a bug of ours.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import NamedTuple

NOT_DETERMINISTIC = "policy-not-deterministic"
"""the code of a policy that is no function of the state: nothing can be said about it"""


class SurefootError(Exception):
    """The base of all errors Surefoot raises on purpose."""

    exit_code = 70

    def __init__(
        self,
        code: str,
        message: str,
        *,
        file: str | None = None,
        place: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.file = file
        self.place = place
        self.hint = hint

    def at(self, *, file: str | None = None, place: str | None = None) -> SurefootError:
        """Return this error with file and place filled in where they were missing."""
        self.file = self.file if self.file is not None else file
        self.place = self.place if self.place is not None else place
        return self

    def __str__(self) -> str:
        where = ":".join(printable(part) for part in (self.file, self.place) if part)
        text = f"{where}: " if where else ""
        text += f"{self.message} [{self.code}]"
        return text + (f"\n  hint: {self.hint}" if self.hint else "")

    def to_dict(self) -> dict[str, str | None]:
        """Return code, message, file, place and hint as plain data."""
        names = ("code", "message", "file", "place", "hint")
        return {name: getattr(self, name) for name in names}


class InputError(SurefootError):
    """Your input is wrong. Look at ``file``, ``place`` (a JSON pointer) and ``hint``; mend it."""

    exit_code = 2


class Unsupported(SurefootError):
    """Your input is legal but needs something that Surefoot does not have."""

    exit_code = 3


class Refusal(NamedTuple):
    """Why something cannot work on what it was given, as data: programs read the code, people the
    sentence.

    Engines return one instead of raising, so that whoever chooses among engines can ask first. It
    is no dataclass: they are slow to import, and every command imports this file.
    """

    code: str
    sentence: str
    hint: str | None = None
    file: str | None = None
    place: str | None = None

    def error(self, *, file: str | None = None) -> Unsupported:
        """Return the refusal as an error to raise."""
        where = file if self.file is None else self.file
        return Unsupported(self.code, self.sentence, file=where, place=self.place, hint=self.hint)

    def __str__(self) -> str:
        return self.sentence


class OutOfBudget(SurefootError):
    """Time, memory or states ran out. Nothing follows about the answer; give more and ask again."""

    exit_code = 4


class CertificateRejected(SurefootError):
    """A certificate does not prove its claim. If Surefoot made it just now, that is our bug."""

    exit_code = 5


def printable(text: str, limit: int = 200) -> str:
    """Return ``text`` with control characters escaped and cut to ``limit`` characters.

    Names come from files of strangers: they must not move the cursor or fill the screen.
    """
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )


def quoted(name: str) -> str:
    """Return a name from the input in double quotes, escaped."""
    return f'"{printable(name)}"'


def shown(value: object) -> str:
    """Return a given value as Python writes it, escaped and cut.

    Python refuses to write integers of thousands of digits, and what is nested thousands of levels
    deep; they are called that.
    """
    try:
        return printable(repr(value))
    except ValueError:
        return "a number of thousands of digits"
    except RecursionError:
        return "something nested thousands of levels deep"


def nearest_hint(name: str, known: Iterable[str]) -> str | None:
    """Return 'did you mean ...?' for the known name most like ``name``, if one is alike."""
    if len(name) > 100:
        return None
    close = difflib.get_close_matches(name, list(known)[:5000], n=1, cutoff=0.6)
    return f"did you mean {quoted(close[0])}?" if close else None


def listed_hint(name: str, known: Iterable[str], what: str) -> str:
    """Return the known names, ``what are: a, b, c``, behind the one most like ``name`` if one is
    alike.
    """
    names = list(known)
    nearest, listed = nearest_hint(name, names), f"{what} are: {', '.join(names)}"
    return f"{nearest} {listed}" if nearest else listed
