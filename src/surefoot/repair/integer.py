"""A repair still nearer to the policy, by an integer program.

Each alternative of each demand gets a binary: one of them must be 1, and its rows then hold. With
the best repair so far at hand no parameter need change by more than that costs in all, which gives
every row a factor (the M of big-M) of its own, as small as it can be.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import Unsupported
from surefoot.options import RepairOptions
from surefoot.repair.choosing import Choices, Chooser
from surefoot.repair.program import Solution


def check_solver(name: str) -> None:
    """Raise Unsupported if a solver is not installed."""
    if name != "gurobi":
        return
    try:
        import gurobipy  # noqa: F401
    except ImportError:
        raise Unsupported(
            "solver-missing",
            "the solver gurobi is not installed",
            hint="pip install 'surefoot[gurobi]', or --solver highs",
        ) from None


def improved_by_integers(
    chooser: Chooser, solution: Solution, options: RepairOptions, seconds_left: float
) -> tuple[Solution, float | None]:
    """Return a solution that is at least as good, and a cost that none can fall below, if known.

    The choices of the chooser become those of the solution.
    """
    if all(len(choice.demand.good) == 1 for choice in chooser.choices):
        return solution, solution.objective
    seconds = min(options.solver_seconds, seconds_left)
    if seconds <= 0:
        return solution, None
    model, binaries = _integer_program(chooser, solution)
    if options.solver == "gurobi":
        chosen, bound = _by_gurobi(model, binaries, seconds)
    else:
        chosen, bound = _by_highs(model, binaries, seconds)
    for choice, output in zip(chooser.choices, chosen or [], strict=False):
        chooser.choose(choice, output)
    again = chooser.solve()
    assert again is not None
    return again, bound


Binaries = list[dict[int, int]]


def _integer_program(chooser: Chooser, solution: Solution) -> tuple[object, Binaries]:
    """Return a solver with the integer program, and the binary of each output of each demand."""
    import highspy

    made: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    made.setOptionValue("output_flag", False)
    made.passModel(chooser.program.model.getLp())
    infinity = made.getInfinity()
    largest = max(solution.objective, 1e-9)
    binaries: Binaries = []
    for choice in chooser.choices:
        own: dict[int, int] = {}
        for output in choice.demand.good:
            own[output] = made.getNumCol()
            made.addVar(0.0, 1.0)
            made.changeColIntegrality(own[output], highspy.HighsVarType.kInteger)
            _tie(made, choice, output, own[output], largest)
        columns = np.array(list(own.values()), dtype=np.int32)
        made.addRow(1.0, infinity, len(columns), columns, np.ones(len(columns)))
        binaries.append(own)
    _give_start(made, chooser, solution, binaries)
    return made, binaries


def _tie(made: Any, choice: Choices, output: int, binary: int, largest: float) -> None:
    """Let the rows of an output hold where its binary is 1."""
    for row in choice.rows[output]:
        factor = float(np.abs(row.entries[1]).max()) if len(row.entries[1]) else 0.0
        least = choice.margin - row.gap
        lowest = -2 * factor * largest  # an entry may stand for the same parameter twice
        big = max(least - lowest, 0.0)
        made.changeCoeff(row.number, binary, -big)
        made.changeRowBounds(row.number, least - big, made.getInfinity())


def _give_start(made: Any, chooser: Chooser, solution: Solution, binaries: Binaries) -> None:
    import highspy

    start = highspy.HighsSolution()
    values = np.zeros(made.getNumCol())
    values[: len(solution.columns)] = solution.columns
    for choice, own in zip(chooser.choices, binaries, strict=True):
        values[own[choice.chosen]] = 1.0
    start.col_value = values.tolist()
    made.setSolution(start)


def _by_highs(made: Any, binaries: Binaries, seconds: float) -> tuple[list[int] | None, float]:
    made.setOptionValue("time_limit", seconds)
    made.setOptionValue("random_seed", 0)
    made.run()
    info = made.getInfo()
    bound = info.mip_dual_bound if math.isfinite(info.mip_dual_bound) else 0.0
    values = made.getSolution().col_value
    return _chosen(values, binaries), bound


def _chosen(values: Any, binaries: Binaries) -> list[int] | None:
    if not len(values):
        return None
    return [max(own, key=lambda output: values[own[output]]) for own in binaries]


def _by_gurobi(made: Any, binaries: Binaries, seconds: float) -> tuple[list[int] | None, float]:
    """Hand the program over in a file: Gurobi reads what HiGHS writes."""
    import gurobipy

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "repair.mps"
        made.writeModel(str(file))
        try:
            environment = gurobipy.Env(params={"OutputFlag": 0})
            model = gurobipy.read(str(file), env=environment)
            model.Params.TimeLimit = seconds
            model.optimize()
        except gurobipy.GurobiError as error:
            raise Unsupported(
                "solver-refuses",
                f"gurobi refuses the program: {error}",
                hint="its free licence is for small programs only; --solver highs has no limit",
            ) from None
        if not model.SolCount:
            return None, 0.0
        values = [variable.X for variable in model.getVars()]
        return _chosen(values, binaries), float(model.ObjBound)
