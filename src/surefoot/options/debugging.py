"""Options of the whole loop: its own, and those of each of its stages as members."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from types import MappingProxyType
from typing import Annotated, ClassVar, Self, Unpack

from surefoot.errors import InputError
from surefoot.options.bounds import Least, Most
from surefoot.options.budget import MAX_WORKERS, BudgetOptions, given_values, made
from surefoot.options.changing import RepairOptions
from surefoot.options.judging import FaultOptions, VerifyOptions
from surefoot.options.keywords import DebugChanges
from surefoot.options.running import EvaluateOptions, FuzzOptions

ALIASES = MappingProxyType(
    {
        "bias": "fuzz.bias",
        "lookahead": "fuzz.lookahead",
        "state_seconds": "faults.state_seconds",
        "method": "repair.method",
        "any_other": "repair.any_other",
        "keep": "repair.keep",
        "margin": "repair.margin",
        "solver_seconds": "repair.solver_seconds",
        "verify": "verify.method",
        "evaluate_starts": "evaluate.starts",
    }
)
"""short names of options of stages"""
SHORT = MappingProxyType({long: short for short, long in ALIASES.items()})
NO_PART = {
    "fuzz.runs": "there is one run from each start state: give starts",
    "faults.bugs_only": "faults are what is repaired",
    "faults.deviations": "they are not kept: ask surefoot faults about a failing run",
}
"""options of stages that make no sense within debug, and why"""


@dataclass(frozen=True, kw_only=True, init=False)
class DebugOptions(BudgetOptions):
    """How to debug a policy: fuzz, find faults, repair, again, and verify.

    The options of a stage that are not given are debug's own where debug has one of that name
    (``seed``, ``workers``, ``memory_mb``, ``max_steps``, ``starts`` of ``verify``), else the
    defaults below. No stage gets more time than debug has left. ``ALIASES`` are short names.
    """

    ALIASES: ClassVar[Mapping[str, str]] = ALIASES

    max_seconds: float = 3600.0
    """stop after this many seconds, those before a resume included"""
    starts: Annotated[int, Least(1)] = 10_000
    """how many start states to debug on: all of them if there are no more"""
    iterations: int = 50
    """stop after this many repairs"""
    max_steps: Annotated[int, Least(1)] = 1_000
    """cut a run after this many steps"""
    precautions: int = 20
    """how many repairs may be of decisions that no run came to, so that the rest can be proved"""
    findings: int = 10
    """how many faults of each iteration to keep with their certificates, the smallest first"""
    check_seconds: float = 30.0
    """how long to check the certificates of each iteration, and that of the verdict"""
    workers: Annotated[int | None, Least(1), Most(MAX_WORKERS)] = None
    """how many threads; if not given, one for each processor. The result is the same"""
    seed: int = 0
    """same seed, task, policy and options: same result, interrupted or not"""
    fuzz: FuzzOptions = FuzzOptions(bias="greedy")  # noqa: RUF009  # frozen
    """how to look for failing runs"""
    faults: FaultOptions = FaultOptions(state_seconds=2.0)  # noqa: RUF009  # frozen
    """how to find the faults on them"""
    repair: RepairOptions = RepairOptions()  # noqa: RUF009  # frozen
    """how to repair these"""
    verify: VerifyOptions = VerifyOptions(max_steps=None, runs=200)  # noqa: RUF009  # frozen
    """how to verify the repaired policy"""
    evaluate: EvaluateOptions = EvaluateOptions(starts=10_000, max_seconds=600.0)  # noqa: RUF009  # frozen
    """how to evaluate before and after"""

    def __init__(self, **given: Unpack[DebugChanges]) -> None:
        values: dict[str, object] = dict(given)
        stages = {name: _given_to(name, values) for name in STAGES}
        known = {field.name: field.default for field in fields(DebugOptions)}
        unknown = [name for name in values if name not in known]
        if unknown:
            raise TypeError(f"DebugOptions has no option {unknown[0]!r}")
        own = {name: values.get(name, default) for name, default in known.items()}
        for name, more in stages.items():
            own[name] = _member(name, own, more)
        for name, value in own.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_given", frozenset(own))

    def changed(self, changes: Mapping[str, object]) -> Self:
        """Return options with these changes; of a stage, those that are given are changed."""
        values: dict[str, object] = {f.name: getattr(self, f.name) for f in fields(DebugOptions)}
        more = dict(changes)
        for name, cls in STAGES.items():
            both = {**given_values(getattr(self, name)), **_given_to(name, more)}
            values[name] = made(cls, both, frozenset(both))
        values |= {name: value for name, value in more.items() if name not in STAGES}
        return type(self)(**values)  # type: ignore[arg-type]  # whoever wants to know checks them

    def refusal(self) -> tuple[str, str] | None:
        """Return an option of a stage that plays no part in debug, and why it does not."""
        for name, why in NO_PART.items():
            stage, option = name.split(".")
            if getattr(getattr(self, stage), option) != getattr(STAGES[stage], option):
                return name, why
        return None


STAGES: Mapping[str, type[BudgetOptions]] = MappingProxyType(
    {
        "fuzz": FuzzOptions,
        "faults": FaultOptions,
        "repair": RepairOptions,
        "verify": VerifyOptions,
        "evaluate": EvaluateOptions,
    }
)
DEFAULTS = {f.name: f.default for f in fields(DebugOptions) if f.name in STAGES}


def _given_to(stage: str, values: dict[str, object]) -> dict[str, object]:
    """Take out what is given to a stage, as its options or by short names; return it."""
    taken: dict[str, object] = {}
    if isinstance(values.get(stage), STAGES[stage]):
        options = values.pop(stage)
        assert isinstance(options, BudgetOptions)
        taken = given_values(options)
    for short, long in ALIASES.items():
        owner, option = long.split(".")
        if owner != stage or short not in values:
            continue
        if short == stage and not isinstance(values[short], str):
            kind = STAGES[stage].__name__
            raise InputError("bad-option", f"{stage} must be {kind} or the name of a {option}")
        value = values.pop(short)
        if option in taken and taken[option] != value:
            raise InputError("bad-option", f"{short} and {long} are the same, but differ")
        taken[option] = value
    if stage in values:
        raise InputError("bad-option", f"{stage} must be {STAGES[stage].__name__}")
    return taken


def _member(stage: str, own: Mapping[str, object], given: Mapping[str, object]) -> BudgetOptions:
    """Return the options of a stage: as given, else debug's defaults, else debug's own."""
    cls, default = STAGES[stage], DEFAULTS[stage]
    assert isinstance(default, BudgetOptions)
    names = [field.name for field in fields(cls)]
    values = {name: own[name] if name in own else getattr(cls, name) for name in names}
    return made(cls, {**values, **given_values(default), **given}, frozenset(given))


def to_plain(options: DebugOptions) -> dict[str, object]:
    """Return the options as plain data, those of stages nested."""
    return asdict(options)


def from_plain(content: object) -> DebugOptions | None:
    """Return the options that plain data holds, also of the old form without stages; None if it
    does not hold exactly the options of debug. The values are not checked.
    """
    if not isinstance(content, dict):
        return None
    own = {field.name for field in fields(DebugOptions)} - set(STAGES)
    if set(content) == own | set(ALIASES):
        return DebugOptions(**content)
    if set(content) != own | set(STAGES):
        return None
    values = dict(content)
    for name, cls in STAGES.items():
        member = values[name]
        if not isinstance(member, dict) or set(member) != {field.name for field in fields(cls)}:
            return None
        values[name] = made(cls, member, frozenset(member))
    return DebugOptions(**values)


def words_of(options: DebugOptions) -> list[tuple[str, object]]:
    """Return names and values of the options that are not the default, short where possible."""
    own = [field for field in fields(DebugOptions) if field.name not in STAGES]
    values = {field.name: getattr(options, field.name) for field in own}
    usual = DebugOptions(**values)
    words = [
        (field.name, values[field.name]) for field in own if values[field.name] != field.default
    ]
    for stage, cls in STAGES.items():
        for field in fields(cls):
            name, value = f"{stage}.{field.name}", getattr(getattr(options, stage), field.name)
            if value != getattr(getattr(usual, stage), field.name):
                words.append((SHORT.get(name, name), value))
    return words
