"""Oracles as users meet them: verdicts, budgets, radii, deviations, and what is refused."""

import math
from dataclasses import replace

import pytest

import surefoot
from surefoot import Description, InputError, Oracle, PythonTask, SurefootError, Unsupported, decide
from surefoot.errors import CertificateRejected
from surefoot.objectives import SAFETY
from surefoot.options import DecideOptions
from surefoot.oracles import ORACLES, with_radius
from surefoot.oracles import compare as compare_module
from surefoot.oracles.compare import compare, oracles_of
from surefoot.oracles.engine import AlgorithmAnswer
from surefoot.oracles.states import sample_states, start_states

BDD = "propagate_unsafe_bdd"


def lamp():
    """A lamp from 0 to 3: ``up`` adds one or two, 2 is the goal and 3 fails."""
    d = Description("lamp")
    x = d.int("x", 0, 3, initial=0)
    d.edge("up", guard=x < 2, outcomes=[{x: x + 1}, {x: x + 2}])
    d.edge("down", guard=x > 0, outcomes=[{x: x - 1}])
    d.start(x <= 1)
    d.goal(x == 2)
    d.fail(x == 3)
    return d.compile()


def ladder(steps):
    """``good`` goes one up, ``bad`` falls: it takes a good decision on every step."""
    d = Description("ladder")
    x = d.int("x", -1, steps, initial=0)
    d.edge("bad", guard=(x >= 0) & (x < steps), outcomes=[{x: -1}])
    d.edge("good", guard=(x >= 0) & (x < steps), outcomes=[{x: x + 1}])
    d.goal(x == steps)
    d.fail(x == -1)
    return d.compile()


def trap():
    """From 1 on everything fails; 0 may stay where it is."""
    d = Description("trap")
    x = d.int("x", 0, 3, initial=0)
    d.edge("go", guard=x < 3, outcomes=[{x: x + 1}])
    d.edge("stay", guard=x == 0, outcomes=[{}])
    d.fail(x == 3)
    return d.compile()


class Walk:
    """Two steps, north or south; who ends in the north has failed."""

    def start(self):
        return [("south", 0)]

    def actions(self, state):
        return ["north", "south"] if state[1] < 2 else []

    def outcomes(self, state, action):
        return [(action, state[1] + 1)]

    def is_goal(self, state):
        return False

    def is_fail(self, state):
        return state == ("north", 2)


VERDICTS = {
    "loop avoids fail": (lamp, {"x": 0}, "safe"),
    "step back avoids fail": (lamp, {"x": 1}, "safe"),
    "goal": (lamp, {"x": 2}, "safe"),
    "fail": (lamp, {"x": 3}, "unsafe"),
    "staying is safe": (trap, {"x": 0}, "safe"),
    "no way back": (trap, {"x": 1}, "unsafe"),
    "long way": (lambda: ladder(50), {"x": 0}, "safe"),
}


@pytest.mark.parametrize("oracle", ORACLES.built_in)
@pytest.mark.parametrize("make, state, verdict", VERDICTS.values(), ids=VERDICTS)
def test_verdicts_have_certificates_that_the_checker_accepts(oracle, make, state, verdict):
    if oracle == BDD:
        pytest.importorskip("oxidd")
    answer = decide(make(), state, oracle=oracle)
    assert (answer.verdict, answer.reason, answer.radius) == (verdict, None, None)
    assert answer.state == state
    assert answer.is_known
    assert answer.certificate.claim == verdict
    assert answer.certificate is answer.certificate
    answer.certificate.check()


@pytest.mark.parametrize("oracle", [name for name in ORACLES.built_in if name != BDD])
def test_what_was_learned_is_kept(oracle):
    asked = Oracle(ladder(20), oracle=oracle)
    assert asked.decide({"x": 0}).expanded >= 20
    again = asked.decide({"x": 0})
    assert (again.verdict, again.expanded) == ("safe", 0)
    again.certificate.check()


