"""Packages whose component cannot be imported: who is to blame, and what to do."""

import pytest

COMPONENTS = {
    "surefoot.oracles": ("decide", "domain:layered", "--oracle", "broken"),
    "surefoot.methods": ("verify", "domain:layered", "--policy", "first", "--method", "broken"),
    "surefoot.biases": ("fuzz", "domain:layered", "--policy", "first", "--bias", "broken"),
    "surefoot.families": ("explore", "domain:broken"),
    "surefoot.front_ends": ("explore", "task.broken"),
    "surefoot.formats": ("simulate", "domain:layered", "--policy", "policy.broken"),
    "surefoot.pictures": ("report", "kept", "--picture", "broken"),
}


@pytest.fixture
def broken(tmp_path, installed, surefoot):
    about = installed / "surefoot_broken-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: surefoot-broken\nVersion: 1.0\n")
    points = [f"[{group}]\nbroken = toy_broken:COMPONENT\n" for group in COMPONENTS]
    (about / "entry_points.txt").write_text("".join(points))
    (installed / "toy_broken.py").write_text("import nowhere_to_be_found\n")
    for name in ("policy.broken", "task.broken"):
        (tmp_path / "work" / name).write_text("")


@pytest.mark.parametrize("group", COMPONENTS)
def test_the_message_names_all(surefoot, broken, group):
    done = surefoot(*COMPONENTS[group])
    assert done.code == 2, done.err
    assert "plugin-error" in done.err
    assert 'the package "surefoot-broken"' in done.err
    assert f'entry point "broken = toy_broken:COMPONENT" of {group}' in done.err
    assert "No module named 'nowhere_to_be_found'" in done.err
    assert "hint: " in done.err and "uninstall" in done.err


def test_others_go_on(surefoot, broken):
    """Nobody else's component needs the broken one."""
    assert surefoot("decide", "domain:counter", "--oracle", "slow").code == 0
    assert surefoot("explore", "domain:counter").code == 0
    assert surefoot("--help").code == 0


WRONG = """
import sys

from surefoot.domains.family import Family
from surefoot.fuzz.bias import Bias
from surefoot.objectives import Better, Interval
from surefoot.oracles import Algorithm, Table
from surefoot.policies.format import Format
from surefoot.records import Run, RunEnd, VerifyResult
from surefoot.verify import Method

print("this must not be where documents are printed")


def raising(*_, **__):
    raise ValueError("boom")


def method(verdict, **more):
    return Method("wrong", lambda _: VerifyResult(verdict, "wrong", 0, True, 0, 0, 0.0, **more))


def lie(question):
    start = question.task.list_starts(max_states=9)[0]
    run = Run(0, (start, start), ("one",), RunEnd.FAIL)
    return VerifyResult("unsafe", "wrong", 0, True, 0, 0, 0.0, run=run)


ORACLE = Algorithm.of_tables("wrong", raising)
LIST = Algorithm.of_tables("wrong", lambda task, state, _: Table("safe", [state]))
METHOD = Method("wrong", raising)
WORD = method("maybe")
RUN = method("unsafe", run="run")
CERTIFICATE = method("safe", certificate="certificate")
SILENT = method("unknown")
LIE = Method("wrong", lie)
BIAS = Bias("wrong", "greedy", guidance=raising)
NUMBER = Bias("wrong", "greedy", guidance=lambda _: 42)
FAMILY = Family("wrong", make=raising, draw=raising, sizes={})
MAKES = Family("wrong", make=lambda: 42, draw=raising, sizes={})
FORMAT = Format("wrong", lambda _: 42, (".wrong",))


class OBJECTIVE:
    name, better, range = "wrong", Better.HIGHER, Interval(0, 1)
    verdicts, bad_verdicts = ("good", "bad", "unknown"), ("bad",)

    def value_of(self, run, task):
        return 42

    def needs(self, task):
        return None

    def guidance(self, task):
        return None

    def verdict(self, best):
        return "unknown"

    def document(self, best):
        return {}


OBJECTIVE = OBJECTIVE()
"""
TASK = "domain:counter"
VERIFY = ("verify", TASK, "--policy", "first", "--json")
FUZZ = ("fuzz", TASK, "--policy", "first", "--runs", "5", "--json")
RAISING = {
    "surefoot.oracles": ("decide", TASK, "--json", "--oracle", "ORACLE"),
    "surefoot.methods": (*VERIFY, "--method", "METHOD"),
    "surefoot.biases": (*FUZZ, "--bias", "BIAS"),
    "surefoot.families": ("explore", "--json", "domain:FAMILY"),
}
RETURNING = {
    "LIST": ("decide", TASK, "--json", "--oracle=wrong.py:LIST"),
    "WORD": (*VERIFY, "--method=wrong.py:WORD"),
    "RUN": (*VERIFY, "--method=wrong.py:RUN"),
    "CERTIFICATE": (*VERIFY, "--method=wrong.py:CERTIFICATE"),
    "NUMBER": (*FUZZ, "--bias=wrong.py:NUMBER"),
    "MAKES": ("explore", "--json", "domain:wrong.py:MAKES"),
    "OBJECTIVE": ("evaluate", *VERIFY[1:], "--objective=wrong.py:OBJECTIVE"),
    "FORMAT": ("simulate", TASK, "--json", "--policy", "policy.wrong"),
}


@pytest.fixture
def wrong(tmp_path, installed, surefoot):
    about = installed / "surefoot_wrong-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: surefoot-wrong\nVersion: 1.0\n")
    points = [f"[{group}]\nwrong = wrong_package:{RAISING[group][-1]}\n" for group in RAISING]
    points = [each.replace("domain:", "") for each in points]
    points.append("[surefoot.formats]\nwrong = wrong_package:FORMAT\n")
    (about / "entry_points.txt").write_text("".join(points))
    (installed / "wrong_package.py").write_text(WRONG)
    (tmp_path / "work" / "wrong.py").write_text(WRONG)
    (tmp_path / "work" / "policy.wrong").write_text("")


@pytest.mark.parametrize("name", ["wrong", "wrong.py:{}"])
@pytest.mark.parametrize("group", RAISING)
def test_exceptions_are_not_ours(surefoot, wrong, group, name):
    *words, last = RAISING[group]
    before, _, component = last.rpartition(":")
    given = name.format(component)
    if words[-1].startswith("--") and words[-1] != "--json":
        words[-1] += f"={given}"
    else:
        words.append(f"{before}:{given}")
    done = surefoot(*words)
    assert done.code == 2, done.err
    error = done.document["error"]
    assert (error["code"], error["message"]) == ("python-error", "ValueError: boom")
    assert "wrong" in error["file"]


@pytest.mark.parametrize("component", RETURNING)
def test_what_is_returned_is_looked_at(surefoot, wrong, component):
    done = surefoot(*RETURNING[component])
    assert done.code == 2, done.err
    assert done.document["error"]["code"] == "plugin-error"


def test_failing_runs_of_methods_are_followed(surefoot, wrong):
    done = surefoot(*VERIFY, "--method", "wrong.py:LIE")
    assert done.code == 5, done.out
    assert 'the method "wrong.py:LIE" is wrong, or its run is' in done.err


def test_unknown_comes_with_a_reason(surefoot, wrong):
    done = surefoot(*VERIFY, "--method", "wrong.py:SILENT")
    assert done.code == 4, done.err
    assert done.document["reason"] == "the method gives no reason"
