"""How much choosing the best of many agents flatters its score on the same MDPs.

Every published row is the best of its algorithm's parameter values on one set of MDPs. Resampling
our own MDPs imitates that: on each resample, choose the best agent and measure how much its score
there exceeds its score on all MDPs. The result errs on the small side, because the best agent of
our own set wins more often than it should.
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
