"""Runs and findings: what the checker accepts is true, and what is changed is rejected."""

import copy
import json
import random
from collections import Counter

import pytest
from tests.support.explicit_policies import (
    LOWER,
    compiled,
    decisions_of,
    lively_task,
    policy_of_kind,
)
from tests.support.explicit_tasks import random_policy

from surefoot import checker
from surefoot.certificates import checkers_policy, model_of
from surefoot.checker import OutOfTime, Rejected, check_finding, check_run
from surefoot.domains import domain
from surefoot.faults import find_faults
from surefoot.findings import finding_of
from surefoot.fuzz import fuzz
from surefoot.policies import load_policy
from surefoot.reference import deviations, unsafe_ranks
from surefoot.reference.explicit import ExplicitTask

# 0 may go up to 1 or stay; 1 may go up to 2, which fails, or back to 0; 3 is a goal, 4 a dead end
LAMP = ExplicitTask(
    table=(((0, 1), (3,)), ((2,), (0,)), ((2,),), (), ()),
    fail=frozenset({2}),
    goal=frozenset({3}),
    names=("up", "down"),
    silent_table=((), (), (), (), ((2,),)),
)


class Model:
    """An explicit task as a model with start states."""

    def __init__(self, task, starts=(0,)):
        self.task, self.starts = task, starts

    def __getattr__(self, name):
        return getattr(self.task, name)

    def is_start(self, state):
        return self.task.number(state) in self.starts


def run_of(states, actions, **more):
    return {
        "run": 0,
        "seed": 0,
        "known_reachable": True,
        "variables": ["state"],
        "states": [[state] for state in states],
        "actions": list(actions),
        **more,
    }


def always_up(state, choices):
    assert "up" in choices
    return "up"


MADE = {"reached": {"x": 0}, "changes": [{"variable": "x", "value": 1, "state": {"x": 1}}]}
RIGHT = {
    "two steps": run_of([0, 1, 2], ["up", "up"]),
    "with a loop": run_of([0, 0, 0, 1, 2], ["up"] * 4),
    "from elsewhere": run_of([1, 2], ["up"], known_reachable=False),
    "made": run_of([1, 2], ["up"], known_reachable=False, made=MADE),
    "forced": run_of([4, 2], ["silent0"], known_reachable=False),
    "fails at once": run_of([2], [], known_reachable=False),
}
WRONG = {
    "no start state": (run_of([1, 2], ["up"]), "which is not a start state"),
    "no outcome": (run_of([0, 2], ["up"]), "is not an outcome of up"),
    "does not fail": (run_of([0, 1], ["up"]), "the run does not fail"),
    "goes on after fail": (run_of([0, 1, 2, 2], ["up"] * 3), "which is terminal"),
    "goes on after goal": (run_of([0, 3, 2], ["down", "up"]), "decides 'up', not down"),
    "another decision": (run_of([0, 1, 0, 1, 2], ["up", "down", "up", "up"]), "the policy decides"),
    "silent for no reason": (run_of([0, 1, 2], ["silent0", "up"]), "cannot be decided"),
    "loud where forced": (run_of([4, 2], ["up"], known_reachable=False), "only silent"),
    "not applicable": (run_of([3, 2], ["up"], known_reachable=False), "which is terminal"),
    "no states": (run_of([], []), "must be a list of length -1"),
    "too few actions": (run_of([0, 1, 2], ["up"]), "actions must be a list of length 2"),
    "unknown action": (run_of([0, 1, 2], ["up", "hop"]), "'hop' is not known"),
    "action is a number": (run_of([0, 1, 2], ["up", 0]), "0 is not known"),
    "out of range": (run_of([0, 1, 9], ["up"] * 2), "state cannot be 9"),
    "a text": (run_of([0, 1, "2"], ["up"] * 2), "state cannot be '2'"),
    "a Boolean": (run_of([False, 1, 2], ["up"] * 2), "state cannot be"),
    "too long": (run_of([0, 1, 2], ["up"] * 2) | {"states": [[0, 0], [1], [2]]}, "of length 1"),
    "variables": (run_of([0, 1, 2], ["up"] * 2, variables=["x"]), "'x' is not known"),
    "member": (run_of([0, 1, 2], ["up"] * 2, proof=1), "'proof' has no place"),
    "reachable and made": (run_of([0, 1, 2], ["up"] * 2, made={}), "known_reachable must be"),
    "known_reachable": (run_of([0, 1, 2], ["up"] * 2, known_reachable=1), "known_reachable must"),
    "no run": ([], "the run must be an object"),
}


@pytest.mark.parametrize("run", RIGHT.values(), ids=RIGHT)
def test_right_runs(run):
    check_run(Model(LAMP), run, policy=always_up)
    check_run(Model(LAMP), run)


