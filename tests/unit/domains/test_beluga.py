"""Beluga: the figures of the published file, the rules by hand, and pictures.

The file itself is not at hand. Its figures were counted on it and are written down here.
"""

from __future__ import annotations

import itertools
from collections import Counter
from xml.etree import ElementTree

import pytest
from tests.support.reachable import reachable

from surefoot import InputError, Oracle, domain, explore
from surefoot.domains import domain_family
from surefoot.domains.beluga import production_lines

ENDS = ("front", "back")
LIMITS = {4: (4_944, 0), 5: (7_579, 1_667), 7: (12_849, 6_865), 8: (15_484, 9_500)}
HARD = {
    "4 jigs, 1 rack": ({"jigs": 4, "racks": 1, "swap_limit": 5}, 20),
    "one-jig lines": ({"jigs": 4, "racks": 1, "swap_limit": 6, "lines": "0|1|2|3"}, 0),
    "one more swap": ({"jigs": 4, "racks": 1, "swap_limit": 6}, 24),
}


def verdicts(task):
    """Return whether each reachable state is safe."""
    oracle = Oracle(task)
    states = reachable(task, task.list_starts())
    found = {state: oracle.decide(state).verdict for state in states}
    assert set(found.values()) <= {"safe", "unsafe"}
    return {state: verdict == "safe" for state, verdict in found.items()}


# -- the published figures ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def published():
    return domain("beluga", size="4-2")


@pytest.fixture(scope="module")
def safe_of(published):
    return verdicts(published)


def test_counts_of_the_published_file(published):
    found = explore(published)
    assert found.starts == 24
    assert (found.states, found.pairs, found.outcomes) == (10_214, 34_486, 52_154)
    assert (found.fail, found.goal, found.dead_ends) == (1_500, 2, 0)


def test_safe_states_of_the_published_file(published, safe_of):
    fails = [state for state in safe_of if published.is_fail(state)]
    assert (sum(safe_of.values()), len(safe_of), len(fails)) == (4_230, 10_214, 1_500)
    assert all(safe_of[start] for start in published.list_starts())
    reached = Counter(state["num_swaps"] for state in safe_of)
    assert [reached[i] for i in range(7)] == [48, 384, 1024, 1988, 2635, 2635, 1500]
    safe = Counter(state["num_swaps"] for state, is_safe in safe_of.items() if is_safe)
    assert [safe[i] for i in range(7)] == [48, 384, 904, 1428, 1171, 295, 0]


def test_unsafe_actions_of_the_published_file(published, safe_of):
    unsafe: Counter[str] = Counter()
    pairs, torn = 0, set()
    for state in (state for state, is_safe in safe_of.items() if is_safe):
        for action in published.applicable(state) if not published.is_goal(state) else ():
            pairs += 1
            if not all(safe_of[outcome] for outcome in published.outcomes(state, action)):
                unsafe[action] += 1
                torn.add(state)
    expected = dict.fromkeys((a for a in published.actions if a.startswith("pop")), 660)
    expected |= dict.fromkeys((a for a in published.actions if a.startswith("push")), 262)
    assert unsafe == expected | {"unload_truck_0": 182}
    assert (pairs, len(torn)) == (13_502 + 3_870, 1_704)


def test_variables_and_actions_of_the_published_file(published):
    jigs, racks = range(4), range(2)
    names = [f"{kind}_{j}" for kind in ("jig", "front_jig", "back_jig") for j in jigs]
    names += [f"{kind}_{r}" for kind in ("rack_load", "front_rack", "back_rack") for r in racks]
    names += ["empty_trailer_0", "beluga_0", "next_jig", "line_0", "line_1", "empty_truck"]
    assert published.names == (*names, "num_swaps")
    bounds = {v.name: (v.lower, v.upper) for v in published.variables}
    assert bounds["jig_0"] == (0, 8)
    assert bounds["rack_load_1"] == (0, 12)
    assert bounds["beluga_0"] == (0, 4)
    assert bounds["num_swaps"] == (0, 6)
    ends = [f"{kind}_{end}_rack_{r}" for kind in ("push", "pop") for end in ENDS for r in racks]
    assert published.actions == ("unload_beluga_0", "send_to_factory", *ends, "unload_truck_0")


