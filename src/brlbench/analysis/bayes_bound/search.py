"""A search over beliefs: a graph that grows where an optimistic agent would go."""

import itertools
from typing import Any

import numpy as np

from ... import memory
from ...beliefs.flat import FlatDirichlet
from ...beliefs.tied import TiedDirichlet
from ...kernels.beliefs import facets as costs
from ...kernels.beliefs import graph as graphs
from ...kernels.beliefs.facets import BLOCK, Facets, Problem, Scratch
from ...kernels.beliefs.graph import DEEPEST, NODES, NOTHING, UNPRICED, Graph, Walk
from ...mdps.sparse import Floats, Integers
from .facets import FIRST_FACETS, FacetBook

_FIRST_CAPACITY = 4096
_TRIALS = 2000  # between two looks at the clock


class Search:
    """The least that any agent loses against one that knows the MDP, by MDPs of the prior."""

    def __init__(
        self,
        prior: FlatDirichlet,
        discount: float,
        repetitions: int,
        depth: int,
        rng: np.random.Generator,
    ) -> None:
        """Draw and solve the MDPs; the search begins with the prior alone."""
        number = repetitions * BLOCK
        self._facets = FacetBook(prior, number)
        self._problem = problem_of(prior, discount, number, *self._facets.orders)
        self._values = solve_drawn(prior, self._problem, number, rng)
        self._num_weighed = 0
        starts = np.flatnonzero(prior.start)
        self._walk = Walk(
            rng=rng.integers(0, 2**63, 4, dtype=np.uint64),
            roots=prior.start[starts],
            path=np.empty(depth + 1, np.int64),
            scratch=Scratch(
                likelihood=np.ones((prior.num_actions, prior.num_actions, BLOCK), np.float32),
                product=np.empty(BLOCK, np.float32),
                weight=np.empty(BLOCK, np.float32),
            ),
            stay=discount,
            depth=depth,
        )
        shape = (prior.num_states, prior.num_actions)
        self._graph = _room(_FIRST_CAPACITY + prior.num_states, *shape)
        self._begin(prior, starts)

    def _begin(self, prior: FlatDirichlet, starts: Any) -> None:
        graph, roots = self._graph, slice(len(starts))
        graph.size[NODES], graph.size[DEEPEST] = len(starts), 1
        graph.state[roots], graph.depth[roots] = starts, 0
        graph.known[roots] = np.arange(prior.num_states)
        graph.mark[roots], graph.first_edge[roots] = 0, NOTHING
        graph.first_edge[roots, 0] = UNPRICED
        graphs.rebuild_table(graph)
        self._weigh()
        self.grow(trials=0)

    @property
    def num_beliefs(self) -> int:
        """The number of beliefs in the graph."""
        return int(self._graph.size[NODES])

    @property
    def depth(self) -> int:
        """The number of decisions that the deepest belief allows to look at."""
        return int(self._graph.size[DEEPEST])

    @property
    def facets(self) -> Facets:
        """The facets of all beliefs."""
        return Facets._make(array[: len(self._facets)] for array in self._facets.arrays)

    @property
    def loss(self) -> float:
        """The least expected loss, by all MDPs."""
        return float(self._walk.roots @ self._graph.low[: len(self._walk.roots)])

    @property
    def values(self) -> Floats:
        """The mean optimal value at the start [R], by each repetition's MDPs."""
        return np.asarray(self._values.reshape(-1, BLOCK).mean(axis=1))

    def losses(self) -> Floats:
        """The least expected loss [R]: that of the actions which are best by all MDPs.

        It is divided between the repetitions, so that its mean is `loss`.
        """
        graph, number = self._graph, self.num_beliefs
        order = np.argsort(-graph.depth[:number], kind="stable")
        best, loss = np.empty(number, np.int32), np.zeros(len(self._values))
        graphs.finish(graph, self._problem, self._facets.arrays, order, best)
        reach = np.zeros(number)
        reach[: len(self._walk.roots)] = self._walk.roots
        facets, scratch = self._facets.arrays, self._walk.scratch
        graphs.divide_loss(graph, self._problem, facets, scratch, order, best, reach, loss)
        return np.asarray(loss.reshape(-1, BLOCK).mean(axis=1))

    def is_full(self) -> bool:
        """Whether the search needs more room, and may not have twice as much."""
        graph, arrays = self._graph, self._facets.arrays
        widest = arrays.chance.shape[1]
        has_room = max(graph.size[:DEEPEST]) + widest <= len(graph.state)
        if has_room and len(self._facets) + widest <= len(arrays.state):
            return False
        mdps = self._problem.probability, self._problem.regret
        held = sum(array.nbytes for array in (*graph, *arrays, *mdps))
        return 3 * held > memory.SHARE * memory.usable_bytes()

    def grow(self, trials: int = _TRIALS) -> bool:
        """Make some trials; return whether there is more to find."""
        why = graphs.grow(self._graph, self._problem, self._facets.arrays, self._walk, trials)
        if why == graphs.FULL:
            self._make_room()
        elif why >= 0:
            self._facets.follow(why)
            self._weigh()
        return bool(why != graphs.SOLVED)

    def _weigh(self) -> None:
        facets, end = self._facets.arrays, len(self._facets)
        costs.weigh_facets(self._problem, facets, self._walk.scratch, self._num_weighed, end)
        self._num_weighed = end

    def _make_room(self) -> None:
        graph = self._graph
        larger = _room(2 * len(graph.state), graph.known.shape[1], graph.cost.shape[1])
        arrays: Any = zip(larger[:-1], graph[:-1], strict=True)  # all but the table
        for target, source in arrays:
            target[: len(source)] = source
        self._graph = larger
        graphs.rebuild_table(larger)


