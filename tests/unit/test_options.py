"""Options: merged, checked, and refused by name."""

import dataclasses
import pickle
from typing import get_type_hints

import numpy
import pytest

import surefoot.options
from surefoot import DoctorOptions, ExploreOptions, InputError, SimulateOptions, domain, examine
from surefoot.options import (
    ALIASES,
    MAX_INT,
    DebugOptions,
    EvaluateOptions,
    FaultOptions,
    FuzzOptions,
    RepairOptions,
    TrainOptions,
    VerifyOptions,
    chosen,
    from_plain,
    given_values,
    keywords,
    to_plain,
    words_of,
)
from surefoot.tasks.jani.options import JaniOptions

HUGE = 10**5000


def test_keywords_change_given_options():
    given = SimulateOptions(runs=3, seed=7)
    assert chosen(SimulateOptions, given, {"seed": 8}) == SimulateOptions(runs=3, seed=8)
    assert chosen(SimulateOptions, given, {}) == given
    assert chosen(SimulateOptions, None, {}) == SimulateOptions()
    assert given.seed == 7


def test_numbers_of_other_libraries_become_plain():
    made = chosen(SimulateOptions, None, {"runs": numpy.int64(3), "max_seconds": 2})
    assert (made.runs, type(made.runs), type(made.max_seconds)) == (3, int, float)
    assert chosen(SimulateOptions, None, {"runs": None}).runs is None


def test_largest_values():
    made = chosen(ExploreOptions, None, {"memory_mb": MAX_INT, "max_seconds": 1e300})
    assert made.max_bytes == MAX_INT
    assert chosen(SimulateOptions, None, {"seed": 2**64 - 1}).seed == 2**64 - 1


@pytest.mark.parametrize(
    "name, hint",
    [("max_step", 'did you mean "max_steps"?'), ("zzz", "options are: "), ("max_states", "max_s")],
)
def test_unknown_names(name, hint):
    with pytest.raises(InputError) as caught:
        chosen(SimulateOptions, None, {name: 3})
    assert caught.value.code == "unknown-option"
    assert name in caught.value.message
    assert hint in caught.value.hint


BAD_INTS = [-1, 2**64, 2.0, "3", True, None, HUGE, -HUGE, [1]]
BAD_SECONDS = [-1, float("nan"), float("inf"), "3", True, None, HUGE, [1]]


@pytest.mark.parametrize(
    "name, value",
    [
        *[("seed", value) for value in BAD_INTS],
        *[("memory_mb", value) for value in BAD_INTS],
        *[("runs", value) for value in BAD_INTS if value is not None],
        *[("max_seconds", value) for value in BAD_SECONDS],
    ],
    ids=lambda value: str(value)[:9] if value not in (HUGE, -HUGE) else "huge",
)
@pytest.mark.parametrize("as_object", [False, True])
def test_bad_values_name_the_option(name, value, as_object):
    given = SimulateOptions(**{name: value}) if as_object else None
    with pytest.raises(InputError) as caught:
        chosen(SimulateOptions, given, {} if as_object else {name: value})
    assert caught.value.code == "bad-option"
    assert name in caught.value.message


def test_options_of_another_stage_are_refused():
    with pytest.raises(InputError) as caught:
        chosen(SimulateOptions, ExploreOptions(), {})
    assert caught.value.code == "bad-option"


def test_the_doctor_checks_too():
    task = domain("one-way-line", packages=1, locations=2)
    assert examine(task, options=DoctorOptions(samples=0), samples=5).sampled == 5
    for changes, code in (({"sample": 3}, "unknown-option"), ({"samples": -1}, "bad-option")):
        with pytest.raises(InputError) as caught:
            examine(task, **changes)
        assert caught.value.code == code


@pytest.mark.parametrize(
    "name, value",
    [("bias", 3), ("bias", None), ("perturb", True), ("lookahead", -1), ("runs", None)],
)
def test_bad_values_of_fuzzing_name_the_option(name, value):
    with pytest.raises(InputError) as caught:
        chosen(FuzzOptions, None, {name: value})
    assert caught.value.code == "bad-option"
    assert name in caught.value.message


@pytest.mark.parametrize("value", [1, 0, "yes", None])
def test_flags_are_true_or_false(value):
    with pytest.raises(InputError, match="bugs_only must be true or false"):
        chosen(FaultOptions, None, {"bugs_only": value})


@pytest.mark.parametrize("radius", [float("inf"), "inf", None])
def test_an_infinite_radius_is_none(radius):
    assert chosen(FaultOptions, None, {"radius": radius}).radius is None


