"""No certificate makes a false claim pass: damaged ones, and evidence made for something else.

Each trial takes a random task and policy, forges a certificate, finds out by brute force whether
its claim is true, and asks the checker. A forged certificate may be good evidence for a true claim;
it must never be accepted for a false one. The trials are worth something only if many claims are
false, and false by little: both are counted.
"""

import json
import random
from collections import Counter

import pytest
from tests.support.explicit_tasks import as_callable, random_policy, random_task

from surefoot.checker import Rejected, check_certificate
from surefoot.reference import ExplicitTask, certificate_of, deviations, unsafe_ranks

RADII = (None, None, 0, 1, 2, "finite")


class Case:
    """A random task and policy, and all that is true about them."""

    def __init__(self, rng, tally, **sizes):
        self.rng, self.tally = rng, tally
        self.task = random_task(rng, **sizes)
        self.policy = random_policy(rng, self.task)
        self.ranks = unsafe_ranks(self.task)
        self.least = deviations(self.task, self.policy)

    def right_certificate(self):
        """Return the reference's certificate for a random state and radius."""
        state, radius = self.rng.choice(self.task.states), self.rng.choice(RADII)
        radius = 1 if radius == "finite" and self.least[state] is not None else radius
        policy = None if radius is None else self.policy
        return certificate_of(self.task, state, policy=policy, radius=radius)

    def judge(self, certificate, kind):
        """Assert that a false claim is rejected, about the policy and about the one listed."""
        is_accepted = self._passes(certificate, as_callable(self.task, self.policy))
        is_accepted_as_listed = self._passes(certificate, None)
        try:
            truth = is_true(certificate, self.ranks, self.least)
            truth_as_listed = is_true(certificate, self.ranks, self._least_as_listed(certificate))
        except (LookupError, ValueError):  # the claim is about nothing
            assert not is_accepted
            assert not is_accepted_as_listed
            return
        assert truth or not is_accepted, (self.task, self.policy, certificate)
        assert truth_as_listed or not is_accepted_as_listed, (self.task, certificate)
        self.tally[kind, "false"] += not truth
        self.tally[kind, "accepted"] += is_accepted

    def _passes(self, certificate, policy):
        try:
            check_certificate(self.task, certificate, policy=policy)
        except Rejected:
            return False
        return True

    def _least_as_listed(self, certificate):
        """Return the deviations if the policy decides what the certificate says."""
        listed = list(self.policy)
        decisions = certificate.get("decisions", ())
        for (number,), decision in zip(certificate["states"], decisions, strict=False):
            if decision is not None:
                listed[number] = self.task.names.index(certificate["actions"][decision])
        return self.least if listed == self.policy else deviations(self.task, listed)


def is_true(certificate, ranks, least):
    """Return whether the claim holds for the state that the certificate names."""
    (number,) = certificate["states"][certificate["state"]]
    radius, is_safe = certificate["radius"], certificate["claim"] == "safe"
    if radius is None:
        return (number not in ranks) == is_safe
    if radius == "finite":
        return least[number] is None and not is_safe
    return (least[number] is not None and least[number] <= radius) == is_safe


# Damage


def entries_of(certificate):
    return certificate["choices" if certificate["claim"] == "safe" else "ranks"]


def drop_entry(rng, task, certificate):
    entries = entries_of(certificate)
    del entries[rng.randrange(len(entries))]


def change_value(rng, task, certificate):
    entry = rng.choice(entries_of(certificate))
    if certificate["claim"] == "safe":
        entry[-1] = rng.choice([None, *range(len(task.names))])
    else:
        entry[-1] = rng.choice([0, 1, 2, 3, entry[-1] + 1, entry[-1] - 1])


def swap_values(rng, task, certificate):
    one, other = rng.sample(entries_of(certificate), 2)
    one[-1], other[-1] = other[-1], one[-1]


def change_remaining(rng, task, certificate):
    entry = rng.choice(entries_of(certificate))
    entry[1:-1] = [entry[1] + rng.choice((-1, 1))] if len(entry) == 3 else [0]


def move_entry(rng, task, certificate):
    rng.choice(entries_of(certificate))[0] = rng.randrange(len(certificate["states"]))


def add_entry(rng, task, certificate):
    radius = certificate["radius"]
    remaining = [rng.randint(0, radius)] if isinstance(radius, int) else []
    value = rng.choice([0, 1, 2, *([None] if certificate["claim"] == "safe" else [])])
    state = rng.randrange(len(certificate["states"]))
    entries_of(certificate).append([state, *remaining, value])


def change_radius(rng, task, certificate):
    certificate["radius"] = rng.choice([None, 0, 1, 2, "finite"])


