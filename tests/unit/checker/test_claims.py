"""A claim of the checker is a class and a line: another moves in beside safe and unsafe."""

import copy
import json

import pytest

from surefoot import Description, checker, decide
from surefoot.certificates import model_of
from surefoot.checker import certificates, evidence
from surefoot.checker.certificates import Rule
from surefoot.checker.evidence import CLAIMS, Claim, Rejected, is_whole


class Reaching(Rule):
    """Every action leads to states of smaller rank; the goal needs none."""

    def claim(self):
        if self._evidence.state not in self._evidence.entries:
            raise Rejected("the claim's state has no rank")

    def entry(self, here, remaining, value):
        if here.is_goal:
            return
        if here.is_fail or not here.choices:
            raise Rejected(f"{self._shown(here.number)} ends before the goal")
        for action in here.choices:
            for outcome in here.outcomes(action):
                after = self._evidence.entries.get(self._number_of.get(outcome, -1), {})
                if not min(after.values(), default=value) < value:
                    raise Rejected(f"{self._shown(here.number)} does not get nearer")


def read_distance(value, used):
    if not is_whole(value):
        raise Rejected("a distance is a whole number")
    return value


@pytest.fixture
def reaching(monkeypatch):
    monkeypatch.setitem(CLAIMS, "reaching", Claim("distances", read_distance))
    monkeypatch.setitem(certificates.RULES, "reaching", Reaching)


def stairs():
    d = Description("stairs")
    x = d.int("x", 0, 3, initial=3)
    d.edge("down", guard=x > 0, outcomes=[{x: x - 1}])
    d.goal(x == 0)
    return d.compile()


def evidence_of(task):
    content = json.loads(json.dumps(decide(task, {"x": 3}).certificate.to_dict()))
    content |= {"claim": "reaching", "actions": [], "state": 3, "states": [[x] for x in range(4)]}
    del content["choices"]
    return content | {"distances": [[x, x] for x in range(4)]}


def test_every_claim_has_a_rule():
    assert set(CLAIMS) == set(certificates.RULES) == {"safe", "unsafe"}


def test_another_claim_is_checked_by_its_rule(reaching):
    task = stairs()
    model, right = model_of(task, None), evidence_of(task)
    checker.check_certificate(model, right)
    for distances in ([[0, 0], [1, 1], [2, 2]], [[0, 0], [1, 1], [2, 1], [3, 3]], [[0, -1]]):
        wrong = copy.deepcopy(right) | {"distances": distances}
        with pytest.raises(Rejected):
            checker.check_certificate(model, wrong)
    with pytest.raises(Rejected, match="the radius 'finite' does not apply"):
        checker.check_certificate(model, right | {"radius": "finite"})


def test_what_is_no_claim_is_rejected():
    task = stairs()
    for claim in ("reaching", None, [], {}):
        with pytest.raises(Rejected, match="not safe or unsafe"):
            evidence.read_claim(evidence_of(task) | {"claim": claim})