def problem_of(
    prior: FlatDirichlet | TiedDirichlet,
    discount: float,
    num_mdps: int,
    order: Integers,
    num_orders: Integers,
) -> Problem:
    """A prior's possible transitions, and room for MDPs, for compiled code."""
    table = prior.counts
    return Problem(
        discount=discount,
        num_actions=prior.num_actions,
        row_start=table.row_start,
        next_state=table.next_state,
        reward=prior.rewards.mean.at(table),
        prior=table.values,
        order=order,
        num_orders=num_orders,
        probability=np.empty((len(table.values), num_mdps), np.float32),
        regret=np.empty((table.num_pairs, num_mdps), np.float32),
    )


def mean_values(
    prior: FlatDirichlet | TiedDirichlet, discount: float, blocks: int, rng: np.random.Generator
) -> Floats:
    """The mean optimal value at the start, in each of some independent blocks [n] of MDPs."""
    no_orders = np.zeros((0, 0, 0), np.int64), np.zeros(0, np.int64)
    problem = problem_of(prior, discount, 0, *no_orders)
    return np.array([solve_drawn(prior, problem, BLOCK, rng).mean() for _ in range(blocks)])


def bytes_at_start(prior: FlatDirichlet, repetitions: int) -> int:
    """The memory that a search needs before it grows."""
    entries = len(prior.counts.values)
    per_mdp = 12 * entries + 4 * prior.counts.num_pairs
    facets = 4 * (1 + prior.num_actions) * (FIRST_FACETS + prior.num_states)
    per_belief = 4 * prior.num_states + 8 * prior.num_actions
    beliefs = _FIRST_CAPACITY + prior.num_states
    return repetitions * BLOCK * (per_mdp + facets) + per_belief * beliefs


def solve_drawn(
    prior: FlatDirichlet | TiedDirichlet, problem: Problem, number: int, rng: np.random.Generator
) -> Floats:
    """Draw and solve MDPs; return the optimal value of each at its start."""
    states, values = prior.num_states, np.empty(number)
    probabilities = draw_stratified(prior, number, BLOCK, rng)
    work_space = np.empty((states, states)), np.empty(states), np.empty(states, np.int64)
    costs.solve_all(problem, probabilities, values, prior.start, *work_space)
    return values


def draw_stratified(
    prior: FlatDirichlet | TiedDirichlet, number: int, block: int, rng: np.random.Generator
) -> Floats:
    """Draw the probabilities [n, E] of MDPs in blocks: Latin hypercubes (McKay et al., 1979).

    Each MDP has the prior's law, and blocks are independent. Within a block, every share of a row
    is drawn once from each of `block` intervals of equal probability.
    """
    if isinstance(prior, FlatDirichlet):
        return _draw_rows(prior.counts.values, prior.counts.row_start, number, block, rng)
    possible = prior.group_counts > 0
    row_start = np.concatenate([[0], np.cumsum(possible.sum(axis=1))])
    rows = np.zeros((number, possible.size))
    counts = prior.group_counts[possible]
    rows[:, possible.ravel()] = _draw_rows(counts, row_start, number, block, rng)
    return np.asarray(rows[:, prior.cell])


def _draw_rows(
    counts: Floats, row_start: Integers, number: int, block: int, rng: np.random.Generator
) -> Floats:
    from scipy.special import betaincinv

    probabilities = np.empty((number, len(counts)))
    for first, end in itertools.pairwise(row_start.tolist()):
        rest = np.ones(number)
        for i in range(first, end - 1):
            uniforms = _even(number, block, rng)
            share = betaincinv(counts[i], counts[i + 1 : end].sum(), uniforms)
            probabilities[:, i] = rest * share
            rest = rest * (1 - share)
        probabilities[:, end - 1] = rest
    return probabilities


def _even(number: int, block: int, rng: np.random.Generator) -> Floats:
    """Uniform numbers [n]; each block has one in each interval of length 1 / block."""
    intervals = rng.permuted(np.tile(np.arange(block), (number // block, 1)), axis=1)
    return np.asarray((intervals.ravel() + rng.random(number)) / block)


def _room(capacity: int, num_states: int, num_actions: int) -> Graph:
    return Graph(
        size=np.zeros(3, np.int64),
        state=np.empty(capacity, np.int32),
        depth=np.empty(capacity, np.int32),
        known=np.empty((capacity, num_states), np.int32),
        mark=np.empty(capacity, np.uint64),
        first_edge=np.empty((capacity, num_actions), np.int32),
        cost=np.empty((capacity, num_actions), np.float32),
        low=np.empty(capacity, np.float32),
        solved=np.empty(capacity, np.bool_),
        child=np.empty(capacity, np.int32),
        table=np.full(2 << capacity.bit_length(), NOTHING, np.int32),
    )
