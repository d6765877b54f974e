"""Training: what it is made of, and that it learns."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from surefoot import (
    Description,
    InputError,
    TrainOptions,
    Unsupported,
    domain,
    evaluate,
    load_policy,
    train,
)
from surefoot.policies.writing import write_policy
from surefoot.train import hidden_sizes
from surefoot.train.rewards import CUT, DEAD_END, FAIL, GOAL, GOES_ON, Rewards

torch = pytest.importorskip("torch")

from surefoot.train.learner import Learner  # noqa: E402
from surefoot.train.replay import Batch, ReplayMemory  # noqa: E402
from surefoot.train.training import Returns, alone  # noqa: E402

TASK = {"packages": 3, "locations": 4}
QUICK = {"steps": 15_000, "potential": "goal", "hidden": "32,32", "checkpoints": 10, "runs": 200}


@pytest.fixture(scope="module")
def task():
    return domain("one-way-line", **TASK)


@pytest.fixture(scope="module")
def trained(task):
    return train(task, **QUICK)


# -- parts -----------------------------------------------------------------------------------


def steps_numbered(first, count):
    """Return steps whose rewards are first, first + 1, ..."""
    numbers = torch.arange(first, first + count)
    wide = numbers[:, None].float()
    masks = torch.ones(count, 2, dtype=torch.bool)
    return Batch(wide, numbers % 2, numbers.float(), wide + 1, masks, torch.ones(count))


def test_replay_keeps_the_last_steps():
    replay, kept = ReplayMemory(10, 1, 2), []
    generator = torch.Generator().manual_seed(0)
    at = 0
    for count in (4, 4, 4, 1, 10, 7):
        replay.add(steps_numbered(at, count))
        kept = [*kept, *range(at, at + count)][-10:]
        at += count
        drawn = replay.sample(2000, generator)
        assert set(drawn.rewards.tolist()) == set(map(float, kept))
        assert replay.size == len(kept)
        assert torch.equal(drawn.inputs[:, 0], drawn.rewards)
        assert torch.equal(drawn.next_inputs[:, 0], drawn.rewards + 1)
        assert torch.equal(drawn.actions.float(), drawn.rewards % 2)


def test_rewards():
    how = TrainOptions(goal_reward=2.0, fail_cost=3.0, step_cost=0.5)
    results = np.array([GOES_ON, FAIL, GOAL, DEAD_END, CUT], np.uint8)
    nothing = np.zeros(5)
    plain = Rewards(how, nothing).of(results, nothing, nothing)
    assert plain.tolist() == [-0.5, -3.5, 1.5, -0.5, -0.5]
    guided = TrainOptions(step_cost=0.0, potential="goal")
    before, after = np.full(5, 8.0), np.array([4.0, 8.0, 0.0, 2.0, 10.0])
    rewards = Rewards(guided, np.array([2.0, 6.0])).of(results, before, after)
    assert rewards.tolist() == [1.0, -1.0, 3.0, 1.5, -0.5]  # (8 - after) / 4 more


def test_returns_are_of_runs_that_ended():
    returns = Returns(2)
    returns.add(np.array([1.0, 2.0]), np.array([GOES_ON, GOES_ON]))
    returns.add(np.array([1.0, 2.0]), np.array([FAIL, GOES_ON]))
    assert returns.mean() == 2.0
    assert returns.mean() == 2.0  # nothing has ended since
    returns.add(np.array([5.0, 2.0]), np.array([GOES_ON, CUT]))
    assert returns.mean() == 6.0


def test_learner_finds_the_worth_of_actions():
    """Two states: 0 leads to 1 for nothing, 1 ends for 1; the third action is never applicable."""
    how = TrainOptions(discount=0.5, learning_rate=0.01)
    with alone(torch, seed=0):
        learner = Learner([1, 32, 3], how)
    inputs = torch.tensor([[0.0], [0.0], [1.0], [1.0]])
    batch = Batch(
        inputs,
        torch.tensor([0, 1, 0, 1]),
        torch.tensor([0.0, -0.25, 0.5, 1.0]),
        torch.tensor([[1.0], [0.0], [0.0], [0.0]]),
        torch.tensor([[True, True, False]] * 4),
        torch.tensor([1.0, 0.0, 0.0, 0.0]),
    )
    for layers in (learner.layers, learner._copied_layers):
        layers[-1][1][2] = 100.0  # to be ignored
    with alone(torch, seed=0):
        for _ in range(1500):
            learner.update(batch, 0.0)
    values = learner.values(inputs, batch.next_masks)
    assert values[0, :2].tolist() == pytest.approx([0.5, -0.25], abs=0.02)
    assert values[2, :2].tolist() == pytest.approx([0.5, 1.0], abs=0.02)
    assert values[:, 2].tolist() == [-np.inf] * 4


def as_module(learner):
    """Return the network as torch has it."""
    parts = []
    for weights, biases in learner.layers:
        linear = torch.nn.Linear(*reversed(weights.shape))
        linear.weight.data, linear.bias.data = weights.clone(), biases.clone()
        parts += [linear, torch.nn.ReLU()]
    return torch.nn.Sequential(*parts[:-1])


def test_model_is_the_network():
    learner = Learner([3, 8, 5, 2], TrainOptions())
    inputs = np.random.default_rng(0).normal(size=(50, 3))
    with torch.no_grad():
        wanted = as_module(learner)(torch.tensor(inputs, dtype=torch.float32)).numpy()
    model = learner.model()
    assert model.scorer().scores(inputs) == pytest.approx(wanted, abs=1e-6)
    assert [layer.activation for layer in model.layers] == ["relu", "relu", "linear"]


@pytest.mark.parametrize("hidden", [[], [7], [16, 16], [5, 9, 4]])
def test_gradient_is_what_torch_derives(hidden):
    learner = Learner([3, *hidden, 4], TrainOptions())
    module = as_module(learner)
    generator = torch.Generator().manual_seed(1)
    inputs = torch.randn(40, 3, generator=generator)
    actions = torch.randint(4, (40, 1), generator=generator)
    targets = 3 * torch.randn(40, 1, generator=generator)
    loss = torch.nn.functional.smooth_l1_loss(module(inputs).gather(1, actions), targets)
    loss.backward()
    learner.set_gradient(inputs, actions, targets)
    derived = torch.cat([parameter.grad.flatten() for parameter in module.parameters()])
    assert learner.weights.grad.tolist() == pytest.approx(derived.tolist(), abs=1e-6)
    assert derived.abs().max() > 0.01


# -- the whole -------------------------------------------------------------------------------


def test_it_learns(task, trained):
    assert trained.best.goal_fraction > 0.9
    assert trained.best is max(trained.checkpoints, key=lambda one: one.goal_fraction)
    assert trained.checkpoints[0].goal_fraction < trained.best.goal_fraction
    assert trained.stopped is None
    assert trained.steps >= 15_000
    assert len(trained.checkpoints) == 10
    found = evaluate(task, trained.policy)
    assert found.goal_fraction > 0.8
    untrained = train(task, **{**QUICK, "steps": 64, "checkpoints": 1})
    assert evaluate(task, untrained.policy).goal_fraction < 0.5


def test_same_seed_same_policy(task, trained):
    short = {**QUICK, "steps": 6_000, "checkpoints": 3}
    one, two, other = (train(task, **short, seed=seed) for seed in (7, 7, 8))
    assert weights_of(one) == weights_of(two) != weights_of(other)
    assert [c.goal_fraction for c in one.checkpoints] == [c.goal_fraction for c in two.checkpoints]


def weights_of(result):
    return [layer.weights.tolist() for layer in result.policy.model.layers]


@pytest.mark.parametrize("suffix", ["safetensors", "onnx"])
def test_what_is_written_decides_as_what_was_trained(task, trained, tmp_path, suffix):
    if suffix == "onnx":
        pytest.importorskip("onnx")
    file = tmp_path / f"truck.{suffix}"
    write_policy(trained.policy, file)
    loaded = load_policy(file, task)
    states = reachable(task)
    assert loaded.decide_all(states) == trained.policy.decide_all(states)
    assert [loaded.scores(s) for s in states] == [trained.policy.scores(s) for s in states]
    assert load_policy(file, task).interface == trained.policy.interface


def test_torch_and_onnxruntime_decide_alike(task, trained, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    file = tmp_path / "truck.onnx"
    write_policy(trained.policy, file)
    states = reachable(task)
    rows = np.array([scaled(trained.policy.interface, state) for state in states], np.float32)
    session = onnxruntime.InferenceSession(str(file))
    (scores,) = session.run(None, {session.get_inputs()[0].name: rows})
    names = trained.policy.interface.outputs
    for state, row, taken in zip(states, scores, trained.policy.decide_all(states), strict=True):
        own = trained.policy.scores(state)
        assert row == pytest.approx([own[name] for name in names], abs=1e-5)
        can = {n: s for n, s in zip(names, row, strict=True) if n in task.applicable(state)}
        assert max(can.values()) - can[taken] < 1e-5


def scaled(interface, state):
    return [(state[one.variable] - one.mean) / one.scale for one in interface.inputs]


def reachable(task):
    """Return the states in which something is to be decided."""
    found = dict.fromkeys(task.list_starts())
    for state in (open_states := list(found)):
        if task.is_fail(state) or task.is_goal(state):
            continue
        for action in task.applicable(state):
            for outcome in task.outcomes(state, action):
                if outcome not in found:
                    found[outcome] = None
                    open_states.append(outcome)
    return [s for s in found if not (task.is_fail(s) or task.is_goal(s)) and task.applicable(s)]


def test_better_policies_are_handed_over_as_they_come(task):
    kept, seen = [], []
    result = train(
        task,
        **QUICK,
        better=lambda policy, checkpoint: kept.append((policy, checkpoint)),
        progress=seen.append,
    )
    assert kept[-1] == (result.policy, result.best)
    goals = [checkpoint.goal_fraction for _, checkpoint in kept]
    assert goals == sorted(goals)
    assert tuple(seen) == result.checkpoints


def test_own_score(task):
    result = train(task, **QUICK, score=lambda policy, checkpoint: -checkpoint.steps)
    assert result.best is result.checkpoints[0]
    with pytest.raises(InputError, match="good enough"):
        train(task, **QUICK, score=lambda policy, checkpoint: None)


def test_interrupt_keeps_the_best(task):
    def stop(checkpoint):
        if checkpoint.steps > 5000:
            raise KeyboardInterrupt

    result = train(task, **QUICK, progress=stop)
    assert result.stopped == "interrupted"
    assert 5000 < result.steps < 10_000
    assert result.policy.decide(task.initial_state()) in task.actions


def test_time_runs_out(task):
    result = train(task, **{**QUICK, "steps": 10**9}, max_seconds=1.0)
    assert result.stopped == "seconds"
    assert result.checkpoints[-1].steps == result.steps


def test_task_without_goal_is_judged_by_fails():
    bird = domain("flappy-bird", width=20, height=5, walls=6)
    result = train(bird, steps=10_000, runs=200, max_steps=50)
    assert result.best.fail_fraction == min(c.fail_fraction for c in result.checkpoints)
    assert result.best.goal_fraction == 0
    with pytest.raises(InputError, match="no goal"):
        train(bird, potential="goal")


# -- wrong input -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "option, text",
    [
        ({"hidden": "64,x"}, "hidden"),
        ({"hidden": "0"}, "hidden"),
        ({"hidden": "5000"}, "hidden"),
        ({"hidden": "0000000001234567890"}, "hidden"),
        ({"hidden": ",".join(["8"] * 9)}, "hidden"),
        ({"potential": "gaol"}, "potential"),
        ({"steps": 0}, "steps"),
        ({"environments": 0}, "environments"),
        ({"discount": 1.5}, "discount"),
        ({"explore": 2.0}, "explore"),
        ({"stesp": 5}, "stesp"),
        ({"learning_rate": -1.0}, "learning_rate"),
    ],
)
def test_bad_options(task, option, text):
    with pytest.raises(InputError, match=text):
        train(task, **option)


def test_hidden_sizes():
    assert hidden_sizes("64, 32") == [64, 32]
    assert hidden_sizes("") == []


def test_one_action_is_nothing_to_learn():
    d = Description("one")
    x = d.int("x", 0, 1, initial=0)
    d.edge("only", outcomes=[{x: 1}])
    d.start({"x": 0})
    with pytest.raises(InputError, match="nothing to learn"):
        train(d.compile())


def test_runs_that_end_where_they_begin():
    d = Description("ended")
    x = d.int("x", 0, 1, initial=0)
    d.edge("a", outcomes=[{x: 1}])
    d.edge("b", outcomes=[{x: 0}])
    d.start({"x": 0})
    d.goal(x == 0)
    with pytest.raises(InputError, match="end where they begin"):
        train(d.compile())


def test_errors_of_the_model_name_the_state():
    d = Description("out")
    x = d.int("x", 0, 3, initial=0)
    d.edge("up", outcomes=[{x: x + 1}])
    d.edge("stay", outcomes=[{}])
    d.start({"x": 0})
    with pytest.raises(InputError, match="x=3"):
        train(d.compile(), **{**QUICK, "potential": "none"})


def test_without_torch(task, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(Unsupported) as caught:
        train(task)
    assert "surefoot[train]" in str(caught.value)


@pytest.fixture
def diverging(monkeypatch):
    """Let weights become NaN after half of the training."""
    learner_update = Learner.update

    def update(self, batch, progress):
        learner_update(self, batch, progress)
        if progress > 0.5:
            self.weights[0] = np.nan

    monkeypatch.setattr(Learner, "update", update)


@pytest.mark.usefixtures("diverging")
def test_best_policy_survives_divergence(task):
    kept = []
    result = train(task, **QUICK, better=lambda policy, checkpoint: kept.append(policy))
    assert result.stopped == "diverged"
    assert result.policy is kept[-1]
    assert result.best.steps < 8_000


@pytest.mark.usefixtures("diverging")
def test_divergence_with_nothing_kept_is_told(task):
    with pytest.raises(InputError, match="have diverged") as caught:
        train(task, **QUICK, score=lambda policy, checkpoint: None)
    assert "learning_rate" in caught.value.hint


@pytest.mark.parametrize(
    "option",
    [
        {"goal_reward": 1e308},
        {"fail_cost": 1e300},
        {"step_cost": 1e30},
        {"replay": 10**12},
        {"environments": 2**62},
        {"replay": 10**8},  # more than the memory that is allowed
        {"memory_mb": 1},
    ],
)
def test_numbers_beyond_what_can_be(task, option):
    with pytest.raises(InputError) as caught:
        train(task, **option)
    assert caught.value.code == "bad-option"


@pytest.mark.parametrize("where", ["score", "better"])
def test_interrupt_while_looking_keeps_the_policy(task, where):
    calls = []

    def interrupted(policy, checkpoint):
        calls.append(policy)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return 1.0

    result = train(task, **QUICK, **{where: interrupted})
    assert result.stopped == "interrupted"
    assert result.policy is calls[-1]
    assert len(calls) == 2


def test_second_interrupt_keeps_the_best_so_far(task):
    scored = []

    def score(policy, checkpoint):
        if scored:
            raise KeyboardInterrupt
        scored.append(policy)
        return 1.0

    result = train(task, **QUICK, score=score)
    assert result.stopped == "interrupted"
    assert result.policy is scored[0]


def test_task_without_variables():
    d = Description("empty")
    d.edge("a", outcomes=[{}])
    d.edge("b", outcomes=[{}])
    with pytest.raises(InputError, match="no variables"):
        train(d.compile(), **{**QUICK, "potential": "none"})


def test_error_of_the_model_at_the_start():
    d = Description("broken")
    x = d.int("x", 0, 1, initial=0)
    d.edge("a", guard=1.0 / x > 0, outcomes=[{x: 1}])
    d.edge("b", outcomes=[{x: 1}])
    d.start({"x": 0})
    with pytest.raises(InputError, match="x=0"):
        train(d.compile(), **{**QUICK, "potential": "none"})


@pytest.mark.parametrize("score", [float("nan"), float("inf"), "good", [1], True])
def test_scores_are_numbers(task, score):
    with pytest.raises(InputError, match="score returns"):
        train(task, **QUICK, score=lambda policy, checkpoint: score)


@pytest.mark.parametrize("option", [{"score": 3}, {"progress": "x"}, {"better": 1.5}])
def test_callbacks_are_functions(task, option):
    with pytest.raises(InputError, match="is a function"):
        train(task, **QUICK, **option)
