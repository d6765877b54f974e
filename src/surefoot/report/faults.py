"""The faults of a campaign as a page shows them: the decision, its scores, and the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from surefoot.domains.pictures import window
from surefoot.findings import Finding
from surefoot.policies import Policy
from surefoot.records import Fault
from surefoot.report.again import EXPECTED, Again
from surefoot.report.pictures import Pictures
from surefoot.report.words import plain, same_variables, score, state_text, value_text

PICTURED_FAULTS = 10
SHOWN_VARIABLES = 200
SHOWN_ACTIONS = 30
SHOWN_STATES = 60  # of a run
SHOWN_CELLS = 2_500  # values of a run


@dataclass(frozen=True)
class ValueRow:
    """A variable, before and after a step."""

    name: str
    state: str
    outcome: str

    @property
    def is_changed(self) -> bool:
        """Whether the step changes the variable."""
        return self.state != self.outcome


@dataclass(frozen=True)
class ActionRow:
    """An applicable action in the state of a fault, and what the policies think of it."""

    action: str
    before: str
    after: str
    is_fault: bool
    is_safe: bool
    is_chosen_after: bool


@dataclass(frozen=True)
class RunView:
    """The run of a fault; ``data`` is what the page's script steps through.

    Of ``states`` states those from ``first`` are there; the fault is the decision at ``fault``,
    counted from the first one shown.
    """

    states: int
    first: int
    fault: int
    actions: tuple[str, ...]
    data: dict[str, object]

    @property
    def is_cut(self) -> bool:
        """Whether some states of the run are left out."""
        return len(self.actions) + 1 < self.states


@dataclass(frozen=True)
class FaultView:
    """A fault with what a page shows around it."""

    number: int
    fault: Fault
    is_repaired: bool
    after: str | None
    state_line: str
    state_image: str | None
    outcome_image: str | None
    values: tuple[ValueRow, ...]
    more_values: int
    actions: tuple[ActionRow, ...]
    more_actions: int
    before_name: str
    run: RunView | None

    @property
    def action(self) -> str:
        """What the policy does, as a text from somewhere else is shown."""
        return plain(self.fault.action)

    @property
    def alternatives(self) -> tuple[str, ...]:
        """What would be safe."""
        return tuple(map(plain, self.fault.alternatives))

    @property
    def has_scores(self) -> bool:
        """Whether a policy says what it thinks of the actions."""
        return any({row.before, row.after} != {score(None)} for row in self.actions)


def faults_of(again: Again, pictures: Pictures) -> list[FaultView]:
    """Return the smallest faults, ready to be shown. What cannot be read becomes a note."""
    views = []
    for number, fault in enumerate(again.source.faults[:PICTURED_FAULTS], start=1):
        finding = again.source.finding(fault)
        if finding is None and fault.finding and again.source.directory is not None:
            again.notes.append(f"the finding {plain(fault.finding)} cannot be read")
        views.append(_Fault(again, pictures, fault, finding, number).view())
    return views


@dataclass(frozen=True)
class _Fault:
    again: Again
    pictures: Pictures
    fault: Fault
    finding: Finding | None
    number: int

    def view(self) -> FaultView:
        fault, again = self.fault, self.again
        state = fault.state.to_dict()
        outcome = {**state, **(fault.outcome or {})}
        values = self._value_rows(state, outcome)
        rows = self._action_rows(state)
        after = next((row.action for row in rows if row.is_chosen_after), None)
        return FaultView(
            number=self.number,
            fault=fault,
            is_repaired=again.source.is_repaired(fault) and after != plain(fault.action),
            after=after,
            state_line=state_text(state, again.labels, 300),
            state_image=self.pictures.figure(again.picture(state)),
            outcome_image=self.pictures.figure(again.picture(outcome)),
            values=tuple(values[:SHOWN_VARIABLES]),
            more_values=max(len(values) - SHOWN_VARIABLES, 0),
            actions=tuple(rows[:SHOWN_ACTIONS]),
            more_actions=max(len(rows) - SHOWN_ACTIONS, 0),
            before_name=self._before_name(),
            run=self._run(),
        )

    def _before_name(self) -> str:
        earlier = self.again.source.repairs_before(self.fault.iteration or 0)
        return f"repaired in iteration {earlier[-1]['iteration']}" if earlier else "as given"

    def _value_rows(
        self, state: Mapping[str, object], outcome: Mapping[str, object]
    ) -> list[ValueRow]:
        """Return a row for each variable, those that change first."""
        labels = self.again.labels
        rows = []
        for name in same_variables(state, outcome):
            texts = (value_text(values.get(name), labels.get(name)) for values in (state, outcome))
            rows.append(ValueRow(plain(name, 100), *texts))
        return sorted(rows, key=lambda row: not row.is_changed)

    def _action_rows(self, state: Mapping[str, object]) -> list[ActionRow]:
        """Return a row for each applicable action, the best before the repair first."""
        taken, real = self.fault.action, self.again.state(state)
        names = dict.fromkeys([taken, *self.fault.alternatives, *self._applicable(real)])
        before = _scores(self.again.before(self.fault.iteration or 0), real)
        final = self.again.final
        after, chosen = _scores(final, real), _decision(final, real)
        rows = [
            ActionRow(
                action=plain(name),
                before=score(before.get(name)),
                after=score(after.get(name)),
                is_fault=name == taken,
                is_safe=name in self.fault.alternatives,
                is_chosen_after=name == chosen,
            )
            for name in sorted(names, key=lambda entry: -before.get(entry, 0.0))
        ]
        return sorted(rows, key=lambda row: not row.is_fault)

    def _applicable(self, state: object) -> tuple[str, ...]:
        try:
            return () if state is None else tuple(self.again.task.applicable(state))
        except EXPECTED:
            return ()

    def _run(self) -> RunView | None:
        if self.finding is None:
            return None
        run, step = self.finding.content["run"], self.finding.about.get("step", 0)
        names, states, actions = run["variables"], run["states"], run["actions"]
        if len(states) != len(actions) + 1 or not all(
            isinstance(values, list) for values in states
        ):
            return None
        most = max(2, min(SHOWN_STATES, SHOWN_CELLS // max(len(names), 1)))
        shown = window(min(step, len(states) - 1), len(states), most)
        rows = [dict(zip(map(str, names), states[i], strict=False)) for i in shown]
        taken = tuple(plain(actions[i], 200) for i in shown[:-1])
        data = {
            "variables": [plain(name, 100) for name in names[:SHOWN_VARIABLES]],
            "states": [self._texts(row) for row in rows],
            "actions": list(taken),
            "first": shown.start,
            "total": len(actions),
            "fault": step - shown.start,
            "pictures": self.pictures.run([self.again.picture(row) for row in rows]),
        }
        return RunView(len(states), shown.start, step - shown.start, taken, data)

    def _texts(self, row: Mapping[str, object]) -> list[str]:
        labels = self.again.labels
        items = list(row.items())[:SHOWN_VARIABLES]
        return [value_text(value, labels.get(name)) for name, value in items]


def _scores(policy: Policy | None, state: object) -> dict[str, float]:
    """Return what a policy thinks of the actions; nothing if it does not tell."""
    try:
        return {} if policy is None or state is None else policy.scores(state)
    except EXPECTED:
        return {}


def _decision(policy: Policy | None, state: object) -> str | None:
    try:
        return None if policy is None or state is None else policy.decide(state)
    except EXPECTED:
        return None
