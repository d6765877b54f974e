"""What a front end consists of: a way to get tasks, with options of its own.

Options have two forms: an object of a class derived from :class:`FrontEndOptions`, and *words*, as
the command line, findings, certificates and campaigns spell them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import NoneType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Self,
    TypedDict,
    TypeVar,
    get_args,
    get_type_hints,
)

from surefoot.errors import InputError, listed_hint, quoted, shown

if TYPE_CHECKING:
    from surefoot.tasks.compiled_task import CompiledTask
    from surefoot.tasks.description import Description
    from surefoot.tasks.expressions import Expr
    from surefoot.tasks.source import Source
    from surefoot.tasks.task import Task

GROUP = "task."
"""begins the words of options: ``--task.depth 3``; the words of built-in ones do without it"""
Locate = Callable[[str], Path]
"""finds a file that a finding or certificate names"""


class CheckerOptions(TypedDict):
    """What the checker takes besides a model file."""

    properties: Path | None
    property_name: str | None
    start: Path | None
    goal: Path | None
    fail: Path | None
    expressions: Mapping[str, Any]
    constants: Mapping[str, bool | int | float]
    int_range: tuple[int, int] | None


@dataclass(frozen=True, kw_only=True)
class FrontEndOptions:
    """The options of a front end that takes none; others derive from it, and add fields with types
    and default values.

    ``WORDS`` are the words for fields whose word is not ``task.NAME``.
    """

    WORDS: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of the options in Python."""
        return tuple(each.name for each in fields(cls))

    @classmethod
    def word(cls, name: str) -> str:
        """Return the word for an option."""
        return cls.WORDS.get(name, GROUP + name)

    @classmethod
    def name_of(cls, word: str) -> str | None:
        """Return the name of the option that a word stands for; None if it stands for none."""
        plain = word.removeprefix(GROUP).replace("-", "_")
        known = {cls.word(name).removeprefix(GROUP): name for name in cls.names()}
        return known.get(plain)

    @classmethod
    def from_words(cls, words: Mapping[str, object], *, locate: Locate = Path) -> Self:
        """Return the options that words stand for. Raises InputError (``bad-option``)."""
        values: dict[str, object] = {}
        for word, given in words.items():
            name = cls.name_of(word)
            if name is None:
                raise unknown_option(word, cls)
            values[name] = cls.read(name, given, locate=locate)
        return cls(**values)

    @classmethod
    def read(cls, name: str, given: object, *, locate: Locate) -> object:
        """Return the value of an option that is given as words."""
        import msgspec

        kind = get_type_hints(cls)[name]
        if Path in (kind, *get_args(kind)) and isinstance(given, str):
            return locate(given)
        try:
            return msgspec.convert(given, kind, strict=False)
        except msgspec.ValidationError:
            raise InputError(
                "bad-option", f"{flag(cls.word(name))} cannot be {shown(given)}"
            ) from None

    def to_words(self) -> dict[str, object]:
        """Return the options that are not the default, in words."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        default = type(self)()
        return {
            self.word(name): self.written(name, value)
            for name, value in given.items()
            if value != getattr(default, name)
        }

    def written(self, name: str, value: object) -> object:
        """Return the value of an option in words."""
        return plain_text(value)


Options = TypeVar("Options", bound=FrontEndOptions)


@dataclass(frozen=True)
class FrontEnd(Generic[Options]):
    """A way to get tasks; its name is the prefix (``NAME:...``) or the suffix of their addresses.

    ``load`` returns the task, or a description of it, for the rest of an address, which is a file
    if ``takes_files``, and options. ``about`` says in messages what it reads.

    What only some have: ``settled`` returns the options as they count for a task, to be named in
    findings. ``instead`` are hints for options of other front ends. ``runs_code`` says whether
    reading an address runs code of others. ``text`` returns the pieces of a file with a
    description. ``predicates`` reads a file of conditions over the variables of a task.
    ``checker_files`` returns the model file and the keyword arguments with which the checker, which
    reads JANI only, reads the same task by itself; without it the checker gets what ``jani``
    writes. ``old_sha256`` is only that of ``jani``: versions before 0.2 knew tasks by it.
    """

    name: str
    load: Callable[[str, Options], Task | Description]
    options: type[Options]
    about: str
    takes_files: bool = True
    settled: Callable[[Task, Options], Options] | None = None
    instead: Mapping[str, str] = field(default_factory=dict)
    runs_code: Callable[[str], bool] = lambda address: False
    text: Callable[[Description], Iterable[str]] | None = None
    predicates: Callable[[str | Path, CompiledTask], list[Expr]] | None = None
    checker_files: Callable[[Source], tuple[Path, CheckerOptions]] | None = None
    old_sha256: Callable[[Description], str] | None = None


def flag(word: str) -> str:
    """Return a word as it is written on the command line."""
    return "--" + word.replace("_", "-")


def plain_text(value: object) -> str:
    """Return a value as the command line takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def unknown_option(word: str, options: type[FrontEndOptions]) -> InputError:
    """Return the error for a word that is not one of the options."""
    known = [flag(options.word(name)) for name in options.names()]
    return InputError(
        "bad-option",
        f"the task has no option {quoted(flag(word))}",
        hint=listed_hint(flag(word), known, "its options") if known else None,
    )


def is_given(value: object) -> bool:
    """Return whether an option was given: None, or no constants, is not."""
    return not isinstance(value, NoneType) and value != {}
