"""Engines say which objectives they handle, and refuse others by name."""

from dataclasses import replace
from fractions import Fraction

import pytest

import surefoot
from surefoot.objectives import ONE, SAFETY, ZERO, Better, Interval, Value, objective_of
from surefoot.oracles import ORACLES
from surefoot.verify import METHODS

OTHER = replace(SAFETY, name="other")
REFUSING = {
    "the oracle ipi": lambda t, o: surefoot.decide(t, t.initial_state(), oracle="ipi", objective=o),
    "fuzz": lambda t, o: surefoot.fuzz(t, "first", objective=o),
    "faults": lambda t, o: surefoot.find_faults(t, "first", [], objective=o),
    "repair": lambda t, o: surefoot.repair(t, "first", [], objective=o),
    "the method explicit": lambda t, o: surefoot.verify(t, "first", method="explicit", objective=o),
    "debug": lambda t, o: surefoot.debug(t, "first", objective=o),
}


@pytest.fixture(scope="module")
def task():
    return surefoot.load_task("domain:one-way-line?packages=1&locations=3")


@pytest.mark.parametrize("engine", REFUSING)
def test_functions_refuse_by_name(task, engine):
    with pytest.raises(surefoot.Unsupported, match=f"{engine} does not handle the objective other"):
        REFUSING[engine](task, OTHER)


@pytest.mark.parametrize("name", ORACLES.built_in)
def test_oracles_say_what_they_handle(task, name):
    assert ORACLES[name].can_handle(task, None, SAFETY) is None
    assert ORACLES[name].can_handle(task, None, OTHER).code == "unsupported-objective"


@pytest.mark.parametrize("name", METHODS.built_in)
def test_methods_say_what_they_handle(task, name):
    assert METHODS[name].can_handle(task, None, SAFETY) is None
    assert METHODS[name].can_handle(task, None, OTHER).code == "unsupported-objective"


def test_names_and_objects_are_the_same(task):
    assert objective_of("safety") is objective_of(SAFETY) is SAFETY
    state = task.initial_state()
    by_name, by_object = (surefoot.decide(task, state, objective=o) for o in ("safety", SAFETY))
    assert by_name.bounds.interval == by_object.bounds.interval
    assert surefoot.evaluate(task, "first", objective="safety").values is None


def test_no_other_takes_the_name_of_a_built_in_one(task):
    """Engines would take it for safety, and answer what nobody asked."""
    other = replace(SAFETY, better=Better.HIGHER)
    for ask in (*REFUSING.values(), lambda t, o: surefoot.evaluate(t, "first", objective=o)):
        with pytest.raises(surefoot.InputError, match="has a name that is taken") as error:
            ask(task, other)
        assert error.value.code == "name-clash"


def test_evaluation_by_what_runs_are_worth(task):
    """Where all runs go to their end, the mean under a copy of safety is how many fail."""
    result = surefoot.evaluate(task, "first", objective=OTHER)
    values = result.values
    assert values.runs == result.starts
    assert values.mean == Interval.exactly(Value(Fraction(values.worst_runs, values.runs)))
    plain = surefoot.evaluate(task, "first").to_dict()
    content = result.to_dict()
    assert {name: content[name] for name in plain if name != "seconds"} == {
        name: value for name, value in plain.items() if name != "seconds"
    }
    assert content["objective"] == "other"


def test_means():
    third, infinite = Interval.exactly(Value(Fraction(1, 3))), Value.of("inf")
    assert Interval.mean([third, Interval(ZERO, ONE)]) == Interval(
        Value(Fraction(1, 6)), Value(Fraction(2, 3))
    )
    assert Interval.mean([third, Interval(ZERO, infinite)]).hi == infinite
