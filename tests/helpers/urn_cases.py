"""Rows to draw next states from by an urn, and the law of what is drawn."""

import numpy as np
from scipy.special import gammaln

from brlbench.beliefs.flat import FlatDirichlet
from brlbench.mdps.sparse import Floats, Integers

NUMBER = 200_000
REWARDS = np.zeros((3, 2, 3))

SPARSE = FlatDirichlet(
    np.array([[1, 0, 2], [3, 0, 0], [0, 0.1, 0.1], [1, 1, 0], [1, 2, 3], [0, 5, 1]]).reshape(
        3, 2, 3
    ),
    REWARDS,
)
UNIFORM = FlatDirichlet(np.ones((3, 2, 3)), REWARDS)
TENTHS = FlatDirichlet(np.full((3, 2, 3), 0.1), REWARDS)
UNEVEN = FlatDirichlet(np.array([0.1, 0.7, 2.0]) * np.ones((3, 2, 1)), REWARDS)
WHOLE = SPARSE.scaled(10)
PRIORS = {
    "sparse": SPARSE,
    "uniform": UNIFORM,
    "tenths": TENTHS,
    "uneven": UNEVEN,
    "whole": WHOLE,
}
# The second one is impossible under the sparse prior.
OBSERVED = [(0, 0, 2), (0, 1, 2), (1, 0, 1), (1, 0, 1), (2, 1, 2)]
# Pairs to draw from in turn: one alone, and several by turns.
TURNS = [[0, 0, 0, 0], [2, 2, 2, 2], [0, 1, 0, 5, 1, 0]]


def probabilities(alphas: Floats, turns: list[int]) -> Floats:
    """The probability of each sequence of next states, with the rows integrated out."""
    rows = alphas.reshape(-1, alphas.shape[2])
    law = np.zeros([rows.shape[1]] * len(turns))
    for sequence in np.ndindex(*law.shape):
        logarithm = 0.0
        for pair in set(turns):
            drawn = [y for y, taken in zip(sequence, turns, strict=True) if taken == pair]
            numbers = np.bincount(drawn, minlength=rows.shape[1])
            if (numbers[rows[pair] == 0] > 0).any():
                logarithm = -np.inf
                continue
            possible = rows[pair] > 0
            alpha, number = rows[pair][possible], numbers[possible]
            logarithm += gammaln(alpha.sum()) - gammaln(alpha.sum() + number.sum())
            logarithm += (gammaln(alpha + number) - gammaln(alpha)).sum()
        law[sequence] = np.exp(logarithm)
    return law


def frequencies(sequences: Integers, states: int) -> Integers:
    powers = states ** np.arange(sequences.shape[1])[::-1]
    return np.bincount(sequences @ powers, minlength=states ** sequences.shape[1])
