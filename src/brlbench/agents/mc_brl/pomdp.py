"""A POMDP over states and hypotheses, from MDPs: states are seen, hypotheses are not."""

from typing import NamedTuple

import numpy as np

from ...beliefs.hypotheses.rewards import with_equal_rewards
from ...kernels.types import Floats, Integers
from ...mdps.batch import MDPs
from ...memory import check_memory


class Pomdp(NamedTuple):
    """K hypotheses with the same S states, P pairs and O outcomes of pairs. Never changes."""

    num_actions: int
    discount: float
    start: Integers  # [P + 1]; the outcomes of a pair
    next_state: Integers  # [O]
    paid: Floats  # [O]; the reward that is seen, or NaN where it tells nothing
    likelihood: Floats  # [O, K]; probability of the outcome under each hypothesis
    reward: Floats  # [P, K]; expected

    @property
    def is_shared(self) -> bool:
        """Copies of agents share it."""
        return True


def build_pomdp(mdps: MDPs, discount: float) -> Pomdp:
    """The POMDP of some MDPs, whose rewards are known, constant or binary."""
    mdps = mdps if mdps.is_binary else with_equal_rewards(mdps)
    entries = range(len(mdps.places.next_state))
    number, pairs = len(mdps), mdps.places.num_pairs
    parts = [_outcomes(mdps, entry) for entry in entries]
    sizes = np.array([len(paid) for paid, _ in parts])
    check_memory(8 * int(sizes.sum()) * number, f"{number:,} hypotheses", "use fewer hypotheses")
    ends = np.concatenate([[0], np.cumsum(sizes)])
    expected = mdps.probability * mdps.reward  # [K, E]
    return Pomdp(
        num_actions=mdps.places.num_actions,
        discount=discount,
        start=ends[mdps.places.row_start[: pairs + 1]],
        next_state=np.repeat(mdps.places.next_state, sizes),
        paid=np.concatenate([paid for paid, _ in parts]),
        likelihood=np.concatenate([chance for _, chance in parts]),
        reward=np.ascontiguousarray(
            np.add.reduceat(expected, mdps.places.row_start[:-1], axis=1).T
        ),
    )


def _outcomes(mdps: MDPs, entry: int) -> tuple[Floats, Floats]:
    """The rewards that tell hypotheses apart after a transition, and their likelihoods [n, K]."""
    chance = mdps.probability[:, entry]
    reward = np.broadcast_to(mdps.reward[:, min(entry, mdps.reward.shape[1] - 1)], len(chance))
    if mdps.is_binary:
        return np.array([0.0, 1.0]), np.stack([chance * (1 - reward), chance * reward])
    values = np.unique(reward[chance > 0])
    if len(values) < 2:
        return np.array([np.nan]), chance[None].copy()
    return values, np.where(reward == values[:, None], chance, 0.0)
