"""Bringing policy files into formats that are safe to load."""

import io
import json
import os
import pickle
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.support.networks import (
    grid,
    nnet_text,
    onnx_model,
    random_network,
    same_network,
    torch_sequential,
)

from surefoot import InputError, OutOfBudget, Unsupported, convert, load_policy
from surefoot.errors import SurefootError
from surefoot.jobs import Done, Failed
from surefoot.jobs.events import line_of
from surefoot.policies import as_policy, safetensors
from surefoot.policies.convert.states import activation_in_data, policy_of
from surefoot.policies.safetensors import to_bytes

NETWORK = random_network(1, 3, 6, 5, 4)
TANH = random_network(1, 3, 6, 5, 4, activation="tanh")


def error_of(call, *args, **options):
    with pytest.raises(SurefootError) as caught:
        call(*args, **options)
    return caught.value


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed")


def names_of(network, torch):
    """Return the state dictionary of a Sequential."""
    return dict(torch_sequential(network).state_dict())


def actor(network, torch):
    """Return a network as the actor of Stable-Baselines3 names it, critic and all."""
    found = {}
    plain = names_of(network, torch)
    last = max(int(name.partition(".")[0]) for name in plain)
    for name, tensor in plain.items():
        number, _, part = name.partition(".")
        is_head = int(number) == last
        found[f"action_net.{part}" if is_head else f"mlp_extractor.policy_net.{name}"] = tensor
        if not is_head:
            found[f"mlp_extractor.value_net.{name}"] = tensor * 0 + 3
    found["value_net.weight"] = torch.zeros(1, 5)
    found["value_net.bias"] = torch.zeros(1)
    return found


# -- files that are safe already ---------------------------------------------------------------


def test_nnet_with_its_interface(tmp_path):
    network = random_network(1, 3, 6, 4, precision="float64")
    (tmp_path / "net.nnet").write_text(nnet_text(network))
    inputs = [{"name": name, "automaton": None} for name in ("v2", "v1", "v0")]
    said = {"file": "net.nnet", "input": inputs, "output": ["a3", "a2", "a1", "a0"]}
    (tmp_path / "net.jani2nnet").write_text(json.dumps(said))
    made = convert(tmp_path / "net.jani2nnet", tmp_path / "net.safetensors")
    assert same_network(made.model, network)
    before = load_policy(str(tmp_path / "net.jani2nnet"), grid(3, 4))
    after = load_policy(str(tmp_path / "net.safetensors"), grid(3, 4))
    assert after.interface == before.interface
    assert same_network(after.model, before.model)
    assert made.sha256 == after.sha256
    assert sorted(os.listdir(tmp_path)) == ["net.jani2nnet", "net.nnet", "net.safetensors"]


def test_onnx_to_safetensors(tmp_path):
    pytest.importorskip("onnx")
    (tmp_path / "net.onnx").write_bytes(onnx_model(NETWORK, tail=("Softmax",)).SerializeToString())
    made = convert(tmp_path / "net.onnx", tmp_path / "net.safetensors")
    assert same_network(safetensors.read(tmp_path / "net.safetensors").model, NETWORK)
    assert "Softmax" in made.loaded.notes[0]


def test_safetensors_that_say_nothing_get_an_activation_and_an_interface(tmp_path, torch):
    library = pytest.importorskip("safetensors.torch")
    library.save_file(names_of(TANH, torch), tmp_path / "plain.safetensors")
    said = {"surefoot_interface": 1, "outputs": ["a3", "a2", "a1", "a0"]}
    out = tmp_path / "new.safetensors"
    made = convert(tmp_path / "plain.safetensors", out, activation="tanh", interface=said)
    assert same_network(made.model, TANH)
    assert load_policy(str(out), grid(3, 4)).interface.outputs == ("a3", "a2", "a1", "a0")


def test_trees_to_json(tmp_path):
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 10, (200, 3)).astype(np.float32)
    booster = xgboost.train(
        {"objective": "multi:softprob", "num_class": 4, "max_depth": 3},
        xgboost.DMatrix(rows, label=rows[:, 0] % 4),
        num_boost_round=4,
    )
    booster.save_model(tmp_path / "trees.ubj")
    made = convert(tmp_path / "trees.ubj", tmp_path / "trees.json")
    task = grid(3, 4)
    policies = [load_policy(str(tmp_path / name), task) for name in ("trees.ubj", "trees.json")] + [
        as_policy(booster, task)
    ]
    states = [task.state(v0=int(r[0]), v1=int(r[1]), v2=int(r[2])) for r in rows]
    decisions = [policy.decide_all(states) for policy in policies]
    assert decisions[0] == decisions[1] == decisions[2]
    assert len(set(decisions[0])) > 2
    assert made.model.kind == "trees"