@pytest.mark.parametrize("limit", LIMITS)
def test_other_limits(limit):
    task = domain("beluga", size="4-2", swap_limit=limit)
    found = verdicts(task)
    assert (len(found), sum(found.values())) == LIMITS[limit]
    assert sum(found[start] for start in task.list_starts()) == (0 if limit == 4 else 24)


@pytest.mark.parametrize(("size", "counts"), [("3-2", (1_332, 662)), ("5-2", (81_134, 26_906))])
def test_other_numbers_of_jigs(size, counts):
    task = domain("beluga", size=size)
    found = verdicts(task)
    assert (len(found), sum(found.values())) == counts
    assert all(found[start] for start in task.list_starts())


@pytest.mark.parametrize("name", HARD)
def test_some_orders_can_be_too_hard(name):
    parameters, safe = HARD[name]
    task = domain("beluga", **parameters)
    oracle = Oracle(task)
    found = Counter(oracle.decide(start).verdict for start in task.list_starts())
    assert found["safe"] == safe
    assert found.total() == 24


# -- the rules by hand -------------------------------------------------------------------------


class Yard:
    """A state as lists of jigs, which move by the rules as they are told, not as they are written.

    ``plane`` is in the order of positions, a rack goes from front to back.
    """

    def __init__(self, state, jigs, racks):
        place = [state[f"jig_{j}"] for j in range(jigs)]
        self.plane = sorted((j for j in range(jigs) if place[j] < jigs), key=lambda j: place[j])
        self.racks = [[] for _ in range(racks)]
        for r, rack in enumerate(self.racks):
            following = state[f"front_rack_{r}"]
            while following >= 0:
                rack.append(following)
                following = state[f"back_jig_{following}"]
        self.trailer = [j for j in range(jigs) if place[j] == jigs + racks]
        self.truck = [j for j in range(jigs) if place[j] == jigs + racks + 1]
        self.delivered = [j for j in range(jigs) if place[j] == jigs + racks + 2]
        self.request, self.swaps = state["next_jig"], state["num_swaps"]

    def do(self, action, capacity):
        """Do the action; return whether the request is drawn anew, None if it is not possible."""
        kind, end, *number = (*action.split("_rack_")[0].split("_"), *action.split("_rack_")[1:])
        if action == "unload_beluga_0" and self.plane and not self.trailer:
            self.trailer.append(self.plane.pop())
            return False
        if action == "send_to_factory" and self.truck == [self.request]:
            self.delivered.append(self.truck.pop())
            return True
        if action == "unload_truck_0" and self.truck and not self.trailer:
            self.trailer.append(self.truck.pop())
            return True
        if kind not in ("push", "pop"):
            return None
        rack, at = self.racks[int(number[0])], 0 if end == "front" else -1
        if kind == "push" and self.trailer and len(rack) < capacity:
            rack.insert(0 if end == "front" else len(rack), self.trailer.pop())
            self.swaps += 1
            return True
        if kind == "pop" and rack and not self.truck:
            self.truck.append(rack.pop(at))
            return False
        return None

    def state(self, jigs, lines, capacity):
        """Return the state as values of the variables."""
        count = len(self.racks)
        places = {j: i for i, j in enumerate(self.plane)}
        for place, held in enumerate([*self.racks, self.trailer, self.truck, self.delivered], jigs):
            places |= dict.fromkeys(held, place)
        front, back = dict.fromkeys(range(jigs), -1), dict.fromkeys(range(jigs), -1)
        for rack in self.racks:
            for first, second in itertools.pairwise(rack):
                back[first], front[second] = second, first
        return {
            **{f"jig_{j}": places[j] for j in range(jigs)},
            **{f"front_jig_{j}": front[j] for j in range(jigs)},
            **{f"back_jig_{j}": back[j] for j in range(jigs)},
            **{f"rack_load_{r}": capacity - len(self.racks[r]) for r in range(count)},
            **{f"front_rack_{r}": [*self.racks[r], -1][0] for r in range(count)},
            **{f"back_rack_{r}": [-1, *self.racks[r]][-1] for r in range(count)},
            "empty_trailer_0": int(not self.trailer),
            "beluga_0": len(self.plane),
            "next_jig": self.request,
            **{f"line_{i}": head for i, head in enumerate(self.heads(lines))},
            "empty_truck": int(not self.truck),
            "num_swaps": self.swaps,
        }

    def heads(self, lines):
        """Return the first jig that each line waits for, -1 if it is finished."""
        return [([j for j in line if j not in self.delivered] or [-1])[0] for line in lines]