def test_statistics_and_text():
    answer = decide(lamp(), {"x": 0})
    assert answer.expanded > 0 and answer.pairs > 0 and answer.outcomes > 0 and answer.seconds >= 0
    assert set(answer.to_dict()) == {
        *("state", "verdict", "expanded", "pairs", "outcomes", "seconds")
    }
    assert str(answer).startswith("safe: x=0 (")
    assert "expanded in" in answer._repr_html_()


UNKNOWN = {"max_states": "states", "max_seconds": "seconds", "memory_mb": "memory"}


@pytest.mark.parametrize("option, reason", UNKNOWN.items())
@pytest.mark.parametrize("oracle", [name for name in ORACLES.built_in if name != BDD])
def test_what_runs_out_is_the_reason(oracle, option, reason):
    task = surefoot.domain("one-way-line", packages=15, locations=10, variant="icy")
    start = task.sample_starts(1)[0]
    answer = decide(task, start, oracle=oracle, **{option: 0})
    assert (answer.verdict, answer.reason) == ("unknown", reason)
    assert answer.certificate is None
    assert answer.to_dict()["reason"] == reason
    assert str(answer).startswith(f"unknown ({reason}): ")


@pytest.mark.parametrize("oracle", ["lazy_attractor", "ipi"])
def test_time_that_ran_out_leaves_nothing_wrong_behind(oracle):
    task = surefoot.domain("one-way-line", packages=5, locations=6, variant="icy")
    hasty = Oracle(task, oracle=oracle, max_seconds=0.0)
    patient = Oracle(task, oracle=oracle)
    for start in task.sample_starts(5):
        hasty.decide(start)
    hasty.options = replace(hasty.options, max_seconds=60.0)
    for start in task.sample_starts(5):
        answer = hasty.decide(start)
        assert answer.verdict == patient.decide(start).verdict
        answer.certificate.check()


# -- radius ------------------------------------------------------------------------------------


def always(action):
    return lambda state: action


@pytest.mark.parametrize("oracle", with_radius())
@pytest.mark.parametrize("radius", range(4))
def test_radius_counts_differences(oracle, radius):
    task = ladder(3)
    asked = Oracle(task, policy=always("bad"), radius=radius, oracle=oracle)
    for x in range(4):
        answer = asked.decide({"x": x})
        assert answer.verdict == ("safe" if radius >= 3 - x else "unsafe")
        assert answer.certificate.radius == radius
        answer.certificate.check()


def test_the_policy_of_a_certificate_is_asked_again():
    task = ladder(3)
    decisions = dict.fromkeys(range(3), "good")
    answer = decide(task, {"x": 0}, policy=lambda state: decisions[state["x"]], radius=0)
    answer.certificate.check()
    decisions[1] = "bad"
    with pytest.raises(InputError, match=r"on .good., and asked again on .bad"):
        answer.certificate.check()


@pytest.mark.parametrize("steps", [0, 1, 3, 6])
def test_deviations_of_the_ladder(steps):
    found = Oracle(ladder(6), policy=always("bad")).deviations({"x": 6 - steps})
    assert (found.least, found.reason, found.text) == (steps, None, str(steps))
    assert [(c.claim, c.radius) for c in found.certificates] == [
        ("safe", steps),
        *([("unsafe", steps - 1)] if steps else []),
    ]
    for certificate in found.certificates:
        certificate.check()
    assert found.to_dict()["deviations"] == steps


@pytest.mark.parametrize(
    "make, state, radius",
    [(lamp, {"x": 0}, "finite"), (trap, {"x": 1}, None), (trap, {"x": 0}, "finite")],
    ids=["a difference in a cycle", "unsafe anyway", "a difference to stay"],
)
def test_no_number_of_differences(make, state, radius):
    found = Oracle(make(), policy="first").deviations(state)
    assert (found.least, found.text) == (math.inf, "inf")
    (certificate,) = found.certificates
    assert (certificate.claim, certificate.radius) == ("unsafe", radius)
    certificate.check()
    assert found.to_dict()["deviations"] == "inf"


