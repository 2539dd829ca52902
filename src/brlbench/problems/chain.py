"""The chain of Dearden, Friedman and Russell, *Bayesian Q-learning* (1998).

Five states in a row. The first action moves along the chain, and stays in the last state. The
second action leads back to the first state. With probability 0.2 an action has the other one's
effect. Going back pays 2, staying in the last state pays 10. Agents know the map, but not which
action is which.

Poupart, Vlassis, Hoey and Regan (2006) take the probability of slipping as unknown, with a uniform
prior. With `prior=tied` it is the same everywhere, with `prior=semi` each action has its own, and
with `prior=full` every row is unknown, so any state can follow. MDPs are drawn from these
distributions; for Poupart's experiments, use them as the prior and `Chain` as the test. The moves
that `tied` and `semi` allow are those of `Chain`.
"""

import numpy as np

from ..beliefs.flat import FlatDirichlet
from ..beliefs.flat.single import SingleMDP, unlabelled
from ..beliefs.tied import TiedDirichlet
from ..values import check, words

_STATES = 5
_SLIP = 0.2
_PRIORS = ("unlabelled", "tied", "semi", "full")


def chain(prior: str = "unlabelled") -> SingleMDP | TiedDirichlet | FlatDirichlet:
    """Dearden's chain, or the chains of a prior."""
    check(prior, "prior", words(*_PRIORS))
    states = np.arange(_STATES)
    forward, back = np.minimum(states + 1, _STATES - 1), np.zeros(_STATES, np.int64)
    rewards = np.zeros((_STATES, 2, _STATES))
    rewards[:, :, 0] = 2
    rewards[-1, :, -1] = 10
    if prior == "full":
        counts = np.ones(rewards.shape)
        return FlatDirichlet(counts, rewards, description="Dearden's chain, every row unknown")
    if prior != "unlabelled":
        # The outcomes of both actions: success, and slipping.
        following = np.stack([np.stack([forward, back], 1), np.stack([back, forward], 1)], 1)
        per_action = prior == "semi"
        group = np.tile([0, 1] if per_action else [0, 0], (_STATES, 1))
        slips = "one unknown slip per action" if per_action else "one unknown slip"
        description = f"Dearden's chain, {slips}"
        counts = np.ones((1 + per_action, 2))
        return TiedDirichlet(counts, group, following, rewards, description=description)
    transitions = np.zeros(rewards.shape)
    for state in states:
        transitions[state, :, forward[state]] = (1 - _SLIP, _SLIP)
        transitions[state, :, 0] = (_SLIP, 1 - _SLIP)
    return unlabelled(transitions, rewards, "Dearden's chain")