@pytest.mark.parametrize("run, why", WRONG.values(), ids=WRONG)
def test_wrong_runs(run, why):
    with pytest.raises(Rejected) as caught:
        check_run(Model(LAMP), run, policy=always_up)
    if "length -1" not in why:
        assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_run_that_goes_on_after_goal_is_rejected_also_without_policy():
    with pytest.raises(Rejected, match="which is terminal"):
        check_run(Model(LAMP), run_of([0, 3, 2], ["down", "up"]))


def test_out_of_time():
    long = run_of([0] * 1000 + [1, 2], ["up"] * 1001)
    check_run(Model(LAMP), long, policy=always_up)
    with pytest.raises(OutOfTime):
        check_run(Model(LAMP), long, policy=always_up, max_seconds=0.0)


# -- findings on random tasks ------------------------------------------------------------------


class Case:
    """A random task and policy with its findings, and all that is true about them."""

    def __init__(self, rng):
        self.explicit = lively_task(rng)
        self.starts = sorted(rng.sample(self.explicit.states, 2))
        self.task = compiled(self.explicit, starts=self.starts)
        wish = random_policy(rng, self.explicit)
        kind = rng.choice(("table", "callable", "first", "random", "trees"))
        self.policy = policy_of_kind(kind, self.explicit, self.task, rng, wish)
        self.decisions = decisions_of(self.explicit, self.policy)
        self.ranks = unsafe_ranks(self.explicit)
        self.least = deviations(self.explicit, self.decisions)
        self.model = model_of(self.task, None)
        self.asked = checkers_policy(self.task, self.policy)

    def findings(self, **options):
        runs = fuzz(self.task, self.policy, runs=6).failing
        found = find_faults(self.task, self.policy, runs, **options)
        things = (*runs, *found.faults, *found.bugs)
        return [finding_of(self.task, self.policy, each).to_dict() for each in things]

    def accepts(self, content):
        try:
            check_finding(self.model, content, policy=self.asked)
        except Rejected as error:
            assert "\n" not in str(error)
            return False
        return True

    def is_true(self, content):
        """Return whether everything holds, by brute force."""
        if not self.is_true_run(content["run"]):
            return False
        if content["kind"] == "run":
            return True
        about, run = content[content["kind"]], content["run"]
        step, radius = about["step"], about["radius"]
        if about["state"] != run["states"][step] or step >= len(run["actions"]):
            return False
        state = about["state"][0] - LOWER
        return self.is_safe(state, radius) and (
            content["kind"] == "bug" or self.is_true_fault(about, run, state)
        )

    def is_true_fault(self, fault, run, state):
        names, radius = self.explicit.names, fault["radius"]
        if fault["action"] != run["actions"][fault["step"]] or fault["action"] not in names:
            return False
        outcomes = self.explicit.choices(state)[names.index(fault["action"])]
        outcome = fault["outcome"][0] - LOWER
        left = radius if radius is None else radius - 1
        certified = [name for name in fault["alternatives"] if name not in fault["uncertified"]]
        return (
            outcome in outcomes
            and not self.is_safe(outcome, radius)
            and all(
                self.is_safe(end, left)
                for name in certified
                for end in self.explicit.choices(state)[names.index(name)]
            )
            and fault["deviations"] in (None, self.number_of(state))
        )

    def number_of(self, state):
        return "inf" if self.least[state] is None else self.least[state]

    def is_safe(self, state, radius):
        if radius is None:
            return state not in self.ranks
        return radius >= 0 and self.least[state] is not None and self.least[state] <= radius

    def is_true_run(self, run):
        numbers = [row[0] - LOWER for row in run["states"]]
        if run["known_reachable"] and numbers[0] not in self.starts:
            return False
        if len(numbers) != len(run["actions"]) + 1 or numbers[-1] not in self.explicit.fail:
            return False
        steps = zip(numbers, run["actions"], numbers[1:], strict=False)
        return all(self.is_true_step(*step) for step in steps)

    def is_true_step(self, state, action, end):
        choices = self.explicit.choices(state)
        if not choices:
            return False
        if None in choices:
            if action not in self.explicit.silent:
                return False
            place = self.explicit.silent.index(action)
            row = self.explicit.silent_table[state]
            return place < len(row) and end in row[place]
        decision = self.decisions[state]
        return action == self.explicit.names[decision] and end in choices[decision]


OPTIONS = ({}, {"deviations": True}, {"radius": 1}, {"radius": 3, "deviations": True})


@pytest.mark.parametrize("seed", range(60))
def test_every_finding_is_accepted_and_true(seed):
    case = Case(random.Random(seed))
    for options in OPTIONS:
        for content in case.findings(**options):
            check_finding(case.model, content, policy=case.asked)
            check_finding(case.model, content)
            assert case.is_true(content)
            json.dumps(content)