BAD_OUTS = {
    "network as JSON": "net.json",
    "another suffix": "net.pt",
    "a folder that is not there": "no/net.safetensors",
    "onto itself": "net.nnet",
}


@pytest.mark.parametrize("case", BAD_OUTS)
def test_where_it_cannot_be_written(tmp_path, case):
    file = tmp_path / "net.nnet"
    file.write_text(nnet_text(random_network(1, 3, 4, precision="float64")))
    assert isinstance(error_of(convert, file, tmp_path / BAD_OUTS[case]), InputError)
    assert os.listdir(tmp_path) == ["net.nnet"]


def test_why_it_cannot_be_written(tmp_path):
    file = tmp_path / "net.safetensors"
    file.write_bytes(to_bytes(NETWORK))
    error = error_of(convert, file, file)
    assert "is the file that is read" in error.message and error.hint
    (tmp_path / "folder.safetensors").mkdir()
    assert "is a folder" in error_of(convert, file, tmp_path / "folder.safetensors").message


def test_files_that_say_their_activation_take_none(tmp_path):
    file = tmp_path / "net.nnet"
    file.write_text(nnet_text(random_network(1, 3, 4, precision="float64")))
    out = tmp_path / "net.safetensors"
    assert error_of(convert, file, out, activation="tanh").code == "bad-option"
    assert error_of(convert, file, out, activation="gelu").code == "unknown-activation"
    assert not out.exists()


def test_a_broken_file_leaves_what_was_there(tmp_path):
    out = tmp_path / "net.safetensors"
    out.write_bytes(b"precious")
    (tmp_path / "net.nnet").write_text("3,")
    assert error_of(convert, tmp_path / "net.nnet", out).code == "bad-nnet"
    assert out.read_bytes() == b"precious"
    assert error_of(convert, tmp_path / "gone.nnet", out).code == "file-not-found"


# -- what torch saves --------------------------------------------------------------------------


def test_state_dictionaries(torch):
    for prefix in ("", "model.", "module.0.module."):
        states = {prefix + name: tensor for name, tensor in names_of(NETWORK, torch).items()}
        loaded = policy_of(states, None)
        assert same_network(loaded.model, NETWORK)
        assert "relu is assumed" in loaded.notes[0]
    assert same_network(policy_of(names_of(TANH, torch), "tanh").model, TANH)
    wrapped = {"model_state_dict": names_of(NETWORK, torch), "epoch": 3}
    assert same_network(policy_of(wrapped, "relu").model, NETWORK)


def test_doubles(torch):
    network = random_network(1, 3, 6, 4, precision="float64")
    assert same_network(policy_of(names_of(network, torch), None).model, network)


def test_actors_of_stable_baselines(torch):
    loaded = policy_of(actor(TANH, torch), None)
    assert same_network(loaded.model, TANH)
    assert "tanh is assumed" in loaded.notes[0]
    assert same_network(policy_of(actor(NETWORK, torch), "relu").model, NETWORK)
    wrapped = {"state_dict": actor(TANH, torch), "input_dim": 3, "output_dim": np.int64(4)}
    assert same_network(policy_of(wrapped, None).model, TANH)


def test_one_actor_among_others(torch):
    both = {f"actor.{name}": tensor for name, tensor in names_of(NETWORK, torch).items()}
    both |= {f"critic.{name}": tensor * 0 for name, tensor in names_of(NETWORK, torch).items()}
    assert same_network(policy_of(both, "relu").model, NETWORK)


def test_q_networks(torch):
    both = {f"q_net.q_net.{name}": tensor for name, tensor in names_of(NETWORK, torch).items()}
    both |= {f"q_net_target.{name}": t * 0 for name, t in names_of(NETWORK, torch).items()}
    loaded = policy_of(both, None)
    assert same_network(loaded.model, NETWORK)
    assert "relu is assumed" in loaded.notes[0]


