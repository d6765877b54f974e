"""The command line.

One small module per command, named as the command. Some have helpers: ``decide`` has its work in
``deciding`` and ``checking`` and its text in ``decide_text``, ``faults`` in ``finding_faults``,
``finding_runs`` and ``faults_text``, ``verify`` has its text in ``verify_text``, ``check`` finds
its task in ``certificate_task``. What they share is in ``arguments`` (how a task is given),
``policy_arguments`` (how a policy is given), ``state_text`` (how states are given), ``run_text``
(how runs are shown), ``progress``, ``output`` (tables and JSON documents) and ``failures`` (errors
and exit codes). Heavy modules are imported where they are used, so that ``--help`` answers at once.
While a command computes, what a user's Python file prints goes to standard error: standard output
holds the result and nothing else.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``surefoot`` with these arguments (default: the process's) and return the exit code."""
    try:
        from surefoot.cli.failures import guarded

        given = list(sys.argv[1:] if arguments is None else arguments)
        return guarded(given, lambda: _run(given))
    except KeyboardInterrupt:  # before anything could be prepared for it
        return INTERRUPTED


def _run(given: list[str]) -> int:
    if given == ["--version"]:
        from surefoot import __version__

        print(__version__)
        return 0
    from surefoot.cli.app import app

    command, bound, _ = app.parse_args(given, exit_on_error=False, print_error=False)
    result = command(*bound.args, **bound.kwargs)
    return result if isinstance(result, int) else 0
