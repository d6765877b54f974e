"""Beluga with 4 jigs and 2 racks, from its published rules; the built-in family comes later."""

from __future__ import annotations

import itertools

from surefoot import Description


def beluga(*, lines=((0, 3), (2, 1)), racks=2, capacity=12, limit=6) -> Description:
    """Return the published instance with 4 jigs and 2 racks, written anew from its rules.

    Jigs go from the plane over trailer, rack and truck to the factory, which asks for them in the
    order of production lines, but for which line next is not known. Fail is too many swaps.
    """
    return _Beluga(lines, racks, capacity, limit).description


class _Beluga:
    def __init__(self, lines, racks, capacity, limit):
        self.lines, self.limit, self.racks = lines, limit, range(racks)
        count = sum(map(len, lines))
        self.jigs, self.on_rack = range(count), [count + r for r in self.racks]
        self.on_trailer, self.on_truck, self.delivered = (count + racks + i for i in range(3))
        d = self.description = Description("beluga")
        self.jig = [d.int(f"jig_{j}", 0, self.delivered, initial=j) for j in self.jigs]
        self.next_to = {
            end: [self.some_jig(f"{end}_jig_{j}", -1) for j in self.jigs]
            for end in ("front", "back")
        }
        self.room = [d.int(f"rack_load_{r}", 0, capacity, initial=capacity) for r in self.racks]
        self.end = {
            end: [self.some_jig(f"{end}_rack_{r}", -1) for r in self.racks]
            for end in ("front", "back")
        }
        self.trailer_is_empty = d.int("empty_trailer_0", 0, 1, initial=1)
        self.on_plane = d.int("beluga_0", 0, count, initial=count)
        self.request = self.some_jig("next_jig", lines[0][0])
        self.heads = [self.some_jig(f"line_{i}", line[0]) for i, line in enumerate(lines)]
        self.truck_is_empty = d.int("empty_truck", 0, 1, initial=1)
        self.swaps = d.int("num_swaps", 0, limit, initial=0)
        self.add_edges()
        self.add_conditions()

    def some_jig(self, name, initial):
        return self.description.int(name, -1, len(self.jigs) - 1, initial=initial)

    def add_edges(self):
        for j in self.jigs:
            self.unload_beluga(j)
            self.send_to_factory(j)
        for end, other in (("front", "back"), ("back", "front")):
            for r, j in itertools.product(self.racks, self.jigs):
                self.push(end, other, r, j)
                self.pop(end, other, r, j)
        for j in self.jigs:
            guard = (self.jig[j] == self.on_truck) & (self.trailer_is_empty == 1)
            moved = {self.jig[j]: self.on_trailer, self.trailer_is_empty: 0, self.truck_is_empty: 1}
            self.redraw("unload_truck_0", guard, moved, self.heads)

    def unload_beluga(self, j):
        guard = (self.trailer_is_empty == 1) & (self.jig[j] == self.on_plane - 1)
        changes = {self.jig[j]: self.on_trailer, self.trailer_is_empty: 0}
        changes[self.on_plane] = self.on_plane - 1
        self.description.edge("unload_beluga_0", guard=guard, outcomes=[changes])

    def send_to_factory(self, j):
        guard = (self.jig[j] == self.on_truck) & (self.request == j)
        (number,) = (i for i, line in enumerate(self.lines) if j in line)
        following = (*self.lines[number], -1)[self.lines[number].index(j) + 1]
        changes = {self.jig[j]: self.delivered, self.truck_is_empty: 1}
        changes[self.heads[number]] = following
        heads = [following if i == number else head for i, head in enumerate(self.heads)]
        self.redraw("send_to_factory", guard, changes, heads)

    def push(self, end, other, r, j):
        guard = (self.jig[j] == self.on_trailer) & (self.room[r] >= 1)
        guard = guard & (self.swaps <= self.limit - 1)
        changes = {self.jig[j]: self.on_rack[r], self.trailer_is_empty: 1}
        changes |= {self.room[r]: self.room[r] - 1, self.swaps: self.swaps + 1}
        changes[self.end[end][r]] = j
        action, old = f"push_{end}_rack_{r}", self.end[end][r]
        self.redraw(action, guard & (old == -1), {**changes, self.end[other][r]: j}, self.heads)
        for k in self.others(j):
            links = {self.next_to[end][k]: j, self.next_to[other][j]: k}
            self.redraw(action, guard & (old == k), changes | links, self.heads)

    def pop(self, end, other, r, j):
        guard = (self.end[end][r] == j) & (self.truck_is_empty == 1)
        changes = {self.jig[j]: self.on_truck, self.truck_is_empty: 0}
        changes[self.room[r]] = self.room[r] + 1
        action, behind = f"pop_{end}_rack_{r}", self.next_to[other][j]
        emptied = {self.end[end][r]: -1, self.end[other][r]: -1}
        edges = [(behind == -1, emptied)]
        for k in self.others(j):
            links = {self.end[end][r]: k, self.next_to[end][k]: -1, behind: -1}
            edges.append((behind == k, links))
        for is_behind, more in edges:
            self.description.edge(action, guard=guard & is_behind, outcomes=[changes | more])

    def others(self, j):
        return [k for k in self.jigs if k != j]

    def redraw(self, action, guard, changes, heads):
        """Add the edges of an action after which any line that is not finished may be next."""
        for are_open in itertools.product((False, True), repeat=len(heads)):
            drawn, here, is_possible = [], guard, True
            for head, is_open in zip(heads, are_open, strict=True):
                if isinstance(head, int):
                    is_possible = is_possible and (head >= 0) == is_open
                else:
                    here = here & (head >= 0 if is_open else head == -1)
                drawn += [head] if is_open else []
            outcomes = [{**changes, self.request: head} for head in drawn or [-1]]
            if is_possible:
                self.description.edge(action, guard=here, outcomes=outcomes)

    def add_conditions(self):
        d = self.description
        initial = {name: variable.initial for name, variable in d.variables.items()}
        orders = itertools.permutations(self.jigs)
        d.start(*({**initial, **{f"jig_{j}": p for j, p in enumerate(o)}} for o in orders))
        is_done = self.jig[0] == self.delivered
        for jig in self.jig[1:]:
            is_done = is_done & (jig == self.delivered)
        d.goal(is_done)
        d.fail(self.swaps >= self.limit)
