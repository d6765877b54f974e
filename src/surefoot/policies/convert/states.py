"""Networks from the dictionaries that training scripts save with torch.

Known are the dictionaries of Stable-Baselines3 and of jani_env (which wraps them), those of a
``torch.nn.Sequential`` with or without a prefix, and whole modules. Nothing here imports torch.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from surefoot.errors import InputError, Unsupported, quoted, shown
from surefoot.policies.interface import Input, Interface
from surefoot.policies.loaded import Loaded
from surefoot.policies.models import Layer, Network, Precision, Reals
from surefoot.policies.safetensors import numbered_layers

WRAPPERS = ("state_dict", "model_state_dict", "policy_state_dict", "policy")
ACTOR = "mlp_extractor.policy_net."
HEAD = "action_net."
Q_NET = "q_net.q_net."
_CLASS = re.compile(r"<class '(?:[\w.]+\.)?(\w+)'>")
_CLASSES = {"Tanh": "tanh", "ReLU": "relu", "Sigmoid": "sigmoid", "LeakyReLU": "leaky_relu"}
_PLAIN_NAMES = re.compile(r"(^|[._])(actor|policy|pi)([._]|$)")


def policy_of(content: object, activation: str | None) -> Loaded:
    """Return the policy in what a torch file holds.

    ``activation`` is that of the hidden layers; without it tanh for actors of Stable-Baselines3 and
    relu elsewhere (also for its DQN), which a note says.
    """
    if hasattr(content, "state_dict") and not isinstance(content, Mapping):
        if activation is not None:
            raise InputError("bad-option", "the module names its activations itself")
        from surefoot.policies.fitted import FITTED

        loaded = FITTED["torch"].read(content)
        return loaded if isinstance(loaded, Loaded) else Loaded(loaded)
    if not isinstance(content, Mapping):
        raise Unsupported("policy-pickle", f"the file holds {shown(type(content))}, no network")
    tensors = _tensors(content)
    layers, assumed = _layers(tensors, activation)
    _check_sizes(content, layers)
    notes = []
    if activation is None and len(layers) > 1:
        notes.append(f"the file names no activation: {assumed} is assumed, see --activation")
    network = Network(layers, _precision(tensors))
    return Loaded(network, _scaling(content, layers), notes=tuple(notes))


def activation_in_data(data: object) -> str | None:
    """Return the activation that the ``data`` of a Stable-Baselines3 zip names; None if none."""
    arguments = data.get("policy_kwargs") if isinstance(data, Mapping) else None
    name = arguments.get("activation_fn") if isinstance(arguments, Mapping) else None
    if name is None:
        return None
    match = _CLASS.fullmatch(name) if isinstance(name, str) else None
    if match is None or match[1] not in _CLASSES:
        raise Unsupported("policy-activation", f"the activation {shown(name)} is not supported")
    return _CLASSES[match[1]]


# -- tensors ---------------------------------------------------------------------------------


def _tensors(content: Mapping[object, Any]) -> dict[str, object]:
    for name in WRAPPERS:
        if isinstance(content.get(name), Mapping):
            content = content[name]
            break
    tensors = {str(name): value for name, value in content.items() if hasattr(value, "detach")}
    if not tensors:
        raise InputError("not-a-policy", "the file holds no tensors under names")
    return tensors


def _reals(tensor: Any) -> Reals:
    """Return the numbers of a tensor as doubles."""
    return np.asarray(tensor.detach().to("cpu").double().numpy(), dtype=np.float64)


def _precision(tensors: dict[str, Any]) -> Precision:
    kinds = {str(tensor.dtype) for tensor in tensors.values()}
    return "float64" if "torch.float64" in kinds else "float32"


# -- layers ----------------------------------------------------------------------------------


def _layers(tensors: dict[str, object], activation: str | None) -> tuple[tuple[Layer, ...], str]:
    """Return the layers and the activation they got."""
    if any(name.startswith("features_extractor.") for name in tensors):
        raise Unsupported("policy-features", "networks with a features extractor are not supported")
    if any(name.startswith(ACTOR) for name in tensors) or f"{HEAD}weight" in tensors:
        return _actor(tensors, activation or "tanh"), activation or "tanh"
    return numbered_layers(_chosen(tensors), activation or "relu"), activation or "relu"


def _actor(tensors: dict[str, object], activation: str) -> tuple[Layer, ...]:
    """Return policy_net, then action_net, of a Stable-Baselines3 actor."""
    if "log_std" in tensors:
        raise InputError("not-a-policy", "not a policy over actions: its output is continuous")
    if f"{HEAD}weight" not in tensors or f"{HEAD}bias" not in tensors:
        raise _no_output_layer(f"there is no {quoted(HEAD + 'weight')}")
    hidden = {name: _reals(tensors[name]) for name in tensors if name.startswith(ACTOR)}
    head = Layer(_reals(tensors[f"{HEAD}weight"]), _reals(tensors[f"{HEAD}bias"]), "linear")
    if not hidden:
        return (head,)
    below = numbered_layers({**hidden, f"{ACTOR}999999.weight": head.weights}, activation)
    return (*below[:-1], head)


def _chosen(tensors: dict[str, object]) -> dict[str, Reals]:
    """Return the tensors of the one network that decides."""
    if any(name.startswith(Q_NET) for name in tensors):
        return {name: _reals(tensors[name]) for name in tensors if name.startswith(Q_NET)}
    prefixes = {name.rpartition(".")[0].rpartition(".")[0] for name in tensors}
    deciding = {prefix for prefix in prefixes if _PLAIN_NAMES.search(prefix)}
    if len(prefixes) > 1 and len(deciding) == 1:
        (prefix,) = deciding
        return {n: _reals(tensors[n]) for n in tensors if n.startswith(prefix + ".")}
    return {name: _reals(tensor) for name, tensor in tensors.items()}


def _no_output_layer(why: str) -> InputError:
    return InputError(
        "policy-no-output-layer",
        f"the output layer is missing: {why}",
        hint="save the whole actor, with the layer that scores the actions",
    )


def _check_sizes(content: Mapping[object, object], layers: tuple[Layer, ...]) -> None:
    """Raise InputError if the layers are not those of a policy, or not what the file says."""
    outputs, inputs = layers[-1].weights.shape[0], layers[0].weights.shape[1]
    size = _whole(content.get("output_dim"))
    if size is not None and size != outputs:
        raise _no_output_layer(
            f"the file says {size:,} outputs, but its last layer has {outputs:,}"
        )
    if outputs == 1:
        raise InputError("not-a-policy", "not a policy: one output", hint="a policy has one output "
                         "for each action; this may be a classifier of states")  # fmt: skip
    size = _whole(content.get("input_dim"))
    if size is not None and size != inputs:
        message = f"the file says {size:,} inputs, but its first layer takes {inputs:,}"
        raise InputError("policy-wrong-inputs", message)


def _whole(given: Any) -> int | None:
    try:
        return int(given)
    except (TypeError, ValueError, OverflowError):
        return None


def _scaling(content: Mapping[object, object], layers: tuple[Layer, ...]) -> Interface | None:
    """Return the scaling of a StandardScaler that was saved with the network."""
    scaler = content.get("scaler")
    if scaler is None:
        return None
    mean, scale = getattr(scaler, "mean_", None), getattr(scaler, "scale_", None)
    if not getattr(scaler, "with_mean", True):
        mean = None
    inputs = layers[0].weights.shape[1]
    zeros, ones = np.zeros(inputs), np.ones(inputs)
    means = zeros if mean is None else np.asarray(mean, dtype=np.float64)
    scales = ones if scale is None else np.asarray(scale, dtype=np.float64)
    if type(scaler).__name__ != "StandardScaler" or means.shape != (inputs,) != scales.shape:
        raise Unsupported("policy-scaler", f"the scaler {shown(scaler)} is not supported")
    pairs = zip(means.tolist(), scales.tolist(), strict=True)
    return Interface(tuple(Input(mean=m, scale=s) for m, s in pairs))
