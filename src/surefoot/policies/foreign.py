"""Models of libraries whose objects are not read: how each is given as a policy all the same.

Many of them can be called, but not with a state. They are known by the library that their class is
from; none is imported.
"""

from __future__ import annotations

from pathlib import Path

from surefoot.errors import InputError, Unsupported, printable
from surefoot.policies.as_function import batched_hint

MEMORY = (
    "make what it remembers a part of the state: a task of your own, and a policy that is a "
    "function of both"
)
KERAS = (
    "give it as a function: surefoot.batched(lambda states: model(states).numpy()), or export it "
    'as ONNX: model.export("policy.onnx", format="onnx")'
)
FLAX = (
    "give it as a function: surefoot.batched(lambda states: module.apply(variables, states)), for "
    "nnx surefoot.batched(module)"
)
CATBOOST = 'surefoot.batched(lambda states: model.predict(states, prediction_type="RawFormulaVal"))'
CATBOOST_FILE = 'write it as ONNX: model.save_model("policy.onnx", format="onnx")'
HINTS = {
    "keras": KERAS,
    "tf_keras": KERAS,
    "tensorflow": KERAS,
    "flax": FLAX,
    "equinox": "give it as a function: surefoot.batched(jax.vmap(model))",
    "catboost": f"{CATBOOST_FILE}, or give it as a function: {CATBOOST}",
}
"""by the name under which a library is imported"""

FILES = {
    ".keras": ("a Keras model", KERAS),
    ".h5": ("a Keras model", KERAS),
    ".cbm": ("a CatBoost model", f"{CATBOOST_FILE}, or give FILE.py:NAME of {CATBOOST}"),
}
"""by suffix: what it is, and what to do"""


def check_not_foreign(thing: object) -> None:
    """Raise Unsupported for a model of a library that is not read."""
    for base in type(thing).__mro__:
        if base.__name__.startswith("Recurrent") and base.__module__.startswith("sb3_contrib."):
            message = f"{printable(base.__name__)} remembers earlier states"
            raise Unsupported("policy-recurrent", message, hint=MEMORY)
        library = base.__module__.partition(".")[0]
        if library in HINTS:
            raise _refused(thing, f" of {library}", HINTS[library])
    if not callable(thing) and hasattr(thing, "predict"):
        raise _refused(thing, "", batched_hint(thing))


def _refused(thing: object, where: str, hint: str) -> Unsupported:
    kind = printable(type(thing).__name__)
    return Unsupported("policy-library", f"models {kind}{where} are not read", hint=hint)


def check_not_foreign_file(path: Path) -> None:
    """Raise InputError for a file of such a library."""
    if (known := FILES.get(path.suffix.lower())) is not None:
        what, hint = known
        code, message = "unknown-policy-format", f"{what} is not read"
        raise InputError(code, message, file=str(path), hint=hint)
