"""The parser of the command line; a command is imported when its own options are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclopts import App, Parameter
from cyclopts.help import DefaultFormatter

from surefoot import __version__
from surefoot.cli.commands import COMMANDS

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

HELP = """Test, debug and verify learned policies.

TASK is a JANI file, a built-in domain:NAME?param=value&..., or FILE.py:NAME.
The built-in ones are listed by surefoot domains.

For example:
  surefoot doctor truck.jani --property safety.jani
  surefoot explore "domain:one-way-line?packages=3&locations=4"
  surefoot simulate truck.jani --policy random --runs 3
  surefoot fuzz truck.jani --policy truck.onnx
  surefoot faults truck.jani --policy truck.onnx
  surefoot decide truck.jani --state x=3,y=0

With --quiet a command shows no signs of life while it computes.

Exit codes: 0 nothing wrong found, 1 something found, 2 bad input or options,
3 unsupported, 4 ran out of budget, 5 certificate rejected, 70 internal error,
130 interrupted.
"""


def _shown_default(value: object) -> object:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else value


class _Help(DefaultFormatter):
    """Wraps what is to be read; leaves what is to be copied, lines that are indented, in one."""

    def render_description(
        self, console: Console, options: ConsoleOptions, description: RenderableType
    ) -> None:
        """Print the text of a command line by line, however narrow the terminal is."""
        from rich.text import Text

        wide = console.render(description, options.update_width(1000))
        for line in "".join(segment.text for segment in wide).splitlines():
            console.print(Text(line.rstrip()), soft_wrap=line.startswith("  "))


app = App(
    name="surefoot",
    help=HELP,
    help_format="plaintext",
    help_formatter=_Help(),
    version=__version__,
    default_parameter=Parameter(negative="", show_default=_shown_default),
)


def load_commands() -> None:
    """Import all commands: the help on the whole program tells what each does."""
    for name in COMMANDS:
        app[name]


for _name in COMMANDS:
    app.command(f"surefoot.cli.{_name}:{_name}", name=_name)
