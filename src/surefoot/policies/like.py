"""Repaired policies in the form of the original: its file format, or an object of its library.

An XGBoost or LightGBM file stays one that the library loads, with the repaired leaf values and the
appended trees; what else stands in it is taken over. Formats that hold no interface get it in a
file beside. What a format cannot hold is written as :func:`write_policy` does it: networks, also
with trees that correct them, to ``.safetensors``, trees to our own ``.json``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from surefoot.errors import InputError, Unsupported, printable, quoted
from surefoot.files import write_files
from surefoot.policies.fitted import fitted_of
from surefoot.policies.format import JSON, Format, Writer
from surefoot.policies.formats import format_of, kind_of, kind_of_file
from surefoot.policies.models import Layer, Model, Network, Trees
from surefoot.policies.writing import (
    check_place,
    interface_file,
    loaded_of,
    suffixes_of,
    write_policy,
)

if TYPE_CHECKING:
    from surefoot.policies import Policy

NOT_HELD = "repair-not-held"


# -- files -----------------------------------------------------------------------------------


def write_like(
    policy: Policy, original: Policy, path: str | Path, *, reads_back: bool = True
) -> list[Path]:
    """Write a repaired policy in the format of the original's file if the path has its suffix;
    return the files, the policy's own first.

    Otherwise, and where the format cannot hold it, it is written as :func:`write_policy` does.
    Raises InputError and Unsupported as that does, and Unsupported (``repair-not-held``) if the
    suffix stands for a format that cannot hold the policy, and for no other. Who reads the file at
    once need not have it read back here.
    """
    kind, source = _source(original)
    suffix = Path(path).suffix.lower()
    form = format_of(kind)
    if policy.model is None or form.write_like is None or suffix not in _suffixes(form, source):
        return write_policy(policy, path, reads_back=reads_back)
    try:
        content = form.write_like(policy.model, source)
    except ValueError as error:
        if suffix in suffixes_of(policy.model.kind):
            return write_policy(policy, path, reads_back=reads_back)
        raise _not_held(f"a file *{suffix}", error, policy.model) from None
    file = check_place(path, (suffix,))
    read = form.read if reads_back else None
    return write_files({file: content} | interface_file(policy, file), read=read)


def check_suffix(original: Policy, path: str | Path) -> None:
    """Raise InputError (``unknown-suffix``) if no repaired form of the policy goes to such a file:
    to ask before long work.
    """
    kind, source = _source(original)
    form, model = format_of(kind), loaded_of(original).model
    known = [
        *(_suffixes(form, source) if form.write_like else ()),
        *suffixes_of(model.kind),
    ]
    if Path(path).suffix.lower() not in known:
        wanted = " or ".join(f"*{suffix}" for suffix in dict.fromkeys(known))
        message = f"{quoted(str(path))} is not a file {wanted}, to which this policy is written"
        raise InputError("unknown-suffix", message)


def suffix_like(policy: Policy, original: Policy) -> str:
    """Return the suffix of the file to write a repaired policy to: that of the original's file if
    its format can hold the policy. Raises InputError if it has no model.
    """
    model = loaded_of(policy).model
    kind, source = _source(original)
    suffix = source.suffix.lower()
    known = suffixes_of(model.kind) or (".json",)
    form = format_of(kind)
    if form.write_like is not None:
        try:
            form.write_like(model, source)
        except ValueError:
            return known[0]
        return suffix
    is_possible = form.writer is not None and suffix in known and _is_writable(form.writer)
    return suffix if is_possible else known[0]


def _is_writable(writer: Writer) -> bool:
    try:
        writer.require()
    except Unsupported:
        return False
    return True


def _suffixes(form: Format, source: Path) -> tuple[str, ...]:
    """Return the suffixes of files with the same content; JSON is not what others have."""
    suffix = source.suffix.lower()
    is_any = suffix in form.suffixes and JSON not in form.suffixes
    return form.suffixes if is_any else (suffix,)


def _source(original: Policy) -> tuple[str, Path]:
    """Return what the file of a policy's model is, and where it stands; ``none`` without one."""

    if original.model is None:
        return "none", Path()
    kind, path = kind_of_file(original)
    if (model_file := format_of(kind).model_file) is not None:
        path = model_file(path)
        kind = kind_of(path)
    return kind, path


# -- objects ---------------------------------------------------------------------------------


def fitted_like(policy: Policy, original: object) -> object:
    """Return a repaired policy as an object like the fitted model that it was made of.

    That is a copy: a Booster or an estimator of XGBoost or LightGBM, an estimator of scikit-learn,
    or a ``torch.nn.Sequential``. Raises Unsupported (``repair-not-held``) if such an object cannot
    hold it.
    """
    model = policy.model
    fitted = fitted_of(type(original))
    if fitted is None:
        what = printable(type(original).__name__)
        raise InputError(
            "not-a-fitted-model",
            f"an object of the class {what} is not a model of a library that is known",
            hint="known are XGBoost, LightGBM, scikit-learn and torch",
        )
    try:
        return fitted.like(model, original)
    except ValueError as error:
        raise _not_held(f"a {printable(type(original).__name__)}", error, model) from None


# -- models ----------------------------------------------------------------------------------


def trees_as_counted(model: Model | None) -> Trees:
    """Return trees with values in the precision in which they are added: as they count."""
    if not isinstance(model, Trees):
        raise ValueError("the repaired policy is not a tree ensemble")
    values = model.values.astype(model.sum_precision).astype(np.float64)
    return replace(model, values=values)


def last_layer(model: Model | None, before: Model) -> Layer:
    """Return the last layer of a network that differs from another in nothing else."""
    if not isinstance(model, Network) or not isinstance(before, Network):
        raise ValueError("it has no place for the trees that correct the network")
    shapes = [[layer.weights.shape for layer in network.layers] for network in (model, before)]
    if shapes[0] != shapes[1] or model.precision != before.precision:
        raise ValueError("the layers have other sizes than those of the original")
    for new, old in zip(model.layers[:-1], before.layers[:-1], strict=True):
        if not (
            np.array_equal(new.weights, old.weights)
            and np.array_equal(new.biases, old.biases)
            and (new.activation, new.slope) == (old.activation, old.slope)
        ):
            raise ValueError("more than the last layer was changed")
    return model.layers[-1]


def _not_held(what: str, error: ValueError, model: Model | None) -> Unsupported:
    suffixes = suffixes_of(model.kind) if model is not None else ()
    hint = f"write it to a file *{suffixes[0]}" if suffixes else None
    return Unsupported(
        NOT_HELD, f"{what} cannot hold the repaired policy: {printable(str(error))}", hint=hint
    )
