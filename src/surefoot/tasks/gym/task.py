"""Tasks of Gymnasium environments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from surefoot.errors import InputError, quoted, shown
from surefoot.options import whole
from surefoot.tasks.gym import SEEDS, STARTS
from surefoot.tasks.gym.known import Foreign, known_of
from surefoot.tasks.gym.making import action_names, imported, is_environment, made, name_of
from surefoot.tasks.gym.rules import EndRules, Rule, function_of, rule_of
from surefoot.tasks.gym.sampled import SampledTask, Sampling
from surefoot.tasks.gym.tables import Values, describe, read_table, table_in

if TYPE_CHECKING:
    from surefoot.tasks.compiled_task import CompiledTask
    from surefoot.tasks.task import Task

HARMLESS = ("OrderEnforcing", "PassiveEnvChecker", "TimeLimit", "OrderEnforcingWrapper")
"""wrappers that change neither steps nor observations"""
MAX_SEEDS = 100_000


def from_gym(
    env: str | Foreign,
    *,
    fail: str | Rule | None = None,
    goal: str | Rule | None = None,
    key: str | Callable[[Foreign, Foreign], object] | None = None,
    save: Callable[[Foreign], object] | None = None,
    restore: Callable[[Foreign, Foreign], object] | None = None,
    seeds: int = SEEDS,
    starts: int = STARTS,
    parameters: Mapping[str, object] | None = None,
) -> Task:
    """Return the task of a Gymnasium environment, or of the id of one, made with ``parameters``.

    An environment with a table of transitions (``env.unwrapped.P``) becomes an exact task. Any
    other one is stepped: its state is copied, or saved and restored by ``save(env)`` and
    ``restore(env, saved)``; each action is tried under several ``seeds``, and outcomes that were
    not seen are not known. ``key(observation, env)`` tells states apart, without it the
    observation does. Runs begin with ``starts`` seeds, where the start states are not listed.

    ``fail`` and ``goal`` say which steps do: functions of (observation, reward, terminated, info),
    or text such as ``"terminated & reward <= 0"``, or ``"never"``. For some environments that is
    known; for others ``fail`` must be given (``gym-no-fail``).
    """
    imported()
    if isinstance(env, str):
        env = made(env, parameters or {})
    elif not is_environment(env):
        raise InputError(
            "not-an-environment",
            f"{shown(env)} is not an environment",
            hint="give an environment of Gymnasium, or the id of one",
        )
    rules = _rules_of(env, fail, goal)
    count = _count(starts, "starts")
    if (table := table_in(env)) is not None and key is None and save is None:
        return _of_table(env, table, rules, count)
    if (save is None) is not (restore is None):
        raise InputError("bad-option", "save and restore are given together")
    function: Foreign = function_of(key, "key") if isinstance(key, str) else key
    sampling = Sampling(rules, function, save, restore, _count(seeds, "seeds"), count)
    name = f"{name_of(env)} (outcomes sampled)"
    return SampledTask(env, sampling, name=name, actions=action_names(env))


def _rules_of(env: Foreign, fail: str | Rule | None, goal: str | Rule | None) -> EndRules:
    known = known_of(env)
    failing = fail or known.fail
    if failing is None:
        raise InputError(
            "gym-no-fail",
            f"which steps of {quoted(name_of(env))} fail? its rewards may mean anything",
            hint="say it: fail='terminated & reward <= 0', --task.fail 'reward < 0', or 'never'",
        )
    return EndRules(rule_of(failing, "fail"), rule_of(goal or known.goal, "goal"))


def _count(given: object, name: str) -> int:
    number = whole(given)
    if number is None or not 1 <= number <= MAX_SEEDS:
        raise InputError("bad-option", f"{name} is from 1 to {MAX_SEEDS:,}, not {shown(given)}")
    return number


def _of_table(
    env: Foreign, given: Mapping[int, Foreign], rules: EndRules, starts: int
) -> CompiledTask:
    names, decode = _decoding(env, len(given))
    description = describe(
        name_of(env),
        read_table(given, rules),
        _starts_of(env, len(given), starts),
        actions=action_names(env),
        names=names,
        decode=decode,
    )
    if others := [each for each in _wrappers(env) if each not in HARMLESS]:
        description.warn(f"the table of transitions knows nothing of the wrapper {others[0]}")
    return description.compile()


def _wrappers(env: Foreign) -> list[str]:
    names = []
    while env is not env.unwrapped:
        names.append(type(env).__name__)
        env = env.env
    return names


def _starts_of(env: Foreign, count: int, seeds: int) -> list[int]:
    """Return the start states: as the environment lists them, or as it begins with some seeds."""
    listed: Foreign = getattr(env.unwrapped, "initial_state_distrib", None)
    if listed is not None and len(listed) == count:
        return [state for state, weight in enumerate(listed) if weight > 0]
    states: dict[int, None] = {}
    for seed in range(seeds):
        observation, _ = env.reset(seed=seed)
        number = whole(observation.item() if hasattr(observation, "item") else observation)
        if number is None or not 0 <= number < count:
            raise InputError(
                "bad-environment",
                f"it begins in {shown(observation)}, which is no state of its table",
            )
        states[number] = None
    return list(states)


def _decoding(env: Foreign, count: int) -> tuple[Sequence[str], Callable[[int], Values]]:
    """Return the names of the variables, and their values by state."""
    decode: Foreign = getattr(env.unwrapped, "decode", None)
    if callable(decode):
        values = [tuple(int(value) for value in decode(state)) for state in range(count)]
        width = len(values[0])
        if len(set(values)) == count and all(len(each) == width for each in values):
            known = known_of(env).variables
            names = known if len(known) == width else tuple(f"x{at}" for at in range(width))
            return names, values.__getitem__
    return ("state",), lambda state: (state,)
