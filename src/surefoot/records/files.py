"""Records from files and into files: the one place where their shape is checked.

A record is a msgspec struct. What a file holds is converted to it member by member; a member that
is missing, unknown or of another type is an InputError that says where it stands.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from surefoot import __version__
from surefoot.errors import InputError, printable, shown

if TYPE_CHECKING:
    import msgspec

Record = TypeVar("Record")
_PLACE = re.compile(r" - at `(?:key in )?\$([^`]*)`$")
_STEP = re.compile(r"\[(\d+|\.\.\.)\]|\.([^.\[]+)|^([^.\[]+)")


def record_from(
    content: object, kind: type[Record], *, code: str, what: str, hint: str | None = None
) -> Record:
    """Return plain data as a record of this kind.

    Raises InputError with this code, which says in which member the data is not ``what``.
    """
    import msgspec

    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError as error:
        message, place = _explained(str(error))
        raise InputError(code, f"this is not {what}: {message}", place=place, hint=hint) from None
    except RecursionError:
        raise InputError(code, f"this is not {what}: it is nested too deeply") from None
    except UnicodeEncodeError:
        raise InputError(code, f"this is not {what}: a name in it is not Unicode text") from None


def check_version(
    content: object,
    member: str,
    version: int,
    *,
    code: str,
    what: str | None = None,
    other: str | None = None,
) -> None:
    """Return if the member that says which kind of file this is has the version that is read.

    Raises InputError: with this code if there is no such member, with ``other`` (MEMBER-version) if
    the version is another.
    """
    what = what or member
    if not isinstance(content, dict) or member not in content:
        article = "an" if what[0] in "aeiou" else "a"
        raise InputError(
            code, f'this is not {article} {what} of Surefoot: it has no member "{member}"'
        )
    given = content[member]
    if given != version or type(given) is not int:
        raise InputError(
            other or f"{member}-version",
            f"this is a {what} of version {shown(given)}",
            hint=f"Surefoot {__version__} reads version {version}{_writer(content)}",
        )


def _writer(content: dict[str, object]) -> str:
    """Return which version of Surefoot wrote a file, if that is another one."""
    wrote = content.get("surefoot")
    if not isinstance(wrote, str) or wrote == __version__:
        return ""
    return f"; Surefoot {printable(wrote)[:40]} wrote it, use that one"


def plain(record: msgspec.Struct) -> dict[str, object]:
    """Return a record as plain data, ready for JSON. Values that JSON does not know, as states of
    Python tasks may hold them, become their text.
    """
    import msgspec

    content: dict[str, object] = msgspec.to_builtins(record, enc_hook=repr)
    return content


def members(record: msgspec.Struct) -> dict[str, object]:
    """Return the members of a record by name, as :func:`plain` does, but with all that is not a
    record itself left as it is: values of states that JSON does not know are found out later.
    """
    import msgspec

    values = {name: getattr(record, name) for name in record.__struct_fields__}
    return {name: _member(value) for name, value in values.items() if value is not msgspec.UNSET}


def _member(value: object) -> object:
    import msgspec

    if isinstance(value, list) and value and isinstance(value[0], msgspec.Struct):
        return [members(each) for each in value]
    return members(value) if isinstance(value, msgspec.Struct) else value


def _explained(text: str) -> tuple[str, str | None]:
    """Return msgspec's message in our words, and the place as a JSON pointer."""
    match = _PLACE.search(text)
    message = text if match is None else text[: match.start()]
    place = None if match is None else _pointer(match[1])
    return printable(message[:1].lower() + message[1:].replace("`", '"')), place


def _pointer(path: str) -> str | None:
    steps = [next(part for part in step.groups() if part) for step in _STEP.finditer(path)]
    return "".join(f"/{step}" for step in steps) or None
