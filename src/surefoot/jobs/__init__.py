"""Jobs: a stage with its arguments in a form that can be sent elsewhere.

A :class:`Job` names its stage, the pair of task and policy that it works on, and its options; all
of it is plain data. A runner is handed a pair once, takes jobs, and gives the events of each and
its result, whether the job runs :class:`Here` or in :class:`Processes`. No common file
system is needed: tasks, policies and files travel as bytes.

Stages stand above this package. ``stages`` knows in which module each is registered, and imports
that when asked for.
"""

from __future__ import annotations

from surefoot.jobs.events import Done, Event, Failed, Found, Note, Progress
from surefoot.jobs.here import Here
from surefoot.jobs.job import Job, Limits, Pair, PolicySource, Result, TaskSource
from surefoot.jobs.processes import Processes
from surefoot.jobs.runner import JobBroken, JobCancelled, LimitReached, Runner, Running, wait
from surefoot.jobs.stages import STAGES, Work, register

__all__ = [
    "STAGES",
    "Done",
    "Event",
    "Failed",
    "Found",
    "Here",
    "Job",
    "JobBroken",
    "JobCancelled",
    "LimitReached",
    "Limits",
    "Note",
    "Pair",
    "PolicySource",
    "Processes",
    "Progress",
    "Result",
    "Runner",
    "Running",
    "TaskSource",
    "Work",
    "register",
    "wait",
]
