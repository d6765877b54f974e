"""How the runs of ``surefoot fuzz`` ended, as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from surefoot.cli.run_text import STYLES
from surefoot.records import NOTHING_FAILS, FuzzResult, RunEnd

if TYPE_CHECKING:
    from rich.text import Text


def count_lines(result: FuzzResult) -> Iterator[Text]:
    """Yield how many runs there are, and how many of them ended how."""
    from rich.text import Text

    ends = [end for end in RunEnd if result.counts.get(end)]
    width = max([len("runs"), *(len(end.word) + 2 for end in ends)])
    total = f"{sum(result.counts.values()):,}"
    coinciding = f"  {text}" if (text := result.coinciding_text) else ""
    yield Text(f"{'runs':{width}}  {total}{coinciding}")
    for end in ends:
        count = Text(f"{result.counts[end]:>{len(total)},}", style=STYLES[end])
        more = f"  {meaning}" if (meaning := _meaning(end, result)) else ""
        yield Text.assemble(f"{'  ' + end.word:{width}}  ", count, more)


def _meaning(end: RunEnd, result: FuzzResult) -> str:
    """Return what the user should know about runs that ended so."""
    if end is RunEnd.FAIL:
        return f"{len(result.failing):,} distinct"
    if end is RunEnd.CUT:
        reasons = Counter(result.cuts).most_common()
        if len(reasons) == 1:
            return _CUTS.get(reasons[0][0], reasons[0][0])
        return ", ".join(f"{count:,} {_CUTS.get(why, why)}" for why, count in reasons)
    return _MEANINGS.get(end, "")


_MEANINGS = {
    RunEnd.DEAD_END: "no action is applicable",
    RunEnd.INAPPLICABLE: "the policy picks an action that cannot be taken",
}
_CUTS = {
    NOTHING_FAILS: "because nothing reachable fails",
    "steps": "after too many steps",
    "exhausted": "with nothing new ahead",
    "seconds": "for lack of time",
    "memory": "for lack of memory",
    "model-error": "by an error of the model",
}