def test_actor_without_output_layer(torch):
    states = names_of(random_network(1, 3, 6, 64), torch)
    error = error_of(policy_of, {"state_dict": states, "output_dim": 4}, None)
    assert error.code == "policy-no-output-layer"
    assert "the output layer is missing" in error.message
    headless = {k: v for k, v in actor(TANH, torch).items() if not k.startswith("action_net")}
    assert error_of(policy_of, headless, None).code == "policy-no-output-layer"


def test_classifiers_of_states_are_no_policies(torch):
    states = names_of(random_network(1, 3, 6, 1), torch)
    error = error_of(policy_of, {"model_state_dict": states, "input_size": 3}, None)
    assert (error.code, error.message) == ("not-a-policy", "not a policy: one output")


def test_scalers_that_are_saved_along(torch):
    sklearn = pytest.importorskip("sklearn.preprocessing")
    scaler = sklearn.StandardScaler().fit(np.random.default_rng(1).normal(3, 2, (50, 3)))
    loaded = policy_of({"state_dict": names_of(NETWORK, torch), "scaler": scaler}, None)
    assert [one.mean for one in loaded.interface.inputs] == list(scaler.mean_)
    assert [one.scale for one in loaded.interface.inputs] == list(scaler.scale_)
    kept = sklearn.StandardScaler(with_mean=False).fit(scaler.mean_ + np.eye(3))
    loaded = policy_of({"state_dict": names_of(NETWORK, torch), "scaler": kept}, None)
    assert [one.mean for one in loaded.interface.inputs] == [0, 0, 0]
    assert [one.scale for one in loaded.interface.inputs] == list(kept.scale_)
    odd = {"state_dict": names_of(NETWORK, torch), "scaler": "odd"}
    assert isinstance(error_of(policy_of, odd, None), Unsupported)


def test_what_is_no_policy(torch):
    assert error_of(policy_of, {"a": 1}, None).code == "not-a-policy"
    assert isinstance(error_of(policy_of, [1, 2], None), Unsupported)
    continuous = {**actor(TANH, torch), "log_std": torch.zeros(4)}
    assert error_of(policy_of, continuous, None).code == "not-a-policy"
    wrong = {"state_dict": names_of(NETWORK, torch), "input_dim": 7}
    assert error_of(policy_of, wrong, None).code == "policy-wrong-inputs"
    pictures = {"features_extractor.cnn.0.weight": torch.zeros(3, 3)}
    assert isinstance(error_of(policy_of, pictures, None), Unsupported)


SAID = {
    "nothing": ({"policy_kwargs": {}}, None),
    "no data": (None, None),
    "relu": ({"policy_kwargs": {"activation_fn": "<class 'torch.nn.modules.activation.ReLU'>"}},
             "relu"),
}  # fmt: skip


@pytest.mark.parametrize("case", SAID)
def test_activation_in_the_data_of_a_zip(case):
    data, expected = SAID[case]
    assert activation_in_data(data) == expected


def test_unknown_activation_in_the_data_of_a_zip():
    data = {"policy_kwargs": {"activation_fn": "<class 'torch.nn.modules.activation.GELU'>"}}
    assert isinstance(error_of(activation_in_data, data), Unsupported)


def test_modules_in_memory(torch):
    task = grid(3, 4)
    for network in (NETWORK, TANH, random_network(2, 3, 4, precision="float64")):
        policy = as_policy(torch_sequential(network), task)
        assert same_network(policy.model, network)
    nested = torch.nn.Sequential(
        torch.nn.Flatten(), torch_sequential(NETWORK), torch.nn.Dropout(), torch.nn.Softmax(dim=1)
    )
    policy = as_policy(nested, task)
    assert same_network(policy.model, NETWORK)
    assert "Softmax" in policy.notes[0]
    odd = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.GELU())
    assert as_policy(odd, task).model_kind == "graph"
    early = torch.nn.Sequential(torch.nn.Softmax(dim=1), torch.nn.Linear(3, 4))
    assert as_policy(early, task).model_kind == "graph"


# -- fitted estimators -------------------------------------------------------------------------


