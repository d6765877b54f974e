"""Verdicts on random models, carried through to certificates: right, and accepted.

The models name local variables in conditions in every way that docs/jani.md allows, and pin reals
in start conditions by equalities, bounds and declarations.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.support.agreement import compare_calm_models, frozen
from tests.support.random_conditions import CONDITION_FEATURES, condition_features
from tests.support.random_models import is_calm, random_model

from surefoot import Oracle, SurefootError, checker, load_task
from surefoot.certificates import check_policy_certificate
from surefoot.policies import as_policy
from surefoot.reference import unsafe_ranks
from surefoot.reference.policies import failing_states
from surefoot.verify import verify

SEEDS = range(1_500)
PARTS = 4
VERDICTS = ("safe", "unsafe")


@pytest.mark.parametrize("part", range(PARTS))
def test_verdicts_are_right_and_their_certificates_accepted(part: int, tmp_path: Path) -> None:
    counts: Counter[str] = Counter()

    def compare(task: Any, explicit: Any, starts: list[Any], seed: int) -> int:
        ranks = unsafe_ranks(explicit)
        for start in starts[:3]:
            answer = Oracle(task).decide(task.state(start))
            is_unsafe = explicit.number(start) in ranks
            assert answer.verdict == ("unsafe" if is_unsafe else "safe")
            answer.certificate.check()
            counts[answer.verdict] += 1
        counts[f"policy {verified(task, explicit, starts, tmp_path)}"] += 1
        counts.update(condition_features(random_model(seed)))
        return 1

    compare_calm_models(tmp_path, SEEDS[part::PARTS], compare, max_starts=300, max_states=300)
    assert min(counts[f"{who}{verdict}"] for who in ("", "policy ") for verdict in VERDICTS) > 30
    assert sum(counts[name] for name in CONDITION_FEATURES) > 30, counts


def verified(task: Any, explicit: Any, starts: list[Any], folder: Path) -> str:
    """Return the verdict on the policy ``first``, which must be right and accepted."""
    policy, decisions = as_policy("first", task), {}
    for number in explicit.states:
        choices = explicit.choices(number)
        decisions[number] = None if None in choices or not choices else min(choices)
        if decisions[number] is not None:
            assert policy.decide(explicit.state(number)) == explicit.names[decisions[number]]
    fails = failing_states(explicit, decisions) & {explicit.number(start) for start in starts}
    file = folder / "certificate.jsonl"
    result = verify(task, policy, method="explicit", certificate=file)
    assert result.verdict == ("unsafe" if fails else "safe")
    if result.verdict == "safe":
        check_policy_certificate(task, file, policy=policy)
    return str(result.verdict)


@pytest.mark.parametrize("part", range(PARTS))
def test_start_states_with_pinned_reals_are_listed_alike(part: int, tmp_path: Path) -> None:
    """What the core lists although there are reals, the checker lists, too."""
    file, listed = tmp_path / "model.jani", 0
    for seed in SEEDS[part::PARTS]:
        model = random_model(seed)
        if not is_calm(seed) or not any("pinned" in each for each in condition_features(model)):
            continue
        file.write_text(json.dumps(model), encoding="utf-8")
        try:
            ours = load_task(file).list_starts(max_states=5_000)
        except SurefootError:
            continue
        theirs = checker.load(file).starts(1_000_000)
        assert theirs is not None, f"random_model({seed})"
        assert frozen(ours) == frozen(theirs), f"random_model({seed})"
        listed += 1
    assert listed > 10
