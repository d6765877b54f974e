"""Test a policy: find runs that fail, name the guilty decisions, do better.

    python examples/testing.py

A truck collects packages along an icy road and must not drive past its end. The driver below is
good, and a bit too fast: ice may keep him from slowing down.
"""

# %% The task and a policy. Any function from states to names of actions is one.
import surefoot

PACKAGES, LOCATIONS = 3, 6
task = surefoot.domain("one-way-line", packages=PACKAGES, locations=LOCATIONS, variant="icy-park")


def driver(state: surefoot.State) -> str:
    """Take everything along, drive at speed 2 where the next package is far, else at 1."""
    place, speed = state["truck_0"], state["truck_vel_0"]
    loads = [state[f"location_load_{i}"] for i in range(LOCATIONS)]
    waiting = [i for i in range(place, LOCATIONS - 1) if loads[i] > 0]
    target = waiting[0] if waiting else LOCATIONS - 1
    if speed == 0 and target == place:
        wish = "pick_up_truck_0" if waiting else "drop_truck_0"
    elif speed == 0 or (speed == 1 and target - place > 3):
        wish = "acc_truck_0"
    else:
        wish = "dec_truck_0" if target - place < 2 * speed else "move_truck_0"
    possible = task.applicable(state)
    return wish if wish in possible else possible[-1]


# %% How good is it? Everything that it can reach is enumerated, from all start states.
before = surefoot.evaluate(task, driver)
print(f"before: {before}")

# %% Find runs that fail.
found = surefoot.fuzz(task, driver, runs=200, bias="greedy", seed=0)
print(found.summary_text)

# %% Which decisions are to blame, and what would have been safe?
result = surefoot.find_faults(task, driver, found.failing)
print(result.summary_text)
fault = min(result.faults, key=lambda fault: fault.run.steps)
print(fault)

# %% Every fault has certificates that independent code checks.
fault.certificates.outcome.check()
for certificate in fault.certificates.alternatives.values():
    certificate.check()

# %% The smallest run with a fault on it.
print(surefoot.minimise(task, driver, fault))

# %% Do better: where the driver is known to be wrong, take a safe alternative. Repeat.
better = {fault.state: fault.alternatives[0] for fault in result.faults}


def careful_driver(state: surefoot.State) -> str:
    """Drive as before, except in the states of faults."""
    return better.get(state) or driver(state)


while failing := surefoot.fuzz(task, careful_driver, runs=200, bias="greedy", seed=0).failing:
    more = surefoot.find_faults(task, careful_driver, failing).faults
    if not more:
        break  # the start itself is unsafe
    better |= {fault.state: fault.alternatives[0] for fault in more}

after = surefoot.evaluate(task, careful_driver)
print(f"after {len(better)} faults: {after}")
