"""The table of commands."""

from __future__ import annotations

from typing import Any

from cyclopts import App, Parameter

from surefoot import __version__
from surefoot.cli.doctor import doctor
from surefoot.cli.explore import explore
from surefoot.cli.simulate import simulate

HELP = """Test, debug and verify learned policies.

TASK is a JANI file, a built-in domain:NAME?param=value&..., or FILE.py:NAME.

For example:
  surefoot doctor truck.jani --property safety.jani
  surefoot explore "domain:one-way-line?packages=3&locations=4"
  surefoot simulate truck.jani --policy random --runs 3

Exit codes: 0 nothing wrong found, 1 something found, 2 bad input or options,
3 unsupported, 4 ran out of budget, 70 internal error, 130 interrupted.
"""


def _shown_default(value: Any) -> Any:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else value


app = App(
    name="surefoot",
    help=HELP,
    help_format="plaintext",
    version=__version__,
    default_parameter=Parameter(negative="", show_default=_shown_default),
)
for _command in (doctor, explore, simulate):
    app.command(_command)
