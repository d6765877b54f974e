"""Networks of PyTorch: ``torch.nn.Sequential`` by layers, other modules as torch exports them."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

from surefoot.errors import SurefootError, Unsupported, printable
from surefoot.policies.convert.torch_modules import network_of, with_last_layer
from surefoot.policies.fitted.library import Fitted
from surefoot.policies.foreign import MEMORY
from surefoot.policies.like import last_layer
from surefoot.policies.loaded import Loaded
from surefoot.policies.models import Model

RECURRENT = ("RNNBase", "RNNCellBase")
OPSET = 17
HINT = (
    "give it as a function: surefoot.batched(lambda states: "
    "model(torch.tensor(states, dtype=torch.float32)).detach().numpy())"
)


def _read(module: Any) -> Loaded:
    """Return the network of a module. Raises Unsupported if it remembers, or cannot be exported."""
    _check_is_function(module)
    try:
        return network_of(module)
    except Unsupported as error:
        if error.code != "policy-module":
            raise
    return _exported(module)


def _check_is_function(module: Any) -> None:
    for part in module.modules():
        if any(each.__name__ in RECURRENT for each in type(part).__mro__):
            raise Unsupported(
                "policy-recurrent",
                f"the module has a {printable(type(part).__name__)}, which remembers earlier "
                "states: it is no function of the state",
                hint=MEMORY,
            )


def _exported(module: Any) -> Loaded:
    """Return what torch exports as ONNX, read as a file would be."""
    from surefoot.policies.onnx import network_in

    kind = printable(type(module).__name__)
    try:
        loaded = network_in(_onnx_bytes(module))
    except SurefootError as error:
        raise Unsupported(
            "policy-module", f"the module {kind} is not supported: {error.message}", hint=HINT
        ) from None
    except Exception as error:  # whatever torch raises says that it cannot export this
        reason = printable(str(error).strip().split("\n")[0])
        raise Unsupported(
            "policy-module", f"torch cannot export the module {kind}: {reason}", hint=HINT
        ) from None
    return replace(loaded, notes=(*loaded.notes, f"the module {kind} was exported by torch"))


def _onnx_bytes(module: Any) -> bytes:
    import torch

    sizes = [part.in_features for part in module.modules() if hasattr(part, "in_features")]
    if not sizes:
        raise Unsupported("policy-module", "it has no linear layer, so its inputs are not known")
    weights = next(module.parameters())
    example = torch.zeros(2, sizes[0], dtype=weights.dtype, device=weights.device)
    with tempfile.TemporaryDirectory(prefix="surefoot-") as folder, warnings.catch_warnings():
        file = Path(folder) / "module.onnx"
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module,
            (example,),
            file,
            dynamo=False,
            opset_version=OPSET,
            input_names=["states"],
            dynamic_axes={"states": {0: "rows"}},
        )
        return file.read_bytes()


def _like(model: Model | None, original: object) -> object:
    return with_last_layer(original, last_layer(model, network_of(original).model))


FITTED = Fitted(_read, _like)
