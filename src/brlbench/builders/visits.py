"""Build what agents know that learn from visits alone: published algorithms without a prior.

They use which transitions are possible under the prior, and rewards that it knows for certain.
All else is learned, and each pair teaches about itself alone.
"""

import numpy as np

from ..beliefs.base import Family
from ..beliefs.counting import CountingPrior, GivenRewards
from ..beliefs.flat import FlatDirichlet
from ..beliefs.rewards import BernoulliRewards, NormalRewards
from ..kernels.solving.model import Model
from ..kernels.solving.optimism import Pace
from ..kernels.types import Floats
from ..mdps.mdp import MDP
from ..mdps.sparse import SparseTable
from ..mdps.task import Task
from .model import build_model

WEIGHT = 2.0**-60  # a power of two keeps the mean exactly; beside one visit it is nothing


def from_visits(prior: Family) -> FlatDirichlet:
    """A flat prior with a prior's mean that is worth `WEIGHT` visits of each pair.

    So a pair that was never taken has the prior's mean, and any other one has the frequencies and
    the mean reward that were observed.
    """
    mean = prior.mean()
    table = mean.transitions
    shape = prior.num_states, prior.num_actions
    counts = SparseTable.from_places(*shape, table.place, WEIGHT * table.values)
    return FlatDirichlet(counts, _weak_rewards(prior, mean), prior.start)


def _weak_rewards(prior: Family, mean: MDP) -> GivenRewards:
    if prior.known_rewards is not None:
        return prior.known_rewards
    own = prior.reward_prior if isinstance(prior, CountingPrior) else None
    if own is not None and own.is_binary:
        return BernoulliRewards(WEIGHT * own.expected, WEIGHT * (1 - own.expected))
    if own is not None:
        return NormalRewards(own.expected, WEIGHT / own.deviation**2, own.deviation)
    # Hypotheses that differ in their rewards: those of a pair vary as much as all of them.
    low, high = reward_limits(prior)
    noise = high - low + np.sqrt(prior.examples.variance.max(initial=0.0))
    if noise == 0:  # they differ where nothing can happen
        return mean.rewards
    paid = mean.transitions.values * mean.rewards.mean.at(mean.transitions)
    expected = np.bincount(mean.transitions.pair, paid, mean.transitions.num_pairs)
    return NormalRewards(
        expected.reshape(prior.num_states, prior.num_actions), WEIGHT / noise**2, noise
    )


def reward_limits(prior: Family) -> tuple[float, float]:
    """The least and the largest mean reward of a possible transition."""
    if isinstance(prior, CountingPrior) and prior.reward_prior is not None:
        return prior.reward_prior.limits
    examples = prior.examples
    possible = np.broadcast_to(examples.reward, (max(len(examples), 1), examples.reward.shape[1]))
    if len(examples):
        possible = possible[examples.probability > 0]
    return float(possible.min()), float(possible.max())


def reward_widths(known: FlatDirichlet) -> Floats:
    """By how much rewards of pairs [P] vary: Gaussian ones by their noise, binary ones by 1."""
    if known.reward_prior is None:
        return np.zeros(known.counts.num_pairs)
    return known.reward_prior.deviation.ravel() + known.reward_prior.is_binary


def build_visits(known: FlatDirichlet, task: Task, replan: str) -> tuple[Model, Pace]:
    """The mean MDP of what `from_visits` returned, with rewards of entries, and no visits."""
    model = build_model(known, task, by_entry=True, by_outcome=False, replan=replan)
    pairs = len(model.q)
    return model, Pace(
        visits=np.zeros(pairs, np.int64),
        planned=np.zeros(pairs, np.int64),
        decisions=np.zeros(1, np.int64),
    )
