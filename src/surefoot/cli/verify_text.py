"""What ``verify`` prints for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from surefoot.cli.output import console
from surefoot.cli.run_text import head_of, lines_of
from surefoot.cli.state_text import labels_of, text_of
from surefoot.errors import printable
from surefoot.records.common import restriction
from surefoot.text import counted
from surefoot.verify import METHODS, UNCHECKED
from surefoot.verify.method import refinements_text

if TYPE_CHECKING:
    from surefoot.cli.verify import Verified
    from surefoot.policies import Policy
    from surefoot.records import VerifyResult

STYLES = {"safe": "bold green", "unsafe": "bold red", "unknown": "bold yellow"}


def print_verified(policy: Policy, verified: Verified) -> None:
    """Print the verdict: the failing run, what was looked at, and what became of the evidence."""
    from rich.text import Text

    out = console()
    result = verified.result
    name = f"{printable(policy.task.name)}, policy {printable(policy.name)}"
    out.print(Text(name, style="bold"))
    if result.run is not None:
        _print_run(policy, result)
    out.print(Text.assemble((result.verdict, STYLES[result.verdict]), _why(result)))
    for line in (*_seen_lines(policy, result), *_evidence_lines(verified)):
        out.print(line)


_SAMPLE = "not all of them: nothing is proved for the others"


def _seen_lines(policy: Policy, result: VerifyResult) -> Iterator[str]:
    """Yield what was looked at: start states, states or boxes, and by which methods."""
    seconds = f"in {result.seconds:,.3f} s"
    method = METHODS[result.method] if result.method in METHODS.built_in else None
    is_symbolic = method is not None and method.is_symbolic
    has_boxes, has_states = result.boxes or is_symbolic, not is_symbolic
    if result.starts or has_states:
        which = "all there are" if result.all_starts else _SAMPLE
        yield f"starts  {result.starts:,}, {which}"
    if result.failing_starts is not None:
        yield f"fail    the same way: {_bounds_text(policy, result.failing_starts)}"
    if has_boxes:
        effort = refinements_text(result) if method is None else method.effort(result)
        yield f"boxes   {result.boxes:,}, {effort}, {seconds}"
    if has_states:
        depth = f"up to {counted(result.depth, 'step')} from a start state"
        yield f"states  {result.states:,}, {depth}, {seconds}"
    yield from _method_lines(result)
    if result.rounding:
        where = f"in {counted(result.rounding, 'region')} exact sums may decide otherwise"
        yield f"note    {where} than the policy's own {_precision(policy)} sums"


def _method_lines(result: VerifyResult) -> Iterator[str]:
    """Yield who found the verdict and what others did before; if nobody did, why."""
    if result.verdict == "unknown" and result.method == "auto":
        for engine in result.engines:
            reason = printable(engine.reason or "", 400)
            yield f"  {engine.method}: {reason} ({engine.seconds:,.1f} s)"
        return
    others = [
        engine for engine in result.engines if engine.method != result.method and engine.seconds
    ]
    besides = "".join(f", besides {engine.method} ({engine.seconds:,.1f} s)" for engine in others)
    yield f"method  {result.method}{besides}"


def _bounds_text(policy: Policy, bounds: Sequence[tuple[object, object]]) -> str:
    """Return bounds of all variables as text: ``x=0..3,y=2``."""
    labels = labels_of(policy.task)
    parts = []
    for name, (low, high) in zip(policy.task.names, bounds, strict=True):
        text, last = text_of({name: low}, labels), text_of({name: high}, labels)
        parts.append(text if text == last else f"{text}..{last[len(printable(name)) + 1 :]}")
    return ",".join(parts)


def _precision(policy: Policy) -> str:
    model: object = policy.model
    return str(getattr(model, "sum_precision", None) or getattr(model, "precision", "rounded"))


def _print_run(policy: Policy, result: VerifyResult) -> None:
    assert result.run is not None
    where = "" if result.all_starts else " from these start states"
    shortest = f", none{where} is shorter" if result.method == "explicit" else ""
    console().print(head_of(result.run, shortest))
    print("\n".join(lines_of(result.run, labels_of(policy.task))), end="\n\n")


def _why(result: VerifyResult) -> str:
    if result.verdict == "safe" and result.reason == UNCHECKED:
        return f" ({UNCHECKED}): {printable(result.method)} says so, and nothing else confirms it"
    if result.verdict == "safe":
        return f"{restriction(result.sampled)}: no run of the policy fails"
    if result.verdict == "unsafe":
        is_sample = result.method == "explicit" and not result.all_starts
        which = " of those examined" if is_sample else ""
        return f": a run from a start state{which} fails"
    if result.method == "auto":
        return ": no method has decided it"
    return f": {printable(result.reason or '')}"


def _evidence_lines(verified: Verified) -> list[str]:
    """Return whether the evidence was checked, and where it is."""
    if verified.checked is None:
        return []
    is_safe = verified.result.verdict == "safe"
    what = "certificate" if is_safe else "run"
    size = f" of {_size(verified.result)}" if is_safe else ""
    lines = [f"checked: the {what}{size} was accepted"]
    if not verified.checked:
        why = verified.missing or "--check-seconds gives it more time"
        lines = [f"not checked: the {what}{size} ({printable(why)})"]
    if verified.file is not None:
        file = printable(str(verified.file))
        lines.append(f"it is in {file}: surefoot check {file} checks it")
    return lines


def _size(result: VerifyResult) -> str:
    """Return of how many states or boxes a certificate is; without one, what it would be of."""
    made = result.certificate
    if made is None:
        unit = "box" if result.boxes else "state"
        return counted(result.boxes or result.states, unit)
    return counted(made.size, getattr(made, "unit", "state"))
