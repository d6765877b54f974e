"""How fast another version of Surefoot is beside this one: ``python -m benchmarks.before_after``.

    python -m benchmarks.before_after OLD_PYTHON [--new PYTHON] [--seconds 3] [--only NAME ...]
    python -m benchmarks.before_after OLD_PYTHON --instructions

OLD_PYTHON is the interpreter of an environment in which the other version is installed. Both
versions run the same small workloads in turns, each in a process of its own. Printed are the least
seconds of processor time, of all threads together, and new as a multiple of old: what others do on
the machine slows both. ``--instructions`` counts instructions under valgrind in place of seconds,
which is slow but says the same again: what a workload costs is what a second call adds to the
first. Start-up is a command from beginning to end.

A workload uses what every version has: the public interface, and for oracles, environments and
explicit verification the core's functions of the same names.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
ICY = "domain:two-way-line?packages=2&locations=6&variant=icy"
ICY_TREES = "builtin:two-way-line-icy-trees"
LINE = "domain:one-way-line?size=15-10"
PARKED = ("domain:one-way-line?variant=icy-park&packages=15&locations=10", 500)
STAIRS = ("domain:staircase?steps=2000", 5)
SMALL_ICY = ("domain:two-way-line?packages=4&locations=8&variant=icy", 200)
LIMITS = {"max_seconds": 600.0, "max_bytes": 4 * 10**9, "progress": None}
SHORT = 0.02  # seconds of one measurement: less than what others get of a processor at a time
LEAST_ROUNDS = 5
START_UP = {
    "start: import surefoot": ["-c", "import surefoot"],
    "start: --help": ["-m", "surefoot", "--help"],
    "start: --version": ["-m", "surefoot", "--version"],
    "start: explore": ["-m", "surefoot", "explore", "domain:layered"],
    "start: decide": ["-m", "surefoot", "decide", "domain:layered", "--sample", "1"],
    "start: fuzz": ["-m", "surefoot", "fuzz", ICY, "--policy", ICY_TREES, "--runs", "10"],
    "start: verify": ["-m", "surefoot", "verify", ICY, "--policy", ICY_TREES],
}
Call = Callable[[], object]


# -- workloads -------------------------------------------------------------------------------


def exploring(address: str, max_states: int) -> Call:
    """Return what explores a task from one start state."""
    import surefoot

    task = surefoot.load_task(address)
    starts = task.sample_starts(1, seed=0)
    return lambda: surefoot.explore(task, starts, max_states=max_states)


def deciding(oracle: str, address: str, starts: int) -> Call:
    """Return what asks a fresh oracle about so many start states, without checking its answers."""
    import surefoot
    from surefoot import _core

    task = surefoot.load_task(address)
    packed = [state.packed for state in task.sample_starts(starts, seed=0)]

    def decide() -> None:
        made = _core.Oracle(task.core, oracle, order="app", seed=0, policy=None, radius=None)
        for state in packed:
            made.decide(state, max_states=2**32, **LIMITS)

    return decide


def answering(**options: Any) -> Call:
    """Return what asks the public oracle about many states."""
    import surefoot

    task = surefoot.load_task(ICY)
    policy = surefoot.load_policy(ICY_TREES, task)
    states = task.sample_starts(200, seed=0)
    if "radius" in options:
        options["policy"] = policy

    def decide() -> None:
        oracle = surefoot.Oracle(task, **options)
        for state in states:
            oracle.decide(state)

    return decide


def with_policy(address: str, name: str, work: Callable[[Any, Any], object]) -> Call:
    """Return what does some work with a task and a policy."""
    import surefoot

    task = surefoot.load_task(address)
    policy = surefoot.load_policy(name, task)
    return lambda: work(task, policy)


def fuzzing(runs: int, bias: str, lookahead: int | None) -> Call:
    """Return what fuzzes the trees of the icy line."""
    import surefoot

    steps = 2**64 - 1 if lookahead is None else lookahead  # both versions look as far as needed
    options: dict[str, Any] = {"runs": runs, "bias": bias, "lookahead": steps, "workers": 1}
    return with_policy(ICY, ICY_TREES, lambda task, policy: surefoot.fuzz(task, policy, **options))


def simulating() -> Call:
    """Return what simulates runs of a network, each from a policy of its own."""
    import surefoot

    return with_policy(
        LINE,
        "builtin:one-way-line-network",
        lambda task, policy: surefoot.simulate(task, policy=policy, runs=200),
    )


def evaluating() -> Call:
    """Return what evaluates the trees of the icy line."""
    import surefoot

    return with_policy(
        ICY, ICY_TREES, lambda task, policy: surefoot.evaluate(task, policy, starts=1000)
    )


def blaming() -> Call:
    """Return what looks for faults on failing runs."""
    import surefoot

    def work(task: Any, policy: Any) -> object:
        runs = surefoot.fuzz(task, policy, runs=2000, workers=1).failing
        return surefoot.find_faults(task, policy, runs)

    return with_policy(ICY, ICY_TREES, work)


def repairing() -> Call:
    """Return what repairs the trees of the icy line."""
    import surefoot

    task = surefoot.load_task(ICY)
    policy = surefoot.load_policy(ICY_TREES, task)
    runs = surefoot.fuzz(task, policy, runs=200, workers=1).failing
    faults = surefoot.find_faults(task, policy, runs).faults
    return lambda: surefoot.repair(task, policy, faults, keep=100)


def debugging() -> Call:
    """Return what debugs the trees of the icy line."""
    import surefoot

    return with_policy(
        ICY, ICY_TREES, lambda task, policy: surefoot.debug(task, policy, seed=0, iterations=3)
    )


def enumerating(name: str) -> Call:
    """Return what follows a policy of the one-way line from many start states."""
    from surefoot import _core

    def work(task: Any, policy: Any) -> object:
        starts = task.draw_starts(20_000)
        return _core.verify_explicit(
            task.core, policy.core, starts, workers=1, max_runs=1, max_states=10**6, **LIMITS
        )

    return with_policy(LINE, name, work)


def verifying(method: str, address: str, name: str, **options: Any) -> Call:
    """Return what verifies a policy by a method."""
    import surefoot

    options |= {"method": method, "workers": 1}
    return with_policy(address, name, lambda task, policy: surefoot.verify(task, policy, **options))


def asking(name: str) -> Call:
    """Return what asks a policy of the one-way line about many states, together and alone."""
    import surefoot

    task = surefoot.load_task(LINE)
    policy = surefoot.load_policy(name, task)
    states = task.sample_starts(2000, seed=0)

    def work() -> None:
        policy.decide_all(states)
        for state in states:
            policy.decide(state)

    return work


def stepping() -> Call:
    """Return what steps many environments together with actions drawn at random."""
    import numpy as np

    import surefoot
    from surefoot import _core
    from surefoot.policies.binding import core_interface
    from surefoot.policies.interface import scaled_interface

    task = surefoot.load_task(LINE)
    inputs, outputs = core_interface(task, scaled_interface(task))
    environments = _core.Environments(
        task.core,
        task.draw_starts(1000, seed=0),
        count=256,
        max_steps=200,
        inputs=inputs,
        outputs=outputs,
    )

    def work() -> None:
        environments.reset(0)
        rng = np.random.default_rng(0)
        for _ in range(200):
            chances = rng.random(environments.masks.shape, dtype=np.float32)
            actions = np.where(environments.masks, chances, -1.0).argmax(axis=1)
            environments.step(actions.astype(np.int32))

    return work


def gym_stepping() -> Call:
    """Return what takes steps in one Gymnasium environment."""
    import surefoot.gym

    env = surefoot.gym.TaskEnv(LINE, max_steps=200)

    def work() -> None:
        _, info = env.reset(seed=0)
        for _ in range(2000):
            _, _, ends, is_cut, info = env.step(info["action_mask"].nonzero()[0][0])
            if ends or is_cut:
                _, info = env.reset(seed=0)

    return work


def training() -> Call:
    """Return what trains a network for some steps."""
    import surefoot

    task = surefoot.load_task(LINE)
    return lambda: surefoot.train(task, steps=5_000, checkpoints=2, seed=0)


def loading(address: str) -> Call:
    """Return what loads a task."""
    import surefoot

    return lambda: surefoot.load_task(address)


WORKLOADS: dict[str, Callable[[], Call]] = {
    "load: two-way-line 15-10": lambda: loading("domain:two-way-line?size=15-10"),
    "load: racetrack": lambda: loading("domain:racetrack?size=small&variant=slip"),
    "explore: two-way-line": lambda: exploring("domain:two-way-line?size=15-10", 1_000_000),
    "explore: one-way-line icy": lambda: exploring(f"{LINE}&variant=icy", 500_000),
    "explore: blocksworld": lambda: exploring("domain:blocksworld?size=6-5", 500_000),
    **{
        f"decide: {oracle}": lambda oracle=oracle, instance=instance: deciding(oracle, *instance)
        for oracle, instance in {
            "lazy_attractor": PARKED,
            "ipi": PARKED,
            "npi": PARKED,
            "tarjan_safe": PARKED,
            "tarjan_safe_printed": PARKED,
            "lrtdp": PARKED,
            "lao_star": STAIRS,
            "value_iteration": STAIRS,
            "propagate_unsafe": SMALL_ICY,
        }.items()
    },
    "decide: from Python": answering,
    "decide: within a radius": lambda: answering(radius=1),
    "policies: network": lambda: asking("builtin:one-way-line-network"),
    "policies: trees": lambda: asking("builtin:one-way-line-trees"),
    "simulate": simulating,
    "fuzz: uniform": lambda: fuzzing(20_000, "uniform", 1),
    "fuzz: greedy": lambda: fuzzing(20_000, "greedy", 1),
    "fuzz: weighted, unlimited": lambda: fuzzing(1000, "weighted", None),
    "evaluate": evaluating,
    "faults": blaming,
    "verify: explicit, trees": lambda: enumerating("builtin:one-way-line-trees"),
    "verify: explicit, network": lambda: enumerating("builtin:one-way-line-network"),
    "verify: explicit, public": lambda: verifying("explicit", ICY, ICY_TREES),
    "verify: box": lambda: verifying("box", "domain:staircase", "builtin:staircase-trees"),
    "repair": repairing,
    "debug": debugging,
    "environments: core": stepping,
    "environments: gym": gym_stepping,
    "train": training,
}


# -- measuring -------------------------------------------------------------------------------


def serve(name: str) -> None:
    """Answer every line of the input with the processor seconds that a workload took."""
    call = WORKLOADS[name]()
    calls = 1
    while seconds_of(call, calls) < SHORT:
        calls *= 2
    for _ in sys.stdin:
        print(f"measured {seconds_of(call, calls) / calls!r}", flush=True)


def seconds_of(call: Call, calls: int) -> float:
    """Return the processor seconds of so many calls."""
    begin = time.process_time()
    for _ in range(calls):
        call()
    return time.process_time() - begin


class Server:
    """A version of Surefoot in a process of its own, ready to run a workload."""

    def __init__(self, python: str, name: str) -> None:
        self.process = subprocess.Popen(
            [python, __file__, "--serve", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(),
            cwd="/",
            text=True,
        )

    def seconds(self) -> float:
        """Return the processor seconds of the workload."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("measured "):
                return float(line.removeprefix("measured "))
        raise SystemExit("a version cannot run the workload")

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


