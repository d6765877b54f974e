"""``surefoot decide``."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from surefoot.oracles import ORACLES, with_radius
from tests.cli.conftest import Surefoot, environment

LINE = "domain:one-way-line?packages=3&locations=4"
ICY = "domain:one-way-line?packages=15&locations=10&variant=icy"
KEYS = "surefoot command task policy options seed seconds peak_memory_mb states summary starts"
OPTIONS = """
    --property --property-name --start --goal --fail --const --int-range --json --seed
    --max-seconds --memory-mb --max-states --state --states --initial --sample --max-starts
    --oracle --radius --policy --order --compare --deviations --check-seconds --no-check
    --certificates -o
"""
MINE = """
from surefoot import Description

ladder = Description("ladder")
x = ladder.int("x", -1, 3, initial=0)
ladder.edge("bad", guard=(x >= 0) & (x < 3), outcomes=[{x: -1}])
ladder.edge("good", guard=(x >= 0) & (x < 3), outcomes=[{x: x + 1}])
ladder.goal(x == 3)
ladder.fail(x == -1)

trap = Description("trap")
y = trap.int("y", 0, 3, initial=0)
trap.edge("go", guard=y < 3, outcomes=[{y: y + 1}])
trap.fail(y == 3)

harmless = Description("harmless")
w = harmless.int("w", 0, 3, initial=0)
harmless.edge("go", guard=w < 3, outcomes=[{w: w + 1}])

real = Description("real")
z = real.real("z", 0.0, 1.0, initial=0.5)
real.edge("go", guard=z < 1.0, outcomes=[{z: 1.0}])
real.start(z < 0.5)
real.fail(z > 0.75)

