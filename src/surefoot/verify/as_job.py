"""Verification as a job. A certificate of boxes comes with the result, as a file."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

from surefoot.jobs.job import Result
from surefoot.jobs.stages import Work
from surefoot.options import VerifyOptions
from surefoot.policies.handing import options_of, plain, policy_of, scratch_file, task_of
from surefoot.tasks.task import Feature

CERTIFICATE, PREDICATES = "certificate.jsonl", "predicates.json"


def verify_job(work: Work) -> Result:
    """Return the VerifyResult of a job as plain data.

    Arguments: ``certificate`` (whether one of boxes is wanted), ``until`` (a time that the method
    has to be done by, since to begin takes its time, too). Files: the predicates.
    """
    from surefoot.verify import METHODS, verify

    task = task_of(work)
    policy = policy_of(work, task)
    options = options_of(work, VerifyOptions)
    if PREDICATES in work.job.files:
        options = replace(options, predicates=str(scratch_file(work, PREDICATES)))
    until = work.job.arguments.get("until")
    if isinstance(until, int | float):
        left = max(until - time.time(), 0.0)
        options = replace(options, max_seconds=min(options.max_seconds, round(left, 1)))
    place = work.scratch / CERTIFICATE
    result = verify(
        task,
        policy,
        options=options,
        progress=work.progress(METHODS[options.method].numbers, options.method),
        certificate=place if work.job.arguments.get("certificate") else False,
    )
    content = plain(result.to_dict())
    if Feature.IDENTITY in task.features:
        content["sha256"] = task.sha256
    return Result(content, _files(place))


def _files(place: Path) -> dict[str, bytes]:
    """Return the certificate, if it is one of boxes: others name files that stay behind."""
    if not place.is_file():
        return {}
    content = place.read_bytes()
    head = json.loads(content.partition(b"\n")[0])
    return {CERTIFICATE: content} if "boxes" in head or "blocked" in head else {}