def start_up_seconds(command: list[str]) -> float:
    """Return the processor seconds of a command."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment(), cwd="/")
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime


def instructions(python: str, name: str) -> float:
    """Return the millions of instructions of a workload or a start-up."""
    if name in START_UP:
        return counted([python, *START_UP[name]])
    command = [python, __file__, "--calls"]
    return counted([*command, "2", name]) - counted([*command, "1", name])


def counted(command: list[str]) -> float:
    """Return the millions of instructions of a command."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        tool = ["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--log-file={log}"]
        done = subprocess.run(
            [*tool, "--cachegrind-out-file=/dev/null", *command],
            env=environment(),
            cwd="/",
            capture_output=True,
            text=True,
        )
        found = re.search(r"I +refs: +([\d,]+)", log.read_text())
    if found is None or done.returncode not in (0, 1, 4):  # 1 and 4 say what was found
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    return int(found[1].replace(",", "")) / 1e6


def environment() -> dict[str, str]:
    """Return an environment in which nothing depends on the number of processors or on chance."""
    fixed = dict.fromkeys(THREADS, "1") | {"PYTHONHASHSEED": "0"}
    return {name: text for name, text in os.environ.items() if name != "PYTHONPATH"} | fixed


def main() -> None:
    """Print a row for each workload."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("old", help="interpreter of the other version")
    parser.add_argument("--new", default=sys.executable, help="default: this interpreter")
    parser.add_argument("--seconds", type=float, default=3.0, help="of both, for each workload")
    parser.add_argument("--instructions", action="store_true", help="counted under valgrind")
    parser.add_argument("--only", nargs="*", default=[], help="beginnings of names of workloads")
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2])
    elif sys.argv[1:2] == ["--calls"]:
        seconds_of(WORKLOADS[sys.argv[3]](), int(sys.argv[2]))
    else:
        compare(parser.parse_args())


def compare(options: argparse.Namespace) -> None:
    """Print both versions' costs, and new as a multiple of old."""
    unit = "M instructions" if options.instructions else "processor seconds"
    print(f"{unit:32} {'old':>12} {'new':>12}  new / old")
    beginnings = tuple(options.only) or ("",)
    for name in filter(lambda name: name.startswith(beginnings), [*START_UP, *WORKLOADS]):
        old, new = costs(name, options)
        print(f"{name:32} {old:>12.5f} {new:>12.5f}  {new / old:9.3f}", flush=True)


def costs(name: str, options: argparse.Namespace) -> tuple[float, float]:
    """Return the least costs of the old and the new version, which take turns."""
    pythons = (options.old, options.new)
    if options.instructions:
        old, new = (instructions(python, name) for python in pythons)
        return old, new
    if name in START_UP:
        return turns(
            [lambda p=python: start_up_seconds([p, *START_UP[name]]) for python in pythons],
            options.seconds,
        )
    servers = [Server(python, name) for python in pythons]
    try:
        return turns([server.seconds for server in servers], options.seconds)
    finally:
        for server in servers:
            server.close()


def turns(calls: list[Callable[[], float]], enough: float) -> tuple[float, float]:
    """Return the least seconds of two calls that take turns until they took enough."""
    rounds: list[list[float]] = []
    while len(rounds) < LEAST_ROUNDS or sum(map(sum, rounds)) < enough:
        rounds.append([call() for call in calls])
    old, new = map(min, zip(*rounds, strict=True))
    return old, new


if __name__ == "__main__":
    main()