def test_classes_are_names_or_positions_of_actions():
    trees = pytest.importorskip("sklearn.tree")
    task = grid(3, 4)
    rows = np.array([[x, 0, 0] for x in range(10)], dtype=float)
    asked = [task.state(v0=x, v1=0, v2=0) for x in range(10)]
    names = ["a2" if x < 5 else "a0" for x in range(10)]
    named = trees.DecisionTreeClassifier().fit(rows, names)
    policy = as_policy(named, task)
    assert policy.interface.outputs == ("a0", "a2")
    assert policy.decide_all(asked) == names
    numbered = trees.DecisionTreeClassifier().fit(rows, [int(name[1]) for name in names])
    policy = as_policy(numbered, task)
    assert policy.interface.outputs == ("a0", "a2")
    assert policy.decide_all(asked) == names
    odd = trees.DecisionTreeClassifier().fit(rows, [7 if x < 5 else 0 for x in range(10)])
    assert error_of(as_policy, odd, task).code == "policy-wrong-outputs"


# -- the child process -------------------------------------------------------------------------


def trusted(path, **more):
    return convert(path, path.with_name("new.safetensors"), trust=True, **more)


def test_torch_file(tmp_path, torch):
    file = tmp_path / "net.pth"
    torch.save({"state_dict": actor(TANH, torch), "output_dim": np.int64(4)}, file)
    error = error_of(convert, file, tmp_path / "new.safetensors")
    assert error.code == "policy-is-pickle"
    assert f"surefoot convert {file} -o {tmp_path}/new.safetensors --trust" in error.hint
    assert os.listdir(tmp_path) == ["net.pth"]
    made = trusted(file)
    assert same_network(made.model, TANH)
    assert "running" in made.loaded.notes[1]  # the NumPy scalar needs it
    assert load_policy(str(made.file), grid(3, 4)).model.num_outputs == 4
    assert sorted(os.listdir(tmp_path)) == ["net.pth", "new.safetensors"]


def test_weights_alone_run_nothing(tmp_path, torch):
    file = tmp_path / "net.pt"
    torch.save(names_of(NETWORK, torch), file)
    made = trusted(file, activation="relu")
    assert same_network(made.model, NETWORK)
    assert made.loaded.notes == ()


def test_errors_of_the_child_arrive(tmp_path, torch):
    file = tmp_path / "net.pth"
    torch.save({"state_dict": names_of(random_network(1, 3, 64), torch), "output_dim": 4}, file)
    error = error_of(trusted, file)
    assert (error.code, error.file) == ("policy-no-output-layer", str(file))
    assert os.listdir(tmp_path) == ["net.pth"]


def write_zip(file, tensors, data, torch):
    """Write a zip as Stable-Baselines3 does."""
    weights = io.BytesIO()
    torch.save(tensors, weights)
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("data", json.dumps(data))
        made.writestr("policy.pth", weights.getvalue())


def test_stable_baselines_zip(tmp_path, torch):
    file = tmp_path / "best_model.zip"
    relu = {"activation_fn": "<class 'torch.nn.modules.activation.ReLU'>"}
    write_zip(file, actor(NETWORK, torch), {"policy_kwargs": relu}, torch)
    found = trusted(file)
    assert same_network(found.model, NETWORK)
    assert found.loaded.notes == ()
    write_zip(file, actor(TANH, torch), {"policy_kwargs": {}}, torch)
    found = trusted(file)
    assert same_network(found.model, TANH)
    assert "tanh is assumed" in found.loaded.notes[0]


def test_zips_of_q_networks_have_relu_whatever_they_say_about_their_class(tmp_path, torch):
    tensors = {f"q_net.q_net.{name}": tensor for name, tensor in names_of(NETWORK, torch).items()}
    file = tmp_path / "dqn.zip"
    write_zip(file, tensors, {"policy_class": {":type:": "abc"}}, torch)
    found = trusted(file)
    assert same_network(found.model, NETWORK)
    assert "relu is assumed" in found.loaded.notes[0]


def test_estimators(tmp_path):
    trees = pytest.importorskip("sklearn.tree")
    joblib = pytest.importorskip("joblib")
    rows = np.array([[x, 0, 0] for x in range(10)], dtype=float)
    names = ["a2" if x < 5 else "a0" for x in range(10)]
    fitted = trees.DecisionTreeClassifier().fit(rows, names)
    joblib.dump(fitted, tmp_path / "tree.joblib", compress=3)
    made = convert(tmp_path / "tree.joblib", tmp_path / "tree.json", trust=True)
    assert made.loaded.interface.outputs == ("a0", "a2")
    task = grid(3, 4)
    policy = load_policy(str(tmp_path / "tree.json"), task)
    assert policy.decide_all([task.state(v0=x, v1=0, v2=0) for x in range(10)]) == names


