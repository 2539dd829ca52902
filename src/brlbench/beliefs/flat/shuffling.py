"""MDPs around a problem in which actions have no labels: their effects differ by state."""

from ...streams import generator
from ...values import POSITIVE, check
from . import FlatDirichlet


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
    rewards = prior.rewards.mean.at(table), prior.rewards.variance.at(table)
    first_entry = table.row_start[:: prior.num_actions]  # of each state
    rng = generator("shuffled actions", problem.digest)
    for state in range(prior.num_states):
        order = rng.permutation(prior.num_actions)
        if len(table.action_groups(state, table.values, *rewards)) == 1:
            entries = slice(first_entry[state], first_entry[state + 1])
            rows = probability[entries].reshape(prior.num_actions, -1)
            probability[entries] = rows[order].ravel()
    counts = table.replace(table.values + seen * probability)
    return prior.with_counts(counts, f"shuffled:{seen:g}:{problem.name}")
