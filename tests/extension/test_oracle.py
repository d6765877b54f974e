"""Oracles from outside: their verdicts count only if the checker accepts their tables."""

import pytest

from surefoot import find_faults, fuzz, load_policy
from surefoot.domains import domain
from surefoot.findings import finding_of
from tests.extension.conftest import TOYS

TASK = "domain:counter?goal=3"


@pytest.mark.parametrize("oracle", ["slow", "toy_oracles.py:SLOW"])
def test_certificates_are_checked(surefoot, oracle):
    done = surefoot("decide", TASK, "--oracle", oracle, "--state", "x=0", "--json")
    assert done.code == 0, done.err
    (row,) = done.document["states"]
    assert (row["verdict"], row["expanded"]) == ("safe", 5)
    done = surefoot("decide", TASK, "--oracle", oracle, "--state", "x=4")
    assert done.code == 1, done.err
    assert "1 unsafe" in done.out


def test_it_agrees_with_others(surefoot):
    names = "lazy_attractor,toy_oracles.py:SLOW"
    done = surefoot("decide", TASK, "--sample", "4", "--compare", names)
    assert done.code in (0, 1), done.err
    assert "2 oracles agree" in done.out


def test_its_word_is_no_proof(surefoot):
    done = surefoot("decide", TASK, "--oracle", "toy_oracles.py:HOPEFUL")
    assert done.code == 4, done.err
    assert "unchecked" in done.err
    assert "safe" not in done.out.partition("\n")[2].split()[0]


def test_wrong_tables_are_rejected(surefoot, tmp_path):
    file = tmp_path / "work" / "toy_oracles.py"
    file.write_text(
        file.read_text().replace("choices, expanded", "dict(list(choices.items())[:1]), expanded")
    )
    done = surefoot("decide", TASK, "--oracle", "toy_oracles.py:SLOW")
    assert done.code == 5, done.out
    assert "is wrong, or its table is" in done.err


def test_unknown_names(surefoot):
    done = surefoot("decide", TASK, "--oracle", "slwo")
    assert done.code == 2
    assert 'did you mean "slow"?' in done.err
    assert "lazy_attractor, ipi" in done.err


def test_things_that_are_no_oracles(surefoot):
    done = surefoot("decide", TASK, "--oracle", "toy_oracles.py:reachable")
    assert done.code == 2
    assert "is not an oracle" in done.err


@pytest.mark.parametrize("oracle", ["slow", "toy_oracles.py:SLOW"])
def test_faults_are_found_with_it(surefoot, tmp_path, oracle):
    (tmp_path / "work" / "two.py").write_text("def policy(state):\n    return 'two'\n")
    done = surefoot("faults", TASK, "--policy", "two.py:policy", "--oracle", oracle, "--json")
    assert done.code == 1, done.err
    (fault,) = done.document["faults"]
    assert (fault["state"], fault["action"], fault["alternatives"]) == ({"x": 2}, "two", ["one"])
    assert fault["checked"]


def test_faults_are_not_found_on_its_word(surefoot, tmp_path):
    (tmp_path / "work" / "two.py").write_text("def policy(state):\n    return 'two'\n")
    asked = ("faults", TASK, "--policy", "two.py:policy", "--json", "--oracle")
    done = surefoot(*asked, "toy_oracles.py:HOPEFUL")
    assert done.code == 4, done.err
    assert {each["reason"] for each in done.document["unknown"]} == {"unchecked"}


@pytest.mark.parametrize("name", ["staircase", "layered", "one-way-line", "two-way-line"])
def test_faults_are_those_of_built_in_ones(name):
    task = domain(name)
    for seed in range(2):
        policy = load_policy(f"random?seed={seed}", task)
        runs = fuzz(task, policy, runs=30, seed=seed).failing[:2]
        ours, theirs = (
            find_faults(task, policy, runs, oracle=oracle)
            for oracle in (f"{TOYS}/toy_oracles.py:SLOW", "lazy_attractor")
        )
        assert [each.to_dict() for each in ours.faults] == [
            each.to_dict() for each in theirs.faults
        ]
        assert [each.state for each in ours.bugs] == [each.state for each in theirs.bugs]
        assert ours.unavoidable == theirs.unavoidable and not ours.unknown
        for fault in ours.faults[:3]:
            finding_of(task, policy, fault).check(max_seconds=10)


def test_other_oracles_answer_single_questions_only(surefoot):
    done = surefoot("faults", TASK, "--policy", "first", "--oracle", "goal_search")
    assert done.code == 2
    assert "answers single questions only" in done.err
