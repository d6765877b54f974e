"""Certificates of the reference are accepted, on tables and on models."""

import json
import random
from collections import Counter

import pytest
from tests.support.explicit_tasks import as_callable, random_policy, random_task
from tests.support.random_models import is_calm, random_model

from surefoot import checker
from surefoot.checker import check_certificate
from surefoot.reference import ExplicitTask, certificate_of, deviations, explicit_of

RADII = (None, 0, 1, 2, 3, "finite")


def check_all(task, model, policy, states):
    """Check the certificates of some states; return how often which claim was made."""
    least, claims = deviations(task, policy), Counter()
    for state in states:
        for radius in RADII:
            if radius == "finite" and least[state] is not None:
                continue
            about = None if radius is None else policy
            certificate = certificate_of(task, state, policy=about, radius=radius)
            check_certificate(model, certificate, policy=as_callable(task, policy))
            check_certificate(model, json.loads(json.dumps(certificate)))
            claims[radius, certificate["claim"]] += 1
    return claims


def test_random_tasks():
    rng = random.Random(1)
    claims = Counter()
    for _ in range(250):
        task = random_task(rng)
        claims += check_all(task, task, random_policy(rng, task), task.states)
    expected = {(radius, claim) for radius in RADII for claim in ("safe", "unsafe")}
    assert set(claims) == expected - {("finite", "safe")}
    assert min(claims.values()) > 150


def test_random_models(tmp_path):
    """The evidence of the reference holds in the model it was explored from."""
    rng = random.Random(2)
    claims = Counter()
    for seed in filter(is_calm, range(150)):
        file = tmp_path / "model.jani"
        file.write_text(json.dumps(random_model(seed)))
        model = checker.load(file, int_range=(-5, 5))
        try:
            starts = (model.starts(1_000) or [])[:2]
            task = explicit_of(model, starts, max_states=60)
        except (checker.ModelError, ValueError):
            continue
        states = rng.sample(task.states, min(3, len(task.states)))
        claims += check_all(task, model, random_policy(rng, task), states)
    assert claims[None, "safe"] > 10
    assert claims[None, "unsafe"] > 10
    assert claims["finite", "unsafe"] > 10


def test_only_what_is_needed_is_listed():
    """Of a long line with a way to stop everywhere, one state is enough."""
    table = tuple(((state,), (state + 1,)) for state in range(9))
    certificate = certificate_of(ExplicitTask(table=(*table, ()), fail={9}), 3)
    assert certificate["states"] == [[3]]
    assert certificate["choices"] == [[0, 0]]


def test_what_makes_no_claim():
    loop = ExplicitTask(table=(((0,), (1,)), ()), fail={1})
    with pytest.raises(ValueError, match="finite"):
        certificate_of(loop, 0, policy=(0, None), radius="finite")
    with pytest.raises(ValueError, match="policy"):
        certificate_of(loop, 0, radius=1)
    with pytest.raises(ValueError, match="policy"):
        certificate_of(loop, 0, policy=(0, None))
