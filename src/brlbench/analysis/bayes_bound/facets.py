"""Facets, a belief's knowledge of one state, numbered: see `kernels.beliefs.facets`."""

import itertools
from collections.abc import Iterator

import numpy as np

from ...beliefs.flat import FlatDirichlet
from ...kernels.beliefs.facets import UNKNOWN, Facets
from ...mdps.sparse import Integers

_MOST_ORDERS = 24  # of alike actions; any number of them is unbiased
FIRST_FACETS = 256

ActionCounts = tuple[tuple[int, ...], ...]
"""The counts seen in the rows of a state's actions."""


class FacetBook:
    """All facets so far. Their weights are computed elsewhere."""

    def __init__(self, prior: FlatDirichlet, num_mdps: int) -> None:
        """Enter the facets of states that nothing is known about."""
        self._prior = prior
        table, rewards = prior.counts, prior.rewards.mean.at(prior.counts)
        self._alike = [
            table.action_groups(x, table.values, rewards) for x in range(prior.num_states)
        ]
        self.orders = _orders(self._alike, prior.num_actions)
        start, per_state = prior.counts.row_start, prior.num_actions
        self._first_entry = start[::per_state]
        widest = int(np.diff(self._first_entry).max())
        self.arrays = _room(FIRST_FACETS + prior.num_states, widest, per_state, num_mdps)
        self._numbers: dict[tuple[int, ActionCounts], int] = {}
        self._rows: list[ActionCounts] = []
        for state in range(prior.num_states):
            lengths = np.diff(start[state * per_state : (state + 1) * per_state + 1])
            self._number(state, tuple((0,) * int(length) for length in lengths))

    def __len__(self) -> int:
        return len(self._rows)

    def follow(self, facet: int) -> None:
        """Find the facets that one more observation leads to."""
        state = int(self.arrays.state[facet])
        rows, m = self._rows[facet], 0
        for u, row in enumerate(rows):
            for i in range(len(row)):
                after = facet
                if len(row) > 1:  # a sure transition teaches nothing
                    seen = (*row[:i], row[i] + 1, *row[i + 1 :])
                    after = self._number(state, (*rows[:u], seen, *rows[u + 1 :]))
                self.arrays.following[facet, m] = after
                m += 1

    def _number(self, state: int, rows: ActionCounts) -> int:
        """The number of a facet, entered if it is new."""
        ordered = list(rows)
        for group in self._alike[state]:
            for u, row in zip(group, sorted((rows[u] for u in group), reverse=True), strict=True):
                ordered[u] = row
        key = (state, tuple(ordered))
        if key not in self._numbers:
            self._numbers[key] = len(self._rows)
            self._enter(*key)
        return self._numbers[key]

    def _enter(self, state: int, rows: ActionCounts) -> None:
        facet = len(self._rows)
        if facet == len(self.arrays.state):
            self.arrays = Facets(*(_longer(array) for array in self.arrays))
        arrays, table = self.arrays, self._prior.counts
        first, end = self._first_entry[state], self._first_entry[state + 1]
        prior, m = table.values[first:end].tolist(), 0
        arrays.state[facet] = state
        for group in self._alike[state]:
            for u in group:
                arrays.lead[facet, u] = next(v for v in group if rows[v] == rows[u])
        for row in rows:
            total = sum(prior[m : m + len(row)]) + sum(row)
            for times in row:
                arrays.seen[facet, m] = times
                arrays.chance[facet, m] = (prior[m] + times) / total
                m += 1
        arrays.following[facet] = UNKNOWN
        self._rows.append(rows)


def _room(capacity: int, widest: int, num_actions: int, num_mdps: int) -> Facets:
    return Facets(
        state=np.zeros(capacity, np.int64),
        seen=np.zeros((capacity, widest), np.int64),
        following=np.zeros((capacity, widest), np.int64),
        chance=np.zeros((capacity, widest)),
        lead=np.zeros((capacity, num_actions), np.int64),
        weight=np.empty((capacity, num_mdps), np.float32),
        loss=np.empty((capacity, num_actions, num_mdps), np.float32),
    )


def _longer(array: np.ndarray) -> np.ndarray:
    """A copy with twice the capacity."""
    longer = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def _orders(alike: list[list[list[int]]], num_actions: int) -> tuple[Integers, Integers]:
    """The orders [S, O, A] of each state's actions that exchange alike ones; their numbers [S]."""
    orders = [
        list(itertools.islice(_exchanges(groups, num_actions), _MOST_ORDERS)) for groups in alike
    ]
    most = max(map(len, orders))
    order = np.zeros((len(orders), most, num_actions), np.int64)
    for state, rows in enumerate(orders):
        order[state, : len(rows)] = rows
    return order, np.array(list(map(len, orders)))


def _exchanges(groups: list[list[int]], num_actions: int) -> Iterator[Integers]:
    for exchange in itertools.product(*map(itertools.permutations, groups)):
        order = np.zeros(num_actions, np.int64)
        for group, exchanged in zip(groups, exchange, strict=True):
            order[group] = exchanged
        yield order
