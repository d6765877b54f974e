"""Models of libraries that are not read are refused with the way that is open to each."""

import pytest
from tests.support.networks import grid

from surefoot import InputError, Unsupported, convert, load_policy


def model_of(library, name, **members):
    """Return an object that looks like one of a library: none of these is a dependency."""
    return type(name, (), {"__module__": f"{library}.src.models", **members})()


LIBRARIES = {
    "keras": "model.export",
    "flax": "module.apply",
    "equinox": "jax.vmap",
    "catboost": "model.predict",
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_objects_that_can_be_called_but_not_with_a_state(library):
    model = model_of(library, "Odd", __call__=lambda self, x: x)
    with pytest.raises(Unsupported) as caught:
        load_policy(model, grid(3, 4))
    assert caught.value.code == "policy-library"
    assert "Odd" in caught.value.message and library in caught.value.message
    assert "surefoot.batched(" in caught.value.hint
    assert LIBRARIES[library] in caught.value.hint


def test_other_models_that_predict():
    class Mine:
        def predict(self, rows):
            return rows

    with pytest.raises(Unsupported) as caught:
        load_policy(Mine(), grid(3, 4))
    assert caught.value.hint == "give it as a function: surefoot.batched(model.predict)"


def test_agents_that_remember():
    agent = model_of("sb3_contrib", "RecurrentPPO", predict=lambda self, rows: rows)
    with pytest.raises(Unsupported) as caught:
        load_policy(agent, grid(3, 4))
    assert caught.value.code == "policy-recurrent"


def test_distributions_are_not_followed():
    policy = load_policy(lambda state: {"a0": 0.5, "a1": 0.5}, grid(3, 4))
    with pytest.raises(InputError) as caught:
        policy.decide({"v0": 9, "v1": 9, "v2": 9})
    assert caught.value.code == "policy-stochastic"
    assert "max(given, key=given.get)" in caught.value.hint


@pytest.mark.parametrize("name", ["net.keras", "net.h5", "net.cbm"])
def test_their_files_are_no_pickles(name, tmp_path):
    (tmp_path / name).write_bytes(b"PK\x03\x04 or anything")
    with pytest.raises(InputError) as caught:
        load_policy(tmp_path / name, grid(3, 4))
    assert caught.value.code == "unknown-policy-format"
    assert "surefoot.batched(" in caught.value.hint
    assert "--trust" not in caught.value.hint
    with pytest.raises(InputError) as caught:
        convert(tmp_path / name, tmp_path / "net.safetensors")
    assert caught.value.code == "unknown-policy-format"


def test_a_module_of_a_class_that_is_nowhere(tmp_path):
    torch = pytest.importorskip("torch", reason="torch is not installed")

    class Net(torch.nn.Module):
        pass

    Net.__module__, Net.__qualname__ = "__main__", "Net"
    main = __import__("__main__")
    main.Net = Net
    try:
        torch.save(Net(), tmp_path / "whole.pt")
    finally:
        del main.Net
    with pytest.raises(InputError) as caught:
        convert(tmp_path / "whole.pt", tmp_path / "net.safetensors", trust=True)
    assert "Net" in caught.value.message
    assert "state_dict()" in caught.value.hint and "FILE.py:NAME" in caught.value.hint