def good(state): return "good"
def up(state): return "up"
def broken(state): return 1 / 0
"""


@pytest.fixture
def mine(surefoot: Surefoot, tmp_path: Path) -> Surefoot:
    """Run ``surefoot decide`` where mine.py is, besides tasks.py."""
    (tmp_path / "mine.py").write_text(MINE)
    return lambda *arguments, **env: surefoot("decide", *arguments, **env)


def test_help_shows_an_example_and_every_option(mine: Surefoot) -> None:
    done = mine("--help")
    assert done.code == 0
    assert "For example:\n  surefoot decide " in done.out
    assert all(f"{option} " in done.out for option in OPTIONS.split())
    assert "--no-no" not in done.out and "--no-json" not in done.out


def test_document(mine: Surefoot) -> None:
    done = mine("tasks.py:lamp", "--json")
    document = done.document
    assert (done.code, done.err) == (0, "")
    assert set(document) == set(KEYS.split())
    assert document["starts"] == {"decided": 2, "total": 2}
    assert document["options"]["oracle"] == "lazy_attractor"
    assert document["options"]["radius"] is None
    assert [row["state"] for row in document["states"]] == [{"x": 0}, {"x": 1}]
    members = {"state", "verdict", "expanded", "pairs", "outcomes", "seconds", "checked"}
    assert all(set(row) == members and row["checked"] for row in document["states"])
    summary = document["summary"]
    assert (summary["safe"], summary["unsafe"], summary["unknown"]) == (2, 0, 0)
    assert summary["expanded"] == sum(row["expanded"] for row in document["states"])
    assert summary["check_seconds"] > 0


def test_text(mine: Surefoot) -> None:
    done = mine("mine.py:trap", "--state", "y=1", "--state", '{"y": 3}')
    head, columns, first, second, summary = done.out.splitlines()
    assert (done.code, head, done.err) == (1, "trap", "")
    assert columns.split() == ["verdict", "expanded", "time", "certificate", "state"]
    assert first.split()[0] == "unsafe"
    assert first.split()[-2:] == ["checked", "y=1"]
    assert second.endswith("checked      y=3")
    assert summary.startswith("2 states: 2 unsafe; ")
    assert ", checked in " in summary


def test_many_rows_are_cut_but_counted(mine: Surefoot) -> None:
    done = mine(LINE, "--sample", "60")
    lines = done.out.splitlines()
    assert len(lines) == 2 + 20 + 2
    assert lines[-2].startswith("... and 40 more (")
    assert lines[-2].endswith("), see --json")
    assert lines[-1].startswith("60 states: ")


def test_a_task_without_fail_condition_is_told(mine: Surefoot) -> None:
    done = mine("mine.py:harmless", "--json")
    assert done.code == 0
    assert done.err.startswith("note: the task has no fail condition, so every state is safe; ")
    assert [f"note: {note}\n" for note in done.document["notes"]] == [done.err]


def test_answers_before_an_error_are_printed(mine: Surefoot, tmp_path: Path) -> None:
    table = [{"state": {"x": 2}, "action": "good"}]
    (tmp_path / "table.jsonl").write_text(json.dumps(table[0]))
    states = ("--state", "x=2", "--state", "x=0", "--state", "x=1")
    done = mine("mine.py:ladder", "--policy", "table.jsonl", "--radius", "0", *states)
    assert done.code == 2
    assert "[policy-no-decision]" in done.err
    lines = done.out.splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["verdict", "safe", "1", "2"]
    assert lines[-2].startswith("1 state: 1 safe; ")
    assert lines[-1] == "2 states not decided"


@pytest.mark.parametrize(
    "arguments, code",
    [
        (("tasks.py:lamp",), 0),
        (("mine.py:trap",), 1),
        (("mine.py:ladder", "--max-states", "0"), 4),
        (("mine.py:trap", "--state", "y=3", "--state", "y=0", "--max-states", "2"), 1),
    ],
    ids=["all safe", "unsafe", "unknown", "unsafe beside unknown"],
)
def test_exit_code(mine: Surefoot, arguments: tuple[str, ...], code: int) -> None:
    assert mine(*arguments).code == code


@pytest.mark.parametrize(
    "option, value, reason",
    [
        ("--max-states", "1", "states"),
        ("--state-seconds", "0", "seconds"),
        ("--memory-mb", "0", "memory"),
    ],
)
def test_unknown_carries_its_reason(mine: Surefoot, option: str, value: str, reason: str) -> None:
    done = mine(ICY, "--sample", "2", option, value, "--json")
    assert done.code == 4
    assert done.document["summary"]["unknown"] == 2
    assert all(row["reason"] == reason for row in done.document["states"])
    assert all(row["checked"] is None for row in done.document["states"])
    verb = "was" if value == "1" else "were"
    assert done.err.endswith(f" {verb} not enough for 2 states; raise {option}\n")
    assert f"unknown ({reason})" in mine(ICY, "--sample", "2", option, value).out


# -- which states ------------------------------------------------------------------------------


def test_states_file(mine: Surefoot, tmp_path: Path) -> None:
    (tmp_path / "states.jsonl").write_text('{"x": 3}\n{"x": 0}\n')
    rows = mine("tasks.py:lamp", "--states", "states.jsonl", "--json").document["states"]
    assert [(row["state"]["x"], row["verdict"]) for row in rows] == [(3, "unsafe"), (0, "safe")]


def test_initial(mine: Surefoot) -> None:
    document = mine("tasks.py:lamp", "--initial", "--json").document
    assert [row["state"] for row in document["states"]] == [{"x": 0}]
    assert "starts" not in document


def test_samples_are_reproducible(mine: Surefoot) -> None:
    first, again, other = (
        mine(LINE, "--sample", "5", "--seed", seed, "--json").document["states"]
        for seed in ("1", "1", "2")
    )
    states = [[row["state"] for row in rows] for rows in (first, again, other)]
    assert states[0] == states[1] != states[2]


def test_few_samples_are_told(mine: Surefoot) -> None:
    done = mine("tasks.py:lamp", "--sample", "50", "--json")
    assert len(done.document["states"]) == 3
    assert done.err == "the walks met only 3 different states\n"


def test_many_start_states_are_cut_and_told(mine: Surefoot) -> None:
    done = mine(LINE, "--max-starts", "3")
    line = "the first 3 of 80 start states; --max-starts takes more, --sample draws at random"
    assert done.out.splitlines()[1] == line
    document = mine(LINE, "--max-starts", "3", "--json").document
    assert document["starts"] == {"decided": 3, "total": 80}


@pytest.mark.parametrize(
    "state, text",
    [
        ("x=4", "ranges from 0 to 3"),
        ("xx=1", 'no variable "xx"'),
        ("", 'no value to "x"'),
        ("{", "error: --state: "),
    ],
)
def test_bad_state(mine: Surefoot, state: str, text: str) -> None:
    done = mine("tasks.py:lamp", "--state", state)
    assert (done.code, done.out) == (2, "")
    assert text in done.err


BAD = {
    "unknown oracle": (("--oracle", "lazy_atractor"), "unknown-oracle", 'mean "lazy_attractor"?'),
    "list of oracles": (("--oracle", "zzz"), "unknown-oracle", ", ".join(ORACLES.built_in)),
    "negative radius": (("--radius", "-1", "--policy", "first"), "bad-option", "--radius must be"),
    "broken radius": (("--radius", "1.5", "--policy", "first"), "bad-option", "--radius must be"),
    "huge radius": (("--radius", "9" * 30, "--policy", "first"), "bad-option", "--radius must be"),
    "radius without policy": (("--radius", "1"), "bad-option", "give a policy"),
    "oracle without radius": (
        ("--radius", "1", "--policy", "first", "--oracle", "ipi"),
        "bad-option",
        ", ".join(with_radius()),
    ),
    "order of another": (("--order", "rand"), "bad-option", "for the oracle ipi"),
    "unknown order": (("--order", "lern", "--oracle", "ipi"), "unknown-order", 'mean "learn"?'),
    "learn without policy": (("--order", "learn", "--oracle", "ipi"), "bad-option", "give a pol"),
    "deviations without policy": (("--deviations",), "bad-option", "give a policy"),
    "unknown policy": (
        ("--policy", "frist", "--radius", "0"),
        "unknown-policy",
        'did you mean "first"?',
    ),
    "policy without name": (
        ("--policy", "mine.py", "--radius", "0"),
        "missing-name",
        "which policy",
    ),
    "idle policy": (("--policy", "first"), "bad-option", "--policy has no effect here"),
    "idle policy, compared": (
        ("--policy", "first", "--compare", "ipi,npi"),
        "bad-option",
        "--radius 0 asks whether this policy itself is safe",
    ),
    "unknown decision": (
        ("--policy", "mine.py:up2", "--deviations"),
        "unknown-name",
        'did you mean "up"?',
    ),
    "decision not applicable": (
        ("--policy", "mine.py:good", "--radius", "1"),
        "policy-unknown-action",
        "in state x=0",
    ),
    "error in the policy": (
        ("--policy", "mine.py:broken", "--radius", "1"),
        "python-error",
        "ZeroDivisionError",
    ),
    "two kinds of states": (("--initial", "--sample", "3"), "bad-option", "exclude each other"),
    "state and file": (("--state", "x=0", "--states", "a"), "bad-option", "exclude each other"),
    "no samples": (("--sample", "0"), "bad-option", "--sample must be a whole"),
    "no starts": (("--max-starts", "0"), "bad-option", "--max-starts must be a whole"),
    "too many starts": (("--max-starts", str(2**64)), "bad-option", "--max-starts must be"),
    "too many samples": (("--sample", str(2**63)), "bad-option", "count must be"),
    "missing file": (("--states", "nothing"), "file-not-found", "no such file"),
    "bad seconds": (("--check-seconds", "nan"), "bad-option", "--check-seconds"),
    "negative seconds": (("--check-seconds", "-1"), "bad-option", "--check-seconds"),
    "compared with oracle": (("--compare", "all", "--oracle", "ipi"), "bad-option", "--oracle"),
    "compared deviations": (
        ("--compare", "all", "--deviations", "--policy", "first"),
        "bad-option",
        "--deviations",
    ),
    "compared twice": (("--compare", "ipi,ipi"), "bad-option", "listed twice"),
    "compared with nothing": (("--compare", "ipi,zzz"), "unknown-oracle", "oracles are"),
    "directory that is a file": (
        ("-o", "tasks.py"),
        "bad-option",
        '"tasks.py" is not a directory',
    ),
    "directory in a file": (("-o", "tasks.py/a"), "bad-option", "is not a directory"),
    "directory without name": (("-o", ""), "bad-option", "the name of a directory"),
}


@pytest.mark.parametrize("arguments, code, text", BAD.values(), ids=BAD)
def test_bad_input(mine: Surefoot, arguments: tuple[str, ...], code: str, text: str) -> None:
    done = mine("tasks.py:lamp", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert f"[{code}]" in done.err
    assert text in done.err


def test_infinitely_many_starts(mine: Surefoot) -> None:
    done = mine("mine.py:real")
    assert done.code == 2
    assert "--sample N" in done.err
    assert mine("mine.py:real", "--sample", "3", "--json").document["summary"]["unsafe"] == 3


def test_real_variables_and_diagrams(mine: Surefoot) -> None:
    pytest.importorskip("oxidd")
    done = mine("mine.py:real", "--state", "z=0.25", "--oracle", "propagate_unsafe_bdd")
    assert (done.code, done.out) == (3, "")
    assert "[bdd-real-variable]" in done.err


# -- policies, radius, deviations --------------------------------------------------------------


def test_radius_and_deviations(mine: Surefoot) -> None:
    arguments = ("mine.py:ladder", "--policy", "first", "--radius", "1", "--deviations")
    states = ("--state", "x=1", "--state", "x=2", "--state", "x=-1")
    done = mine(*arguments, *states, "--json")
    assert done.code == 1
    rows = [(row["verdict"], row["deviations"]) for row in done.document["states"]]
    assert rows == [("unsafe", 2), ("safe", 1), ("unsafe", "inf")]
    assert all(row["checked"] for row in done.document["states"])
    assert done.document["policy"] == {"name": "first", "sha256": None}
    lines = mine(*arguments, *states).out.splitlines()
    assert lines[1] == "with at most 1 difference from the policy first"
    assert lines[2].split()[:2] == ["verdict", "deviations"]
    assert lines[3].split()[:2] == ["unsafe", "2"]


def test_infinite_radius_has_a_name(mine: Surefoot) -> None:
    done = mine("mine.py:ladder", "--policy", "first", "--radius", "inf", "--json")
    assert (done.code, done.document["options"]["radius"]) == (0, None)


def test_policy_of_a_file(mine: Surefoot, tmp_path: Path) -> None:
    table = [{"state": {"x": x}, "action": "good"} for x in range(3)]
    (tmp_path / "table.jsonl").write_text("".join(json.dumps(each) + "\n" for each in table))
    for policy in ("mine.py:good", "table.jsonl"):
        done = mine("mine.py:ladder", "--policy", policy, "--radius", "0", "--json")
        assert (done.code, done.document["summary"]["safe"]) == (0, 1)
        assert done.document["policy"]["name"] == policy
        assert len(done.document["policy"]["sha256"]) == 64


def test_seed_of_a_random_policy(mine: Surefoot) -> None:
    arguments = (LINE, "--policy", "random", "--radius", "2", "--sample", "3", "--seed", "7")
    assert mine(*arguments, "--json").document["policy"]["name"] == "random?seed=7"


# -- certificates ------------------------------------------------------------------------------


def test_nothing_is_written_unless_needed(mine: Surefoot, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    mine("mine.py:trap")
    assert [f for f in sorted(tmp_path.iterdir()) if f.name != "__pycache__"] == before


@pytest.mark.parametrize("how", [("--no-check",), ("--check-seconds", "0")])
def test_unchecked_answers_come_with_their_file(
    mine: Surefoot, surefoot: Surefoot, tmp_path: Path, how: tuple[str, ...]
) -> None:
    done = mine(LINE, "--max-starts", "2", *how)
    rows = done.out.splitlines()
    assert rows[3].split()[4] == rows[4].split()[4] == "unchecked"
    assert rows[-3] == "2 certificates not checked:"
    for line in rows[-2:]:
        program, command, file = line.split()
        assert (program, command) == ("surefoot", "check")
        assert file.startswith("surefoot-certificates/")
        assert surefoot(command, file).code == 0
    document = mine(LINE, "--max-starts", "2", *how, "--json").document
    for row in document["states"]:
        assert row["checked"] is False
        assert (tmp_path / row["certificate"]).is_file()
    assert len(list((tmp_path / "surefoot-certificates").iterdir())) == 2  # the same ones again


def test_all_certificates_are_kept_if_wanted(
    mine: Surefoot, surefoot: Surefoot, tmp_path: Path
) -> None:
    done = mine(LINE, "--max-starts", "2", "-o", "a/b", "--json")
    for row in done.document["states"]:
        assert row["checked"] is True
        assert Path(row["certificate"]).parent == Path("a/b")
        assert surefoot("check", row["certificate"]).code == 0
    assert mine(LINE, "--max-starts", "2", "-o", "a/b").out.endswith("certificates are in a/b\n")


def test_certificates_of_deviations_are_kept_too(mine: Surefoot) -> None:
    arguments = ("mine.py:ladder", "--policy", "first", "--deviations", "-o", "kept", "--json")
    (row,) = mine(*arguments).document["states"]
    assert (row["verdict"], row["deviations"]) == ("safe", 3)
    assert len({row["certificate"], *row["deviations_certificates"]}) == 3


UNMADE = """
import sys
from surefoot.cli import main
from surefoot.errors import OutOfBudget
from surefoot.oracles.engine import Engine

