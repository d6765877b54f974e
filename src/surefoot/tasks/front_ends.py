"""The front ends by name, and which one is for which address.

The address of a task names its front end, the first of these that fits:

* ``NAME:...``, such as ``domain:one-way-line``;
* ``FILE.py:NAME:...``, a front end in a file of the user's, which is run;
* ``FILE.py:NAME``: the front end ``python``;
* a file whose suffix is the name of a front end: ``model.jani``.

Anything else is a JANI file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from surefoot.errors import InputError, quoted
from surefoot.registry import Registry, of_class, runs_code
from surefoot.tasks.front_end import FrontEnd, FrontEndOptions, flag, is_given, unknown_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from surefoot.tasks.compiled_task import CompiledTask
    from surefoot.tasks.description import Description
    from surefoot.tasks.expressions import Expr

JANI, DOMAIN, PYTHON = "jani", "domain", "python"
"""built-in front ends; what has no other is read as JANI, and tasks are handed over in it"""
FRONT_ENDS: Registry[FrontEnd[FrontEndOptions]] = Registry(
    "front end",
    group="surefoot.front_ends",
    component=of_class("front end", FrontEnd),
    package="surefoot.tasks",
    constant="FRONT_END",
    made_by="FrontEnd",
    first=(JANI, DOMAIN, PYTHON),
)
"""front ends by name"""
_OF_FILE = re.compile(r"(.+?\.py:\w+):(.+)", re.DOTALL)


@dataclass(frozen=True)
class Address:
    """The text that names a task, taken apart: the name of its front end, what stands before the
    rest, and the rest.
    """

    front_end: str
    prefix: str
    rest: str

    @property
    def runs_code(self) -> bool:
        """Whether reading it runs code that does not come with Surefoot."""
        if self.front_end not in FRONT_ENDS.built_in:
            return True
        return FRONT_ENDS[self.front_end].runs_code(self.rest)


def address_of(text: str) -> Address:
    """Return the address that a text is. Nothing is imported from elsewhere, no file is run."""
    name, colon, rest = text.partition(":")
    if colon and name in FRONT_ENDS.built_in:
        return Address(name, f"{name}:", rest)
    if (match := _OF_FILE.fullmatch(text)) is not None:
        return Address(match[1], f"{match[1]}:", match[2])
    if runs_code(text) or text.endswith((".py", ".py:")):
        return Address(PYTHON, "", text)
    if colon and name in FRONT_ENDS:
        return Address(name, f"{name}:", rest)
    return Address(of_file(text), "", text)


def of_file(path: str) -> str:
    """Return the name of the front end for a file, by its suffix."""
    suffix = PurePath(path).suffix[1:].lower()
    is_named = bool(suffix) and suffix not in (JANI, DOMAIN, PYTHON) and suffix in FRONT_ENDS
    return suffix if is_named else JANI


def options_of(address: Address, text: str, given: Mapping[str, object]) -> FrontEndOptions:
    """Return options as the front end of an address takes them. Raises InputError (``bad-option``)
    if it has no such option.
    """
    front_end = FRONT_ENDS[address.front_end]
    values = {name: value for name, value in given.items() if is_given(value)}
    for name in values:
        if name not in front_end.options.names():
            raise _refused(name, front_end, text)
    return front_end.options(**values)


def options_of_words(address: Address, text: str, words: Mapping[str, object]) -> FrontEndOptions:
    """Return what :func:`options_of` does, for words."""
    front_end = FRONT_ENDS[address.front_end]
    for word in words:
        if front_end.options.name_of(word) is None:
            raise _refused(word, front_end, text)
    return front_end.options.from_words(words)


def _refused(given: str, front_end: FrontEnd[FrontEndOptions], text: str) -> InputError:
    """Return the error for an option that the front end does not have."""
    for other in map(FRONT_ENDS.__getitem__, FRONT_ENDS.built_in):
        name = given if given in other.options.names() else other.options.name_of(given)
        if name is not None:
            word = flag(other.options.word(name))
            return InputError(
                "bad-option",
                f"{name} ({word}) is for {other.about}; {quoted(text)} brings its own",
                hint=front_end.instead.get(name),
            )
    return unknown_option(given, front_end.options)


# -- tasks as files ------------------------------------------------------------------------------


def writers() -> tuple[str, ...]:
    """Return the built-in front ends to whose files tasks can be written."""
    return tuple(name for name in FRONT_ENDS.built_in if FRONT_ENDS[name].text is not None)


def task_text(description: Description, front_end: str = JANI) -> Iterator[str]:
    """Return the pieces of a file with the description: in the form in which tasks are handed over,
    or in that of another front end, one of :func:`writers`.
    """
    text = FRONT_ENDS[front_end].text
    assert text is not None
    return iter(text(description))


def old_sha256(description: Description) -> str:
    """Return the hash by which versions before 0.2 knew a task."""
    hashed = FRONT_ENDS[JANI].old_sha256
    assert hashed is not None
    return hashed(description)


def predicates_in(path: str | Path, task: CompiledTask) -> list[Expr]:
    """Return the conditions of a file over the variables of the task: read by the front end that
    the suffix of the file names, if it reads such files, or else as JANI. Raises InputError.
    """
    named = FRONT_ENDS[of_file(str(path))].predicates
    read = named or FRONT_ENDS[JANI].predicates
    assert read is not None
    return read(path, task)
