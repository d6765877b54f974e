"""What the checker says about boxes holds in their states: expressions, steps, sums and scores."""

from __future__ import annotations

import json
import random
from collections import Counter

import numpy as np
import pytest
from tests.support.boxes import KINDS, learned_policy, random_model
from tests.support.networks import random_network
from tests.support.random_models import random_model as random_jani
from tests.support.random_models import random_state

from surefoot import Description, checker
from surefoot.certificates import model_of, scores_of
from surefoot.checker.box_choices import scorer_of
from surefoot.checker.box_steps import BoxView, change, image, live, moves_of
from surefoot.checker.errors import ModelError
from surefoot.checker.expressions import run
from surefoot.checker.intervals import TRUE, Unsure, bounds
from surefoot.checker.linear import Fact, tightened
from surefoot.policies.callables import fed

MODELS = 1200
PARTS = 4
BOXES = 3
STATES = 5


def loaded(path, seed):
    path.write_text(json.dumps(random_jani(seed)), encoding="utf-8")
    try:
        return checker.load(path)
    except (checker.ReadError, checker.NotSupported, checker.ModelError):
        return None


def random_box(variables, rng):
    """Return a box: a few variables have several values."""
    share = rng.choice((0.2, 0.5, 1.0))
    one, other = random_state(variables, rng), random_state(variables, rng)
    box = {}
    for variable in variables:
        name = variable.name
        ends = (one[name], other[name]) if rng.random() < share else (one[name], one[name])
        ends = [variable.accept(end) for end in ends]
        box[name] = min(ends), max(ends)
    return box


def state_in(box, rng):
    return {name: value_in(*span, rng) for name, span in box.items()}


def value_in(low, high, rng):
    if isinstance(low, bool):
        return rng.choice((low, high))
    if isinstance(low, int):
        return rng.randint(low, high)
    drawn = rng.choice((low, high, low + rng.random() * (high - low)))
    return min(max(drawn, low), high) + 0.0


def is_in(value, span):
    if isinstance(span, list):
        return all(is_in(v, s) for v, s in zip(value, span, strict=True))
    return type(value) is type(span[0]) and span[0] <= value <= span[1]


def codes_of(model):
    """Return all expressions of a model: those over a state, and those of updates."""
    of_state, of_update = [], []
    for condition in (model.fail, model.goal, *model.start.conditions):
        of_state += condition.conjuncts if condition else []
    for element in model.elements:
        for edge in element.edges:
            of_state += [edge.guard] if edge.guard else []
            for destination in edge.destinations:
                of_state += [destination.probability] if destination.probability else []
                for update in destination.assignments:
                    parts = (update.position, update.value, *(update.interval or ()))
                    of_update += [part for part in parts if part is not None]
    return of_state, of_update


@pytest.mark.fuzz
@pytest.mark.parametrize("part", range(PARTS))
def test_expressions(part, tmp_path):
    seen = Counter()
    for seed in range(part, MODELS, PARTS):
        model = loaded(tmp_path / "m.jani", seed)
        if model is None:
            continue
        rng = random.Random(seed)
        of_state, of_update = codes_of(model)
        initial = model.transient_initial
        constant = {name: (value, value) for name, value in initial.items()}
        for _ in range(BOXES):
            box = random_box(model.variables, rng)
            states = [state_in(box, rng) for _ in range(STATES)]
            for code in of_state:
                views = [model.view(state) for state in states]
                check_code(code, BoxView(box, model), views, seen)
            for code in of_update:
                check_code(code, {**box, **constant}, [{**s, **initial} for s in states], seen)
    assert min(seen["exact"], seen["open"], seen["error"]) > 1000, seen


def check_code(code, box, views, seen):
    try:
        span = bounds(code, box)
    except Unsure:
        span = None
    for view in views:
        try:
            value = run(code, view)
        except ModelError:
            assert span is None, (code, box, view)
            seen["error"] += 1
            continue
        if span is None:
            seen["unsure"] += 1
            continue
        assert is_in(value, span), (code, box, view, value, span)
        is_exact = not isinstance(span, list) and span[0] == span[1]
        seen["exact" if is_exact else "open"] += 1


