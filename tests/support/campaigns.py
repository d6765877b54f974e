"""Campaigns to report on: real tasks, policies, runs and findings, with numbers made up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import surefoot
import surefoot.options
from surefoot.campaign.given import Given
from surefoot.certificates import task_member
from surefoot.policies.loaded import Loaded
from surefoot.policies.writing import write_policy
from surefoot.records.campaigns import CampaignFile, KeptPolicy
from surefoot.records.parts import TaskPart
from surefoot.report import CampaignSource

HOSTILE = (
    "<script>window.hacked=1</script>",
    '"><img src=x onerror=window.hacked=2>',
    "</script><script>window.hacked=3</script>",
    "bell\x07 escape\x1b[31m",
    "right\u202eto\u202dleft",
    "`tick` | pipe & {{ 7 * 7 }}",
)
SECONDS = {"fuzz": 0.8, "faults": 1.25, "repair": 0.31}


def evaluation(unsafe: int, goal: int, starts: int = 1_000) -> dict[str, Any]:
    """Return an evaluation as plain data."""
    return surefoot.EvaluateResult(
        unsafe_fraction=unsafe / starts,
        goal_fraction=goal / starts,
        starts=starts,
        exhaustive=starts,
        unsafe=unsafe,
        all_starts=False,
        runs=starts,
        goal=goal,
        fail=unsafe,
        states=12_345,
        seconds=0.5,
        ends={"goal": goal, "fail": unsafe},
    ).to_dict()


def iteration(number: int, failing: int, faults: int, examples: Any = (), **more: Any) -> Any:
    """Return a round of the loop as plain data."""
    diff = {"states": 10_000, "changed": 40 * failing, "examples": list(examples)}
    repaired = {"policy": f"policies/iteration-{number:03}.json", "policy_sha256": "ab" * 32}
    return {
        "iteration": number,
        "runs": 10_000,
        "unsafe_runs": failing,
        "new_faults": failing // 3,
        "faults": faults,
        "seconds": SECONDS,
        "unavoidable": 0,
        "undecided": 0,
        "trees_added": number - 1,
        "changed_parameters": 12 * number,
        "distance": 1.25 * number,
        "keep_states": 2_000,
        "keep_lost": 3,
        "diff": diff if failing else None,
        **(repaired if failing else {"policy": None, "policy_sha256": None}),
        "verdict": None,
        "reason": None,
        **more,
    }


def content(task: Any, policy: Any, **more: Any) -> dict[str, Any]:
    """Return the data of a campaign that ended safe, without any fault."""
    return {
        "surefoot": surefoot.__version__,
        "campaign": 1,
        "directory": "campaign",
        "state": "finished",
        "outcome": "safe",
        "reason": "no run fails from any of the 4,321 start states",
        "task": dict(task_member(task)),
        "policy": {
            "name": policy.name,
            "sha256": policy.sha256,
            "interface": None,
            "unfiltered": False,
            "model": "40 trees",
        },
        "options": {"starts": 10_000, "seed": 7, "method": "minimal"},
        "seed": 7,
        "seconds": 83.4,
        "starts": {"debugging": 10_000, "evaluation": 1_000, "all": False, "disjoint": True},
        "before": evaluation(123, 870),
        "after": evaluation(0, 868),
        "iterations": [iteration(1, 60, 20), iteration(2, 9, 23), iteration(3, 0, 23)],
        "faults": [],
        "verification": {
            "verdict": "safe",
            "method": "explicit",
            "states": 98_765,
            "starts": 4_321,
            "all_starts": True,
            "reason": None,
            "certificate": "certificates/policy-safe.jsonl",
            "checked": True,
            "seconds": 1.5,
        },
        "final_policy": None,
        "final_sha256": None,
        "reproduce": ["surefoot debug TASK --policy POLICY -o campaign --seed 7"],
        **more,
    }


def found_in(folder: Path, task: Any, policy: Any, runs: int) -> list[dict[str, Any]]:
    """Fuzz, write a finding of each fault below the folder, and return the faults as data."""
    fuzzed = surefoot.fuzz(task, policy, runs=runs)
    result = surefoot.find_faults(task, policy, fuzzed.failing)
    (folder / "findings").mkdir(parents=True, exist_ok=True)
    faults = []
    for number, fault in enumerate(result.faults):
        name = f"findings/fault-{number:016x}.json"
        surefoot.finding_of(task, policy, fault).write(folder / name)
        faults.append(
            {
                "state": fault.state.to_dict(),
                "action": fault.action,
                "outcome": fault.outcome.to_dict(),
                "alternatives": list(fault.alternatives),
                "iteration": 1,
                "steps": fault.run.steps,
                "step": fault.step,
                "more_unknown": fault.has_unknown_alternatives,
                "finding": name,
                "checked": True,
            }
        )
    return sorted(faults, key=lambda one: one["steps"])


def source(folder: Path, made: dict[str, Any], file: str = "policy/policy.json") -> CampaignSource:
    """Return what to report on: these data, and the files in the folder."""
    (folder / "campaign.json").write_text("{}")
    content = CampaignFile(
        surefoot=surefoot.__version__,
        campaign=1,
        task=TaskPart(**made["task"]),
        begun_in=".",
        policy=KeptPolicy(**made["policy"], file=file, files={}),
        options={},
    )
    return CampaignSource(made, Given(folder, content, surefoot.options.DebugOptions(), ""))


def blocks(folder: Path) -> CampaignSource:
    """Return a campaign on Blocksworld, with the files that belong to it in the folder.

    The policy is repaired by making the one bad action look bad everywhere.
    """
    task = surefoot.load_task("domain:blocksworld")
    who = surefoot.load_policy("builtin:blocksworld-trees", task)
    faults = found_in(folder, task, who, 300)
    for name in ("policy", "policies"):
        (folder / name).mkdir()
    write_policy(who, folder / "policy" / "policy.json")
    final = repaired(who, faults[0]["action"], folder / "policies" / "final.json")
    examples = [{"state": faults[0]["state"], "before": "choose_table", "after": "choose_block_1"}]
    rounds = [iteration(1, 60, 20, examples), iteration(2, 9, 23), iteration(3, 0, 23)]
    rounds[1]["policy_sha256"] = final.sha256
    more = {"final_policy": "policies/final.json", "final_sha256": final.sha256}
    made = content(task, who, faults=faults, iterations=rounds, **more)
    made["policy"]["interface"] = who.interface.to_dict()
    return source(folder, made)


def repaired(policy: Any, action: str, file: Path) -> Any:
    """Write the policy as it would be if it thought badly of the action; return it."""
    base = policy.model.base.copy()
    base[policy.interface.outputs.index(action)] -= 100
    model = replace(policy.model, base=base)
    write_policy(Loaded(model=model, interface=policy.interface), file)
    return surefoot.load_policy(file, policy.task)


def line(folder: Path) -> CampaignSource:
    """Return a campaign with hundreds of faults and a policy that gives no scores."""
    task = surefoot.load_task("domain:one-way-line?packages=6&locations=8&variant=icy-park")
    who = surefoot.load_policy("first", task)
    made = content(task, who, faults=found_in(folder, task, who, 300))
    return source(folder, made)


def hostile_task() -> Any:
    """Return a task whose names want to be more than text."""
    evil = surefoot.Description(HOSTILE[0])
    x = evil.int(HOSTILE[1], 0, 3, initial=0)
    y = evil.int(HOSTILE[4], 0, 3, initial=0)
    evil.edge(HOSTILE[2], guard=x < 3, outcomes=[{x: x + 1}])
    evil.edge(HOSTILE[3], guard=y < 3, outcomes=[{y: y + 1}])
    evil.start(x == 0)
    evil.goal(y == 3)
    evil.fail(x == 2)
    return evil.compile()


def hostile(folder: Path) -> CampaignSource:
    """Return a campaign in which every name is hostile."""
    task = hostile_task()
    policy = surefoot.load_policy("first", task)
    faults = found_in(folder, task, policy, 5)
    examples = [{"state": faults[0]["state"], "before": HOSTILE[2], "after": HOSTILE[3]}]
    made = content(
        task,
        policy,
        faults=faults,
        reason=HOSTILE[5],
        reproduce=list(HOSTILE),
        outcome="improved",
        directory=HOSTILE[1],
        options={name: name for name in HOSTILE},
        iterations=[iteration(1, 60, 20, examples, verdict=HOSTILE[0], reason=HOSTILE[1])],
        final_policy=HOSTILE[2],
    )
    made["policy"] |= {"name": HOSTILE[2], "model": HOSTILE[0]}
    made["verification"] |= {"verdict": HOSTILE[0], "reason": HOSTILE[1], "method": HOSTILE[5]}
    made["verification"]["certificate"] = HOSTILE[4]
    return source(folder, made)
