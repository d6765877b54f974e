"""Policies that are functions, of one state or of many."""

import numpy as np
import pytest
from tests.support.networks import grid

from surefoot import Description, InputError, Oracle, PythonTask, batched, load_policy
from surefoot.policies import as_policy


def error_of(call, *args, **options):
    with pytest.raises(InputError) as caught:
        call(*args, **options)
    return caught.value


def states(task, count=20):
    rng = np.random.default_rng(1)
    return [
        task.state({name: int(value) for name, value in zip(task.names, row, strict=True)})
        for row in rng.integers(0, 10, (count, len(task.names)))
    ]


def scores(rows):
    """a3 is best (where v0 is above 4), then a2 and a1 in turn, as v1 is even or odd."""
    odd = rows[:, 1] % 2
    return np.stack([rows[:, 0] * 0, odd, 1 - odd, odd * 0 + 9], axis=1)


def expected(state):
    return "a3" if state["v0"] > 4 else "a1" if state["v1"] % 2 else "a2"


def test_scores_of_many_states():
    task = grid(3, 4)
    policy = as_policy(batched(scores), task)
    asked = states(task)
    assert policy.decide_all(asked) == [expected(state) for state in asked]
    assert [policy.decide(state) for state in asked] == [expected(state) for state in asked]
    assert policy.scores(asked[0])["a3"] == 9.0
    assert policy.name == "scores"


def test_names_for_many_states():
    task = grid(3, 4)

    def names(rows):
        assert rows.dtype == np.float64
        return ["a0" if row[0] < 5 else "a3" for row in rows]

    for function in (names, lambda rows: np.array(names(rows))):
        policy = as_policy(batched(function), task)
        asked = states(task)
        assert policy.decide_all(asked) == ["a0" if s["v0"] < 5 else "a3" for s in asked]
    assert error_of(policy.scores, asked[0]).code == "no-scores"


def test_many_states_are_asked_in_one_call():
    task = grid(3, 4)
    sizes = []

    def counting(rows):
        sizes.append(len(rows))
        return scores(rows)

    as_policy(batched(counting), task).decide_all(states(task, 50))
    assert sizes[0] == 50
    assert len(sizes) == 2, "and once more, to see whether it is a function"


def test_ties_go_to_the_lowest_output():
    policy = as_policy(batched(lambda rows: np.zeros((len(rows), 4))), grid(3, 4))
    assert policy.decide({"v0": 9, "v1": 0, "v2": 0}) == "a0"
    turned = batched(lambda rows: np.zeros((len(rows), 2)), actions=["a2", "a1"])
    assert as_policy(turned, grid(3, 4)).decide({"v0": 9, "v1": 0, "v2": 0}) == "a2"


def test_booleans_count_as_numbers():
    d = Description("bools")
    d.bool("on", initial=False)
    d.edge("yes", outcomes=[{}])
    d.edge("no", outcomes=[{}])
    policy = as_policy(batched(lambda rows: np.hstack([rows, 1 - rows])), d.compile())
    assert [policy.decide({"on": on}) for on in (True, False)] == ["yes", "no"]


BAD = {
    "too few columns": (lambda rows: np.zeros((len(rows), 3)), "policy-bad-scores"),
    "too few rows": (lambda rows: np.zeros((len(rows) + 1, 4)), "policy-bad-scores"),
    "not a number": (lambda rows: np.full((len(rows), 4), np.nan), "policy-bad-scores"),
    "nothing": (lambda rows: None, "policy-bad-scores"),
    "objects": (lambda rows: [object()], "policy-bad-scores"),
    "too many names": (lambda rows: ["a0"] * (len(rows) + 1), "policy-bad-scores"),
    "unknown action": (lambda rows: ["b"] * len(rows), "policy-unknown-action"),
    "not applicable": (lambda rows: ["a3"] * len(rows), "policy-not-applicable"),
    "a number for a name": (lambda rows: ["a0", 3][: len(rows)], "policy-bad-action"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_answers(case):
    function, code = BAD[case]
    policy = as_policy(batched(function), grid(3, 4))
    low = [{"v0": 0, "v1": 0, "v2": 0}] * 2
    assert error_of(policy.decide_all, low).code == code


def test_tensors_that_require_grad():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    layer = torch.nn.Linear(3, 4)
    policy = as_policy(batched(lambda rows: layer(torch.tensor(rows).float())), grid(3, 4))
    error = error_of(policy.decide_all, states(grid(3, 4), 2))
    assert error.code == "policy-bad-scores"
    assert ".detach()" in error.hint
    detached = batched(lambda rows: layer(torch.tensor(rows).float()).detach())
    as_policy(detached, grid(3, 4)).decide_all(states(grid(3, 4), 2))


def test_what_is_no_function():
    assert error_of(batched, 3).code == "not-a-policy"


class Walk:
    def start(self):
        return [(0,)]

    def actions(self, state):
        return ["on", "back"]

    def outcomes(self, state, action):
        return [(min(3, state[0] + 1),) if action == "on" else (0,)]

    def is_goal(self, state):
        return False

    def is_fail(self, state):
        return state[0] == 3


def test_python_defined_tasks():
    task = PythonTask(Walk())
    back = batched(lambda rows: np.hstack([rows, rows * 0 + 1]), actions=["on", "back"])
    policy = as_policy(back, task)
    assert [policy.decide((x,)) for x in (0, 2)] == ["back", "on"]
    unnamed = as_policy(batched(lambda rows: np.zeros((len(rows), 2))), task)
    assert error_of(unnamed.decide, (0,)).code == "policy-wrong-outputs"


def test_oracles_ask_batched_policies():
    task = PythonTask(Walk())
    task.applicable((0,))
    for decided, verdict in (("back", "safe"), ("on", "unsafe")):
        policy = as_policy(batched(lambda rows, d=decided: [d] * len(rows)), task)
        oracle = Oracle(task, policy=policy, radius=0)
        assert str(oracle.decide((0,)).verdict) == verdict


def test_from_a_file(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "import numpy as np\nfrom surefoot import batched\n"
        "@batched\ndef best(rows):\n    return np.eye(4)[[2] * len(rows)]\n"
    )
    policy = load_policy(f"{file}:best", grid(3, 4))
    assert policy.decide({"v0": 0, "v1": 0, "v2": 0}) == "a2"
    assert policy.file == file
