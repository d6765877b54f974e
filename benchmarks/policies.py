"""How fast policies decide, beside the libraries that trained them.

    python -m benchmarks.policies [--seconds 1]

A network of 64-64 against onnxruntime and torch; 20 trees of depth 5 per action against XGBoost,
LightGBM and scikit-learn, all on one thread, all on the same 1,000 rows of 15 inputs and with 6
outputs. Measured are microseconds for one row, asked for alone, and per row of a batch of 1,000;
the best of what can be measured in ``--seconds``. Each library is called by the fastest of its own
public interfaces, with arrays made before.

Ours is called as the stages call it, inside the core: ``scores`` walks the rows one by one, each
evaluated alone, so that its time over many rows, divided by their number, is that of a decision
within a search. What a decision costs that is asked for from Python is printed too.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable
from typing import Any

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
for variable in THREADS:  # before the libraries are imported
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402

import surefoot  # noqa: E402
from surefoot.policies import Policy, as_policy  # noqa: E402

TASK = "domain:one-way-line?packages=4&locations=10&variant=icy-park"
ROWS = 1000
SHORT = 0.0005  # seconds of one measurement: less than what others get of a processor at a time
ROUNDS, DEPTH = 20, 5
NEEDED = {"onnxruntime": 20, "XGBoost": 50}  # times as fast, for one row
Call = Callable[[], object]


class Stopwatch:
    """Measures calls in microseconds: the best of many short measurements, since machines are
    shared.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def microseconds(self, call: Call) -> float:
        """Return what one call takes."""
        return self.all({"": call})[""]

    def all(self, calls: dict[str, Call]) -> dict[str, float]:
        """Return what each of several calls takes.

        They take turns, so that what others do on the machine slows all of them.
        """
        counts = {name: _count(call) for name, call in calls.items()}
        found = dict.fromkeys(calls, math.inf)
        end = time.perf_counter() + self.seconds * len(calls)
        while time.perf_counter() < end:
            for name, call in calls.items():
                taken = _seconds(call, counts[name]) / counts[name]
                found[name] = min(found[name], taken * 1e6)
        return found


def _count(call: Call) -> int:
    """Return how many calls make a measurement."""
    count = 1
    while _seconds(call, count) < SHORT:
        count *= 2
    return count


def _seconds(call: Call, count: int) -> float:
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return time.perf_counter() - begin


def main() -> None:
    """Measure and print all tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="for each figure")
    options = parser.parse_args()
    watch = Stopwatch(options.seconds)
    task = surefoot.load_task(TASK)
    rows, labels = training_data(task)
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    network_table(task, rows, watch)
    tree_table(task, rows, labels, watch)


def training_data(task: surefoot.Task) -> tuple[Any, Any]:
    """Return states of random runs, and made-up actions that trees can learn something from."""
    found = surefoot.simulate(task, policy="random", runs=400, max_steps=50)
    values = [state.values_tuple for run in found.runs for state in run.states]
    rows = np.array(values, dtype=np.float64)
    weights = np.random.default_rng(0).normal(size=(rows.shape[1], len(task.actions)))
    return rows, (rows @ weights).argmax(axis=1)


# -- networks --------------------------------------------------------------------------------


def network_table(task: surefoot.Task, rows: Any, watch: Stopwatch) -> None:
    """Print what a network of 64-64 costs."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Linear(rows.shape[1], 64),
        torch.nn.ReLU(),
        torch.nn.Linear(64, 64),
        torch.nn.ReLU(),
        torch.nn.Linear(64, len(task.actions)),
    )
    policy = as_policy(network, task)
    print(policy.model)
    ours = print_ours(policy, rows, watch)
    print_peer("onnxruntime", ours, onnx_calls(network, rows[:1]), onnx_calls(network, rows), watch)
    print_peer("torch", ours, torch_calls(network, rows[:1]), torch_calls(network, rows), watch)


