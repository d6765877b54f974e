"""Train with somebody else's trainer, test with Surefoot.

    pip install 'surefoot[train]' sb3-contrib
    python examples/gymnasium_training.py

MaskablePPO of sb3-contrib learns to drive a truck along an icy line, which it must not overrun. It
sees a Gymnasium environment and knows nothing about Surefoot. Its network then becomes a policy of
the task, and Surefoot tells whether it may fail, and which decisions are to blame.
"""

# %% What it needs.
import sys

import surefoot

try:
    import torch
    from sb3_contrib import MaskablePPO

    from surefoot.gym import TaskEnv
except ImportError as error:
    sys.exit(f"this needs {error.name}: pip install 'surefoot[train]' sb3-contrib")

torch.set_num_threads(1)  # faster for a network as small as this

# %% The task as an environment. Observations are the variables, scaled to -1..1.
task = surefoot.domain("one-way-line", packages=3, locations=6, variant="icy-park")
env = TaskEnv(task, max_steps=50, step_reward=-0.01)

# %% The trainer asks env.action_masks() for the applicable actions.
model = MaskablePPO(
    "MlpPolicy",
    env,
    n_steps=512,
    batch_size=128,
    n_epochs=5,
    learning_rate=2e-3,
    seed=0,
    device="cpu",
)


def policy_of(model: MaskablePPO) -> surefoot.Policy:
    """Return what decides in the model, the layers from observations to the scores of actions."""
    layers = [*model.policy.mlp_extractor.policy_net, model.policy.action_net]
    return surefoot.load_policy(torch.nn.Sequential(*layers), task, interface=env.interface)


# %% Train a little, test, train more.
for steps in (1_000, 4_000):
    model.learn(steps - model.num_timesteps, reset_num_timesteps=False)
    policy = policy_of(model)
    print(f"after {model.num_timesteps:,} steps")
    print(surefoot.evaluate(task, policy))
    found = surefoot.fuzz(task, policy, runs=200, seed=0)
    print(found.summary_text)
    result = surefoot.find_faults(task, policy, found.failing)
    print(result.summary_text)
    for fault in result.faults[:1]:
        print(fault)

# %% The policy decides as the model itself does.
observation, info = env.reset(seed=1)
wish, _ = model.predict(observation, action_masks=env.action_masks(), deterministic=True)
assert policy.decide(info["state"]) == env.interface.outputs[wish]
