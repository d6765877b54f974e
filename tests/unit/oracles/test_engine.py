"""Engines: one question at a time, budgets per question, radii of any size."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from surefoot import Description, InputError, Oracle, _core, domain


def test_threads_take_turns():
    task = domain("one-way-line", packages=8, locations=8, variant="icy")
    oracle = Oracle(task)
    starts = task.sample_starts(40, seed=1)
    with ThreadPoolExecutor(8) as pool:
        found = [answer.verdict for answer in pool.map(oracle.decide, starts)]
    alone = Oracle(task)
    assert found == [alone.decide(start).verdict for start in starts]


def test_a_policy_must_not_ask_its_own_oracle():
    task = domain("flappy-bird", width=10, height=4, walls=2)
    asked = []

    def policy(state):
        asked[0].decide(state)

    asked.append(Oracle(task, policy=policy, radius=1))
    with pytest.raises(InputError) as caught:
        asked[0].decide({"x": 0, "y": 1})
    assert caught.value.code == "oracle-busy"


def test_the_core_refuses_a_second_question():
    task = domain("flappy-bird", width=10, height=4, walls=2)
    limits = {"max_seconds": 9.0, "max_bytes": 10**9, "max_states": 10**9, "progress": None}
    packed = task.packed({"x": 0, "y": 1})
    refused = []

    def decide(state, applicable):
        with pytest.raises(RuntimeError, match="busy"):
            oracle.decide(state, **limits)
        refused.append(state)
        return applicable[0]

    policy = _core.CallablePolicy(decide)
    oracle = _core.Oracle(task.core, "lazy_attractor", order="app", seed=0, policy=policy, radius=1)
    assert oracle.decide(packed, **limits).verdict != "unknown"
    assert refused


def test_each_question_may_store_as_many_states():
    """A hard question must not spoil easy ones that come after it."""
    d = Description("hard and easy")
    x = d.int("x", 0, 10_000)
    d.edge("up", guard=(x > 0) & (x < 10_000), outcomes=[{x: x + 1}])
    d.fail(x == 10_000)
    oracle = Oracle(d.compile(), max_states=100)
    hard = oracle.decide({"x": 1})
    assert (hard.verdict, hard.reason) == ("unknown", "states")
    assert oracle.decide({"x": 9_950}).verdict == "unsafe"
    assert oracle.decide({"x": 0}).verdict == "safe"
    assert oracle.decide({"x": 1}).expanded > 50  # goes on where it was left


def lamp(*, fails_at):
    """Wait or step; stepping as often as it takes fails. The policy first steps."""
    d = Description("lamp")
    x = d.int("x", 0, 3)
    d.edge("step", guard=x < 3, outcomes=[{x: x + 1}, {x: 0}])
    d.edge("wait", guard=x < 3, outcomes=[{}])
    d.fail(x == fails_at)
    return d.compile()


def test_large_radii_have_certificates():
    oracle = Oracle(lamp(fails_at=3), policy="first", radius=20_000, max_seconds=20)
    found = oracle.decide({"x": 0})
    assert found.verdict == "unsafe"
    found.certificate.check()
