"""The page: one HTML file with everything in it, which asks nobody for anything.

Names come from models and files of strangers. They are text wherever they stand: what the template
writes is escaped, what the script gets is data, pictures are images, and the page forbids itself
(Content-Security-Policy) every script and style but the two that are in it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shlex
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from surefoot import __version__
from surefoot.pictures import Drawing
from surefoot.report import chart, words
from surefoot.report.again import Again
from surefoot.report.faults import FaultView, faults_of
from surefoot.report.pictures import Pictures
from surefoot.report.source import CampaignSource
from surefoot.text import counted

SHOWN_ROUNDS = 200
SHOWN_CHANGES = 6  # examples of a repair
SHOWN_REPAIRS = 20
STAGES = ("fuzz", "faults", "repair", "verify")


def page_of(source: CampaignSource, *, drawing: Drawing | None = None) -> str:
    """Return the page as text. States are drawn by ``drawing``, or else as the task does."""
    from markupsafe import Markup

    again, pictures = Again(source, drawing=drawing), Pictures()
    faults = faults_of(again, pictures)
    style, script = _part("page.css"), _part("page.js")
    data = {"runs": [fault.run.data for fault in faults if fault.run], "pictures": pictures.frames}
    return str(
        _template().render(
            source=source,
            content=source.content,
            policy_rules=_security(style, script),
            style=Markup(style),
            script=Markup(script),
            data=Markup(json_for_script(data)),
            charts=chart.charts_of(source),
            chart=chart,
            faults=faults,
            runs=_run_numbers(faults),
            repaired=sum(map(source.is_repaired, source.faults)),
            more_faults=len(source.faults) - len(faults),
            stages=STAGES,
            rounds=source.iterations[:SHOWN_ROUNDS],
            repairs=_repairs(source, again),
            findings=_findings(source),
            options=_options(source),
            notes=list(dict.fromkeys(again.notes)),
            version=__version__,
        )
    )


def json_for_script(data: object) -> str:
    """Return data as JSON that no text in it can end: nothing in it looks like markup."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _template() -> Any:
    """Return the template. Whatever it writes is escaped, control characters included."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    def plain(value: object) -> object:
        return words.plain(value) if type(value) is str else value

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        finalize=plain,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": words.number,
        "percent": words.percent,
        "seconds": words.seconds,
        "counted": counted,
        "looked_at": words.looked_at,
        "shell": lambda text: shlex.quote(str(text)),
    }
    environment.globals["Markup"] = Markup
    return environment.from_string(_part("page.html.j2"))


def _part(name: str) -> str:
    return files("surefoot.report").joinpath(name).read_text(encoding="utf-8")


def _security(style: str, script: str) -> str:
    """Return the rules by which a browser runs the page: our style, our script, no network."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _run_numbers(faults: list[FaultView]) -> dict[int, int]:
    """Return which run of the data belongs to which fault."""
    with_run = [fault.number for fault in faults if fault.run]
    return {number: position for position, number in enumerate(with_run)}


def _repairs(source: CampaignSource, again: Again) -> list[dict[str, object]]:
    """Return the repairs that changed decisions, each with some examples."""
    rows = []
    for iteration in source.iterations:
        diff = iteration["diff"]
        if diff is not None:
            examples = list(diff["examples"])[:SHOWN_CHANGES]
            lines = [_change(each, again) for each in examples if isinstance(each, Mapping)]
            rows.append({"iteration": iteration["iteration"], "diff": diff, "examples": lines})
    return rows[-SHOWN_REPAIRS:]


def _change(example: Mapping[str, object], again: Again) -> dict[str, str]:
    return {
        "state": words.state_text(example.get("state"), again.labels, 400),
        "before": str(example.get("before")),
        "after": str(example.get("after")),
    }


def _findings(source: CampaignSource) -> dict[str, int]:
    """Return how many faults have certificates in a file, and what the checker said to them."""
    kept = [fault for fault in source.faults if fault.finding]
    return {
        "faults": len(source.faults),
        "kept": len(kept),
        "accepted": sum(fault.checked is True for fault in kept),
        "rejected": sum(fault.checked is False for fault in kept),
        "open": sum(fault.checked is None for fault in kept),
    }


def _options(source: CampaignSource) -> list[tuple[str, str]]:
    options = source.content["options"]
    flat: dict[str, object] = {}
    for name, value in options.items():
        within = value.items() if isinstance(value, dict) else ()
        flat |= {f"{name}.{option}": each for option, each in within} or {name: value}
    return [(str(name), words.value_text(value)) for name, value in flat.items()]
