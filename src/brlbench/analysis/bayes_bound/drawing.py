"""MDPs drawn evenly: fewer of them estimate a mean as well."""

import numpy as np

from ...mdps.dirichlet import FlatDirichlet
from ...mdps.sparse import Floats


def draw_stratified(
    prior: FlatDirichlet, number: int, block: int, rng: np.random.Generator
) -> Floats:
    """Draw the probabilities [n, E] of MDPs in blocks: Latin hypercubes (McKay et al., 1979).

    Each MDP has the prior's law, and blocks are independent. Within a block, every share of a row
    is drawn once from each of `block` intervals of equal probability.
    """
    from scipy.special import betaincinv

    table = prior.counts
    drawn = np.empty((number, len(table.values)))
    for pair in range(table.num_pairs):
        first, end = int(table.row_start[pair]), int(table.row_start[pair + 1])
        counts, rest = table.values[first:end], np.ones(number)
        for i in range(end - first - 1):
            uniforms = _even(number, block, rng)
            share = betaincinv(counts[i], counts[i + 1 :].sum(), uniforms)
            drawn[:, first + i] = rest * share
            rest = rest * (1 - share)
        drawn[:, end - 1] = rest
    return drawn


def _even(number: int, block: int, rng: np.random.Generator) -> Floats:
    """Uniform numbers [n]; each block has one in each interval of length 1 / block."""
    intervals = rng.permuted(np.tile(np.arange(block), (number // block, 1)), axis=1)
    return np.asarray((intervals.ravel() + rng.random(number)) / block)