def onnx_calls(network: Any, rows: Any) -> dict[str, Call]:
    """Return the ways to run a network in onnxruntime on these rows."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    session = onnxruntime.InferenceSession(
        onnx_model(network, rows.shape[1]), options, providers=["CPUExecutionProvider"]
    )
    fed = np.ascontiguousarray(rows[:ROWS], dtype=np.float32)
    given = onnxruntime.OrtValue.ortvalue_from_numpy(fed)
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", given)
    scores = np.zeros((len(fed), session.get_outputs()[0].shape[1]), dtype=np.float32)
    binding.bind_ortvalue_output("y", onnxruntime.OrtValue.ortvalue_from_numpy(scores))
    return {
        "run": lambda: session.run(["y"], {"x": fed}),
        "run_with_iobinding": lambda: session.run_with_iobinding(binding),
    }


def onnx_model(network: Any, num_inputs: int) -> bytes:
    """Return the network as an ONNX file."""
    from onnx import TensorProto, helper, numpy_helper

    nodes, constants, value = [], [], "x"
    linear = [layer for layer in network if hasattr(layer, "weight")]
    for i, layer in enumerate(linear):
        for name, numbers in (("w", layer.weight), ("b", layer.bias)):
            array = numbers.detach().numpy()
            constants.append(numpy_helper.from_array(array, f"{name}{i}"))
        is_last = i + 1 == len(linear)
        to = "y" if is_last else f"sum{i}"
        nodes.append(helper.make_node("Gemm", [value, f"w{i}", f"b{i}"], [to], transB=1))
        if not is_last:
            nodes.append(helper.make_node("Relu", [to], [f"out{i}"]))
            value = f"out{i}"
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size])
        for name, size in (("x", num_inputs), ("y", linear[-1].weight.shape[0]))
    ]
    graph = helper.make_graph(nodes, "network", ends[:1], ends[1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return bytes(model.SerializeToString())


def torch_calls(network: Any, rows: Any) -> dict[str, Call]:
    """Return the ways to run a network in torch on these rows."""
    import torch

    fed = torch.tensor(rows[:ROWS], dtype=torch.float32)
    traced = torch.jit.freeze(torch.jit.trace(network.eval(), fed))

    def infer(model: Any) -> object:
        with torch.inference_mode():
            return model(fed)

    return {"module": lambda: infer(network), "traced and frozen": lambda: infer(traced)}


# -- trees -----------------------------------------------------------------------------------


def tree_table(task: surefoot.Task, rows: Any, labels: Any, watch: Stopwatch) -> None:
    """Print what 20 trees per action of each library cost."""
    for name, fit, calls in (
        ("XGBoost", fit_xgboost, xgboost_calls),
        ("LightGBM", fit_lightgbm, lightgbm_calls),
        ("scikit-learn", fit_sklearn, sklearn_calls),
    ):
        fitted = fit(rows, labels, len(task.actions))
        policy = as_policy(fitted, task)
        print(policy.model)
        ours = print_ours(policy, rows, watch)
        print_peer(name, ours, calls(fitted, rows[:1]), calls(fitted, rows), watch)


def fit_xgboost(rows: Any, labels: Any, outputs: int) -> Any:
    """Return 20 rounds of one tree per action."""
    import xgboost

    parameters = {
        "objective": "multi:softprob",
        "num_class": outputs,
        "max_depth": DEPTH,
        "learning_rate": 0.4,
        "nthread": 1,
    }
    return xgboost.train(parameters, xgboost.DMatrix(rows, labels), num_boost_round=ROUNDS)


def xgboost_calls(booster: Any, rows: Any) -> dict[str, Call]:
    """Return the ways to predict with XGBoost; the margin is what a decision needs.

    A DMatrix is made for each call: XGBoost keeps the predictions for one that it saw before.
    """
    import xgboost

    fed = np.ascontiguousarray(rows[:ROWS], dtype=np.float32)
    return {
        "inplace_predict": lambda: booster.inplace_predict(
            fed, predict_type="margin", validate_features=False
        ),
        "predict": lambda: booster.predict(
            xgboost.DMatrix(fed, nthread=1), output_margin=True, validate_features=False
        ),
    }


def fit_lightgbm(rows: Any, labels: Any, outputs: int) -> Any:
    """Return 20 rounds of one tree per action."""
    import lightgbm

    parameters = {
        "objective": "multiclass",
        "num_class": outputs,
        "max_depth": DEPTH,
        "num_leaves": 2**DEPTH,
        "num_threads": 1,
        "verbose": -1,
    }
    return lightgbm.train(parameters, lightgbm.Dataset(rows, labels), num_boost_round=ROUNDS)


def lightgbm_calls(booster: Any, rows: Any) -> dict[str, Call]:
    """Return the way to predict with LightGBM."""
    fed = np.ascontiguousarray(rows[:ROWS])
    return {"predict": lambda: booster.predict(fed, raw_score=True, num_threads=1)}


def fit_sklearn(rows: Any, labels: Any, outputs: int) -> Any:
    """Return a forest of 20 trees, each with a value for every action."""
    from sklearn.ensemble import RandomForestClassifier

    every = np.concatenate([labels, np.arange(outputs)])  # each action at least once
    more = np.concatenate([rows, rows[:outputs]])
    forest = RandomForestClassifier(ROUNDS, max_depth=DEPTH, random_state=0, n_jobs=1)
    return forest.fit(more, every)


def sklearn_calls(forest: Any, rows: Any) -> dict[str, Call]:
    """Return the way to predict with scikit-learn."""
    fed = np.ascontiguousarray(rows[:ROWS], dtype=np.float32)
    return {"predict_proba": lambda: forest.predict_proba(fed)}


# -- tables ----------------------------------------------------------------------------------


def print_ours(policy: Policy, rows: Any, watch: Stopwatch) -> Call:
    """Print what we cost from Python, and return the call that scores rows inside the core."""
    fed = np.ascontiguousarray(rows[:ROWS])
    first, states = fed[:1], deciding_states(policy.task)
    scorer, state = policy.scorer, states[0]
    one = watch.microseconds(lambda: scorer.scores(first))
    decide = watch.microseconds(lambda: policy.decide(state))
    many = watch.microseconds(lambda: policy.decide_all(states)) / len(states)
    print(
        f"  surefoot from Python: {one:.2f} us for the scores of one row, {decide:.2f} us for "
        f"decide(state), {many:.2f} us each for decide_all of {len(states):,}"
    )
    return lambda: scorer.scores(fed)


def deciding_states(task: surefoot.Task) -> list[Any]:
    """Return states of random runs in which there is something to choose."""
    found = surefoot.simulate(task, policy="random", runs=100, max_steps=50, seed=1)
    states = [state for run in found.runs for state in run.states[:-1]]
    return [state for state in states if len(task.applicable(state)) > 1][:ROWS]


def print_peer(
    name: str, ours: Call, one: dict[str, Call], many: dict[str, Call], watch: Stopwatch
) -> None:
    """Print what another library's fastest interface costs, as a multiple of ours."""
    needed = f" (needed: {NEEDED[name]})" if name in NEEDED else ""
    print_ratio(f"{name}, one row", ours, one, 1, watch, more=needed)
    print_ratio(f"{name}, per row of {ROWS:,}", ours, many, ROWS, watch)


def print_ratio(
    what: str, ours: Call, theirs: dict[str, Call], rows: int, watch: Stopwatch, more: str = ""
) -> None:
    """Print what a row costs in the core and with the fastest of their interfaces."""
    taken = watch.all({"surefoot": ours, **theirs})
    inside = taken.pop("surefoot") / ROWS
    fastest = min(taken, key=lambda interface: taken[interface])
    row = taken[fastest] / rows
    print(
        f"  {what + ':':32} {row:9.3f} us ({fastest}), ours in the core {inside:.3f} us: "
        f"{row / inside:.1f} times as fast{more}",
        flush=True,
    )


if __name__ == "__main__":
    main()
