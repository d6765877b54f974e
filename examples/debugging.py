"""Debug a policy: find its faults, repair them, prove the result, and look at what was done.

    python examples/debugging.py [DIRECTORY]

Jigs come by plane, are stored in racks and brought to production lines. The policy is a tree
ensemble that learned this from a network, with its mistakes: now and then it blocks itself.
"""

# %% The task and a policy with faults, from the box. Any network or tree ensemble will do.
import sys
import tempfile
from pathlib import Path

import surefoot

task = surefoot.domain("beluga", size="4-2")
policy = surefoot.load_policy("builtin:beluga-trees", task)

# %% Fuzz, find faults, repair all of them, again, and verify. Everything is kept in a directory.
scratch = tempfile.TemporaryDirectory()
directory = Path(sys.argv[1] if len(sys.argv) > 1 else f"{scratch.name}/campaign")
result = surefoot.debug(task, policy, directory=directory)
print(result)

# %% What happened in each iteration?
for one in result.iterations:
    text = f"iteration {one.iteration}: {one.unsafe_runs} runs fail, {one.new_faults} new faults"
    if one.policy is None:
        print(f"{text}; verdict {one.verdict}")
    else:
        kept = f"{one.keep_states - one.keep_lost} of {one.keep_states} decisions on goal runs kept"
        print(f"{text}; {one.changed_parameters} parameters changed, {kept}, {one.diff}")

# %% The smallest fault: a state, what the policy did there, and what would have been safe.
fault = result.faults[0]
print(task.picture(fault.state))
print(f"{fault.action} is a fault; safe alternative: {', '.join(fault.alternatives)}")

# %% The repaired policy is a policy like any other. Its file is in the directory.
print(f"{result.policy.file.name} decides on {result.policy.decide(fault.state)}")
assert surefoot.verify(task, result.policy).verdict == "safe"

# %% Independent code checks the evidence; the report is a page to read.
surefoot.read_finding(directory / fault.finding).check()
page = surefoot.write_report(directory)
print(f"{page.name}: {page.stat().st_size // 1000:,} kB")
