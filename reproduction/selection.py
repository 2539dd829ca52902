"""How much the best of many agents is flattered by being chosen on the MDPs that it is scored on.

Every published row is the best of its algorithm's parameter values on one set of MDPs. Resampling
our own MDPs imitates that: choose the best agent on each resample, and see by how much its score
there exceeds its score on all MDPs. What is found is rather too small than too large, as the best
agent of our own set wins more often than it should.
"""

import numpy as np

from brlbench.mdps.sparse import Floats

RESAMPLES = 2000


def optimism(returns: Floats, rng: np.random.Generator) -> float:
    """The expected excess of the best row of returns [agents, MDPs] over its true score."""
    agents, mdps = returns.shape
    means = returns.mean(axis=1)
    total = 0.0
    for _ in range(RESAMPLES):
        times = np.bincount(rng.integers(0, mdps, size=mdps), minlength=mdps)
        resampled = returns @ times / mdps
        best = int(resampled.argmax())
        total += float(resampled[best] - means[best])
    return total / RESAMPLES if agents > 1 else 0.0
