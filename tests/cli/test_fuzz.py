"""``surefoot fuzz``."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Surefoot, environment
from tests.support.instances import DATA, needs_data
from tests.support.networks import nnet_text, random_network

LINE = "domain:one-way-line?packages=3&locations=4&variant=icy-park"


def network_file(folder: Path, seed: int = 1) -> str:
    """Write a network for the line of three packages; return its name."""
    (folder / "line.nnet").write_text(nnet_text(random_network(seed, 9, 8, 6)))
    return "line.nnet"


def test_document(surefoot: Surefoot) -> None:
    done = surefoot("fuzz", LINE, "--policy", "first", "--runs", "20", "--seed", "3", "--json")
    document = done.document
    assert (done.code, done.err) == (1, "")
    assert document["command"] == "fuzz"
    assert document["policy"] == {"name": "first", "sha256": None}
    assert document["options"]["lookahead"] is None
    assert document["options"]["bias"] == "mixed"
    assert document["seed"] == 3
    assert document["stopped"] is None
    assert [run["run"] for run in document["runs"]] == list(range(20))
    summary = document["summary"]
    assert {"runs", "fail", "distinct", "policy_calls", "states", "seconds"} <= set(summary)
    assert summary["runs"] == 20
    assert summary["fail"] == sum(run["result"] == "fail" for run in document["runs"]) > 0
    full = {run["run"]: run for run in document["runs"] if "states" in run}
    assert len(full) == summary["distinct"]
    for run in document["runs"]:
        if run["result"] == "fail" and "same_as" in run:
            earlier = full[run["same_as"]]
            assert run["run"] in earlier["same"] and run["start"] == earlier["start"]
        elif run["result"] == "fail":
            assert len(run["states"]) == len(run["actions"]) + 1 == run["steps"] + 1
            assert run["states"][0] == run["start"]


def test_text_shows_a_shortest_failing_run_and_counts(surefoot: Surefoot) -> None:
    arguments = ("fuzz", LINE, "--policy", "first", "--runs", "100")
    done = surefoot(*arguments)
    runs = surefoot(*arguments, "--json").document["runs"]
    failing = [run for run in runs if run["result"] == "fail" and "same_as" not in run]
    shortest = min(run["steps"] for run in failing)
    distinct = {json.dumps([run["states"], run["actions"]]) for run in failing}
    head, start, *steps = done.out.splitlines()[1 : 3 + shortest]
    first = next(run for run in failing if run["steps"] == shortest)
    assert head == (
        f"run {first['run']}: fail after {shortest} steps, "
        f"a shortest of {len(distinct)} distinct failing runs, by --bias greedy --lookahead 1"
    )
    assert first["strategy"] == {"bias": "greedy", "lookahead": 1}
    assert start.startswith("  start  location_load_0=")
    assert [step.split()[1] for step in steps] == first["actions"]
    assert all(step.count("=") < 9 for step in steps)
    count = sum(run["result"] == "fail" for run in runs)
    assert f"  fail  {count}  {len(distinct)} distinct" in done.out
    assert max(map(len, (head, *steps))) < 100
    assert done.code == 1


def test_options_reach_the_fuzzer(surefoot: Surefoot) -> None:
    arguments = ("--bias", "uniform", "--lookahead", "1", "--max-steps", "2", "--runs", "10")
    done = surefoot("fuzz", LINE, "--policy", "first", *arguments)
    assert done.code == 0
    assert "  cut  10  after too many steps" in done.out
    assert done.err == "cut: 10 runs after 2 steps; raise --max-steps\n"


def test_unlimited_lookahead_is_none(surefoot: Surefoot) -> None:
    plain, named, one = (
        surefoot("fuzz", LINE, "--policy", "random", "--runs", "30", *more, "--json").document
        for more in ((), ("--lookahead", "none"), ("--lookahead", "1"))
    )
    assert plain["options"]["lookahead"] is None
    assert named["options"]["lookahead"] == "none"
    assert one["options"]["lookahead"] == 1


EIGHTEEN = """
from surefoot import Description