def tighten_radius(rng, task, certificate):
    """Claim the same with one difference less (safe) or more (unsafe) and shift the entries."""
    step = -1 if certificate["claim"] == "safe" else 1
    certificate["radius"] += step
    for entry in entries_of(certificate):
        entry[1] = max(0, entry[1] + step)


def flip_claim(rng, task, certificate):
    """Claim the opposite, with the entries made to look right."""
    entries = entries_of(certificate)
    was_safe = certificate["claim"] == "safe"
    del certificate["choices" if was_safe else "ranks"]
    certificate["claim"] = "unsafe" if was_safe else "safe"
    certificate["ranks" if was_safe else "choices"] = entries
    for place, entry in enumerate(entries):
        entry[-1] = len(entries) - place if was_safe else rng.randrange(len(task.names))


def drop_radius(rng, task, certificate):
    """Claim for all policies what holds within the radius."""
    seen = {}
    for entry in entries_of(certificate):
        seen[entry[0]] = [entry[0], entry[-1]]
    entries_of(certificate)[:] = seen.values()
    certificate |= {"radius": None, "policy": None}
    del certificate["decisions"]


def every_radius(rng, task, certificate):
    """Claim for every radius what holds for one."""
    decisions = certificate["decisions"]
    drop_radius(rng, task, certificate)
    certificate |= {"radius": "finite", "policy": "policy", "decisions": decisions}


def change_subject(rng, task, certificate):
    certificate["state"] = rng.randrange(len(certificate["states"]) + 1)


def add_subject(rng, task, certificate):
    certificate["states"].append([rng.choice(task.states)])
    certificate.get("decisions", []).append(None)
    certificate["state"] = len(certificate["states"]) - 1


def change_decision(rng, task, certificate):
    decisions = certificate["decisions"]
    decisions[rng.randrange(len(decisions))] = rng.choice([None, *range(len(task.names))])


def change_state(rng, task, certificate):
    certificate["states"][rng.randrange(len(certificate["states"]))] = [rng.choice(task.states)]


def swap_states(rng, task, certificate):
    one, other = rng.sample(range(len(certificate["states"])), 2)
    states = certificate["states"]
    states[one], states[other] = states[other], states[one]


def drop_state(rng, task, certificate):
    place = rng.randrange(len(certificate["states"]))
    del certificate["states"][place]
    if "decisions" in certificate:
        del certificate["decisions"][place]


def swap_actions(rng, task, certificate):
    rng.shuffle(certificate["actions"])


DAMAGES = (
    *(drop_entry, change_value, swap_values, change_remaining, move_entry, add_entry),
    *(change_radius, tighten_radius, flip_claim, drop_radius, every_radius),
    *(change_subject, add_subject, change_decision, change_state, swap_states, drop_state),
    *(swap_actions,),
)


def copied(certificate):
    return json.loads(json.dumps(certificate))


def damaged(rng, task, certificate, damages):
    """Return a damaged copy; a damage that does not fit the certificate is passed over."""
    certificate = copied(certificate)
    for damage in damages:
        before = copied(certificate)
        try:
            damage(rng, task, certificate)
        except (LookupError, TypeError, ValueError):
            certificate = before
    return certificate


def test_damaged_certificates():
    rng, tally = random.Random(1), Counter()
    for _ in range(500):
        case = Case(rng, tally)
        for right in (case.right_certificate(), case.right_certificate()):
            for damage in DAMAGES:
                more = rng.choice(((), (), (rng.choice(DAMAGES),)))
                forged = damaged(rng, case.task, right, (damage, *more))
                if forged != right:
                    case.judge(forged, damage.__name__)

    assert total(tally, "false") > 2_000
    assert total(tally, "accepted") > 1_000
    assert all(tally[damage.__name__, "false"] > 10 for damage in DAMAGES), tally


def total(tally, what):
    return sum(count for (_, kind), count in tally.items() if kind == what)


# Evidence for something else: wrong readings of a task, most of them seen in published tools


def another_outcome(rng, task):
    table, silent_table = ([list(row) for row in rows] for rows in (task.table, task.silent_table))
    row = rng.choice(rng.choice((table, silent_table)))
    action = rng.randrange(len(row))
    row[action] = rng.choice(((), (rng.choice(task.states),), row[action][1:]))
    return {"table": table, "silent_table": silent_table}


def first_outcome_only(rng, task):
    return {"table": [[outcomes[:1] for outcomes in row] for row in task.table]}


def first_silent_action_only(rng, task):
    return {"silent_table": [[next(filter(None, row), ())] for row in task.silent_table]}


def no_silent_actions(rng, task):
    return {"silent_table": [[()] for _ in task.states]}


def silent_actions_are_chosen(rng, task):
    rows = zip(task.table, task.silent_table, strict=True)
    table = [[*row, *silent] for row, silent in rows]
    return {"table": table, "silent_table": [[()] for _ in table], "names": task.actions}


