"""The portfolio against explicit verification, with the short search before the others left out."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.agreement.test_verify import Case

from surefoot.findings import finding_of
from surefoot.verify import auto, verify

TASKS = 150


@pytest.fixture(autouse=True)
def others_first(monkeypatch):
    """Let explicit search come last, and fuzzing find little: so the others have to decide."""
    monkeypatch.setattr(auto, "FEW_STARTS", -1)
    monkeypatch.setattr(auto, "FUZZ_RUNS", 1)
    monkeypatch.setattr(auto, "FUZZ_LOOKAHEAD", 1)


def compare(case, decided):
    here = verify(case.task, case.policy, method="explicit")
    found = verify(case.task, case.policy, certificate=True, max_seconds=30)
    assert found.verdict == here.verdict
    assert found.engines[-1].verdict == found.verdict
    decided[found.method, found.verdict] += 1
    if found.verdict == "safe":
        found.certificate.check()
    else:
        finding_of(case.task, case.policy, found.run).check()


@pytest.mark.parametrize("kind", ["trees", "network"])
def test_verdicts_and_evidence(kind):
    decided = Counter()
    for seed in range(TASKS):
        compare(Case(seed, kind=kind), decided)
    assert decided["box", "safe"] > 10 and decided["box", "unsafe"] > 10
    assert decided["fuzz", "unsafe"] > 10


def test_unfiltered_policies():
    decided = Counter()
    for seed in range(TASKS):
        compare(Case(seed, unfiltered=True), decided)
    assert decided["box", "safe"] > 5