def test_deviations_that_run_out():
    found = Oracle(ladder(6), policy=always("bad"), max_states=0).deviations({"x": 0})
    assert (found.least, found.reason, found.certificates) == (None, "states", ())
    assert found.text == "unknown (states)"
    assert found.to_dict()["deviations"] is None
    answer = replace(decide(ladder(6), {"x": 0}), deviations=found)
    assert answer.to_dict()["deviations"] is None
    assert answer.to_dict()["deviations_reason"] == "states"


def test_learn_tries_the_policy_first():
    task = ladder(30)
    plain = decide(task, {"x": 0}, oracle="ipi")
    learned = decide(task, {"x": 0}, oracle="ipi", order="learn", policy=always("good"))
    random = decide(task, {"x": 0}, oracle="ipi", order="rand", seed=3)
    assert plain.verdict == learned.verdict == random.verdict == "safe"
    assert learned.pairs < plain.pairs
    learned.certificate.check()


# -- tasks that Python code defines ------------------------------------------------------------


@pytest.mark.parametrize("oracle", [name for name in ORACLES.built_in if name != BDD])
def test_python_task(oracle):
    task = PythonTask(Walk())
    asked = Oracle(task, oracle=oracle)
    for state, verdict in [(("south", 0), "safe"), (("north", 2), "unsafe")]:
        answer = asked.decide(state)
        assert answer.verdict == verdict
        answer.certificate.check()


def test_python_task_with_a_radius():
    task = PythonTask(Walk())
    asked = Oracle(task, policy=always("north"), radius=1)
    answer = asked.decide(("south", 0))
    assert answer.verdict == "safe"
    answer.certificate.check()
    assert asked.deviations(("south", 0)).least == 1


@pytest.mark.parametrize("radius", [math.inf, "inf"])
def test_infinite_radius_is_none(radius):
    asked = Oracle(PythonTask(Walk()), policy=always("north"), radius=radius)
    assert asked.options.radius is None
    assert asked.decide(("south", 0)).radius is None


# -- what is refused ---------------------------------------------------------------------------

BAD = {
    "unknown oracle": ({"oracle": "lazy_atractor"}, "unknown-oracle", 'mean "lazy_attractor"?'),
    "no oracle at all like it": (
        {"oracle": "zzz"},
        "unknown-oracle",
        "oracles are: lazy_attractor",
    ),
    "nearest name and list": ({"oracle": "ipy"}, "unknown-oracle", BDD),
    "negative radius": ({"radius": -1, "policy": "first"}, "bad-option", "radius must be a whole"),
    "broken radius": ({"radius": 1.5, "policy": "first"}, "bad-option", "radius must be a whole"),
    "no number": ({"radius": math.nan, "policy": "first"}, "bad-option", "radius must be a whole"),
    "radius without policy": ({"radius": 1}, "bad-option", "give a policy"),
    "oracle without radius": (
        {"radius": 1, "policy": "first", "oracle": "npi"},
        "bad-option",
        ", ".join(with_radius()),
    ),
    "order of another": ({"order": "rand"}, "bad-option", "for the oracle ipi"),
    "unknown order": ({"order": "lern", "oracle": "ipi"}, "unknown-order", 'mean "learn"?'),
    "learn without policy": ({"order": "learn", "oracle": "ipi"}, "bad-option", "give a policy"),
    "unknown option": ({"orakle": "ipi"}, "unknown-option", 'did you mean "oracle"?'),
    "no policy": ({"policy": 3}, "not-a-policy", "is not a policy"),
}


@pytest.mark.parametrize("changes, code, text", BAD.values(), ids=BAD)
def test_bad_options(changes, code, text):
    with pytest.raises(InputError) as caught:
        Oracle(lamp(), **changes)
    assert caught.value.code == code
    assert text in str(caught.value)


BAD_STATES = {
    "missing": ({}, "missing-variable"),
    "unknown": ({"x": 0, "y": 1}, "unknown-variable"),
    "out of range": ({"x": 4}, "value-out-of-range"),
    "wrong type": ({"x": "up"}, "type-mismatch"),
    "no state": (3, "bad-state"),
}