def silent_actions_are_always_taken(rng, task):
    rows = zip(task.table, task.silent_table, strict=True)
    hidden = [sum(silent, ()) for _, silent in rows]
    rows = zip(task.table, hidden, strict=True)
    table = [[outcomes and (*outcomes, *more) for outcomes in row] for row, more in rows]
    return {"table": table}


def goal_beats_fail(rng, task):
    return {"fail": task.fail - task.goal}


def goals_are_left(rng, task):
    return {"goal": frozenset()}


def fail_is_left(rng, task):
    """Only fail states without actions count."""
    return {"fail": {state for state in task.fail if not any(task.table[state])}}


def dead_ends_fail(rng, task):
    dead = {state for state in task.states if not task.choices(state)}
    return {"fail": task.fail | (dead - task.goal)}


def one_state_more_or_less_fails(rng, task):
    return {"fail": task.fail ^ {rng.choice(task.states)}}


READINGS = (
    *(another_outcome, first_outcome_only, first_silent_action_only, no_silent_actions),
    *(silent_actions_are_chosen, silent_actions_are_always_taken, goal_beats_fail, goals_are_left),
    *(fail_is_left, dead_ends_fail, one_state_more_or_less_fails),
)


def read_wrongly(rng, task, reading):
    parts = {
        name: getattr(task, name) for name in ("table", "silent_table", "fail", "goal", "names")
    }
    parts |= reading(rng, task)
    for name in ("table", "silent_table"):
        parts[name] = tuple(tuple(map(tuple, row)) for row in parts[name])
    return ExplicitTask(**parts)


@pytest.mark.parametrize("reading", READINGS)
def test_evidence_for_another_task(reading):
    """The certificates are right for the wrong reading, where that makes a difference."""
    rng, tally = random.Random(2), Counter()
    while tally["any policy", "false"] < 40 or tally["radius", "false"] < 40:
        tally["tasks"] += 1
        assert tally["tasks"] < 5_000, "there are too few false claims"
        case = Case(rng, tally)
        other = read_wrongly(rng, case.task, reading)
        choices = [list(other.choices(state)) or [None] for state in other.states]
        policy = [
            mine if mine in theirs else rng.choice(theirs)
            for mine, theirs in zip(case.policy, choices, strict=True)
        ]
        ranks, least = unsafe_ranks(other), deviations(other, policy)
        for state in other.states:
            if (state in ranks) != (state in case.ranks):
                case.judge(certificate_of(other, state), "any policy")
            if least[state] != case.least[state]:
                for radius in (0, 1, *(["finite"] if least[state] is None else [])):
                    forged = certificate_of(other, state, policy=policy, radius=radius)
                    case.judge(forged, "radius")
    assert tally["any policy", "accepted"] == 0, tally


def test_evidence_for_another_policy_or_radius():
    rng, tally = random.Random(3), Counter()
    for _ in range(2_500):
        case = Case(rng, tally)
        other = random_policy(rng, case.task)
        least = deviations(case.task, other)
        for state in case.task.states:
            if least[state] != case.least[state]:
                radius = rng.randint(0, 2)
                forged = certificate_of(case.task, state, policy=other, radius=radius)
                case.judge(forged, "policy")
            if case.least[state]:
                radius = case.least[state] - rng.randint(0, 1)
                right = certificate_of(case.task, state, policy=case.policy, radius=radius)
                case.judge(damaged(rng, case.task, right, [tighten_radius]), "radius")

    assert tally["policy", "false"] > 100, tally
    assert tally["radius", "false"] > 100, tally


def test_evidence_made_up():
    """Ranks and choices drawn at random, for every state and every claim."""
    rng, tally = random.Random(4), Counter()
    for _ in range(2_000):
        case = Case(rng, tally, max_states=4, max_actions=2)
        forged = case.right_certificate()
        forged["states"] = [
            [state] for state in rng.sample(case.task.states, len(case.task.states))
        ]
        if forged["radius"] is not None:
            forged["decisions"] = [case.policy[number] for (number,) in forged["states"]]
        forged["claim"] = (
            "safe" if rng.random() < 0.5 and forged["radius"] != "finite" else "unsafe"
        )
        for name in ("choices", "ranks"):
            forged.pop(name, None)
        forged["choices" if forged["claim"] == "safe" else "ranks"] = [
            [state, *remaining, rng.choice((None, 0, 1)) if forged["claim"] == "safe" else rank]
            for state in case.task.states
            for remaining in pairs_of(forged["radius"])
            for rank in [rng.randrange(4)]
            if rng.random() < 0.8
        ]
        case.judge(forged, "made up")

    assert tally["made up", "false"] > 800, tally
    assert tally["made up", "accepted"] > 50, tally


def pairs_of(radius):
    return [[left] for left in range(radius + 1)] if isinstance(radius, int) else [[]]
