"""How fast the task engine is, beside Storm's builder and programs written by hand for one model.

    python -m benchmarks.engine [--data ../shared/data/jani] [--repeat 5] [--max-states 2000000]

Everything is measured in one run on the same files, best of ``--repeat``, in states per second of
wall time. Exploration starts from the models' initial values, as Storm's does. Ratios say more than
rates: machines are noisy.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.peers.storm import conditions_of, storm_counts

import surefoot

HERE = Path(__file__).parent
INSTANCES = {
    "two_way_line_15_10_det": {"model": "model.jani"},
    "blocksworld_6_5_cost05": {"model": "model.jani", "properties": "pa_original.jani"},
    "one_way_line_15_10_det": {"model": "one_way_line_15_10.jani"},
}
STORM_INSTANCE = "blocksworld_4_3_legacy"
STORM_CONSTANTS = {"failing_probability": 0.5, "item_cost_bound": 5}
PROPERTY_FILE = "one_way_line_15_10_det/pa_one_way_line_15_10_random_starts_1000.jani"


def main() -> None:
    """Measure and print all tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=HERE.parent.parent / "shared/data/jani")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--max-states", type=int, default=2_000_000)
    options = parser.parse_args()
    rates = explore_rates(options)
    limit_table(options, rates["two_way_line_15_10_det"])
    storm_table(options)
    loading_table(options)


def best(call: Callable[[], Any], rate: Callable[[Any], float], repeat: int) -> Any:
    """Return the fastest of ``repeat`` results."""
    return max((call() for _ in range(repeat)), key=rate)


def explore_rates(options: argparse.Namespace) -> dict[str, float]:
    """Print and return our own rate on each instance."""
    print(f"explore, from the initial values, at most {options.max_states:,} states")
    rates = {}
    for name, files in INSTANCES.items():
        folder = options.data / name
        properties = files.get("properties")
        task = surefoot.load_task(
            folder / files["model"], properties=properties and folder / properties
        )
        start = [task.initial_state()]
        result = best(
            lambda task=task, start=start: surefoot.explore(
                task, start, max_states=options.max_states
            ),
            lambda r: r.states_per_second,
            options.repeat,
        )
        rates[name] = result.states_per_second
        beyond = result.bytes_per_state - task.core.bits / 8
        print(
            f"  {name:26} {result.states:>9,} states {result.states_per_second / 1e6:6.2f} M/s"
            f"  {beyond:5.1f} bytes per state beyond its {task.core.bits} bits"
        )
    return rates


def limit_table(options: argparse.Namespace, ours: float) -> None:
    """Print the rates of the hand-written explorers, and ours as a share of them."""
    print("hand-written explorers of the two-way line (benchmarks/limit)")
    for name, text in (
        ("two_way_line", "the limit: same service (ids, growing store)"),
        ("two_way_line_tuned", "tuned: memory set aside, no ids, model's specials"),
    ):
        rate = limit_rate(name, options)
        print(f"  {text:52} {rate / 1e6:6.2f} M/s; ours is {ours / rate:.2f} of it")


def limit_rate(name: str, options: argparse.Namespace) -> float:
    """Compile a hand-written explorer and return its best rate."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / name
        source = HERE / "limit" / f"{name}.cc"
        subprocess.run(["g++", "-std=c++20", "-O3", "-o", program, source], check=True)

        def run() -> float:
            command = [str(program), str(options.max_states)]
            out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            return float(json.loads(out)["states_per_second"])

        return float(best(run, lambda rate: rate, options.repeat))


def storm_table(options: argparse.Namespace) -> None:
    """Print Storm's rate and ours on an instance that it finishes, and if the counts agree."""
    model = options.data / STORM_INSTANCE / "model.jani"
    fail, goal = conditions_of(model)
    print(f"Storm's builder on {STORM_INSTANCE} with item_cost_bound=5")
    theirs = best(
        lambda: storm_counts(model, STORM_CONSTANTS, 300, fail=fail, goal=goal),
        lambda counts: counts["states_per_second"],
        min(options.repeat, 3),
    )
    task = surefoot.load_task(model, constants=STORM_CONSTANTS)
    start = [task.initial_state()]
    ours = best(
        lambda: surefoot.explore(task, start), lambda r: r.states_per_second, options.repeat
    )
    print(f"  Storm     {theirs['states']:>9,} states {theirs['states_per_second'] / 1e6:6.2f} M/s")
    print(
        f"  surefoot  {ours.states:>9,} states {ours.states_per_second / 1e6:6.2f} M/s: "
        f"{ours.states_per_second / theirs['states_per_second']:.0f} times Storm's rate"
    )
    agree = (theirs["states"], theirs["choices"]) == (ours.states, ours.pairs)
    print(f"  states and pairs {'agree' if agree else 'DISAGREE'}")


def loading_table(options: argparse.Namespace) -> None:
    """Print what loading a property file costs, as a multiple of json.loads."""
    path = options.data / PROPERTY_FILE
    model = path.parent / "one_way_line_15_10.jani"
    data = path.read_bytes()
    parsing = min(seconds_of(lambda: json.loads(data)) for _ in range(options.repeat))
    loading = min(
        seconds_of(lambda: surefoot.load_task(model, properties=path))
        for _ in range(options.repeat)
    )
    print(
        f"loading a property file of {len(data) / 1e6:.1f} MB: {loading * 1e3:.0f} ms, "
        f"{loading / parsing:.1f} times json.loads ({parsing * 1e3:.0f} ms)"
    )


def seconds_of(call: Callable[[], object]) -> float:
    """Return how long the call takes."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
