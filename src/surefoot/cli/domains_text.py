"""What ``domains`` prints for people: it reads the document that ``--json`` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from surefoot.errors import printable

if TYPE_CHECKING:
    from rich.console import Console

SHOWN_NAMES = 8  # of variables and actions
LONGEST_VALUE = 30  # characters of a parameter's value


def print_domains(content: Mapping[str, Any], *, seed: int, out: str | None) -> None:
    """Print the list of families, one family, or one task, whichever the document holds."""
    from surefoot.cli.output import console

    to = console()
    if out is not None:
        to.print(f"wrote {printable(out)}: {content['task']['name']}")
        return
    if "domains" in content:
        _print_list(to, content["domains"])
        return
    if "domain" in content:
        _print_family(to, content["domain"])
    _print_task(to, content, seed)


def _print_list(to: Console, families: Sequence[Mapping[str, Any]]) -> None:
    width = max(len(family["name"]) for family in families)
    for family in families:
        _head(to, family["name"], f"{' ' * (width - len(family['name']))}  {_shortly(family)}")
        to.print(f"{' ' * width}  {parameters_text(family['parameters'])}")
    to.print("\nsurefoot domains NAME tells more; a task is domain:NAME?param=value&...")


def _shortly(family: Mapping[str, Any]) -> str:
    """Return the summary without the name that most begin with."""
    name, colon, rest = family["summary"].partition(": ")
    return str(rest if colon and len(name) < 30 else family["summary"])


def _head(to: Console, name: str, more: str = "") -> None:
    from rich.text import Text

    to.print(Text.assemble((printable(name), "bold"), more))


def parameters_text(parameters: Mapping[str, object]) -> str:
    """Return ``packages=3, locations=4``; long values are cut."""
    return ", ".join(
        f"{name}={printable(str(value), LONGEST_VALUE)}" for name, value in parameters.items()
    )


def _print_family(to: Console, family: Mapping[str, Any]) -> None:
    _head(to, family["name"])
    to.print(family["rules"], end="\n\n")
    to.print(f"parameters with their defaults: {parameters_text(family['parameters'])}\n")
    rows = [["size", "parameters", "variables", "actions", "edges"]]
    for name, size in family["sizes"].items():
        counts = [f"{size[key]:,}" for key in ("variables", "actions", "edges")]
        rows.append([name, parameters_text(size["parameters"]), *counts])
    _print_table(to, rows, left=2)
    if family["policies"]:
        to.print()
        rows = [["policy", "kind", "task", "goal", "unsafe"]]
        rows += [_policy_row(policy) for policy in family["policies"]]
        _print_table(to, rows, left=3)
    to.print()


def _policy_row(policy: Mapping[str, Any]) -> list[str]:
    fractions = [f"{policy[key]:.4f}" for key in ("goal_fraction", "unsafe_fraction")]
    return [f"builtin:{policy['name']}", policy["kind"], policy["task"], *fractions]


def _print_table(to: Console, rows: Sequence[Sequence[str]], *, left: int) -> None:
    """Print rows in columns, so many of them flush left and the others flush right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        to.print("  ".join(cells).rstrip())


def _print_task(to: Console, content: Mapping[str, Any], seed: int) -> None:
    _head(to, content["task"]["name"])
    variables = [f"{v['name']} {_bounds(v)}" for v in content["variables"]]
    to.print(f"  task        {printable(content['task']['text'], 500)}")
    to.print(f"  sha256      {content['task']['sha256']}")
    to.print(f"  parameters  {parameters_text(content['parameters'])}")
    to.print(f"  variables   {_listed(variables)}")
    to.print(f"  actions     {_listed(content['actions'])}")
    to.print(f"  edges       {content['edges']:,}")
    if content["picture"] is None:
        to.print("\nNo start state was drawn within the time (--max-seconds).")
        return
    to.print(f"\nA start state, drawn by seed {seed}:\n")
    print(content["picture"]["text"])


def _bounds(variable: Mapping[str, object]) -> str:
    return f"{variable['lower']:g}..{variable['upper']:g}"


def _listed(names: Sequence[str]) -> str:
    more = f", and {len(names) - SHOWN_NAMES:,} more" if len(names) > SHOWN_NAMES else ""
    return f"{len(names):,}: {', '.join(names[:SHOWN_NAMES])}{more}"
