"""Evidence is made, checked and kept in one way, whoever asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from surefoot import domain, fuzz, load_policy
from surefoot.errors import CertificateRejected, OutOfBudget, Unsupported
from surefoot.evidence.findings import evidence_of
from surefoot.evidence.search import FaultSearch
from surefoot.options import FaultOptions
from surefoot.records.runs import shortest_first

ICY = domain("two-way-line", packages=2, locations=6, variant="icy")
TREES = load_policy("builtin:two-way-line-icy-trees", ICY)


class Claim:
    """Something to be checked: accepted, rejected, or too slow."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def check(self, *, max_seconds: float) -> None:
        if self.error is not None:
            raise self.error


def kept(claim: Claim, is_accepted: bool) -> Path:
    return Path("accepted" if is_accepted else "open")


def test_what_becomes_of_evidence():
    late = OutOfBudget("out-of-seconds", "too slow")
    assert evidence_of(Claim(), kept, seconds=1.0).file == Path("accepted")
    assert evidence_of(Claim(late), kept, seconds=1.0).file == Path("open")
    unasked = evidence_of(Claim(AssertionError("nobody asked")), kept, seconds=None)
    assert (unasked.checked, unasked.file) == (False, Path("open"))


def test_rejected_evidence_is_kept():
    with pytest.raises(CertificateRejected) as caught:
        evidence_of(Claim(CertificateRejected("rejected", "wrong")), kept, seconds=1.0)
    assert "open" in str(caught.value.hint)


def test_evidence_that_cannot_be_written():
    def refuse(claim: Claim, is_accepted: bool) -> Path:
        raise Unsupported("file-too-large", "too large")

    evidence = evidence_of(Claim(), refuse, seconds=1.0)
    assert (evidence.checked, evidence.file) == (True, None)
    assert evidence.missing == "it is too large to be written"


def test_each_fault_is_told_once_and_known_ones_never():
    runs = shortest_first(fuzz(ICY, TREES, runs=200, seed=0, bias="uniform").failing)
    search = FaultSearch(TREES, FaultOptions())
    told = [fault for each in search.examined(runs) for fault in each.new]
    keys = [fault.key for fault in told]
    assert len(keys) == len(set(keys)) == len(search.result().faults) > 0
    assert search.is_complete
    again = FaultSearch(TREES, FaultOptions(), known=keys[1:])
    assert [fault.key for each in again.examined(runs) for fault in each.new] == keys[:1]


def test_a_search_that_is_over_says_so():
    runs = fuzz(ICY, TREES, runs=200, seed=0, bias="uniform").failing
    search = FaultSearch(TREES, FaultOptions())
    examined = search.examined(runs, is_over=lambda: bool(search.finder.faults))
    assert 0 < len(list(examined)) < len(runs)
    assert not search.is_complete