@pytest.mark.parametrize("state, code", BAD_STATES.values(), ids=BAD_STATES)
def test_bad_states(state, code):
    for ask in (Oracle(lamp()).decide, Oracle(lamp(), policy="first").deviations):
        with pytest.raises(InputError) as caught:
            ask(state)
        assert caught.value.code == code


def test_states_of_another_task_are_read_by_name():
    other = Description("other")
    other.int("x", -5, 5, initial=0)
    state = other.compile().state(x=1)
    assert decide(trap(), state).verdict == "unsafe"
    with pytest.raises(InputError):
        decide(trap(), other.compile().state(x=-1))


def test_deviations_need_a_policy():
    with pytest.raises(InputError, match="give a policy"):
        Oracle(lamp()).deviations({"x": 0})


def test_a_task_is_needed():
    with pytest.raises(InputError, match="is not a task"):
        Oracle("lamp.jani")


def test_errors_of_the_model_are_told():
    d = Description("leaves")
    x = d.int("x", 0, 3, initial=0)
    d.edge("up", outcomes=[{x: x + 1}])
    d.fail(x == 4)
    with pytest.raises(InputError) as caught:
        decide(d.compile(), {"x": 0})
    assert caught.value.code == "model-out-of-range"


def test_diagrams_take_no_reals():
    d = Description("real")
    x = d.real("x", 0.0, 1.0, initial=0.0)
    d.fail(x > 0.5)
    for task, state in ((d.compile(), {"x": 0.0}), (PythonTask(Walk()), ("south", 0))):
        with pytest.raises(Unsupported):
            decide(task, state, oracle=BDD)


def test_a_wrong_verdict_is_rejected():
    """Whatever an algorithm says, its certificate must be about just that."""

    class Liar:
        def __init__(self, honest):
            self.honest = honest

        def decide(self, *args, **limits):
            self.honest.decide(*args, **limits)
            return AlgorithmAnswer("unsafe")

        def certificate(self, packed, **limits):
            return self.honest.certificate(packed, **limits)

    asked = Oracle(lamp())
    asked._engine = replace(asked._engine, algorithm=Liar(asked._engine.algorithm))
    with pytest.raises(CertificateRejected, match="does not claim unsafe"):
        asked.decide({"x": 0}).certificate.check()


def test_evidence_about_another_state_is_rejected():
    class Confused:
        def __init__(self, task, honest):
            self.other, self.honest = task.packed({"x": 1}), honest
            self.decide = honest.decide

        def certificate(self, packed, **limits):
            return self.honest.certificate(self.other, **limits)

    task = lamp()
    asked = Oracle(task)
    asked._engine = replace(asked._engine, algorithm=Confused(task, asked._engine.algorithm))
    with pytest.raises(CertificateRejected, match="does not claim safe"):
        asked.decide({"x": 0}).certificate.check()


# -- side by side ------------------------------------------------------------------------------


def test_oracles_agree():
    task = trap()
    names = [name for name in ORACLES.built_in if name != BDD]
    states = [task.state(x=x) for x in range(4)]
    found = compare(task, states, names=names, options=DecideOptions())
    assert [result.oracle for result in found.results] == names
    for summary in found.to_dict()["compare"]:
        assert (summary["safe"], summary["unsafe"], summary["unknown"]) == (1, 3, 0)
    assert found.to_dict()["agreement"] is True
    assert str(found).startswith("lazy_attractor: 4 states: 1 safe, 3 unsafe; ")


def test_oracles_that_do_not_take_the_task_are_left_out_if_wanted():
    task = PythonTask(Walk())
    states = [task.state(("south", 0))]
    how = {"names": ["ipi", BDD], "options": DecideOptions()}
    found = compare(task, states, skip_unsupported=True, **how)
    assert [result.oracle for result in found.results] == ["ipi"]
    assert set(found.left_out) == {BDD}
    with pytest.raises(Unsupported):
        compare(task, states, **how)


