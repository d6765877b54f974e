"""Built-in domains: names, parameters, and agreement with the published file."""

import random
import time
from pathlib import Path

import pytest

from surefoot import InputError, checker, domain, explore, load_task
from surefoot.domains import DOMAINS, domain_from_text

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "jani"
LINE = DATA / "one_way_line_15_10_det" / "one_way_line_15_10.jani"
PROPERTY = LINE.with_name("pa_one_way_line_15_10_random_starts_1000.jani")

WRONG = {
    "domain:one-way-lin": ("unknown-domain", "one-way-line"),
    "domain:": ("unknown-domain", "one-way-line"),
    "domain:nothing like it": ("unknown-domain", "one-way-line"),
    "domain:one-way-line?package=3": ("unknown-parameter", "packages"),
    "domain:one-way-line?zzz=3": ("unknown-parameter", "packages"),
    "domain:one-way-line?packages=many": ("bad-parameter", None),
    "domain:one-way-line?packages=": ("bad-parameter", None),
    "domain:one-way-line?packages=0": ("bad-parameter", None),
    "domain:one-way-line?packages=1001": ("bad-parameter", None),
    "domain:one-way-line?locations=1": ("bad-parameter", None),
    "domain:one-way-line?top_speed=0": ("bad-parameter", None),
    "domain:one-way-line?variant=icey": ("bad-parameter", "icy"),
    "domain:one-way-line?packages=1&packages=2": ("bad-parameter", None),
    "domain:one-way-line?packages=2&packages=2": ("bad-parameter", None),
    "domain:one-way-line?locations=1000&top_speed=1000": ("bad-parameter", "top_speed"),
    "domain:one-way-line?return=3": ("unknown-parameter", "packages"),
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_texts(text):
    code, hint = WRONG[text]
    with pytest.raises(InputError) as caught:
        domain_from_text(text)
    assert caught.value.code == code
    assert hint is None or hint in caught.value.hint


@pytest.mark.parametrize(
    "value", ["3", 2.5, None, True, 10**5000], ids=["text", "real", "none", "bool", "huge"]
)
@pytest.mark.parametrize("name", ["packages", "locations", "top_speed"])
def test_parameters_of_the_wrong_kind(name, value):
    with pytest.raises(InputError) as caught:
        domain("one-way-line", **{name: value})
    assert caught.value.code == "bad-parameter"
    assert name in caught.value.message


@pytest.mark.parametrize("value", [3, None, b"det", ["det"]])
def test_a_variant_is_text(value):
    with pytest.raises(InputError) as caught:
        domain("one-way-line", variant=value)
    assert caught.value.code == "bad-parameter"


def test_too_many_edges_are_refused_at_once():
    begin = time.process_time()
    with pytest.raises(InputError) as caught:
        domain("one-way-line", locations=1000, top_speed=66)
    assert caught.value.code == "bad-parameter"
    assert "20,000" in caught.value.message
    assert time.process_time() - begin < 1


def test_text_and_keywords_make_the_same_task():
    text = "domain:one-way-line?packages=2&locations=5&variant=icy"
    task = domain("one-way-line", packages=2, locations=5, variant="icy")
    assert domain_from_text(text).sha256 == task.sha256 == load_task(text).sha256
    assert domain_from_text("domain:one-way-line").sha256 == domain("one-way-line").sha256
    assert task.sha256 != domain("one-way-line", packages=2, locations=5).sha256


@pytest.mark.parametrize("name", DOMAINS)
def test_every_domain_explores_without_error_by_default(name):
    counts = explore(domain(name), max_states=200_000)
    assert counts.complete
    assert counts.fail > 0
    assert counts.goal > 0


@pytest.mark.parametrize("variant", ["det", "icy", "icy-park"])
@pytest.mark.parametrize("sizes", [(1, 2, 1), (2, 3, 3), (3, 6, 2), (2, 4, 5)])
def test_one_way_line_of_any_size_has_no_error(variant, sizes):
    packages, locations, top_speed = sizes
    task = domain(
        "one-way-line", packages=packages, locations=locations, top_speed=top_speed, variant=variant
    )
    counts = explore(task)
    assert counts.complete
    assert counts.goal > 0
    assert (counts.dead_ends > 0) == (variant == "icy-park")


def random_state(model, rng):
    """Return a random state, at rest or at the end more often than chance would have it."""
    state = {v.name: rng.randint(int(v.lower), int(v.upper)) for v in model.variables}
    if rng.random() < 0.4:
        state["truck_vel_0"] = 0
    if rng.random() < 0.3:
        state["truck_0"] = 9
    if rng.random() < 0.3:
        state["truck_load_0"] = 0
    return state


def loaded_state(model, rng):
    """Return a random state in which the packages add up to 15, often all of them delivered."""
    state = random_state(model, rng)
    loads = [name for name in state if "load" in name]
    state |= dict.fromkeys(loads, 0)
    for _ in range(15):
        state["location_load_9" if rng.random() < 0.8 else rng.choice(loads)] += 1
    return state


def delivered_state(model, rng):
    """Return a goal state that at most one variable keeps from being one."""
    state = {v.name: 0 for v in model.variables} | {"location_load_9": 15, "truck_0": 9}
    if rng.random() < 0.6:
        spoilt = rng.choice(model.variables)
        state[spoilt.name] = rng.randint(int(spoilt.lower), int(spoilt.upper))
    return state


def kind(side, state):
    if side.is_fail(state):
        return "fail"
    return "goal" if side.is_goal(state) else "open"


def answered(ask):
    try:
        return ask()
    except (checker.ModelError, InputError):
        return "error"


def as_set(states):
    return (
        states if states == "error" else frozenset(tuple(sorted(dict(s).items())) for s in states)
    )


@pytest.mark.data
@pytest.mark.skipif(not PROPERTY.exists(), reason="the published instances are not here")
def test_one_way_line_agrees_with_the_published_file():
    model = checker.load(LINE, PROPERTY)
    task = domain("one-way-line", packages=15, locations=10)
    ours = [(v.name, v.type, v.lower, v.upper) for v in task.variables]
    assert sorted(ours) == sorted((v.name, v.kind, v.lower, v.upper) for v in model.variables)
    assert sorted(task.actions) == sorted(model.actions)
    rng = random.Random(1)
    kinds = dict.fromkeys(("fail", "goal", "open"), 0)
    for number in range(3000):
        state = (delivered_state, loaded_state, random_state)[number % 3](model, rng)
        assert set(task.applicable(state)) == set(model.applicable(state)), state
        assert kind(task, state) == kind(model, state), state
        kinds[kind(task, state)] += 1
        for action in task.actions:
            found = as_set(answered(lambda: task.outcomes(state, action)))  # noqa: B023
            assert found == as_set(answered(lambda: model.outcomes(state, action))), (state, action)  # noqa: B023
    assert min(kinds.values()) > 100
    # Our starts leave the last location empty (domains.md); the file lists others as well.
    listed = model.starts(10_000)
    assert [s for s in listed if task.is_start(s)] == [
        s for s in listed if s["location_load_9"] == 0
    ]
