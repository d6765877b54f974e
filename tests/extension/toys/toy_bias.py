"""A bias: drawn back to where runs begin, as slow runs may meet what quick ones miss."""

from surefoot.fuzz.bias import Bias
from surefoot.tasks.compiled_task import CompiledTask
from surefoot.tasks.expressions import Expr, constant, variable


def is_begin(task: CompiledTask) -> Expr:
    """Return the condition that all variables have their initial values."""
    begin = constant(True)
    for v in task.variables:
        if v.initial is not None:
            begin = begin & (variable(v.name, v.type) == v.initial)
    return begin


BIAS = Bias("slow", "greedy", guidance=is_begin)
