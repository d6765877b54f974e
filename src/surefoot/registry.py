"""Components by name: built in, of installed packages, and of the user's files.

A built-in component is a constant in a file of its own, such as ``METHOD = Method(...)``; the name
of the file is that of the component. Which there are is read off the files; a file is imported when
its component is asked for. Others come from outside:

* from an installed package, by an entry point of the registry's group (``surefoot.methods``, ...);
* as ``FILE.py:NAME`` wherever a name is expected: this runs the file;
* by :meth:`Registry.register` in Python.

A component from outside never takes the place of another: a name that is taken is refused.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from surefoot.errors import InputError, listed_hint, printable, quoted, shown
from surefoot.python_file import as_script, named_in, note_outside, split_name

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


class Registry(Generic[T]):
    """The components of one kind, which is a word for messages such as ``oracle``.

    ``package`` is where files with built-in ones are, each with a ``constant`` that is made by
    ``made_by``: ``METHOD = Method(``. ``component`` turns what a file or package from outside names
    into a component, or raises InputError; it is given the name, too. ``first`` are names that are
    listed before the others, which follow by the alphabet. ``separator`` stands in names for ``_``
    of file names.
    """

    def __init__(
        self,
        kind: str,
        *,
        group: str,
        component: Callable[[object, str], T],
        package: str,
        constant: str,
        made_by: str,
        first: Sequence[str] = (),
        separator: str = "_",
        code: str | None = None,
        plural: str | None = None,
    ) -> None:
        self.kind, self.plural, self.group = kind, plural or f"{kind}s", group
        self.code = code or f"unknown-{kind.replace(' ', '-')}"
        self._component = component
        self._package, self._constant = package, constant
        self._line = re.compile(rf"^{constant}(: [^=\n]+)? = {made_by}[\[(.]", re.MULTILINE)
        self._first, self._separator = tuple(first), separator
        self._made: dict[str, T] = {}
        self._of_files: dict[tuple[str, int, int], T] = {}
        self._registered: dict[str, T] = {}

    # -- names -----------------------------------------------------------------------------------

    @cached_property
    def built_in(self) -> tuple[str, ...]:
        """The names of what comes with Surefoot; nothing is imported to tell them."""
        names = sorted(self._modules)
        return (
            *(n for n in self._first if n in names),
            *(n for n in names if n not in self._first),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """All names: of what is built in, of installed packages, and of what was registered.

        Raises InputError (``name-clash``) if packages use a name that is taken.
        """
        return (*self.built_in, *sorted(self._installed()), *self._registered)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.built_in or name in self._registered or name in self._installed()

    @cached_property
    def _modules(self) -> dict[str, str]:
        """The modules of built-in components, by name."""
        spec = find_spec(self._package)
        assert spec is not None
        assert spec.submodule_search_locations is not None
        modules: dict[str, str] = {}
        for folder in map(Path, spec.submodule_search_locations):
            for file in sorted(folder.rglob("*.py")):
                path = file.parent if file.stem == "__init__" else file.with_suffix("")
                if path != folder and self._line.search(file.read_text("utf-8")):
                    name = path.name.replace("_", self._separator)
                    modules[name] = ".".join((self._package, *path.relative_to(folder).parts))
        return modules

    def _installed(self) -> dict[str, EntryPoint]:
        """Return the entry points of installed packages by name. Raises InputError (``name-clash``)
        if a name is taken.
        """
        from importlib.metadata import entry_points  # slow to import, and seldom needed

        points: dict[str, EntryPoint] = {}
        for point in entry_points(group=self.group):
            before = points.setdefault(point.name, point)
            is_taken = point.name in self.built_in or point.name in self._registered
            if is_taken or before.value != point.value:
                raise self._clash(point.name, f" of {_origin(point)}")
        return points

    def _clash(self, name: str, origin: str = "") -> InputError:
        return InputError(
            "name-clash",
            f"the {self.kind} {quoted(name)}{origin} has a name that is taken",
            hint="give it another name",
        )

    # -- components ------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> T:
        """Return the component of that name, or of ``FILE.py:NAME``, which runs the file.

        Raises InputError with the nearest name and all names if there is none.
        """
        if name in self._made:
            return self._made[name]
        if name in self._registered:
            return self._registered[name]
        if isinstance(name, str) and (place := split_name(name, what=self.kind)) is not None:
            return self._of_file(name, *place)
        self._made[name] = self._found(name)
        return self._made[name]

    def _found(self, name: str) -> T:
        if name in self._modules:
            module = import_module(self._modules[name])
            return cast("T", getattr(module, self._constant))
        if (point := self._installed().get(name)) is not None:
            return self._of_package(point)
        raise InputError(
            self.code,
            f"there is no {self.kind} {quoted(name) if isinstance(name, str) else shown(name)}",
            hint=listed_hint(str(name), self.names, self.plural),
        )

    def check(self, name: str) -> None:
        """Raise InputError if there is no such component; a built-in one is not imported."""
        if name not in self.built_in:
            self[name]

    def register(self, component: object, *, name: str) -> T:
        """Add a component under a name, and return it. Raises InputError if the name is taken, or
        if it is not such a component.
        """
        if name in self:
            raise self._clash(name)
        self._registered[name] = self._component(component, name)
        return self._registered[name]

    def forget(self, name: str) -> None:
        """Take away what was registered under a name."""
        self._registered.pop(name, None)

    def _of_file(self, text: str, file: Path, name: str) -> T:
        try:
            status = file.stat()
        except OSError:
            raise InputError("file-not-found", f"there is no file {quoted(str(file))}") from None
        key = (f"{file.resolve()}:{name}", status.st_mtime_ns, status.st_size)
        if key not in self._of_files:
            value = named_in(file, name)
            with as_script(file):
                self._of_files[key] = self._component(value, text)
        return self._of_files[key]

    def _of_package(self, point: EntryPoint) -> T:
        try:
            value = point.load()
        except Exception as error:
            raise InputError(
                "plugin-error",
                f"the {self.kind} {quoted(point.name)} of {_origin(point)} cannot be imported "
                f"(entry point {quoted(f'{point.name} = {point.value}')} of {self.group}): "
                f"{printable(f'{type(error).__name__}: {error}')}",
                hint="correct, update or uninstall that package",
            ) from error
        _note_package(point)
        return self._component(value, point.name)

    def __repr__(self) -> str:
        return f"<Registry of {self.plural}: {', '.join(self.names)}>"


def of_class(kind: str, cls: type[T]) -> Callable[[object, str], T]:
    """Return what lets objects of a class pass as components, and refuses others."""
    article = "an" if kind[0] in "aeiou" else "a"

    def component(value: object, name: str) -> T:
        if isinstance(value, cls):
            return value
        raise InputError(
            "not-a-component",
            f"{quoted(name)} is not {article} {kind}: it is {shown(value)}",
            hint=f"make a surefoot {cls.__name__} of it (docs/extending.md)",
        )

    return component


def runs_code(name: object) -> bool:
    """Return whether asking for a component of that name runs a file: ``FILE.py:NAME``."""
    return isinstance(name, str) and name.rpartition(":")[0].endswith(".py")


def _note_package(point: EntryPoint) -> None:
    """Remember where the code of a package is: what it raises is not Surefoot's mistake."""
    module = sys.modules[point.module.partition(".")[0]]
    for place in getattr(module, "__path__", [getattr(module, "__file__", None)]):
        if place is not None:
            note_outside(place)


def _origin(point: EntryPoint) -> str:
    package = getattr(getattr(point, "dist", None), "name", None)
    return f"the package {quoted(package)}" if package else quoted(point.value)