def outcomes_by_hand(state, action, jigs, racks, lines, capacity):
    yard = Yard(state, jigs, racks)
    drawn = yard.do(action, capacity)
    if drawn is None:
        return []
    requests = [yard.request]
    if drawn:
        requests = [head for head in yard.heads(lines) if head >= 0] or [-1]
    found = []
    for request in requests:
        yard.request = request
        found.append(yard.state(jigs, lines, capacity))
    return found


YARDS = {
    "3 jigs": {"jigs": 3, "racks": 2},
    "no room to spare": {"jigs": 3, "racks": 2, "capacity": 1, "swap_limit": 7},
    "three lines": {"jigs": 4, "racks": 1, "capacity": 3, "lines": "3|0,2|1"},
    "one jig": {"jigs": 1, "racks": 3},
}


@pytest.mark.parametrize("name", YARDS)
def test_every_reachable_state_follows_the_rules(name):
    given = YARDS[name]
    task = domain("beluga", **given)
    jigs, racks, capacity = given["jigs"], given["racks"], given.get("capacity", 12)
    lines = production_lines(jigs, given.get("lines", ""))
    limit = given.get("swap_limit", jigs + 2)
    for state in reachable(task, task.list_starts()):
        assert task.is_fail(state) == (state["num_swaps"] >= limit)
        assert task.distance_to_fail(state) == limit - state["num_swaps"]
        if task.is_fail(state):
            continue
        delivered = [j for j in range(jigs) if state[f"jig_{j}"] == jigs + racks + 2]
        assert task.is_goal(state) == (len(delivered) == jigs)
        for action in task.actions:
            expected = outcomes_by_hand(state, action, jigs, racks, lines, capacity)
            assert [o.to_dict() for o in task.outcomes(state, action)] == expected, (state, action)


def test_a_full_rack_can_be_a_dead_end():
    # The jig on the truck is not wanted, and the one on the trailer can go nowhere.
    counts = explore(domain("beluga", jigs=3, racks=1, capacity=1, swap_limit=7))
    assert counts.dead_ends > 0


def test_starts_are_the_orders_of_the_plane():
    task = domain("beluga", size="6-2")
    orders = {tuple(s[f"jig_{j}"] for j in range(6)) for s in task.list_starts()}
    assert orders == set(itertools.permutations(range(6)))
    (start,) = task.sample_starts(1, seed=3)
    assert {**start.to_dict(), **{f"jig_{j}": j for j in range(6)}} == dict(task.initial_state())
    assert task.is_start(start)
    assert not task.is_start({**start.to_dict(), "jig_0": start["jig_1"]})
    eight = domain("beluga", size="8-2").sample_starts(200, seed=1)
    assert len(set(eight)) > 190
    assert all(sorted(s[f"jig_{j}"] for j in range(8)) == list(range(8)) for s in eight)


# -- parameters ----------------------------------------------------------------------------------


