"""The policies that come with Surefoot: each does what its card says."""

import json
import re
from dataclasses import fields
from functools import cache

import pytest

from surefoot import evaluate, load_policy, load_task
from surefoot.domains import DOMAINS
from surefoot.policies import builtin
from surefoot.policies.formats import read_policy

CARDS = builtin.cards()
MAX_BYTES = {"network": 200_000, "trees": 900_000}
SUFFIXES = {"network": ".safetensors", "trees": ".json"}
EVALUATED = 3
STARTS = 200

every_card = pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)


@cache
def task_of(text):
    return load_task(text)


def family_of(card):
    return card.task.removeprefix("domain:").partition("?")[0]


@pytest.mark.parametrize("kind", MAX_BYTES)
@pytest.mark.parametrize("family", DOMAINS)
def test_every_family_has_policies(family, kind):
    assert [card.name for card in CARDS if family_of(card) == family and card.kind == kind]


def test_nothing_else_is_shipped():
    """Every file is a card, or the file of one."""
    known = {card.file for card in CARDS} | {f"{card.name}{builtin.SUFFIX}" for card in CARDS}
    assert {path.name for path in builtin.FOLDER.iterdir()} == known


@every_card
def test_card_is_complete(card):
    content = json.loads((builtin.FOLDER / f"{card.name}{builtin.SUFFIX}").read_text())
    assert set(content) <= {builtin.KEY, *(one.name for one in fields(card))}
    assert re.fullmatch(rf"{family_of(card)}(-[a-z0-9-]+)?-{card.kind}", card.name)
    assert card.file == card.name + SUFFIXES[card.kind]
    assert card.starts > 0
    assert card.mean_steps > 0
    assert all(0 <= part <= 1 for part in (card.goal_fraction, card.unsafe_fraction))
    assert "surefoot" in card.command
    if card.kind == "trees":
        teacher = builtin.card(card.teacher.removeprefix(builtin.PREFIX))
        assert (teacher.kind, teacher.task) == ("network", card.task)
        assert 0 < card.agreement <= 1
    else:
        assert card.steps > 0
        assert card.training_seconds > 0


@every_card
def test_file_is_small(card):
    assert 0 < card.path.stat().st_size <= MAX_BYTES[card.kind]


@every_card
def test_file_names_its_inputs_and_outputs(card):
    """So that it fits, and only fits, tasks with these names."""
    interface = read_policy(card.path).interface
    assert interface.inputs
    assert all(one.variable is not None or one.constant is not None for one in interface.inputs)
    assert interface.outputs


@every_card
def test_policy_fits_its_task(card):
    task = task_of(card.task)
    assert task.sha256 == card.task_sha256
    policy = load_policy(card.policy, task)
    assert policy.model.kind == card.kind
    assert policy.notes == ()
    for state in task.sample_starts(5, seed=0):
        choices = [name for name in task.applicable(state) if name not in task.silent]
        assert not choices or policy.decide(state) in choices


def smallest():
    """Return the cards whose files are the smallest, one of each family."""
    there = [card for card in CARDS if card.path.is_file()]
    ordered = sorted(there, key=lambda card: (card.path.stat().st_size, card.name))
    first = {family_of(card): card for card in reversed(ordered)}
    return sorted(first.values(), key=ordered.index)[:EVALUATED]


@pytest.mark.parametrize("card", smallest(), ids=lambda card: card.name)
def test_policy_is_as_good_as_its_card_says(card):
    """The fractions of a sample of the start states are off by no more than chance explains."""
    task = task_of(card.task)
    found = evaluate(task, load_policy(card.policy, task), starts=STARTS, seed=0)
    is_same = found.all_starts and found.starts == card.starts
    slack = 1e-9 if is_same and found.is_exact and card.exact else 0.15
    assert found.unsafe_fraction == pytest.approx(card.unsafe_fraction, abs=slack)
    assert found.goal_fraction == pytest.approx(card.goal_fraction, abs=0.15)
