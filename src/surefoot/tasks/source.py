"""Where a task came from, so that others can read it again."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from surefoot.tasks.front_end import FrontEnd, FrontEndOptions
    from surefoot.tasks.front_ends import Address


@dataclass(frozen=True, kw_only=True)
class Source:
    """What ``load_task`` was given, and in which directory.

    Paths are as they were given: relative ones start in ``directory``.
    """

    text: str
    options: FrontEndOptions | None = None
    directory: str = field(default_factory=os.getcwd)

    @property
    def address(self) -> Address:
        """The text, taken apart."""
        from surefoot.tasks.front_ends import address_of

        return address_of(self.text)

    @property
    def rest(self) -> str:
        """The text without the prefix that names a front end."""
        return self.address.rest

    @property
    def front_end(self) -> FrontEnd[FrontEndOptions]:
        """What reads it."""
        from surefoot.tasks.front_ends import FRONT_ENDS

        return FRONT_ENDS[self.address.front_end]

    @property
    def runs_code(self) -> bool:
        """Whether reading it runs code that does not come with Surefoot: ``FILE.py:NAME``, a domain
        that is one, a domain of an installed package, or a front end from outside.
        """
        return self.address.runs_code

    @property
    def code(self) -> str:
        """What reading it runs, if it runs code, in words."""
        return "that file" if ".py:" in self.text else "code of an installed package"

    def path(self, given: str | Path | None) -> Path | None:
        """Return one of the paths, however the current directory has changed since."""
        return None if given is None else Path(self.directory, given)

    def located(self, locate: Callable[[str], Path]) -> str:
        """Return the text with its file, if it names one, where ``locate`` finds it."""
        if not self.front_end.takes_files:
            return self.text
        return self.address.prefix + str(locate(self.rest))

    def words(self) -> dict[str, object]:
        """Return what was given besides the text, in the names and words of the command line."""
        return {} if self.options is None else self.options.to_words()
