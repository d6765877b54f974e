"""Options of every stage, declared once: the command line and keyword arguments are made from them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class BudgetOptions:
    """What a stage may use before it must stop."""

    max_seconds: float = 600.0
    """stop after this many seconds"""
    memory_mb: int = 4096
    """stop when the stored states need more than this many megabytes"""


@dataclass(frozen=True, kw_only=True)
class ExploreOptions(BudgetOptions):
    """How far to explore."""

    max_states: int = 100_000_000
    """stop when this many states are stored"""


@dataclass(frozen=True, kw_only=True)
class SimulateOptions(BudgetOptions):
    """Which runs to simulate."""

    policy: str = "random"
    """who picks the actions: random or first"""
    runs: int = 1
    """how many runs"""
    max_steps: int = 100
    """cut a run after this many steps"""
    seed: int = 0
    """same seed, task and policy: same runs, on any machine"""
