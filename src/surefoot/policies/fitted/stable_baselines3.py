"""Policies of Stable-Baselines3 and sb3-contrib, as objects: PPO, A2C, DQN with an MlpPolicy.

An observation is flattened as their own code does: ``Discrete`` parts one-hot, images divided by
255, and normalised if the model was trained on a ``VecNormalize``.
"""

from __future__ import annotations

import copy
from typing import Any

from surefoot.errors import InputError, Unsupported, printable
from surefoot.policies.convert.torch_modules import network_of, with_last_layer
from surefoot.policies.fitted.library import Fitted
from surefoot.policies.interface import Input, Interface
from surefoot.policies.like import last_layer
from surefoot.policies.loaded import Loaded
from surefoot.policies.models import Model

Foreign = Any
"""an object of Stable-Baselines3 or of what it is made of"""

FLAT = ("FlattenExtractor",)
HINT = "give a function that asks it: lambda state: task.actions[int(model.predict(...)[0])]"


def read(thing: object) -> Loaded:
    """Return the network that decides. Raises Unsupported for one that is not plain layers."""
    policy = _policy_of(thing)
    loaded = network_of(_network(policy))
    inputs, notes = _inputs(thing, policy, loaded.model.num_inputs)
    if inputs is None:
        return loaded
    return Loaded(loaded.model, Interface(inputs), notes=(*loaded.notes, *notes))


def _policy_of(thing: Foreign) -> Foreign:
    return getattr(thing, "policy", thing)


def _network(policy: Foreign) -> Foreign:
    """Return the layers that score the actions, in one module."""
    import torch

    _check(policy)
    if hasattr(policy, "q_net"):
        return policy.q_net.q_net
    if hasattr(policy, "action_net") and hasattr(policy, "mlp_extractor"):
        return torch.nn.Sequential(policy.mlp_extractor.policy_net, policy.action_net)
    raise _unsupported(f"a {type(policy).__name__}")


def _check(policy: Foreign) -> None:
    if hasattr(policy, "lstm_actor"):
        raise _unsupported("a recurrent policy, which is no function of the state,")
    if hasattr(policy, "log_std") or type(policy.action_space).__name__ != "Discrete":
        raise InputError("not-a-policy", "not a policy over actions: its actions are not Discrete")
    network: Foreign = policy.q_net if hasattr(policy, "q_net") else policy
    extractor = type(network.features_extractor).__name__
    if extractor not in FLAT:
        raise _unsupported(f"the features extractor {extractor}")


def _unsupported(what: str) -> Unsupported:
    return Unsupported("policy-features", f"{printable(what)} is not supported here", hint=HINT)


def _inputs(
    thing: Foreign, policy: Foreign, count: int
) -> tuple[tuple[Input, ...] | None, tuple[str, ...]]:
    """Return how inputs are scaled, and what is not as it was; None if they are not."""
    normal = getattr(thing, "get_vec_normalize_env", lambda: None)()
    if normal is not None and normal.norm_obs:
        statistics = normal.obs_rms
        if getattr(statistics, "mean", None) is None or statistics.mean.size != count:
            raise _unsupported("a VecNormalize of parts of observations")
        scales = (statistics.var + normal.epsilon) ** 0.5
        pairs = zip(statistics.mean.flatten(), scales.flatten(), strict=True)
        note = f"VecNormalize clips inputs at {normal.clip_obs:g}, which is left out here"
        return tuple(Input(mean=float(m), scale=float(s)) for m, s in pairs), (note,)
    if _is_image(policy.observation_space) and getattr(policy, "normalize_images", True):
        return (Input(scale=255.0),) * count, ()
    return None, ()


def _is_image(space: Foreign) -> bool:
    from stable_baselines3.common.preprocessing import is_image_space

    return bool(is_image_space(space))


def _like(model: Model | None, thing: Foreign) -> object:
    """Return a copy of a model whose last layer is that of a repaired network."""
    before = _network(_policy_of(thing))
    after: Foreign = with_last_layer(before, last_layer(model, network_of(before).model))
    policy = copy.deepcopy(_policy_of(thing))
    if hasattr(policy, "q_net"):
        policy.q_net.q_net = after
    else:
        policy.mlp_extractor.policy_net, policy.action_net = after
    if policy is not None and hasattr(thing, "policy"):
        made = copy.copy(thing)
        made.policy = policy
        return made
    return policy


FITTED = Fitted(read, _like)
