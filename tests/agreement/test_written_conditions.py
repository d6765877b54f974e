"""Conditions given as text: the core means what the checker means by the JANI form of them."""

import json
import random
from itertools import product

from tests.support.jani import X, automaton, edge, model, op, var

from surefoot import checker, decide, load_task
from surefoot.certificates.models import model_of

COMPARISONS = {"=": "=", "≠": "!=", "<": "<", "≤": "<=", ">": ">", "≥": ">="}
JOINTS = {"∧": "&", "∨": "|", "⇒": "=>"}
FILES = 150


def number(rng: random.Random, depth: int):
    """Return the JANI form of a random number, and the text."""
    if depth == 0 or rng.random() < 0.4:
        leaf = rng.choice(("x", "m.y", "y", 0, 1, 2, -1))
        return leaf, str(leaf)
    if rng.random() < 0.2:
        node, text = number(rng, depth - 1)
        return {"op": "-", "exp": node}, f"-({text})"
    symbol = rng.choice("+-*")
    (left, a), (right, b) = number(rng, depth - 1), number(rng, depth - 1)
    return op(symbol, left, right), f"({a}) {symbol} ({b})"


def condition(rng: random.Random, depth: int):
    """Return the JANI form of a random condition, and the text with few brackets."""
    if depth == 0:
        symbol = rng.choice(list(COMPARISONS))
        (left, a), (right, b) = number(rng, 2), number(rng, 2)
        return op(symbol, left, right), f"{a}{COMPARISONS[symbol]}{b}"
    if rng.random() < 0.25:
        node, text = condition(rng, 0)
        return {"op": "¬", "exp": node}, f"!{text}"
    symbol = rng.choice(list(JOINTS))
    (left, a), (right, b) = condition(rng, depth - 1), condition(rng, depth - 1)
    return op(symbol, left, right), f"({a}){JOINTS[symbol]}({b})"


def test_core_and_checker_agree_on_conditions_given_as_text(tmp_path):
    rng = random.Random(20261118)
    local = automaton(edge("a"), variables=[var("y", X["type"], 0)])
    file, fail = tmp_path / "model.jani", tmp_path / "fail.jani"
    file.write_text(json.dumps(model(local, variables=[X])), "utf-8")
    for _ in range(FILES):
        node, text = condition(rng, 2)
        fail.write_text(json.dumps(node), "utf-8")
        task = load_task(file, fail=text)
        expected = checker.load(file, fail=fail)
        by_itself = model_of(task, [])
        for x, y in product(range(0, 10, 3), range(0, 10, 4)):
            state = {"x": x, "m.y": y}
            fails = task.is_fail(state)
            assert (fails, fails) == (expected.is_fail(state), by_itself.is_fail(state)), text


def test_a_certificate_of_an_expression_is_accepted(tmp_path, monkeypatch):
    file = tmp_path / "model.jani"
    step = edge("a", ("x", op("+", "x", 1)), guard=op("<", "x", 9))
    file.write_text(json.dumps(model(automaton(step), variables=[X])), "utf-8")
    monkeypatch.chdir(tmp_path)
    task = load_task("model.jani", fail="x = 9 | x = 3")
    monkeypatch.chdir("/")
    answers = [decide(task, {"x": x}) for x in (2, 3, 4)]
    assert [answer.verdict for answer in answers] == ["unsafe"] * 3
    for answer in answers:
        assert answer.certificate.to_dict()["task"]["options"] == {"fail": "x = 9 | x = 3"}
        answer.certificate.check()