def test_disagreement_is_an_internal_error(monkeypatch):
    class Contrary(Oracle):
        def decide(self, state, *, progress=None):
            answer = super().decide(state, progress=progress)
            return replace(answer, bounds=SAFETY.bounds("unsafe")) if self.name == "npi" else answer

    monkeypatch.setattr(compare_module, "Oracle", Contrary)
    task = lamp()
    with pytest.raises(SurefootError) as caught:
        compare(task, [task.state(x=0)], names=["ipi", "npi"], options=DecideOptions())
    assert (caught.value.code, caught.value.exit_code) == ("oracles-disagree", 70)
    assert caught.value.message == "ipi says safe and npi says unsafe of state x=0"


def test_unknown_is_no_disagreement(monkeypatch):
    class Unsure(Oracle):
        def decide(self, state, *, progress=None):
            answer = super().decide(state, progress=progress)
            is_ipi = self.name == "ipi"
            unknown = replace(answer, bounds=SAFETY.bounds("unknown"), reason="seconds")
            return unknown if is_ipi else answer

    monkeypatch.setattr(compare_module, "Oracle", Unsure)
    task, settled = lamp(), []
    found = compare(
        task,
        [task.state(x=0)],
        names=["ipi", "npi", "lazy_attractor"],
        options=DecideOptions(),
        settle=lambda name, answer: settled.append((name, answer.verdict)),
    )
    assert [result.summary["unknown"] for result in found.results] == [1, 0, 0]
    assert settled == [("ipi", "unknown"), ("npi", "safe")]


def test_names_of_oracles():
    options = DecideOptions()
    assert oracles_of("all", options, has_policy=False) == ORACLES.built_in
    assert oracles_of("all", replace(options, radius=1), has_policy=True) == with_radius()
    assert oracles_of("ipi, npi", options, has_policy=False) == ("ipi", "npi")
    learn = replace(options, order="learn")
    assert "ipi" in oracles_of("all", learn, has_policy=True)
    for text, how, has_policy in [
        ("ipi,ipi", options, False),
        ("", options, False),
        ("ipi,,npi", options, False),
        ("npi", learn, True),
        ("all", learn, False),
        ("ipi", replace(options, radius=1), True),
    ]:
        with pytest.raises(InputError):
            oracles_of(text, how, has_policy=has_policy)


# -- states to ask about -----------------------------------------------------------------------


def test_start_states():
    found = start_states(lamp(), limit=10)
    assert [state["x"] for state in found.states] == [0, 1]
    assert (found.listed, found.complete, found.are_all) == (2, True, True)
    found = start_states(lamp(), limit=1)
    assert ([state["x"] for state in found.states], found.listed) == ([0], 2)
    assert not found.are_all
    assert len(start_states(PythonTask(Walk()), limit=5).states) == 1


def test_start_states_that_cannot_be_listed():
    d = Description("real")
    x = d.real("x", 0.0, 1.0, initial=0.0)
    d.start(x > 0.5)
    with pytest.raises(InputError) as caught:
        start_states(d.compile(), limit=5)
    assert caught.value.code == "start-not-finite"
    assert "--sample" in caught.value.hint
    d = Description("none")
    x = d.int("x", 0, 3, initial=0)
    d.start((x > 1) & (x < 1))
    with pytest.raises(InputError) as caught:
        start_states(d.compile(), limit=5)
    assert caught.value.code == "no-start-state"


def test_samples_are_reachable_different_and_reproducible():
    task = surefoot.domain("one-way-line", packages=3, locations=4)
    found = sample_states(task, 50, seed=3)
    assert found == sample_states(task, 50, seed=3) != sample_states(task, 50, seed=4)
    assert len(set(found)) == 50
    starts = task.list_starts()
    assert any(state not in starts for state in found)
    reachable = surefoot.explore(task).states
    assert surefoot.explore(task, [*starts, *found]).states == reachable


def test_samples_of_few_states():
    assert {state["x"] for state in sample_states(lamp(), 100)} == {0, 1, 2, 3}
    assert sample_states(lamp(), 0) == []
    with pytest.raises(InputError):
        sample_states(lamp(), -1)
