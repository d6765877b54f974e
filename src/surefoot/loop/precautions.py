"""Precautions: repairs of decisions that no run came to, without which nothing can be proved.

A policy that never fails may still decide badly in states that its runs just do not come to. To
prove that, boxes must tell these states from all others, one by one. It takes much less to repair
the decisions there: what is safe everywhere is easily seen to be safe.
"""

from __future__ import annotations

import time
from dataclasses import replace

import msgspec

from surefoot.errors import InputError, Unsupported
from surefoot.loop.made import Made
from surefoot.loop.stages import MAX_CERTIFICATE_STATES, Analysis, Stage, StageProgress, fuzzed
from surefoot.loop.starts import Starts
from surefoot.options import DebugOptions
from surefoot.policies import Policy
from surefoot.policies.models import Trees
from surefoot.tasks.compiled_task import has_description
from surefoot.tasks.task import split_states
from surefoot.verify.auto import REACHED_PER_START, count_starts
from surefoot.verify.box import find_bad_states

PRECAUTION_METHODS = ("auto", "box")
MAX_BOXES = 400_000  # to look at: some seconds
MAX_SECONDS = 60.0  # where that takes longer
MAX_STATES = 2_000
LEAST_SHARE = 0.2  # of all time that must be left: a verdict may take long, too


def are_possible(policy: Policy, starts: Starts, options: DebugOptions) -> bool:
    """Return whether it may be worth while to look where boxes get stuck with policies like this.

    Networks are left alone: boxes seldom get as far with them, and to repair so much takes long.
    """
    task = policy.task
    if (
        starts.are_all
        or options.verify.method not in PRECAUTION_METHODS
        or not has_description(task)
    ):
        return False
    return isinstance(policy.model, Trees) and not task.has_reals


def precautions(analysis: Analysis) -> Made:
    """Look for decisions that lead to fail in states that boxes cannot rule out."""
    begin = time.perf_counter()
    policy, stage = analysis.policy, analysis.stage
    packed, is_unsafe = _stuck(policy, stage)
    states = list(dict.fromkeys(split_states(packed, policy.task.core.words)))
    seconds = time.perf_counter() - begin
    made, line = analysis.of_bad_states(fuzzed(policy, states, stage) if states else None)
    line = msgspec.structs.replace(
        line,
        verdict="unsafe" if is_unsafe else None,
        seconds={"verify": seconds, **line.seconds},
    )
    return replace(made, line=line)


def _stuck(policy: Policy, stage: Stage) -> tuple[bytes, bool]:
    """Return packed states that boxes cannot rule out; none if all states can be listed, or if
    there is little time left. And whether a run from a start state fails.
    """
    task, options = policy.task, stage.options
    assert has_description(task)
    if stage.left_seconds < LEAST_SHARE * options.max_seconds:
        return b"", False
    count = count_starts(task) if options.verify.method == "auto" else None
    if count is not None and count * REACHED_PER_START <= MAX_CERTIFICATE_STATES:
        return b"", False
    seconds = min(MAX_SECONDS, stage.left_seconds - LEAST_SHARE * options.max_seconds)
    try:
        return find_bad_states(
            task,
            policy,
            max_boxes=MAX_BOXES,
            max_states=MAX_STATES,
            max_seconds=seconds,
            memory_mb=options.verify.memory_mb,
            progress=StageProgress(stage, "box").progress,
        )
    except (InputError, Unsupported):
        return b"", False  # verification will say why
