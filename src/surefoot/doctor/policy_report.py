"""What the doctor says about a policy, and how it reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot.errors import printable
from surefoot.policies.builtin import Card
from surefoot.text import counted

SHOWN_ITEMS = 12
SHOWN_DECISIONS = 5


@dataclass(frozen=True)
class InputFacts:
    """What feeds an input: a variable or a constant, or 1 where variables have the values of
    ``one_hot`` and else 0, less ``mean``, divided by ``scale``.
    """

    variable: str | None
    constant: float | None
    mean: float
    scale: float
    one_hot: dict[str, int] | None = None

    def __str__(self) -> str:
        if self.one_hot:
            text = ", ".join(f"{printable(name)} = {n}" for name, n in self.one_hot.items())
        else:
            text = f"{self.constant:g}" if self.variable is None else printable(self.variable)
        if (self.mean, self.scale) == (0.0, 1.0):
            return text
        return f"{text}, scaled: (x - {self.mean:g}) / {self.scale:g}"


@dataclass(frozen=True)
class Part:
    """How decisions compare on one kind of inputs.

    Of ``asked`` inputs ``same_scores`` got the same scores bit for bit. In ``near_ties`` of them
    the two best scores are closer than rounding can tell; ``differs_at_ties`` counts different
    decisions there, ``differs`` those elsewhere.
    """

    what: str
    asked: int
    same_scores: int
    near_ties: int
    differs_at_ties: int
    differs: int


@dataclass(frozen=True)
class Fidelity:
    """Whether decisions are those of ``original``, the library that the policy comes from.

    Without original ``missing`` says why there is none. ``largest_difference`` is of scores.
    """

    original: str | None
    missing: str | None = None
    parts: tuple[Part, ...] = ()
    largest_difference: float | None = None
    seconds: float = 0.0

    @property
    def differs(self) -> int:
        """How many decisions differ where there is no near tie."""
        return sum(part.differs for part in self.parts)


@dataclass(frozen=True)
class PolicyFacts:
    """What a policy is made of, what feeds it, and what it decides.

    ``decisions`` counts what it decides for in ``choices`` sampled states, those in which several
    actions are applicable. ``model``, ``precision`` and ``fidelity`` are None for policies that are
    not learned. A policy that comes with Surefoot has a ``card``.
    """

    name: str
    file: str | None
    sha256: str | None
    kind: str
    model: str | None
    precision: str | None
    unfiltered: bool
    inputs: tuple[InputFacts, ...]
    outputs: tuple[str, ...]
    notes: tuple[str, ...]
    choices: int
    decisions: dict[str, int]
    fidelity: Fidelity | None
    card: Card | None = None


# -- text --------------------------------------------------------------------------------------


def policy_lines(facts: PolicyFacts) -> Iterator[str]:
    """Yield the part of the report that is about the policy."""
    yield f"policy {printable(facts.name)}"
    if facts.sha256 is not None:
        yield f"  sha256   {facts.sha256}"
    yield f"  model    {facts.model or facts.kind}"
    if facts.precision is not None and facts.precision not in (facts.model or ""):
        yield f"  numbers  {facts.precision}"
    if facts.model is not None:
        which = "of all actions, applicable or not" if facts.unfiltered else "applicable action"
        yield f"  decides  for the best-scored {which}"
    for note in facts.notes:
        yield f"  note     {printable(note, limit=500)}"
    if facts.card is not None:
        yield from _card_lines(facts.card)
    if facts.choices:
        yield f"  takes    {_decisions_text(facts)}"
    yield from _mapping_lines("inputs", "<-", list(map(str, facts.inputs)))
    yield from _mapping_lines("outputs", "->", list(map(printable, facts.outputs)))
    if facts.fidelity is not None:
        yield from _fidelity_lines(facts.fidelity)


def _decisions_text(facts: PolicyFacts) -> str:
    ordered = sorted(facts.decisions.items(), key=lambda item: -item[1])
    shown = [f"{printable(name)} in {count:,}" for name, count in ordered[:SHOWN_DECISIONS]]
    if len(ordered) > SHOWN_DECISIONS:
        rest = sum(count for _, count in ordered[SHOWN_DECISIONS:])
        more = counted(len(ordered) - SHOWN_DECISIONS, "other")
        shown.append(f"{more} in {rest:,}")
    return f"{', '.join(shown)} of {counted(facts.choices, 'state')} with a choice"


def _card_lines(card: Card) -> Iterator[str]:
    yield f"  made for {card.task}"
    if card.teacher is not None:
        alike = "" if card.agreement is None else f", in {card.agreement:.2%} of states alike"
        yield f"  teacher  {card.teacher}{alike}"
    if card.steps is not None:
        taken = "" if card.training_seconds is None else f" in {card.training_seconds:,.0f} s"
        yield f"  training {card.steps:,} steps{taken}, seed {card.seed}"
    bound = "" if card.exact else "at least "
    yield (
        f"  there    fails from {bound}{card.unsafe_fraction:.2%} of {card.starts:,} start states, "
        f"{card.goal_fraction:.2%} of runs reach the goal, {card.mean_steps:,.1f} steps in a run"
    )
    yield f"  as by    {card.command}"


def _mapping_lines(title: str, arrow: str, texts: Sequence[str]) -> Iterator[str]:
    if not texts:
        return
    yield f"{title} ({len(texts):,})"
    width = len(str(len(texts) - 1))
    for number, text in enumerate(texts[:SHOWN_ITEMS]):
        yield f"  {number:{width}} {arrow} {text}"
    if len(texts) > SHOWN_ITEMS:
        yield f"  ... and {len(texts) - SHOWN_ITEMS:,} more (all of them with --json)"


def _fidelity_lines(fidelity: Fidelity) -> Iterator[str]:
    if fidelity.original is None:
        yield "fidelity (not compared)"
        yield f"  {fidelity.missing}"
        return
    same = "decides otherwise than" if fidelity.differs else "decides as"
    yield f"fidelity ({same} {fidelity.original})"
    for part in fidelity.parts:
        yield f"  {_part_text(part)}"
    yield f"  scores differ by at most {fidelity.largest_difference or 0.0:.3g}"


def _part_text(part: Part) -> str:
    asked = f"{part.asked:,} {part.what}"
    if part.differs:
        text = f"{asked}: {counted(part.differs, 'decision')} {_differ(part.differs)}"
    elif part.differs_at_ties:
        text = f"{asked}: same decisions but for {part.differs_at_ties:,} where rounding decides"
    else:
        text = f"{asked}: same decisions"
    if part.same_scores == part.asked:
        text += ", same scores bit for bit"
    return f"{text} ({counted(part.near_ties, 'near tie')})" if part.near_ties else text


def _differ(count: int) -> str:
    return "differs" if count == 1 else "differ"


def input_facts(interface: Any) -> tuple[InputFacts, ...]:
    """Return what feeds the inputs of an interface that is bound to a task."""
    return tuple(
        InputFacts(
            entry.variable, entry.constant, entry.mean, entry.scale, dict(entry.one_hot) or None
        )
        for entry in interface.inputs
    )
