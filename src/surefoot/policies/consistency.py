"""Is a policy that Python computes a function of the state?

What it does: remembers what was decided, and asks again: about each of the first states it meets,
and an earlier one after it, later about one of many.
Guarantee: a policy that is refused has decided on two actions in one state.
Cost: three questions for each of the first states, then an eighth more.
When to use it: always. Paper: none needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from surefoot.errors import NOT_DETERMINISTIC, InputError, printable, quoted
from surefoot.tasks.task import MAX_STATE_TEXT, Task

Ask = Callable[[bytes, list[int]], int]
AskAll = Callable[[Sequence[bytes], Sequence[list[int]]], list[int]]
IsNear = Callable[[bytes, int, int], bool]

ASKED_TWICE = 64
"""how many states are asked about again at once; later one of ``SPARSE`` new ones is"""

FIRST_TIMES = 8
"""how often the first state is asked about again, the next ones half as often: a run may meet no
other, and a coin falls twice the same way
"""

SPARSE = 16
MAX_REMEMBERED = 200_000

HINT = (
    "a policy is a function of the state: let its randomness depend on the state alone, and make "
    "what it remembers a part of the state"
)


class DecisionMemory:
    """What a policy decided in which state, and where it is asked again."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._decided: dict[bytes, int] = {}
        self._again: list[tuple[bytes, list[int]]] = []

    def is_new(self, state: bytes) -> bool:
        """Return whether nothing is known of a state, and there is place to remember it."""
        return state not in self._decided and len(self._decided) < MAX_REMEMBERED

    def noted(self, state: bytes, choice: int, is_near: IsNear | None = None) -> int:
        """Return the decision, the earlier one where both are near ties. Raises InputError if it
        is another one than before.
        """
        before = self._decided.get(state, choice)
        if before != choice and not (is_near and is_near(state, before, choice)):
            raise not_deterministic(self._task, state, before, choice)
        if len(self._decided) < MAX_REMEMBERED:
            self._decided[state] = before
        return before

    def due(self, state: bytes, applicable: list[int]) -> list[tuple[bytes, list[int]]]:
        """Return where to ask again after a new state: there, and in an earlier one."""
        count = len(self._decided)
        if count <= ASKED_TWICE:
            self._again.append((state, list(applicable)))
            times = max(1, FIRST_TIMES >> (count - 1))
            return [(state, applicable)] * times + [self._again[(count - 1) // 2]]
        if count % SPARSE:
            return []
        return [(state, applicable), self._again[count // SPARSE % ASKED_TWICE]]


def not_deterministic(task: Task, state: bytes, first: int, second: int) -> InputError:
    """Return the refusal of a policy that decided in two ways in one state."""
    names, where = task.actions, printable(str(task.unpack(state)), MAX_STATE_TEXT)
    return InputError(
        NOT_DETERMINISTIC,
        f"the policy decides on {quoted(names[first])}, and asked again on "
        f"{quoted(names[second])}, in state {where}",
        hint=HINT,
    )


def held(task: Task, ask: Ask) -> Ask:
    """Return the question with its answers held against each other."""
    memory = DecisionMemory(task)

    def asked(state: bytes, applicable: list[int]) -> int:
        is_new = memory.is_new(state)
        choice = memory.noted(state, ask(state, applicable))
        for again, actions in memory.due(state, applicable) if is_new else ():
            memory.noted(again, ask(again, actions))
        return choice

    return asked


def held_all(task: Task, ask_all: AskAll, is_near: IsNear) -> AskAll:
    """Return a question about many states with its answers held against each other.

    States are asked again in a batch of their own, the last one first: a decision must not depend
    on the company.
    """
    memory = DecisionMemory(task)

    def asked(states: Sequence[bytes], applicable: Sequence[list[int]]) -> list[int]:
        choices = ask_all(states, applicable)
        due, decisions = [], []
        for state, actions, choice in zip(states, applicable, choices, strict=True):
            is_new = memory.is_new(state)
            decisions.append(memory.noted(state, choice, is_near))
            due += memory.due(state, actions) if is_new else []
        if due:
            again, its_actions = zip(*reversed(due), strict=True)
            for state, choice in zip(again, ask_all(again, its_actions), strict=True):
                memory.noted(state, choice, is_near)
        return decisions

    return asked
