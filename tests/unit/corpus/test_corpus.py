"""The corpus in Python: where it is, what matches, what is added."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from surefoot import Description, InputError, corpus, find_faults, finding_of, fuzz
from surefoot.findings import Finding
from surefoot.policies import Policy, as_policy
from surefoot.tasks.task import Task


def line(*, name: str = "line", top: int = 4) -> Task:
    """Going up from 3 fails; every state below 4 is safe, as one may stay."""
    d = Description(name)
    x = d.int("x", 0, 5, initial=0)
    d.edge("up", guard=x < 5, outcomes=[{x: x + 1}, {}])
    d.edge("stay", outcomes=[{}])
    d.start(x <= 2)
    d.fail(x == top)
    return d.compile()


def climb(task: Task, *, up_to: int = 5, name: str = "climb") -> Policy:
    table = {task.state(x=x): "up" if x < up_to else "stay" for x in range(6)}
    return as_policy(table, task).renamed(name, file=None, sha256=None)


def finding(task: Task, policy: Policy) -> Finding:
    """Return a finding on a long run: from 0, with some steps on which nothing changes."""
    runs = fuzz(task, policy, [{"x": 0}] * 30, bias="uniform", lookahead=1).failing
    longest = max(runs, key=lambda run: run.steps)
    (fault,) = find_faults(task, policy, [longest]).faults
    return finding_of(task, policy, fault)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / ".surefoot"


def test_where_it_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert corpus.corpus_folder() == Path(".surefoot")
    assert corpus.corpus_folder("other") == Path("other")
    inner = folder.parent / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    assert corpus.corpus_folder() == Path(".surefoot")
    folder.mkdir()
    assert corpus.corpus_folder() == folder
    (inner / ".surefoot").mkdir()
    assert corpus.corpus_folder() == Path(".surefoot")


def test_added_ones_are_shrunk_and_stay_about_the_same(folder: Path) -> None:
    task = line()
    policy = climb(task)
    long = finding(task, policy)
    entry = corpus.add(long, policy)
    assert (entry.status, entry.state, entry.action) == ("new", {"x": 3}, "up")
    assert entry.steps == 2 < long.steps  # from 2, which is a start state on the run
    again = corpus.add(long, policy)
    assert again == corpus.add(corpus.stored(folder)[0], policy)
    assert (again.status, again.file) == ("known", entry.file)
    assert len(list(folder.iterdir())) == 1


def test_without_time_it_is_added_as_it_is_and_replaced_later(folder: Path) -> None:
    task = line()
    policy = climb(task)
    long = finding(task, policy)
    assert corpus.add(long, policy, max_seconds=0).steps == long.steps
    short = corpus.add(long, policy, max_seconds=0)
    assert short.status == "known"
    small = corpus.add(long, policy, folder="other")
    (smaller,) = corpus.stored(Path("other"))
    assert corpus.add(smaller, policy).status == "replaced"
    assert corpus.stored(folder)[0].steps == small.steps


def test_entries_of_a_task(folder: Path) -> None:
    task = line()
    for name in ("climb", "other"):
        policy = climb(task, name=name)
        corpus.add(finding(task, policy), policy)
    elsewhere = line(name="elsewhere", top=3)
    corpus.add(finding(elsewhere, climb(elsewhere)), climb(elsewhere))
    names = [each.content["policy"]["name"] for each in corpus.entries(task, climb(task))]
    assert names == ["climb", "other"]
    assert len(corpus.entries(elsewhere)) == 1
    assert len(corpus.entries(line(name="same by its hash"))) == 2
    assert corpus.entries(line(name="unknown", top=5)) == ()
    assert len(corpus.entries(line(top=5))) == 2  # by its name: somebody changed it
    assert corpus.entries(task, folder="nowhere") == ()


def test_replayed(folder: Path) -> None:
    task = line()
    corpus.add(finding(task, climb(task)), climb(task))
    (still,) = corpus.replayed(task, climb(task))
    assert still.still_fails
    assert still.run is not None and still.run.is_failing
    (mended,) = corpus.replayed(task, climb(task, up_to=3))
    assert not mended.still_fails
    assert mended.result is not None and mended.result.was == "up"
    other = line(top=5)
    (elsewhere,) = corpus.replayed(other, climb(other))
    assert not elsewhere.still_fails


def test_states_that_the_task_has_no_more(folder: Path) -> None:
    task = line()
    corpus.add(finding(task, climb(task)), climb(task))
    d = Description("line")
    y = d.int("y", 0, 1, initial=0)
    d.edge("up", outcomes=[{y: 1}])
    d.fail(y == 1)
    (entry,) = corpus.replayed(d.compile(), "first")
    assert (entry.still_fails, entry.run) == (False, None)
    assert entry.error is not None


def test_prune(folder: Path) -> None:
    task = line()
    corpus.add(finding(task, climb(task)), climb(task))
    (kept,) = corpus.prune(lambda _: climb(task))
    assert kept.status == "fails"
    (mended,) = corpus.prune(lambda _: climb(task, up_to=3), dry_run=True)
    assert (mended.status, len(corpus.stored(folder))) == ("mended", 1)
    (removed,) = corpus.prune(lambda _: climb(task, up_to=3))
    assert (removed.status, corpus.stored(folder)) == ("removed", [])


def test_what_cannot_be_used(folder: Path) -> None:
    folder.mkdir()
    (folder / "notes.json").write_text(json.dumps({"a": 1}))
    assert corpus.stored(folder) == []
    (folder / "bad.json").write_text('{"finding": 1}')
    with pytest.raises(InputError) as caught:
        corpus.entries(line())
    assert caught.value.code == "not-a-finding"
    with pytest.raises(InputError, match="not a folder"):
        corpus.entries(line(), folder=folder / "bad.json")