d = Description("eighteen")
x = d.int("x", 0, 9, initial=0)
d.edge("go", guard=x < 8, outcomes=[{x: x + 1}, {x: x + 2}])
d.edge("stop", guard=x == 7, outcomes=[{x: 8}])
d.goal(x == 8)
d.fail(x == 9)
walk = d.compile()
"""


def test_the_default_finds_what_greedy_runs_never_see(surefoot: Surefoot, tmp_path: Path) -> None:
    (tmp_path / "eighteen.py").write_text(EIGHTEEN)
    greedy = surefoot("fuzz", "eighteen.py:walk", "--policy", "first", "--bias", "greedy")
    assert greedy.code == 0
    assert "runs    1,000  1 distinct: fuzzing saw one behaviour" in greedy.out
    default = surefoot("fuzz", "eighteen.py:walk", "--policy", "first")
    assert default.code == 1, default.out
    faults = surefoot("faults", "eighteen.py:walk", "--policy", "first", "--json")
    assert faults.code == 1
    (fault,) = faults.document["faults"]
    assert (fault["state"], fault["action"], fault["alternatives"]) == ({"x": 7}, "go", ["stop"])


def test_a_mixed_run_is_made_again_by_its_strategy(surefoot: Surefoot, tmp_path: Path) -> None:
    (tmp_path / "eighteen.py").write_text(EIGHTEEN)
    task = ("fuzz", "eighteen.py:walk", "--policy", "first", "--seed", "4")
    head = surefoot(*task).out.splitlines()[1]
    number, made_by = head.split()[1].rstrip(":"), head.partition(", by ")[2].split()
    runs = ("--runs", str(int(number) + 1))
    mixed, alone = (
        surefoot(*task, *runs, *more, "--json").document["runs"][-1] for more in ((), made_by)
    )
    keys = ("run", "start", "result", "steps")
    assert [mixed[key] for key in keys] == [alone[key] for key in keys]


def test_workers_change_nothing(surefoot: Surefoot) -> None:
    one, three = (
        surefoot(
            *("fuzz", LINE, "--policy", "random", "--runs", "50", "--workers", workers, "--json")
        ).document["runs"]
        for workers in ("1", "3")
    )
    assert one == three


def test_states(surefoot: Surefoot, tmp_path: Path) -> None:
    (tmp_path / "states.jsonl").write_text('{"x": 1}\n{"x": 2}\n')
    arguments = ("--policy", "first", "--states", "states.jsonl", "--runs", "3", "--json")
    document = surefoot("fuzz", "tasks.py:lamp", *arguments).document
    assert [run["start"]["x"] for run in document["runs"]] == [1, 2, 1]
    assert document["options"]["states"] == "states.jsonl"


def test_states_of_another_task(surefoot: Surefoot, tmp_path: Path) -> None:
    (tmp_path / "states.jsonl").write_text('{"y": 1}\n')
    done = surefoot("fuzz", "tasks.py:lamp", "--policy", "first", "--states", "states.jsonl")
    assert done.code == 2
    assert "error: states.jsonl:1: " in done.err
    assert '"y"' in done.err


def test_out_keeps_the_document(surefoot: Surefoot, tmp_path: Path) -> None:
    arguments = ("fuzz", LINE, "--policy", "first", "--runs", "5", "-o", "runs.json")
    done = surefoot(*arguments)
    assert done.out.endswith("all runs are in runs.json\n")
    kept = json.loads((tmp_path / "runs.json").read_text())
    shown = surefoot(*arguments, "--json").document
    assert kept.keys() == shown.keys()
    assert kept["runs"] == shown["runs"]
    assert not list(tmp_path.glob(".*.new"))


def test_learned_policy(surefoot: Surefoot, tmp_path: Path) -> None:
    done = surefoot("fuzz", LINE, "--policy", network_file(tmp_path), "--runs", "5", "--json")
    assert done.code in (0, 1)
    policy = done.document["policy"]
    assert policy["name"] == "line.nnet"
    assert len(policy["sha256"]) == 64


def test_unfiltered_policy_stops_where_it_cannot_go_on(surefoot: Surefoot, tmp_path: Path) -> None:
    policy = network_file(tmp_path)
    arguments = ("--policy", policy, "--unfiltered", "--runs", "50", "--json")
    document = surefoot("fuzz", LINE, *arguments).document
    assert document["summary"]["inapplicable"] > 0
    assert document["options"]["unfiltered"] is True


def test_interface_is_taken(surefoot: Surefoot, tmp_path: Path) -> None:
    (tmp_path / "p.nnet").write_text(nnet_text(random_network(1, 1, 4, 2)))
    content = {"surefoot_interface": 1, "inputs": ["xx"], "outputs": ["down", "up"]}
    (tmp_path / "i.json").write_text(json.dumps(content))
    arguments = ("fuzz", "tasks.py:lamp", "--policy", "p.nnet", "--interface", "i.json")
    done = surefoot(*arguments)
    assert done.code == 2
    assert 'no variable "xx"' in done.err
    (tmp_path / "i.json").write_text(json.dumps({**content, "inputs": ["x"]}))
    done = surefoot(*arguments, "--json")
    assert done.document["options"]["interface"] == "i.json"


def test_perturbed_runs_say_how_their_start_was_made(surefoot: Surefoot) -> None:
    arguments = ("--perturb", "actions", "--changes", "2", "--runs", "50")
    done = surefoot("fuzz", LINE, "--policy", "first", *arguments)
    assert done.code == 1
    assert "  not known to be reachable: its start was made\n  from   location_load_0=" in done.out
    assert done.out.count("\n  by     action ") == 2
    runs = surefoot("fuzz", LINE, "--policy", "first", *arguments, "--json").document["runs"]
    assert all(run["known_reachable"] is False for run in runs)
    assert all(len(run["made"]["changes"]) <= 2 for run in runs)


def test_time_that_runs_out_is_code_4(surefoot: Surefoot) -> None:
    arguments = ("--policy", "first", "--runs", "100", "--max-seconds", "0.3")
    done = surefoot("fuzz", "tasks.py:Slow", *arguments)
    assert done.code == 4
    assert "cut: 0.3 seconds were not enough" in done.err
    assert "--max-seconds" in done.err


@pytest.mark.parametrize(
    "arguments, text",
    [
        ((), "--policy is missing"),
        (("--policy", ""), "--policy is missing"),
        (("--policy", "firts"), 'did you mean "first"?'),
        (("--policy", "gone.onnx"), "gone.onnx: there is no such file"),
        (("--policy", "first", "--bias", "gredy"), 'did you mean "greedy"?'),
        (("--policy", "first", "--perturb", "value"), 'did you mean "values"?'),
        (("--policy", "first", "--lookahead", "0"), "--lookahead must be none or a whole number"),
        (("--policy", "first", "--lookahead", "-1"), "--lookahead must be none or a whole number"),
        (("--policy", "first", "--lookahead", "far"), "--lookahead must be none or a whole number"),
        (("--policy", "first", "--runs", "0"), "--runs must be at least 1"),
        (("--policy", "first", "--workers", "0"), "--workers must be at least 1"),
        (("--policy", "first", "--changes", "2"), "--changes has no effect here"),
        (("--policy", "first", "--interface", "i.json"), '"first" takes no interface'),
        (("--policy", "first", "--unfiltered"), '"first" takes no unfiltered'),
        (("--policy", "first", "--states", "gone.jsonl"), "gone.jsonl: "),
        (("--policy", "first", "-o", "runs.txt"), "is not a JSON file"),
        (("--policy", "first", "-o", "gone/runs.json"), "in a directory that is not there"),
    ],
)
def test_bad_input(surefoot: Surefoot, arguments: tuple[str, ...], text: str) -> None:
    done = surefoot("fuzz", "tasks.py:lamp", *arguments)
    assert (done.code, done.out) == (2, "")
    assert text in done.err


def test_names_cannot_write_to_the_terminal(surefoot: Surefoot) -> None:
    done = surefoot("fuzz", "tasks.py:evil", "--policy", "first", "--runs", "2")
    assert done.code == 0
    assert "\x1b" not in done.out + done.err


def test_help_has_an_example(surefoot: Surefoot) -> None:
    text = surefoot("fuzz", "--help").out
    assert "surefoot fuzz truck.jani --policy truck.ubj --perturb actions -o runs.json" in text
    assert "[default: none]" in text


def test_interrupt(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import time\nclass Slow:\n"
        "    def start(self): return [(0,)]\n"
        "    def actions(self, state): time.sleep(0.02); return ['up']\n"
        "    def outcomes(self, state, action): return [(state[0] + 1,), (state[0] + 2,)]\n"
        "    def is_goal(self, state): return False\n"
        "    def is_fail(self, state): return False\n"
    )
    with subprocess.Popen(
        [sys.executable, "-m", "surefoot", "fuzz", "slow.py:Slow", "--policy", "first"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment(),
    ) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("fuzzing: ") and " of 1,000 runs, " in line
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert time.monotonic() - begin < 5
        assert (process.returncode, out, err) == (130, "", "interrupted\n")


@needs_data
@pytest.mark.data
def test_published_blocksworld_policy(surefoot: Surefoot) -> None:
    folder = DATA / "blocksworld_6_5_cost05"
    document = surefoot(
        *("fuzz", str(folder / "model.jani"), "--property", str(folder / "pa_original.jani")),
        *("--policy", str(folder / "blocksworld_6_5_32_32.jani2nnet")),
        *("--runs", "20", "--bias", "uniform", "--lookahead", "1", "--json"),
    ).document
    assert document["summary"]["runs"] == 20
    assert document["summary"]["policy_calls"] > 100


def test_runs_that_lack_memory_are_not_called_fine(surefoot: Surefoot) -> None:
    done = surefoot("fuzz", LINE, "--policy", "first", "--memory-mb", "0", "--runs", "4")
    assert done.code == 4
    assert "cut  4  for lack of memory" in done.out
    assert done.err == "cut: 4 runs for lack of memory (0 MB); raise --memory-mb\n"