@pytest.mark.fuzz
@pytest.mark.parametrize("part", range(PARTS))
def test_steps(part, tmp_path):
    seen = Counter()
    for seed in range(part, MODELS, PARTS):
        model = loaded(tmp_path / "m.jani", seed)
        if model is None:
            continue
        rng, moves = random.Random(seed), moves_of(model)
        for _ in range(BOXES):
            box = random_box(model.variables, rng)
            try:
                found = [live(move, BoxView(box, model)) for move in moves]
            except Unsure:
                seen["unsure"] += 1
                continue
            found = [each for each in found if each is not None]
            for state in [state_in(box, rng) for _ in range(STATES)]:
                check_steps(model, moves, box, found, state, rng, seen)
    assert min(seen["outcomes"], seen["kept"], seen["error"]) > 300, seen


def check_steps(model, moves, box, found, state, rng, seen):
    applicable = model.applicable(state)  # raises nothing: that was not unsure
    here = BoxView({name: (value, value) for name, value in state.items()}, model)
    for move in moves:
        if move.is_enabled(here) == TRUE:
            cut = tightened(box, move.facts)
            assert cut is not None and all(is_in(state[name], cut[name]) for name in cut)
            seen["kept"] += 1
    for action in model.actions:
        own = [each for each in found if each.move.action == action]
        assert action not in applicable or own
        assert action in applicable or not any(each.is_applicable for each in own)
        check_outcomes(model, box, own, state, action, rng, seen)


def check_outcomes(model, box, own, state, action, rng, seen):
    facts = [random_fact(model, rng) for _ in range(2)]
    images = []
    for each in own:
        for end, _ in each.ends:
            try:
                changes = image(model, end, box)
            except Unsure:
                seen["error"] += 1
                return
            spans = [change(model, end, fact, box, changes) for fact in facts if fact]
            images.append(({**box, **changes}, spans))
    for outcome in model.outcomes(state, action):
        moved = [total(fact, outcome) - total(fact, state) for fact in facts if fact]
        assert any(
            all(is_in(outcome[name], after[name]) for name in outcome)
            and all(low <= by <= high for by, (low, high) in zip(moved, spans, strict=True))
            for after, spans in images
        ), (box, state, action, outcome)
        seen["outcomes"] += 1


def random_fact(model, rng):
    names = [v.name for v in model.variables if v.kind != "real"]
    if not names:
        return None
    chosen = rng.sample(names, min(len(names), 2))
    return Fact(tuple((name, rng.choice((1, 1, -1, 2))) for name in chosen), 0, 0)


def total(fact, state):
    return sum(factor * state[name] for name, factor in fact.factors)


def test_facts_lose_no_state():
    """Against all states of small boxes; what is left is as small as bounds can tell."""
    rng, names = random.Random(3), ("x", "y", "b")
    left = 0
    for _ in range(3000):
        box = {"x": tuple(sorted((rng.randint(-4, 4), rng.randint(-4, 4))))}
        box["y"] = tuple(sorted((rng.randint(-4, 4), rng.randint(-4, 4))))
        box["b"] = rng.choice(((False, True), (False, False), (True, True)))
        facts = []
        for _ in range(rng.choice((1, 2))):
            used = tuple((name, rng.choice((-2, -1, 1, 3))) for name in rng.sample(names, 2))
            low = rng.choice((None, rng.randint(-6, 6)))
            high = None if rng.random() < 0.3 else rng.randint(-6, 8)
            facts.append(Fact(used, low, high))
        cut = tightened(box, facts)
        for x in range(box["x"][0], box["x"][1] + 1):
            for y in range(box["y"][0], box["y"][1] + 1):
                for b in {*box["b"]}:
                    state = {"x": x, "y": y, "b": b}
                    if all(holds(fact, state) for fact in facts):
                        assert cut is not None
                        assert all(cut[n][0] <= state[n] <= cut[n][1] for n in names)
                        left += 1
        if cut is not None:
            assert all(type(end) is bool for end in cut["b"])
    assert left > 1000


