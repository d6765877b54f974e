"""Train a policy on FrozenLake with Stable-Baselines3, test it, repair it, and test it again.

    pip install 'surefoot[gym]' stable-baselines3
    python examples/frozenlake.py

FrozenLake shows its table of transitions, so the task is exact: what is said to be safe is proved.
The policy has not learned for long, and steps where it may slip into a hole.
"""

import gymnasium
import torch
from stable_baselines3 import PPO

import surefoot

torch.set_num_threads(1)  # the network is small

env = gymnasium.make("FrozenLake-v1")
model = PPO("MlpPolicy", env, seed=2, device="cpu", n_steps=512).learn(4_096)

task = surefoot.from_gym(env)
policy = surefoot.load_policy(model, task)
runs = surefoot.fuzz(task, policy, bias="uniform")
print(surefoot.find_faults(task, policy, runs.failing))

result = surefoot.debug(task, policy)  # finds faults and repairs the network, again and again
print(result)
print(surefoot.verify(task, result.policy))