def unmade(*args, **options):
    raise OutOfBudget("out-of-memory", "ran out of memory making the certificate")

Engine.certificate = unmade
sys.exit(main(sys.argv[1:]))
"""


def test_why_there_is_no_certificate(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNMADE, "decide", LINE, "--max-starts", "1"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[1].startswith("the first of 80 start states; ")
    assert "unchecked" in done.stdout
    assert "(no file: ran out of memory while making it)" in done.stdout


REJECTING = """
import sys
from surefoot import checker
from surefoot.cli import main

def reject(*args, **options):
    raise checker.Rejected("nonsense")

checker.check_certificate = reject
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("more", [(), ("--json",), ("--compare", "ipi,npi")])
def test_rejected_certificates_are_our_bug(tmp_path: Path, more: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", REJECTING, "decide", LINE, "--max-starts", "1", *more],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 5
    assert done.stderr.startswith("error: nonsense [certificate-rejected]\n")
    assert "this is a bug in Surefoot, please report it; the certificate is in" in done.stderr
    (file,) = (tmp_path / "surefoot-certificates").iterdir()
    assert file.name in done.stderr
    assert "verdict" not in done.stdout


# -- side by side ------------------------------------------------------------------------------


def test_compare(mine: Surefoot) -> None:
    names = "lazy_attractor,ipi,npi,value_iteration"
    done = mine(LINE, "--sample", "10", "--compare", names, "--json")
    document = done.document
    assert [row["oracle"] for row in document["compare"]] == names.split(",")
    keys = "oracle safe unsafe unknown expanded pairs outcomes seconds reasons"
    assert all(set(row) == set(keys.split()) for row in document["compare"])
    assert all(row["reasons"] == {} for row in document["compare"])
    assert document["agreement"] is True
    counts = {(row["safe"], row["unsafe"], row["unknown"]) for row in document["compare"]}
    summary = document["summary"]
    assert counts == {(summary["safe"], summary["unsafe"], 0)}
    assert all(row["checked"] for row in document["states"])
    assert {row["oracle"] for row in document["states"]} == {"lazy_attractor"}
    assert done.code == (1 if summary["unsafe"] else 0)


def test_compare_as_a_table(mine: Surefoot) -> None:
    lines = mine("mine.py:trap", "--compare", "ipi,npi").out.splitlines()
    assert lines[1].split() == [
        *("oracle", "safe", "unsafe", "unknown", "expanded", "time", "ratio", "agrees")
    ]
    assert [line.split()[0] for line in lines[2:4]] == ["ipi", "npi"]
    assert "1.0" in {line.split()[-2] for line in lines[2:4]}
    assert lines[4] == "2 oracles agree: 1 state: 1 unsafe"


def test_compare_says_who_left_states_unknown(mine: Surefoot) -> None:
    arguments = ("mine.py:trap", "--state", "y=0", "--max-states", "1", "--compare", "ipi,npi")
    done = mine(*arguments)
    assert done.code == 4
    assert "1 (states)" in done.out
    assert "0 oracles agree; 2 left states unknown: 1 state: 1 unknown" in done.out
    document = mine(*arguments, "--json").document
    assert [row["reasons"] for row in document["compare"]] == [{"states": 1}] * 2


def test_compare_all(mine: Surefoot) -> None:
    document = mine("mine.py:real", "--state", "z=0.25", "--compare", "all", "--json").document
    assert [row["oracle"] for row in document["compare"]] == list(ORACLES.built_in[:-1])
    assert list(document["left_out"]) == ["propagate_unsafe_bdd"]
    arguments = ("mine.py:ladder", "--compare", "all", "--radius", "3", "--policy", "first")
    document = mine(*arguments, "--json").document
    assert [row["oracle"] for row in document["compare"]] == list(with_radius())
    assert document["summary"]["safe"] == 1


DISAGREEING = """
import sys
from dataclasses import replace
from surefoot.cli import main
from surefoot.objectives import SAFETY
from surefoot.oracles import compare, engine

class Contrary(compare.Oracle):
    def decide(self, state, **how):
        answer = super().decide(state, **how)
        return replace(answer, bounds=SAFETY.bounds("unsafe")) if self.name == "npi" else answer

compare.Oracle = Contrary
sys.exit(main(sys.argv[1:]))
"""


def test_disagreement_is_an_internal_error(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DISAGREEING, "decide", LINE, "--compare", "ipi,npi"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (70, "")
    assert "ipi says safe and npi says unsafe of state location_load_0=" in done.stderr


# -- manners -----------------------------------------------------------------------------------


def test_names_from_files_cannot_write_to_the_terminal(mine: Surefoot) -> None:
    for more in ((), ("--json",), ("--no-check",), ("--radius", "1", "--policy", "first")):
        done = mine("tasks.py:evil", *more)
        assert done.code == 0
        assert "\x1b" not in done.out + done.err


def test_what_the_users_code_prints_is_not_the_result(mine: Surefoot) -> None:
    done = mine("tasks.py:Talking", "--json")
    assert done.code == 0
    assert done.document["command"] == "decide"
    assert "thinking about (0,)" in done.err


def test_progress_goes_to_standard_error(mine: Surefoot) -> None:
    done = mine("tasks.py:Slow", "--max-seconds", "2.5", "--json")
    assert (done.code, done.document["states"][0]["reason"]) == (4, "seconds")
    assert done.err.startswith("deciding: state 1 of 1")


def test_interrupt_stops_within_a_second() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "surefoot", "decide", ICY, "--oracle", "value_iteration"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as process:
        assert process.stderr is not None
        while not process.stderr.readline().startswith("deciding"):
            pass
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert time.monotonic() - begin < 5  # a tenth of a second, if the machine is idle
        assert process.returncode == 130
        assert err.endswith("interrupted\n")
        if out:  # what was decided before is not lost
            assert out.splitlines()[-1].endswith(" not decided")