def test_default_lines():
    assert production_lines(1, "") == ((0,),)
    assert production_lines(2, "") == ((0,), (1,))
    assert production_lines(3, "") == ((0, 2), (1,))
    assert production_lines(4, "") == ((0, 3), (2, 1))
    assert production_lines(5, "") == ((0, 3, 4), (2, 1))
    assert production_lines(8, "") == ((0, 5, 6, 7), (4, 3, 2, 1))
    assert production_lines(4, " 3 | 0,1, 2") == ((3,), (0, 1, 2))


WRONG = {
    "0,1": "lines must name each jig from 0 to 2 once",
    "0,1|2,2": "lines must name each jig from 0 to 2 once",
    "0,1|2,3": "lines name jigs from 0 to 2, not '3'",
    "0,1||2": "lines name jigs from 0 to 2, not ''",
    "0;1": "lines name jigs from 0 to 2, not '0;1'",
}


@pytest.mark.parametrize("text", WRONG)
def test_lines_that_are_none(text):
    with pytest.raises(InputError) as caught:
        domain("beluga", jigs=3, lines=text)
    assert caught.value.code == "bad-parameter"
    assert caught.value.message.replace('"', "'").startswith(WRONG[text])


@pytest.mark.parametrize(
    "given", [{"jigs": 0}, {"racks": 0}, {"swap_limit": -1}, {"capacity": 0}, {"jigs": 21}]
)
def test_sizes_out_of_range(given):
    (name,) = given
    with pytest.raises(InputError) as caught:
        domain("beluga", **given)
    assert caught.value.message.startswith(f"{name} must be from ")


@pytest.mark.parametrize("size", domain_family("beluga").sizes)
def test_every_size_compiles(size):
    task = domain("beluga", size=size)
    assert task.applicable(task.initial_state()) == ("unload_beluga_0",)


# -- pictures ----------------------------------------------------------------------------------

START = """\
plane    0 1 2 3
trailer  -
rack 0   -  (room for 12)
rack 1   -  (room for 12)
truck    -
factory  -
line 0   0 3
line 1   2 1
request  0
swaps    0 of 6"""
LATER = """\
plane    -
trailer  -
rack 0   1 3  (room for 10)
rack 1   -  (room for 12)
truck    2
factory  0
line 0   3
line 1   2 1
request  3
swaps    4 of 6"""
STEPS = (
    *("unload_beluga_0", "push_back_rack_0", "unload_beluga_0", "push_front_rack_1"),
    *("unload_beluga_0", "push_front_rack_0", "unload_beluga_0", "push_back_rack_1"),
    *("pop_back_rack_1", "send_to_factory", "pop_front_rack_1"),
)


def later(task):
    """Return the state after some steps, with the request for jig 0 or else 3 where it is drawn."""
    state = task.initial_state()
    for action in STEPS:
        found = task.outcomes(state, action)
        state = next(s for wanted in (0, 3) for s in found if s["next_jig"] == wanted)
    return state


def test_pictures_in_a_terminal(published):
    assert published.picture(published.initial_state()).text == START
    assert published.picture(later(published)).text == LATER


def test_pictures_as_svg(published):
    root = ElementTree.fromstring(published.picture(later(published)).svg)
    texts = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
    rows = ["plane", "trailer", "rack 0", "1", "3", "rack 1", "truck", "2", "factory", "0"]
    assert texts == [*rows, "line 0", "3", "line 1", "2", "1", "swaps 4/6"]
    circles = [e.get("fill") for e in root.iter("{http://www.w3.org/2000/svg}circle")]
    assert len(circles) == 4 + 3
    assert circles[1] == circles[4]  # jig 3, which is wanted
    assert circles[1] not in circles[2:4]


def test_a_picture_of_links_that_lead_in_a_circle(published):
    state = {**published.initial_state().to_dict(), "jig_0": 4, "jig_1": 4}
    state |= {"front_rack_0": 0, "back_jig_0": 1, "back_jig_1": 0}
    assert "rack 0   0 1  (room" in published.picture(state).text
    state |= {"back_jig_0": -1}
    assert "rack 0   0 1  (room" in published.picture(state).text
