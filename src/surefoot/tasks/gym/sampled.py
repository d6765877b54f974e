"""Tasks of environments that can only be stepped: outcomes are sampled.

A state is a snapshot of the environment, known by its key. An action is tried from there under
several seeds; what was never seen is not an outcome here, so nothing is proved about it. An
environment that draws no random number in a step is stepped once.
"""

from __future__ import annotations

import copy
import hashlib
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from surefoot.errors import InputError, Unsupported, printable, shown
from surefoot.tasks.gym.known import Foreign, forget_time, grid_key, is_grid
from surefoot.tasks.gym.rules import Ending, EndRules
from surefoot.tasks.gym.spaces import leaves_of, observed_of, values_of
from surefoot.tasks.python_task import PythonTask
from surefoot.tasks.task import Feature

END = "end"
"""the variable that says how a run ended: 0 not yet, 1 fail, 2 goal, 3 otherwise"""
Values = tuple[Foreign, ...]


@dataclass(frozen=True)
class Sampling:
    """How an environment is stepped, and how states are told apart."""

    rules: EndRules
    key: Callable[[Foreign, Foreign], object] | None
    save: Callable[[Foreign], object] | None
    restore: Callable[[Foreign, Foreign], object] | None
    seeds: int
    starts: int


@dataclass(frozen=True)
class Seen:
    """A state that was met: how to go on from there, and what is observed of it."""

    snapshot: object
    observation: object


class SampledTask(PythonTask):
    """The task of an environment that is stepped. Its outcomes are those that were seen."""

    features = frozenset({Feature.ACTIONS})

    def __init__(
        self, env: Foreign, sampling: Sampling, *, name: str, actions: tuple[str, ...]
    ) -> None:
        self.env = env
        self._simulator = simulator = _Simulator(env, sampling, actions)
        simulator.start()
        super().__init__(simulator, name=name, names=simulator.names)
        for action in actions:
            self._action_number(action, "no state")
        self.observed = simulator.observed
        self.observation = lambda state: simulator.seen[self._own(state)].observation

    def _own(self, state: object) -> Values:
        values: Foreign = self.own_state(self.state(state))
        return tuple(values)


class _Simulator:
    """The environment as the definition of a task; states are tuples that end with ``end``."""

    def __init__(self, env: Foreign, sampling: Sampling, actions: tuple[str, ...]) -> None:
        self._env, self._how = env, sampling
        space: Foreign = env.action_space
        self._actions = {name: int(space.start) + at for at, name in enumerate(actions)}
        self.names: tuple[str, ...] = ()
        self.seen: dict[Values, Seen] = {}
        self._known: dict[tuple[Values, str], list[Values]] = {}
        self._begin: list[Values] = []
        key: Foreign = (lambda _, env: grid_key(env)) if is_grid(env) else None
        self._key = sampling.key or key
        leaves = leaves_of(env.observation_space) if self._key is None else []
        self.names = (*(leaf.name for leaf in leaves), END) if leaves else ()
        self.observed = observed_of(leaves)

    # -- the five methods ------------------------------------------------------------------------

    def start(self) -> list[Values]:
        """Return the states in which the environment begins."""
        if not self._begin:
            states = [self._begun(seed) for seed in range(self._how.starts)]
            self._begin = list(dict.fromkeys(states))
        return self._begin

    def actions(self, state: Foreign) -> list[str]:
        """Return the names of the actions; none where the run has ended."""
        return list(self._actions) if state[-1] == Ending.NONE else []

    def outcomes(self, state: Foreign, action: str) -> list[Values]:
        """Return the states that were seen to follow, always the same ones."""
        question = (state, action)
        if question not in self._known:
            self._known[question] = list(dict.fromkeys(self._tried(state, action)))
        return self._known[question]

    def is_fail(self, state: Foreign) -> bool:
        """Return whether the step into the state failed."""
        return bool(state[-1] == Ending.FAIL)

    def is_goal(self, state: Foreign) -> bool:
        """Return whether the step into the state reached the goal."""
        return bool(state[-1] == Ending.GOAL)

    # -- stepping --------------------------------------------------------------------------------

    def _begun(self, seed: int) -> Values:
        env = self._env if self._how.restore is not None else _copied(self._env)
        observation, _ = env.reset(seed=seed)
        return self._met(env, observation, Ending.NONE)

    def _tried(self, state: Values, action: str) -> Iterable[Values]:
        for number in range(self._how.seeds):
            env = self._restored(self.seen[state].snapshot)
            generator = self._seeded(env, state, action, number)
            before = _randomness(generator)
            observation, reward, terminated, _, info = env.step(self._actions[action])
            end = self._how.rules.end(observation, float(reward), bool(terminated), info)
            is_random = _randomness(generator) != before
            yield self._met(env, observation, end)
            if not is_random:
                return

    def _restored(self, snapshot: Foreign) -> Foreign:
        if self._how.restore is None:
            return _copied(snapshot)
        self._how.restore(self._env, snapshot)
        return self._env

    def _seeded(self, env: Foreign, state: Values, action: str, number: int) -> Foreign:
        """Return the random generator of the environment: another one for each try, and the same
        ones whenever this is asked.
        """
        import numpy as np

        question = repr((state, action, number)).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(question, digest_size=8).digest()
        generator = np.random.default_rng(int.from_bytes(digest, "big"))
        env.unwrapped.np_random = generator
        return generator

    def _met(self, env: Foreign, observation: object, end: Ending) -> Values:
        """Return the state that the environment is in; the first snapshot of a state is kept."""
        state = (*self._values(env, observation), int(end))
        if state not in self.seen:
            forget_time(env)
            save = self._how.save
            self.seen[state] = Seen(env if save is None else save(env), observation)
        return state

    def _values(self, env: Foreign, observation: object) -> Values:
        if self._key is None:
            return values_of(env.observation_space, observation)
        key = self._key(observation, env)
        names, values = _named(key)
        if not self.names:
            self.names = (*names, END)
        if names != self.names[:-1]:
            raise _bad_key(f"the key has the parts {shown(names)}, not {shown(self.names[:-1])}")
        return values


def _named(key: Foreign) -> tuple[tuple[str, ...], Values]:
    """Return names and values of what tells states apart. Raises InputError if it cannot."""
    if isinstance(key, Mapping):
        names, values = tuple(map(str, key)), tuple(key.values())
    else:
        values = tuple(key) if isinstance(key, tuple | list) else (key,)
        names = tuple(f"x{at}" for at in range(len(values)))
    plain = tuple(each.item() if hasattr(each, "item") else each for each in values)
    try:
        hash(plain)
    except TypeError:
        raise _bad_key(f"{shown(key)} cannot tell states apart") from None
    return names, plain


def _bad_key(message: str) -> InputError:
    hint = "key(observation, env) returns a dictionary or a tuple of plain values"
    return InputError("bad-key", message, hint=hint)


def _copied(env: Foreign) -> Foreign:
    try:
        return copy.deepcopy(env)
    except Exception as error:
        raise Unsupported(
            "gym-no-snapshot",
            f"the environment cannot be copied: {printable(f'{type(error).__name__}: {error}')}",
            hint="in Python: from_gym(env, save=..., restore=...)",
        ) from error


def _randomness(generator: Foreign) -> tuple[object, ...]:
    """Return the states of all generators that an environment may draw from."""
    import numpy as np

    _, keys, position, *_ = np.random.get_state()
    own = repr(generator.bit_generator.state)
    return own, hash(random.getstate()), position, hash(np.asarray(keys).tobytes())
