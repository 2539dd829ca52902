"""MDPs around a problem in which actions have no labels: their effects differ by state."""

import numpy as np

from ..streams import generator
from ..values import POSITIVE, check
from .dirichlet import FlatDirichlet
from .sparse import Floats, Integers


def shuffled(problem: FlatDirichlet, seen: float) -> FlatDirichlet:
    """A distribution around a problem's mean MDP, whose actions are shuffled in each state.

    The counts are those that agents are told, plus `seen` times the probabilities of the mean MDP:
    the posterior of agents after `seen` typical transitions of each pair. The order of the
    actions is drawn once, so it is the same in all MDPs. It changes only where agents can't tell
    the actions apart, because all have the same counts and the same rewards.
    """
    check(seen, "shuffled: the transitions seen of each pair", POSITIVE)
    prior = problem.as_prior()
    table = prior.counts
    probability = problem.mean().transitions.at(table)
    known = np.stack(
        [
            table.next_state,
            table.values,
            prior.rewards.mean.at(table),
            prior.rewards.variance.at(table),
        ]
    )
    rng = generator("shuffled actions", problem.digest)
    for state in range(prior.num_states):
        ends = table.row_start[state * prior.num_actions :][: prior.num_actions + 1]
        order = rng.permutation(prior.num_actions)
        if _alike(known[:, ends[0] : ends[-1]], ends):
            rows = probability[ends[0] : ends[-1]].reshape(prior.num_actions, -1)
            probability[ends[0] : ends[-1]] = rows[order].ravel()
    counts = table.replace(table.values + seen * probability)
    name = f"shuffled:{seen:g}:{problem.name}"
    return FlatDirichlet(counts, prior.rewards, prior.start, name=name)


def _alike(known: Floats, ends: Integers) -> bool:
    """Whether all actions of a state have the same entries, by the numbers known of each."""
    lengths = np.diff(ends)
    if (lengths != lengths[0]).any():
        return False
    by_action = known.reshape(len(known), len(lengths), -1)
    return bool((by_action == by_action[:, :1]).all())
