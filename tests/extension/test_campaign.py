"""Campaigns with components from outside: they go on only if these are named again."""

import pytest

from tests.extension.test_format import TWO

TASK = "domain:counter"
OF_FILES = ("toy_bias.py:BIAS", "toy_oracles.py:SLOW", "toy_methods.py:SLOW")
OF_PACKAGE = ("slow", "slow", "slow")
FLAGS = ("--bias", "--faults.oracle", "--verify")


@pytest.fixture
def debug(surefoot, tmp_path):
    """Return a function that begins a campaign with a bias, an oracle and a method."""
    (tmp_path / "work" / "policy.weights").write_text(TWO)

    def begin(*components):
        given = [word for pair in zip(FLAGS, components, strict=True) for word in pair]
        return surefoot("debug", TASK, "--policy", "policy.weights", "-o", "kept", "--json", *given)

    return begin


def interrupt(campaign):
    """Leave only the first lines of the journal."""
    journal = campaign / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:2]))
    (campaign / "result.json").unlink()


@pytest.mark.parametrize("components", [OF_FILES, OF_PACKAGE])
def test_goes_on_if_they_are_named(surefoot, debug, tmp_path, components):
    begun = debug(*components)
    assert begun.code == 0, begun.err
    assert begun.document["outcome"] == "safe"
    interrupt(tmp_path / "work" / "kept")
    named = [word for name in components for word in ("--component", name)]
    for given in ([], ["--component", "toy_bias.py:OTHER"]):
        done = surefoot("resume", "kept", TASK, *given)
        assert done.code == 2
        assert "toy_bias.py:OTHER" in done.err or "campaign-runs-code" in done.err
    assert surefoot("status", "kept").code == 0
    done = surefoot("resume", "kept", TASK, *named, "--json")
    assert done.code == 0, done.err
    assert done.document["final_sha256"] == begun.document["final_sha256"]


def test_the_word_of_a_method_is_no_proof(debug):
    done = debug("greedy", "lazy_attractor", "toy_methods.py:HOPEFUL")
    assert done.code == 4, done.err
    assert done.document["outcome"] == "improved"
    assert "HOPEFUL says safe, and nothing else confirms it" in done.document["reason"]


@pytest.mark.parametrize("flag", range(3))
def test_unknown_names(debug, flag):
    names = ["greedy", "lazy_attractor", "none"]
    names[flag] = "slwo"
    done = debug(*names)
    assert done.code == 2
    assert 'did you mean "slow"?' in done.err
