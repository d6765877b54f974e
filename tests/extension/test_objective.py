"""An objective from outside: what handles it takes it, and everything else refuses it by name."""

import pytest

TASK = "domain:counter?goal=3"
OF_PACKAGE = ("goal", "goal_search")
OF_FILE = ("toy_objective.py:GOAL", "toy_objective.py:SEARCH")
REFUSING = {
    "the oracle lazy_attractor": ("decide",),
    "the oracle slow": ("decide", "--oracle", "slow"),
    "fuzz": ("fuzz", "--policy", "first"),
    "faults": ("faults", "--policy", "first"),
    "repair": ("repair", "--policy", "first", "--faults", "toys", "-o", "repaired.json"),
    "the method auto": ("verify", "--policy", "first"),
    "the method slow": ("verify", "--policy", "first", "--method", "slow"),
    "debug": ("debug", "--policy", "first", "-o", "kept"),
}


@pytest.mark.parametrize(("objective", "oracle"), [OF_PACKAGE, OF_FILE])
def test_its_oracle_decides(surefoot, objective, oracle):
    asked = ("decide", TASK, "--objective", objective, "--oracle", oracle)
    done = surefoot(*asked, "--state", "x=0", "--state", "x=4", "--json")
    assert done.code == 4, done.err  # nobody but the oracle says so
    rows = done.document["states"]
    assert [row["verdict"] for row in rows] == ["solvable", "unsolvable"]
    assert [row["bounds"] for row in rows] == [[1, 1], [0, 0]]
    assert {(row["reason"], row["checked"]) for row in rows} == {("unchecked", False)}
    assert done.document["summary"]["solvable"] == 1
    assert done.document["options"]["objective"] == objective


def test_answers_in_words(surefoot):
    done = surefoot("decide", TASK, "--objective", "goal", "--oracle", "goal_search")
    assert done.code == 4, done.err
    assert "under the objective goal" in done.out
    assert "solvable (unchecked)" in done.out


def test_budgets_leave_it_unknown(surefoot):
    done = surefoot(
        *("decide", TASK, "--objective", "goal", "--oracle", "goal_search"),
        *("--max-states", "2", "--json"),
    )
    assert done.code == 4, done.err
    assert [row["bounds"] for row in done.document["states"]] == [[0, 1]]


SECOND = """
from surefoot.objectives import ONE, ZERO, Bounds
from surefoot.oracles import Algorithm
from toy_objective import GOAL

LAZY = Algorithm.of_bounds("lazy", GOAL, lambda task, state, options: Bounds(ZERO, ONE))
WRONG = Algorithm.of_bounds("wrong", GOAL, lambda task, state, options: Bounds(ZERO, ZERO))
"""


def test_its_oracles_are_compared(surefoot, tmp_path):
    (tmp_path / "work" / "second.py").write_text(SECOND)
    asked = ("decide", TASK, "--objective", "goal", "--compare")
    done = surefoot(*asked, "goal_search,second.py:LAZY")
    assert done.code == 4, done.err
    head, first, other, agreement, *_ = done.out.splitlines()[2:]
    assert head.split()[:4] == ["oracle", "solvable", "unsolvable", "unknown"]
    assert first.split()[:4] == ["goal_search", "1", "0", "0"]
    assert other.split()[:5] == ["second.py:LAZY", "0", "0", "1", "(unchecked)"]
    assert agreement.startswith("1 oracle agrees; 1 left states unknown")
    done = surefoot(*asked, "goal_search,second.py:WRONG")
    assert done.code == 70
    assert "goal_search says solvable, 1, and second.py:WRONG says unsolvable, 0, of" in done.err


def test_of_many_answers_the_rest_is_counted_in_its_words(surefoot):
    states = [each for x in range(4) for each in ("--state", f"x={x}")] * 6
    done = surefoot("decide", TASK, "--objective", "goal", "--oracle", "goal_search", *states)
    assert "... and 4 more (4 solvable), see --json" in done.out


@pytest.mark.parametrize("objective", [OF_PACKAGE[0], OF_FILE[0]])
def test_policies_are_evaluated(surefoot, tmp_path, objective):
    (tmp_path / "work" / "two.py").write_text("def policy(state):\n    return 'two'\n")
    asked = ("evaluate", TASK, "--objective", objective, "--json", "--policy")
    done = surefoot(*asked, "first")
    assert done.code == 4, done.err
    assert done.document["mean_value"] == done.document["worst_value"] == [1, 1]
    ends = set()
    for seed in range(4):
        done = surefoot(*asked, "two.py:policy", "--seed", str(seed))
        value, same = done.document["mean_value"]
        assert value == same
        ends.add((value, done.code))
    assert ends <= {(0, 1), (1, 4)}
    assert done.document["valued_runs"] == 1


def test_values_in_words(surefoot):
    done = surefoot("evaluate", TASK, "--objective", "goal", "--policy", "first")
    assert "the mean value of 1 run under the objective goal; the worst is 1" in done.out


@pytest.mark.parametrize("engine", REFUSING)
def test_others_refuse_it_by_name(surefoot, engine):
    command, *more = REFUSING[engine]
    done = surefoot(command, TASK, "--objective", "goal", *more)
    assert done.code == 3, done.err
    assert f"{engine} does not handle the objective goal, only safety" in done.err
    assert "[unsupported-objective]" in done.err


def test_its_oracle_refuses_safety(surefoot):
    done = surefoot("decide", TASK, "--oracle", "goal_search")
    assert done.code == 3, done.err
    assert "the oracle goal_search does not handle the objective safety, only goal" in done.err


def test_tasks_that_lack_what_it_needs(surefoot, tmp_path):
    file = tmp_path / "work" / "toy_family.py"
    file.write_text(file.read_text().replace("    d.goal(x == goal)\n", ""))
    asked = ("--objective", "goal", "--oracle", "goal_search")
    done = surefoot("decide", "domain:toy_family.py:FAMILY", *asked)
    assert done.code == 3, done.err
    assert "it has no goal [no-goal]" in done.err


def test_unknown_names(surefoot):
    done = surefoot("fuzz", TASK, "--policy", "first", "--objective", "gaol")
    assert done.code == 2, done.err
    assert 'did you mean "goal"?' in done.err


@pytest.mark.parametrize("name", ["best_value", "Goal"])
def test_things_that_are_not_objectives(surefoot, name):
    done = surefoot("decide", TASK, "--objective", f"toy_objective.py:{name}")
    assert done.code == 2, done.err
    assert "is not an objective" in done.err