def classifiers():
    """Return unfitted classifiers of each library that is installed."""
    trees = pytest.importorskip("sklearn.tree")
    networks = pytest.importorskip("sklearn.neural_network")
    found = {
        "tree": trees.DecisionTreeClassifier(random_state=0),
        "network": networks.MLPClassifier((4,), max_iter=300, tol=1.0, random_state=0),
    }
    for name, how in (("xgboost", {}), ("lightgbm", {"verbose": -1})):
        library = pytest.importorskip(name)
        kind = "XGBClassifier" if name == "xgboost" else "LGBMClassifier"
        found[name] = getattr(library, kind)(n_estimators=3, n_jobs=1, **how)
    return found


@pytest.mark.parametrize("classes", [(0, 2, 3, 4), (0, 1, 2), (1, 3), (4, 5)], ids=str)
@pytest.mark.parametrize("library", ["tree", "network", "xgboost", "lightgbm"])
def test_converted_classifiers_decide_as_they_do_in_memory(tmp_path, library, classes):
    if library == "xgboost" and classes[-1] >= len(classes):
        pytest.skip("XGBoost takes classes from 0 without gaps only")
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 10, (200, 3)).astype(float)
    labels = np.array(classes)[rows[:, 1].astype(int) % len(classes)]
    fitted = classifiers()[library].fit(rows, labels)
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(fitted))
    out = tmp_path / f"new{'.safetensors' if library == 'network' else '.json'}"
    made = convert(tmp_path / "model.pkl", out, trust=True)
    assert made.to_dict()["outputs"] == list(classes)
    listed = ", ".join(map(str, classes))
    assert f"outputs  {len(classes)}: actions {listed} of the task" in str(made)
    task = grid(3, 6)
    found, wanted = load_policy(str(out), task), as_policy(fitted, task)
    assert found.interface == wanted.interface
    assert found.interface.outputs == tuple(f"a{i}" for i in classes)
    whole = rows.astype(int).tolist()
    asked = [task.state(dict(zip(task.names, row, strict=True))) for row in whole]
    assert found.decide_all(asked) == wanted.decide_all(asked)
    assert found.scores(asked[0]) == wanted.scores(asked[0])
    small = grid(3, classes[-1])
    for source in (str(out), fitted):
        assert error_of(load_policy, source, small).code == "policy-wrong-outputs"


@pytest.mark.parametrize("library", ["tree", "xgboost", "lightgbm"])
def test_what_is_not_fitted(library):
    error = error_of(as_policy, classifiers()[library], grid(3, 4))
    assert (type(error), error.code) == (InputError, "policy-not-fitted")


@pytest.mark.parametrize("classes", [(-1, 1), (False, True)], ids=str)
def test_classes_that_are_no_positions(classes):
    lightgbm = pytest.importorskip("lightgbm")
    rows = np.random.default_rng(1).integers(0, 10, (100, 3)).astype(float)
    labels = np.array(classes)[(rows[:, 0] > 4).astype(int)]
    fitted = lightgbm.LGBMClassifier(n_estimators=2, verbose=-1, n_jobs=1).fit(rows, labels)
    assert error_of(as_policy, fitted, grid(3, 2)).code == "policy-wrong-classes"


def test_classes_of_other_libraries():
    lightgbm = pytest.importorskip("lightgbm")
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 10, (300, 3)).astype(float)
    positions = rows[:, 0].astype(int) % 4
    task = grid(3, 4)
    states = [
        task.state(dict(zip(task.names, row, strict=True))) for row in rows.astype(int).tolist()
    ]
    names = np.array(["a2", "a0", "a1", "a3"])
    how = {"n_estimators": 5, "verbose": -1, "n_jobs": 1}
    named = lightgbm.LGBMClassifier(**how).fit(rows, names[positions])
    policy = as_policy(named, task)
    assert policy.interface.outputs == ("a0", "a1", "a2", "a3")
    high = [i for i, state in enumerate(states) if state["v0"] > 4]
    decided = policy.decide_all([states[i] for i in high])
    assert decided == list(named.predict(rows[high]))
    numbered = xgboost.XGBClassifier(n_estimators=5, n_jobs=1).fit(rows, positions)
    policy = as_policy(numbered, task)
    decided = policy.decide_all([states[i] for i in high])
    assert decided == [f"a{i}" for i in numbered.predict(rows[high])]