@pytest.mark.parametrize(
    "cls, name, value, message",
    [
        (FuzzOptions, "runs", 0, "runs must be at least 1, not 0"),
        (FuzzOptions, "runs", 10_000_001, "runs must be at most 10,000,000, not 10,000,001"),
        (
            FuzzOptions,
            "perturb",
            "value",
            "perturb must be one of none, values, act",
        ),
        (TrainOptions, "discount", 1.5, "discount must be from 0 to 1, not 1.5"),
        (TrainOptions, "learning_rate", 0, "learning_rate must be above 0, not 0"),
        (RepairOptions, "margin", 0, "margin must be from 1e-09 to 1e+06, not 0"),
    ],
)
def test_bounds_stand_with_the_field(cls, name, value, message):
    with pytest.raises(InputError) as caught:
        chosen(cls, None, {name: value})
    assert caught.value.code == "bad-option"
    assert message in caught.value.message


def test_what_was_given_is_known():
    assert given_values(FuzzOptions(runs=1_000)) == {"runs": 1_000}
    again = dataclasses.replace(FuzzOptions(bias="uniform"), seed=3)
    assert given_values(again) == {"bias": "uniform", "seed": 3}
    assert given_values(pickle.loads(pickle.dumps(again))) == given_values(again)
    assert given_values(chosen(FuzzOptions, FuzzOptions(seed=3), {"runs": 5})).keys() == {
        "seed",
        "runs",
    }


STAGES = {
    "fuzz": FuzzOptions,
    "faults": FaultOptions,
    "repair": RepairOptions,
    "verify": VerifyOptions,
    "evaluate": EvaluateOptions,
}


def test_debug_keeps_its_own_defaults():
    made = chosen(DebugOptions, None, {})
    assert (made.faults.state_seconds, made.verify.runs) == (2.0, 200)
    assert (made.verify.max_steps, made.evaluate.max_seconds) == (None, 600.0)
    assert (made.fuzz.max_steps, made.fuzz.max_seconds) == (1_000, 3600.0)


def test_stages_of_debug_inherit_what_they_are_not_given():
    fuzz = FuzzOptions(bias="uniform", seed=9)
    made = chosen(
        DebugOptions,
        DebugOptions(seed=4, max_steps=50, starts=7, fuzz=fuzz),
        {"faults": FaultOptions(oracle="ipi"), "workers": 2, "keep": 3},
    )
    assert (made.fuzz.bias, made.fuzz.seed, made.fuzz.max_steps) == ("uniform", 9, 50)
    assert (made.faults.oracle, made.faults.state_seconds, made.faults.seed) == ("ipi", 2.0, 4)
    assert (made.verify.starts, made.verify.workers, made.repair.keep) == (7, 2, 3)
    assert dataclasses.replace(made, seed=5).repair.seed == 5
    assert from_plain(to_plain(made)) == made


def test_short_names_are_those_of_stages():
    short = {"bias": "weighted", "verify": "box", "state_seconds": 10.0, "evaluate_starts": 5}
    made = chosen(DebugOptions, None, short)
    assert made == DebugOptions(**short)
    assert (made.fuzz.bias, made.verify.method) == ("weighted", "box")
    assert (made.faults.state_seconds, made.evaluate.starts) == (10.0, 5)
    assert dict(words_of(made)) == short


def test_options_of_old_campaigns_are_read():
    own = {f.name for f in dataclasses.fields(DebugOptions)} - set(STAGES)
    old = {name: getattr(DebugOptions(), name) for name in own}
    usual = DebugOptions()
    for short, long in ALIASES.items():
        stage, name = long.split(".")
        old[short] = getattr(getattr(usual, stage), name)
    assert from_plain(old) == usual
    assert from_plain({**old, "shell": "rm"}) is None


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"bias": 3}, "bias must be text"),
        ({"lookahead": 0}, "lookahead must be at least 1"),
        ({"fuzz": FuzzOptions(changes=0)}, "fuzz.changes must be at least 1"),
        ({"fuzz": FuzzOptions(runs=3)}, "fuzz.runs has no effect here"),
        ({"faults": FaultOptions(bugs_only=True)}, "faults.bugs_only has no effect"),
        ({"fuzz": FuzzOptions(bias="uniform"), "bias": "greedy"}, "are the same, but differ"),
        ({"fuzz": FaultOptions()}, "fuzz must be FuzzOptions"),
        ({"verify": 3}, "verify must be VerifyOptions or"),
    ],
)
def test_bad_options_of_debug(changes, message):
    with pytest.raises(InputError, match=message) as caught:
        chosen(DebugOptions, None, changes)
    assert caught.value.code == "bad-option"


@pytest.mark.parametrize(
    "cls",
    [cls for name, cls in vars(keywords).items() if name.endswith("Changes")],
    ids=lambda cls: cls.__name__,
)
def test_keywords_are_the_fields(cls):
    name = cls.__name__.replace("Changes", "Options")
    options = JaniOptions if name == "TaskOptions" else getattr(surefoot.options, name)
    if options is DebugOptions:
        assert cls.__annotations__.keys() == {
            *(f.name for f in dataclasses.fields(options)),
            *ALIASES,
        }
        return
    assert get_type_hints(cls) == {
        f.name: get_type_hints(options)[f.name] for f in dataclasses.fields(options)
    }
