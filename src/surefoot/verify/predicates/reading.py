"""Files of predicates: conditions over the variables of a task that has been loaded already.

The front end that the suffix of a file names reads it; by default they are JANI conditions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from surefoot.errors import InputError
from surefoot.tasks.compiled_task import CompiledTask, has_description
from surefoot.tasks.expressions import Expr
from surefoot.tasks.front_ends import predicates_in
from surefoot.tasks.task import Task
from surefoot.verify.predicates.atoms import Atoms, Cut, atoms_of


def read_predicates(path: str | Path, task: Task) -> list[Expr]:
    """Return the predicates of a file. Raises InputError that names the file, the place and what is
    wrong.
    """
    if not has_description(task):
        raise InputError("bad-option", "predicates are for tasks that Python code does not define")
    return predicates_in(path, task)


def read_cuts(path: str | Path, task: Task) -> list[tuple[int, float]]:
    """Return the predicates of a file that are about one variable, or the parts of them that are:
    a variable's number and the value from which on it is different.
    """
    conditions = read_predicates(path, task)
    assert has_description(task)
    atoms = Atoms(task)
    tests = [test for condition in conditions for test in atoms.known_tests(condition)]
    cuts: list[tuple[int, float]] = [(t.variable, t.value) for t in tests if isinstance(t, Cut)]
    for condition in conditions:
        cuts += _real_cuts(condition, task)
    return list(dict.fromkeys(cuts))


def _real_cuts(condition: Expr, task: CompiledTask) -> Iterator[tuple[int, float]]:
    """Yield the cuts of comparisons of a real variable with a constant."""
    for atom in atoms_of(condition):
        sides = list(atom.args)
        if len(sides) == 2 and sides[0].op == "constant":
            sides.reverse()
        if [side.op for side in sides] != ["variable", "constant"] or sides[0].type != "real":
            continue
        number, value = task.names.index(sides[0].value), float(sides[1].value)
        v = task.variables[number]
        for cut in (value, math.nextafter(value, math.inf)):
            if v.lower < cut <= v.upper:
                yield number, cut