def places(value, inside=()):
    """Yield (path, value) for every scalar inside a JSON value."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from places(each, (*inside, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from places(each, (*inside, index))
    else:
        yield inside, value


def changed(content, path, value):
    new = copy.deepcopy(content)
    holder = new
    for key in path[:-1]:
        holder = holder[key]
    if value is REMOVED:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return new


REMOVED = object()
NOT_CLAIMED = {"surefoot", "name", "source", "sha256", "interface", "unfiltered", "run", "seed"}


def replacements(case, value):
    """Return what may stand in the place of a value."""
    if isinstance(value, bool) or value is None:
        return [not value, 0]
    if isinstance(value, int):
        return [value + 1, value - 1, 0, None, str(value)]
    return [*case.explicit.names, *case.explicit.silent, "", None, 0]


def test_whatever_is_changed_it_is_rejected_or_still_true():
    """Every number, action, choice and rank, one at a time: changed, or removed."""
    tally = Counter()
    for seed in range(12):
        case = Case(random.Random(1000 + seed))
        for options in OPTIONS[:3]:
            for content in case.findings(**options)[:6]:
                change_everything(case, content, tally)
    assert tally["run", False] > 20 * tally["run", True] > 0
    assert tally["fault", False] > 5 * tally["fault", True] > 0
    assert tally["certificates", False] > 3 * tally["certificates", True] > 0


def change_everything(case, content, tally):
    for path, value in places(content):
        if path[0] in ("surefoot", "task", "policy") or path[-1] in NOT_CLAIMED:
            continue
        new_values = [v for v in replacements(case, value) if v != value]
        for new in (*new_values, REMOVED):
            forged = changed(content, path, new)
            is_accepted = case.accepts(forged)
            tally[path[0], is_accepted] += 1
            assert not is_accepted or is_harmless(case, content, forged, path), (path, new)


def is_harmless(case, content, forged, path):
    """Return whether a change that is accepted leaves a true claim, with evidence that fits."""
    if "certificates" in path:  # another rank or choice that proves the same
        return case.is_true(content) and content["run"] == forged["run"]
    if path[-1] in ("more_unknown", "known_reachable"):
        return True  # claims less
    return case.is_true(forged)


@pytest.mark.parametrize("seed", range(25))
def test_parts_of_other_findings_do_not_fit(seed):
    """Certificates, faults and runs of one finding in another: rejected, or still true."""
    rng = random.Random(2000 + seed)
    case = Case(rng)
    found = [each for options in OPTIONS for each in case.findings(**options)]
    for _ in range(100 if found else 0):
        one, other = rng.choice(found), rng.choice(found)
        mixed = copy.deepcopy(one)
        for name in rng.sample(sorted(one), 2):
            if name in other:
                mixed[name] = copy.deepcopy(other[name])
        if case.accepts(mixed):
            assert case.is_true(mixed)


# -- strict, where nothing else can be true ----------------------------------------------------


@pytest.fixture(scope="module")
def on_a_line():
    """The findings of ``first`` on a line, with what is needed to check them."""
    task = domain("one-way-line", packages=2, locations=6, variant="icy-park")
    policy = load_policy("first", task)
    runs = fuzz(task, policy, runs=3).failing
    faults = find_faults(task, policy, runs, deviations=True).faults
    content = finding_of(task, policy, faults[0]).to_dict()
    return model_of(task, None), content, checkers_policy(task, policy)


def is_accepted(model, content, policy):
    try:
        check_finding(model, content, policy=policy)
    except (Rejected, checker.ModelError):
        return False
    return True


def test_each_number_and_action_of_a_run_counts(on_a_line):
    model, content, policy = on_a_line
    assert is_accepted(model, content, policy)
    variables = {variable.name: variable for variable in model.variables}
    for path, value in places(content["run"], ("run",)):
        if path[1] == "states":
            variable = variables[content["run"]["variables"][path[3]]]
            others = [v for v in range(int(variable.lower), int(variable.upper) + 1) if v != value]
        elif path[1] == "actions":
            others = [name for name in model.actions if name != value]
        else:
            continue
        for other in (*others, REMOVED, None):
            assert not is_accepted(model, changed(content, path, other), policy), (path, other)
    for name in ("states", "actions"):
        for index in range(len(content["run"][name])):
            forged = changed(content, ("run", name, index), REMOVED)
            assert not is_accepted(model, forged, policy)


def test_each_choice_and_rank_counts(on_a_line):
    model, content, policy = on_a_line
    certificates = content["certificates"]
    every = [
        ("certificates", "outcome"),
        *(("certificates", "alternatives", name) for name in certificates["alternatives"]),
        *(("certificates", "deviations", index) for index in range(2)),
    ]
    count = 0
    for path in every:
        certificate = content
        for key in path:
            certificate = certificate[key]
        kind = "choices" if certificate["claim"] == "safe" else "ranks"
        for index, entry in enumerate(certificate[kind]):
            count += 1
            for gone in ((*path, kind, index), (*path, kind, index, -1)):
                assert not is_accepted(model, changed(content, gone, REMOVED), policy), gone
            last = (*path, kind, index, len(entry) - 1)
            states = certificate["states"][entry[0]]
            fails = dict(zip(certificate["variables"], states, strict=True))["aux_vel"] < 0
            if kind == "ranks" and not fails:
                assert not is_accepted(model, changed(content, last, 0), policy), last
        assert not is_accepted(model, changed(content, path, REMOVED), policy)
    assert count > 10


def test_claims_about_something_else(on_a_line):
    model, content, policy = on_a_line
    fault, certificates = content["fault"], content["certificates"]
    (name,) = certificates["alternatives"]
    swapped = changed(content, ("certificates", "outcome"), certificates["alternatives"][name])
    state = content["run"]["states"][fault["step"]]
    forgeries = {
        "a certificate is about something else": swapped,
        "is not an alternative to itself": changed(
            content, ("fault", "alternatives"), [name, fault["action"]]
        ),
        "is missing in the certificates of the alternatives": changed(
            content, ("fault", "alternatives"), [name, "park_truck_0"]
        ),
        "no alternative has a certificate": changed(content, ("fault", "uncertified"), [name]),
        "which the run does not have": changed(content, ("fault", "step"), 10),
        "not about state": changed(content, ("fault", "step"), fault["step"] - 1),
        "is not an outcome of the decision": changed(content, ("fault", "outcome"), state),
        "the fault is about 'park_truck_0'": changed(content, ("fault", "action"), "park_truck_0"),
        "2 certificates of deviations": changed(content, ("certificates", "deviations"), []),
        "0 certificates of deviations": changed(content, ("fault", "deviations"), None),
        "1 certificates of deviations": changed(content, ("fault", "deviations"), "inf"),
        "something else than safe": changed(content, ("fault", "deviations"), 1),
        "deviations are a number": changed(content, ("fault", "deviations"), 1.5),
        "about another task": changed(content, ("task", "sha256"), "0" * 64),
        "about another policy": changed(content, ("policy", "name"), "random"),
        "version 2": changed(content, ("finding",), 2),
        "the kind is 'guess'": changed(content, ("kind",), "guess"),
        "'bug' is missing": changed(content, ("kind",), "bug"),
        "has no place in the finding": {**content, "trust": "me"},
        "is missing in the policy": changed(content, ("policy", "sha256"), REMOVED),
        "the task must have": changed(content, ("task",), {}),
        "not park_truck_0": changed(content, ("certificates", "alternatives", name, "task"), 3),
    }
    for why, forged in forgeries.items():
        with pytest.raises(Rejected) as caught:
            check_finding(model, forged, policy=policy)
        assert why in str(caught.value) or why == "not park_truck_0", (why, caught.value)


def test_an_alternative_must_be_chosen(on_a_line):
    """A good certificate that the state is safe says nothing about another alternative."""
    model, content, policy = on_a_line
    (name,) = content["certificates"]["alternatives"]
    state = dict(zip(content["run"]["variables"], content["fault"]["state"], strict=True))
    others = [
        each for each in model.applicable(state) if each not in (name, content["fault"]["action"])
    ]
    forged = copy.deepcopy(content)
    for other in others or ["park_truck_0"]:
        forged["fault"]["alternatives"] = [other]
        forged["certificates"]["alternatives"] = {
            other: content["certificates"]["alternatives"][name]
        }
        with pytest.raises(Rejected, match="does not choose it"):
            check_finding(model, forged, policy=policy)


def test_decisions_must_agree_where_nobody_recomputes_them():
    """Without the policy, a run and a certificate must not tell two stories about it."""
    for seed in range(200):
        case = Case(random.Random(seed))
        for content in case.findings(radius=1):
            if content["kind"] != "fault":
                continue
            key = content["fault"]["state"]
            outcome = content["certificates"]["outcome"]
            (alternative,) = list(content["certificates"]["alternatives"].values())[:1]
            for certificate in (outcome, alternative):
                if key not in certificate["states"]:
                    continue
                number = certificate["states"].index(key)
                others = [
                    i
                    for i, _ in enumerate(certificate["actions"])
                    if i != certificate["decisions"][number]
                ]
                for other in others:
                    was, certificate["decisions"][number] = certificate["decisions"][number], other
                    forged = copy.deepcopy(content)
                    certificate["decisions"][number] = was
                    with pytest.raises(Rejected):
                        check_finding(case.model, forged)
                    return
    raise AssertionError("no finding to try this on")
