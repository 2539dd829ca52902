"""Generalised Chain (Castronovo et al., 2016), after Dearden et al. (1998).

Five states in a row and three actions with the same prior. An action moves one state along the
chain, or back to the first state; the probabilities differ from MDP to MDP. Arriving in the first
state pays 2, in the last state 10. States are numbered from 0 here, from 1 in the paper.

In the paper's appendix the last state may also lead to the second one, but its tables were made
without that. `gc` is the problem of the tables, `gc_appendix` the printed one.

With a `deviation`, each reward is Gaussian with that standard deviation around its mean, which
agents know. There is nothing more to learn, but returns say less about the agent.
"""

import numpy as np

from ..beliefs.flat import FlatDirichlet
from ..values import POSITIVE, check


def gc(deviation: float = 0) -> FlatDirichlet:
    """The Generalised Chain behind the published tables."""
    return _chain([1, 0, 0, 0, 1], "Generalised Chain", deviation)


def gc_appendix() -> FlatDirichlet:
    """The Generalised Chain as printed in the paper's appendix."""
    return _chain([1, 1, 0, 0, 1], "Generalised Chain, as printed in the appendix")


def _chain(last_counts: list[int], description: str, deviation: float = 0) -> FlatDirichlet:
    counts = np.zeros((5, 3, 5))
    counts[:, :, 0] = 1
    for state in range(4):
        counts[state, :, state + 1] = 1
    counts[4] = last_counts
    variance = None if deviation == 0 else deviation * check(deviation, "deviation", POSITIVE)
    return FlatDirichlet(
        counts,
        rewards=[2, 0, 0, 0, 10],
        reward_variances=variance,
        description=description,
    )
