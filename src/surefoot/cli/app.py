"""The table of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclopts import App, Parameter
from cyclopts.help import DefaultFormatter

from surefoot import __version__
from surefoot.cli.check import check
from surefoot.cli.convert import convert
from surefoot.cli.debug import debug
from surefoot.cli.decide import decide
from surefoot.cli.distill import distill
from surefoot.cli.doctor import doctor
from surefoot.cli.domains import domains
from surefoot.cli.evaluate import evaluate
from surefoot.cli.explore import explore
from surefoot.cli.export import export
from surefoot.cli.faults import faults
from surefoot.cli.fuzz import fuzz
from surefoot.cli.minimise import minimise
from surefoot.cli.repair import repair
from surefoot.cli.replay import replay
from surefoot.cli.report import report
from surefoot.cli.resume import resume
from surefoot.cli.schema import schema
from surefoot.cli.show import show
from surefoot.cli.simulate import simulate
from surefoot.cli.status import status
from surefoot.cli.train import train
from surefoot.cli.verify import verify

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
for _command in (
    *(doctor, explore, simulate, fuzz, evaluate, decide),
    *(debug, resume, status, show),
    *(repair, export),
    *(faults, minimise, replay, check, convert, domains, train, distill),
    *(report, schema),
):
    app.command(_command)
app.command(verify)
