"""The command line.

One small module per command, named as the command. Some have helpers: ``decide`` has its work in
``deciding`` and ``checking`` and its text in ``decide_text``, ``faults`` in ``finding_faults``,
``finding_runs`` and ``faults_text``, ``verify`` has its text in ``verify_text``, ``replay`` its
work for many findings in ``replaying``, ``check`` finds its task in ``certificate_task``. What they
share is in ``arguments`` (how a task is given), ``policy_arguments`` (how a policy is given),
``state_text`` (how states are given), ``run_text`` (how runs are shown), ``progress``, ``output``
(tables and JSON documents) and ``failures`` (errors and exit codes). Heavy modules are imported
where they are used, and ``commands`` tells what needs no parser, so that ``--help`` answers at
once. While a command computes, what a user's Python file prints goes to standard error: standard
output holds the result and nothing else.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

INTERRUPTED = 130
QUIET = "--quiet"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``surefoot`` with these arguments (default: the process's) and return the exit code."""
    begin = time.monotonic()
    try:
        from surefoot.cli.failures import Guard

        given = list(sys.argv[1:] if arguments is None else arguments)
        with Guard(given) as guard:
            result: object = None
            if (text := _told_at_once(given)) is not None:
                print(text, end="")
            else:
                with _shared(given, begin):
                    result = _command([word for word in given if word != QUIET])()
            sys.stdout.flush()
            guard.code = result if isinstance(result, int) else 0
        return guard.code
    except KeyboardInterrupt:  # before anything could be prepared for it, or while it is told
        return INTERRUPTED


def _told_at_once(given: list[str]) -> str | None:
    """Return what is printed if that needs neither parser nor command: help and version."""
    if given == ["--version"]:
        from surefoot import __version__

        return f"{__version__}\n"
    from surefoot.cli.commands import help_text

    return help_text(given)


@contextmanager
def _shared(given: list[str], begin: float) -> Iterator[None]:
    """Let a command know when it began, and whether it is ``--quiet``, which is for all of them."""
    from surefoot.cli.deadline import command_begun
    from surefoot.cli.progress import Signs, signs_of_life

    with signs_of_life(Signs(is_quiet=QUIET in given)), command_begun(begin):
        yield


def _command(given: list[str]) -> Callable[[], object]:
    """Return the command that is asked for, with its arguments."""
    from surefoot.cli.commands import check_command

    check_command(given)
    from surefoot.cli.app import app, load_commands

    if given[:1] == ["--help"] or given[:1] in ([], ["-h"]):
        load_commands()
    if given[:1] == ["debug"]:
        from surefoot.cli.debug_flags import with_long_names

        given = with_long_names(given)

    command, bound, _ = app.parse_args(given, exit_on_error=False, print_error=False)
    return partial(command, *bound.args, **bound.kwargs)