def holds(fact, state):
    value = total(fact, state)
    is_low = fact.lower is not None and value < fact.lower
    return not is_low and not (fact.upper is not None and value > fact.upper)


# -- scores ------------------------------------------------------------------------------------


def mixed_task():
    d = Description("mixed")
    d.int("x", -3, 6)
    d.int("y", 0, 9)
    d.bool("b")
    d.real("r", -2.0, 2.0)
    for name in ("one", "two", "three"):
        d.edge(name, outcomes=[{}])
    d.start({"x": 0, "y": 0, "b": False, "r": 0.0})
    return d.compile()


def check_scores(task, policy, variables, rng, seen):
    scorer = scorer_of(scores_of(policy), variables)
    box, before = random_box(variables, rng), None
    outputs = range(len(policy.interface.outputs))
    for _ in range(4):
        found = scorer.on(box)
        if before is not None:
            changed = {name for name in box if box[name] != before[0][name]}
            again = scorer.on(box, before[1], changed)
            assert [again.span(o) for o in outputs] == [found.span(o) for o in outputs]
        before = box, found
        for state in [state_in(box, rng) for _ in range(8)]:
            check_point(task, policy, found, state, seen)
        box = smaller(box, rng)


def smaller(box, rng):
    name = rng.choice(list(box))
    low, high = box[name]
    value = value_in(low, high, rng)
    return {**box, name: rng.choice(((low, value), (value, high)))}


def check_point(task, policy, found, state, seen):
    row = policy.scorer.scores(fed(policy.interface, task, task.packed(state)))[0]
    for output, score in enumerate(row):
        low, high = found.span(output)
        assert low <= score <= high, (state, output, score, low, high)
        for other, less in enumerate(row):
            if other != output and found.beats(output, other):
                assert score > less or (score == less and output < other)
                seen["beats"] += 1
            elif other != output:
                seen["open"] += 1


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", sorted(set(KINDS)))
def test_scores(kind):
    task, seen = mixed_task(), Counter()
    variables = model_of(task, []).variables
    for seed in range(150):
        policy = learned_policy(kind, task, seed)
        check_scores(task, policy, variables, random.Random(seed), seen)
    assert min(seen["beats"], seen["open"]) > 1000, seen


@pytest.mark.fuzz
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("activation", ["relu", "leaky_relu", "tanh", "sigmoid", "linear"])
def test_scores_of_networks(activation, precision):
    """Wider ones, on tiny boxes as well: there the rounding of the policy is all there is."""
    from surefoot.policies import as_policy

    task, seen = mixed_task(), Counter()
    variables = model_of(task, []).variables
    for seed in range(12):
        network = random_network(seed, 4, 24, 24, 3, activation=activation, precision=precision)
        policy = as_policy(network, task)
        check_scores(task, policy, variables, random.Random(seed), seen)
    assert seen["beats"] > 100, seen


def test_ties_go_to_the_lower_output():
    """Equal trees for two outputs: the first one wins on every box."""
    rng, task = np.random.default_rng(0), mixed_task()
    variables = model_of(task, []).variables
    trees = random_model("trees", rng, 4, 1, top=3)
    from dataclasses import replace

    from surefoot.policies import as_policy

    is_leaf = trees.features == -1
    both = replace(
        trees,
        num_outputs=3,
        right=np.where(is_leaf, -1, trees.right).astype(np.int32),
        left=np.where(is_leaf, 3 * trees.left, trees.left).astype(np.int32),
        values=np.repeat(trees.values, 3),
        base=np.zeros(3),
        base_last=False,
        divide_by=1.0,
    )
    policy = as_policy(both, task)
    found = scorer_of(scores_of(policy), variables).on(
        {v.name: (v.lower, v.lower) for v in variables}
    )
    assert found.beats(0, 1) and found.beats(1, 2) and not found.beats(1, 0)
