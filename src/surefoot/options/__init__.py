"""Options of every stage, declared once: the command line and keywords are made from them.

``running``, ``judging``, ``changing`` and ``debugging`` have the options, ``bounds`` what a value
may be, ``checking`` who looks after that, ``keywords`` the same options as typed keywords.
"""

from surefoot.options.bounds import Above, Between, Bound, Least, Most, OneOf
from surefoot.options.budget import MAX_INT, BudgetOptions, Options, given_values, plain
from surefoot.options.changing import DistillOptions, RepairOptions, TrainOptions
from surefoot.options.checking import check_word, checked, chosen, whole
from surefoot.options.debugging import ALIASES, DebugOptions, from_plain, to_plain, words_of
from surefoot.options.judging import CheckOptions, DecideOptions, FaultOptions, VerifyOptions
from surefoot.options.running import (
    CompareOptions,
    DoctorOptions,
    EvaluateOptions,
    ExploreOptions,
    FuzzOptions,
    SimulateOptions,
)

__all__ = [
    "ALIASES",
    "MAX_INT",
    "Above",
    "Between",
    "Bound",
    "BudgetOptions",
    "CheckOptions",
    "CompareOptions",
    "DebugOptions",
    "DecideOptions",
    "DistillOptions",
    "DoctorOptions",
    "EvaluateOptions",
    "ExploreOptions",
    "FaultOptions",
    "FuzzOptions",
    "Least",
    "Most",
    "OneOf",
    "Options",
    "RepairOptions",
    "SimulateOptions",
    "TrainOptions",
    "VerifyOptions",
    "check_word",
    "checked",
    "chosen",
    "from_plain",
    "given_values",
    "plain",
    "to_plain",
    "whole",
    "words_of",
]
