"""Rule models of microplaja: small ones by hand, and the published ones by a plain loop."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest
from tests.support.tree_files import RULES as SMALL

from surefoot.errors import InputError
from surefoot.policies import rules

PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "jani" / "one_way_line_15_10_det"
FILES = {"4@": 8, "4@4": 13, "64@": 67}


def read(content, tmp_path):
    (tmp_path / "sym_model.json").write_text(json.dumps(content))
    return rules.read(tmp_path / "sym_model.json")


def scores(content, tmp_path, *states):
    return read(content, tmp_path).model.scorer().scores(np.array(states, dtype=float)).tolist()


def test_a_small_file(tmp_path):
    loaded = read(SMALL, tmp_path)
    assert (loaded.interface, loaded.unfiltered) == (None, None)
    assert loaded.at_least
    assert (loaded.model.num_inputs, loaded.model.num_outputs) == (2, 2)
    assert loaded.model.atoms == ((0, 1), (0, 2), (1, -3))
    # both; the second rule only; neither
    assert scores(SMALL, tmp_path, (1, -3), (2, -3), (0, -3)) == [
        [16.5, 5.0],
        [0.5, 1.0],
        [16.5, 5.0],
    ]


def test_rules_may_come_before_those_they_are_about(tmp_path):
    content = copy.deepcopy(SMALL)
    content["rules"] = dict(reversed(SMALL["rules"].items()))
    states = [(a, b) for a in range(4) for b in (-3, 0)]
    assert scores(content, tmp_path, *states) == scores(SMALL, tmp_path, *states)


def test_negations_cancel(tmp_path):
    content = copy.deepcopy(SMALL)
    content["rules"]["L2_1"] = {"AND": [{"NOT": {"NOT": {"ref": {"NOT": "0_1"}}}}]}
    assert scores(content, tmp_path, (1, 0))[0][1] == -1.0
    assert scores(content, tmp_path, (3, -3))[0][1] == 5.0


def plain_scores(content, state):
    """Return the scores of one state as the file says, by names."""
    truth = {atom: state[int(atom.split("_")[0])] == int(atom.split("_")[1])
             for atom in content["atoms"]}  # fmt: skip
    for name, body in content["rules"].items():
        kind, terms = next(iter(body.items()))
        values = [
            (not truth[term["NOT"]]) if isinstance(term, dict) else truth[term] for term in terms
        ]
        truth[name] = all(values) if kind == "AND" else any(values)
    last = max(content["rules"], key=lambda name: int(name[1 : name.index("_")]))
    layer = last[: last.index("_") + 1]
    found = []
    for number in range(len(content["linear"]["bias"])):
        total = content["linear"]["bias"][f"class_{number}"]
        for rule, weight in content["linear"]["weights"][f"class_{number}"].items():
            total += weight if truth[rule] and rule.startswith(layer) else 0.0
        found.append(total)
    return found


@pytest.mark.data
@pytest.mark.parametrize("name", FILES)
def test_published_rules(name):
    file = PUBLISHED / f"{name}sym_model.json"
    if not file.is_file():
        pytest.skip("the published instances are not here")
    model = rules.read(file).model
    assert (model.num_inputs, model.num_outputs) == (13, 5)
    assert (len(model.atoms), len(model.rules)) == (177, FILES[name])
    content = json.loads(file.read_text())
    states = np.random.default_rng(0).integers(0, 16, size=(500, 13)).astype(float)
    found = model.scorer().scores(states)
    assert found.tolist() == [plain_scores(content, state) for state in states]
    assert len(set(found.argmax(axis=1))) > 2


@pytest.mark.data
def test_published_rules_fit_the_published_interface():
    import surefoot

    if not PUBLISHED.is_dir():
        pytest.skip("the published instances are not here")
    task = surefoot.load_task(PUBLISHED / "one_way_line_15_10.jani")
    interface = PUBLISHED / "one_way_line_15_10_128_128.jani2nnet"
    policy = surefoot.load_policy(
        str(PUBLISHED / "64@sym_model.json"), task, interface=str(interface)
    )
    content = json.loads((PUBLISHED / "64@sym_model.json").read_text())
    names = [each["name"] for each in json.loads(interface.read_text())["input"]]
    outputs = json.loads(interface.read_text())["output"]
    for state in task.sample_starts(50, seed=1):
        scores = dict(zip(outputs, plain_scores(content, [state[n] for n in names]), strict=True))
        applicable = [a for a in outputs if a in task.applicable(state)]
        if len(applicable) > 1:
            assert policy.decide(state) == max(applicable, key=lambda a, s=scores: s[a])


def changed(path, value):
    content = copy.deepcopy(SMALL)
    part = content
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return content


BAD = {
    "atoms": (("atoms",), {}),
    "atom": (("atoms",), ["0_x"]),
    "atom is a number": (("atoms",), [1]),
    "atom twice": (("atoms",), ["0_1", "0_1"]),
    "far input": (("atoms",), ["999999999_1"]),
    "long atom": (("atoms",), ["1" * 5000 + "_1"]),
    "rules": (("rules",), []),
    "name of a rule": (("rules", "rule"), {"AND": []}),
    "rule": (("rules", "L1_0"), {"XOR": []}),
    "two rules": (("rules", "L1_0"), {"AND": [], "OR": []}),
    "terms": (("rules", "L1_0"), {"AND": "0_1"}),
    "term": (("rules", "L1_0"), {"AND": [3]}),
    "negation": (("rules", "L1_0"), {"AND": [{"NOT": "0_1", "x": 1}]}),
    "unknown term": (("rules", "L1_0"), {"AND": ["0_7"]}),
    "itself": (("rules", "L1_0"), {"AND": ["L1_0"]}),
    "circle": (("rules", "L1_0"), {"AND": ["L2_0"]}),
    "linear": (("linear",), []),
    "no class": (("linear", "bias"), {}),
    "gap": (("linear", "bias"), {"class_0": 1, "class_2": 1}),
    "class": (("linear", "bias"), {"class_00": 1}),
    "a billion classes": (("linear", "bias"), {"class_999999999": 1}),
    "bias": (("linear", "bias", "class_0"), "1"),
    "infinite bias": (("linear", "bias", "class_0"), 10**400),
    "weights": (("linear", "weights", "class_0"), []),
    "weight": (("linear", "weights", "class_0", "L2_0"), None),
    "weight of nothing": (("linear", "weights", "class_0", "L9_9"), 1),
    "weight without bias": (("linear", "weights", "class_7"), {}),
}


@pytest.mark.parametrize("name", BAD)
def test_damaged_files_are_refused(name, tmp_path):
    with pytest.raises(InputError) as caught:
        read(changed(*BAD[name]), tmp_path)
    assert caught.value.code == "bad-rules"
    assert caught.value.file.endswith("sym_model.json")


@pytest.mark.slow
def test_long_chains_and_circles_of_rules(tmp_path):
    """No recursion: 100,000 rules about each other, written in the worst order."""
    count = 100_000
    content = copy.deepcopy(SMALL)
    content["rules"] = {f"L1_{n}": {"AND": [f"L1_{n + 1}"]} for n in range(count)}
    content["rules"][f"L1_{count}"] = {"AND": ["0_1"]}
    content["linear"] = {"bias": {"class_0": 0}, "weights": {"class_0": {"L1_0": 1.0}}}
    assert scores(content, tmp_path, (1, 0), (0, 0)) == [[1.0], [0.0]]
    content["rules"][f"L1_{count}"] = {"AND": ["L1_0"]}
    with pytest.raises(InputError, match="circle"):
        read(content, tmp_path)