def test_a_multi_layer_perceptron(tmp_path):
    networks = pytest.importorskip("sklearn.neural_network")
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 10, (60, 3)).astype(float)
    fitted = networks.MLPClassifier((6,), max_iter=30).fit(rows, rows[:, 0].astype(int) % 4)
    (tmp_path / "mlp.pkl").write_bytes(pickle.dumps(fitted))
    made = trusted(tmp_path / "mlp.pkl")
    policy = load_policy(str(made.file), grid(3, 4))
    scores = [
        list(policy.scores({"v0": a, "v1": b, "v2": c}).values())
        for a, b, c in rows.astype(int).tolist()
    ]
    assert np.argmax(scores, axis=1).tolist() == fitted.predict(rows).tolist()


def test_other_pickles(tmp_path):
    pytest.importorskip("joblib")
    (tmp_path / "odd.pkl").write_bytes(pickle.dumps({1, 2, 3}))
    assert error_of(trusted, tmp_path / "odd.pkl").code == "policy-pickle"
    (tmp_path / "odd.pkl").write_bytes(b"\x80\x04nonsense")
    assert error_of(trusted, tmp_path / "odd.pkl").code == "policy-not-read"


def test_pickles_that_end_too_early(tmp_path):
    pytest.importorskip("joblib")
    whole = pickle.dumps({"a": list(range(1000))})
    for cut in (0, 3, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.pkl").write_bytes(whole[:cut])
        error = error_of(trusted, tmp_path / "cut.pkl")
        assert error.code == "policy-not-read"
        reason = error.message.removeprefix("the file cannot be read: ").strip()
        assert len(reason) > 10 and not reason.endswith(":")


def test_another_suffix_gives_the_whole_command(tmp_path, torch):
    trees = pytest.importorskip("sklearn.tree")
    fitted = trees.DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    (tmp_path / "my tree.pkl").write_bytes(pickle.dumps(fitted))
    error = error_of(convert, tmp_path / "my tree.pkl", tmp_path / "new.safetensors", trust=True)
    assert (error.code, error.exit_code) == ("bad-option", 2)
    assert "trees are written to a file *.json" in error.message
    assert error.hint == f"surefoot convert '{tmp_path}/my tree.pkl' -o {tmp_path}/new.json --trust"
    torch.save(names_of(TANH, torch), tmp_path / "net.pt")
    given = {"trust": True, "activation": "tanh"}
    error = error_of(convert, tmp_path / "net.pt", tmp_path / "new.json", **given)
    new = f"-o {tmp_path}/new.safetensors --trust --activation tanh"
    assert error.hint == f"surefoot convert {tmp_path}/net.pt {new}"
    (tmp_path / "net.nnet").write_text(nnet_text(random_network(1, 3, 4, precision="float64")))
    error = error_of(convert, tmp_path / "net.nnet", tmp_path / "new.json")
    expected = f"surefoot convert {tmp_path}/net.nnet -o {tmp_path}/new.safetensors"
    assert error.hint == expected


def test_activations_of_what_has_its_own_or_none(tmp_path, torch):
    torch.save(torch_sequential(NETWORK), tmp_path / "whole.pt")
    error = error_of(trusted, tmp_path / "whole.pt", activation="tanh")
    assert (error.code, error.message) == ("bad-option", "the module names its activations itself")
    (tmp_path / "ours.safetensors").write_bytes(to_bytes(NETWORK))
    error = error_of(trusted, tmp_path / "ours.safetensors", activation="tanh")
    assert (error.code, error.message) == ("bad-option", "this file names its activations itself")


def test_trees_have_no_activation(tmp_path):
    trees = pytest.importorskip("sklearn.tree")
    fitted = trees.DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    (tmp_path / "tree.pkl").write_bytes(pickle.dumps(fitted))
    out = tmp_path / "tree.json"
    convert(tmp_path / "tree.pkl", out, trust=True)
    for file in (tmp_path / "tree.pkl", out):
        again = tmp_path / "again.json"
        error = error_of(convert, file, again, trust=True, activation="tanh")
        assert (error.code, error.message) == ("bad-option", "trees have no activation")


class Runs:
    """Unpickles to what a function returns."""

    def __init__(self, function, *args):
        self.call = function, args

    def __reduce__(self):
        return self.call


def test_the_child_has_limits(tmp_path):
    pytest.importorskip("joblib")
    file = tmp_path / "slow.pkl"
    file.write_bytes(pickle.dumps(Runs(time.sleep, 60)))
    begin = time.monotonic()
    error = error_of(trusted, file, max_seconds=1.5)
    assert isinstance(error, OutOfBudget)
    assert time.monotonic() - begin < 10
    file.write_bytes(pickle.dumps(Runs(bytearray, 2 * 2**30)))
    error = error_of(trusted, file, memory_mb=1024)
    assert isinstance(error, OutOfBudget)
    file.write_bytes(pickle.dumps(Runs(os._exit, 3)))
    assert error_of(trusted, file).code == "policy-not-read"
    assert os.listdir(tmp_path) == ["slow.pkl"]


def test_what_the_child_writes_is_not_believed(tmp_path, monkeypatch):
    """A child that leaves nonsense, or numbers that are none, is found out."""
    from surefoot.policies.convert import parent

    file = tmp_path / "net.pth"
    file.write_bytes(b"\x80\x04.")
    broken = random_network(1, 3, 4)
    broken.layers[0].weights[0, 0] = np.nan
    for data in (b"nonsense", to_bytes(broken)):

        def send(path, suffix, activation, *, data=data, **limits):
            return data

        monkeypatch.setattr(parent, "bytes_from_child", send)
        assert isinstance(error_of(trusted, file), InputError)
    assert os.listdir(tmp_path) == ["net.pth"]


FORGED = """
import os
for number in range(3, 20):
    try:
        os.write(number, {line!r})
    except OSError:
        continue
os._exit(0)
"""
FORGED_LINES = {
    "no event": (b"nonsense\n", "policy-not-read"),
    "no policy": (line_of(Done({})), "policy-not-read"),
    "a bad policy": (line_of(Done({}, {"made.safetensors": b"nonsense"})), "bad-safetensors"),
    "another's error": (line_of(Failed("certificate", "c\x1b[1m", "m\n")), "c\\x1b[1m"),
}


@pytest.mark.parametrize("case", FORGED_LINES)
def test_answers_that_a_pickle_forges_are_not_believed(tmp_path, case):
    pytest.importorskip("joblib")
    line, code = FORGED_LINES[case]
    file = tmp_path / "forges.pkl"
    file.write_bytes(pickle.dumps(Runs(exec, FORGED.format(line=line))))
    error = error_of(trusted, file)
    assert (type(error), error.code, error.file) == (InputError, code, str(file))
    assert os.listdir(tmp_path) == ["forges.pkl"]


SLEEPS = """
import os, sys, time
with open({pids!r}, "w") as file:
    file.write(f"{{os.getpid()}}\\n")
time.sleep(60)
"""
CONVERT = "import sys; from surefoot import convert; convert(*sys.argv[1:], trust=True)"


def test_the_child_ends_with_whoever_was_killed(tmp_path):
    pytest.importorskip("joblib")
    pids, file = tmp_path / "pids", tmp_path / "sleeps.pkl"
    file.write_bytes(pickle.dumps(Runs(exec, SLEEPS.format(pids=str(pids)))))
    out = tmp_path / "new.safetensors"
    caller = subprocess.Popen([sys.executable, "-c", CONVERT, file, out])
    try:
        assert within(30, lambda: pids.exists() and pids.read_text().endswith("\n"))
    finally:
        caller.kill()
        caller.wait()
    child = Path(f"/proc/{pids.read_text().strip()}")
    assert within(5, lambda: not child.exists() or ") Z " in (child / "stat").read_text())
    assert within(5, lambda: sorted(os.listdir(tmp_path)) == ["pids", "sleeps.pkl"])


def within(seconds, is_so):
    """Return whether something comes to be so in time."""
    until = time.monotonic() + seconds
    while not is_so() and time.monotonic() < until:
        time.sleep(0.02)
    return is_so()
