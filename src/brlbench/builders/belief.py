"""Build compiled beliefs and their counts, for priors of all families."""

from typing import Any, NamedTuple

import numpy as np

from ..beliefs.base import Family
from ..beliefs.flat import FlatDirichlet
from ..beliefs.hypotheses import Hypotheses
from ..beliefs.hypotheses import kernel as hypotheses
from ..beliefs.hypotheses.kernel import Cases, SavedWeights, Solutions, Weights
from ..beliefs.rewards import RewardPrior, outcomes
from ..beliefs.rewards.kernel import Means, Rewarded
from ..beliefs.rewards.outcomes import Outcomes, SavedOutcomes
from ..beliefs.tied import TiedDirichlet
from ..beliefs.tied.kernel import Tied
from ..kernels.counts import Counts
from ..kernels.families import Flat
from ..kernels.types import Booleans, Floats
from ..memory import check_memory
from .counts import Counting, build_counts, entry_rewards


class Knowledge(NamedTuple):
    """A belief before the first transition, with its counts."""

    belief: Any  # has the functions in `kernels.families`
    counts: Counts
    entry_reward: Floats  # [pool]; of no use if counts have background


def build_belief(
    prior: Family, horizon: int, background: bool = True, by_outcome: bool = False
) -> Knowledge:
    """The belief of a prior; `background` allows background counts, see `build_counts`.

    With `by_outcome`, next states with unknown binary rewards are different entries.
    """
    if isinstance(prior, Hypotheses):
        return build_weights(prior)
    assert isinstance(prior, Counting)
    is_flat = isinstance(prior, FlatDirichlet)
    counts = build_counts(prior, horizon, background and is_flat)
    inner = Flat() if isinstance(prior, FlatDirichlet) else build_tied(prior)
    rewards = np.zeros(0) if background else entry_rewards(prior, counts)
    if prior.reward_prior is None:
        return Knowledge(inner, counts, rewards)
    means = build_means(prior.reward_prior)
    if by_outcome and means.is_binary:
        return build_outcomes(inner, means, counts)
    return Knowledge(Rewarded(inner=inner, means=means), counts, rewards)


def most_outcomes(counts: Counts) -> int:
    """The most entries that a row can have: as many per next state as one has now."""
    rows = zip(counts.row_start, counts.row_length, strict=True)
    times = (np.bincount(counts.entry_next[first:][:length]) for first, length in rows)
    return counts.num_states * max(int(each.max(initial=1)) for each in times)


def build_means(prior: RewardPrior) -> Means:
    """The beliefs about the mean rewards of all pairs."""
    weight = prior.strength.ravel().astype(np.float64)
    return Means(
        weight=weight,
        total=weight * prior.expected.ravel(),
        deviation=prior.deviation.ravel().copy(),
        is_binary=prior.is_binary,
    )


def build_outcomes(inner: Any, means: Means, rows: Counts) -> Knowledge:
    """A belief with counts of next states and binary rewards."""
    pool = outcomes.PER_STATE * len(rows.entry_count)
    counts = rows._replace(
        total=rows.total.copy(),
        reward_sum=rows.reward_sum.copy(),
        row_start=rows.row_start.copy(),
        row_length=rows.row_length.copy(),
        row_room=rows.row_room.copy(),
        entry_next=np.zeros(pool, np.int64),
        entry_count=np.zeros(pool),
        pool_end=outcomes.PER_STATE * rows.pool_end,
    )
    belief = Outcomes(inner=inner, means=means, rows=rows)
    outcomes.set_all_rows(belief, counts)
    return Knowledge(belief, counts, (np.arange(pool) % outcomes.PER_STATE).astype(np.float64))


def build_saved_belief(belief: Any, number: int) -> Any:
    """Room to save a belief several times."""
    if isinstance(belief, Outcomes):
        pairs, pool = (number, len(belief.means.weight)), (number, len(belief.rows.entry_count))
        return SavedOutcomes(
            weight=np.zeros(pairs),
            total=np.zeros(pairs),
            row_total=np.zeros(pairs),
            entry_count=np.zeros(pool),
        )
    if not isinstance(belief, Weights):
        return Flat()  # counts are all that changes
    hypotheses = len(belief.weight)
    return SavedWeights(
        left=np.zeros(number, np.int64),
        case=np.zeros((number, hypotheses), np.int64),
        weight=np.zeros((number, hypotheses)),
    )


def build_tied(prior: TiedDirichlet) -> Tied:
    """Which pairs and entries share counts."""
    table, group = prior.counts, prior.group.ravel()
    outcomes = prior.group_counts.shape[1]
    # An entry's rank among its pair's, by outcome.
    order = np.lexsort((prior.cell % outcomes, table.pair))
    outcome, place = np.empty_like(order), np.empty_like(order)
    offset = np.arange(len(order)) - table.row_start[table.pair]
    outcome[order] = offset
    place[:] = order - table.row_start[table.pair]
    sizes = np.bincount(group, minlength=len(prior.group_counts))
    return Tied(
        group=group.copy(),
        member_start=np.concatenate([[0], np.cumsum(sizes)]),
        member=np.argsort(group, kind="stable"),
        outcome=outcome,
        place=place,
        reward=prior.rewards.mean.at(table),
    )


def build_weights(prior: Hypotheses) -> Knowledge:
    """The weights of hypotheses, and their effective counts."""
    cases = build_cases(prior)
    pairs, outcomes = len(cases.row_start) - 1, len(cases.outcome_reward)
    first = cases.outcome_start[cases.row_start]  # [P + 1]; of each pair
    left = np.flatnonzero(prior.weights)
    case, weight = np.zeros(len(prior), np.int64), np.zeros(len(prior))
    case[: len(left)], weight[: len(left)] = left, prior.weights[left]
    lengths = np.diff(first)
    belief = Weights(
        cases=cases,
        solutions=Solutions(q=np.zeros((0, pairs)), scale=np.zeros(0)),
        left=np.array([len(left)]),
        case=case,
        weight=weight,
        product=np.zeros(len(prior)),
        mean=np.zeros(lengths.max()),
        changed=np.zeros(pairs, np.int64),
    )
    counts = Counts(
        num_states=prior.num_states,
        num_actions=prior.num_actions,
        has_background=False,
        background=np.zeros(pairs),
        total=np.zeros(pairs),
        reward_sum=np.zeros(pairs),
        row_start=first[:-1].copy(),
        row_length=lengths,
        row_room=lengths.copy(),
        entry_next=np.repeat(cases.next_state, np.diff(cases.outcome_start)),
        entry_count=np.zeros(outcomes),
        pool_end=np.array([outcomes]),
        # No reward is known by its next state alone, but no pair is without rewards.
        reward_start=np.arange(pairs + 1),
        reward_next=np.full(pairs, prior.num_states),
        reward=np.zeros(pairs),
    )
    entry_reward = cases.outcome_reward.copy()
    hypotheses.set_all_rows(belief, counts, entry_reward)
    return Knowledge(belief, counts, entry_reward)


def build_cases(prior: Hypotheses) -> Cases:
    """The hypotheses as arrays [E, K], transition by transition."""
    mdps = prior.mdps
    table, number = mdps.places, len(prior)
    entries = len(table.next_state)
    has_rewards = max(len(mdps.reward), len(mdps.variance)) > 1
    check_memory(
        8 * entries * number * (4 if has_rewards else 2),
        f"{number:,} hypotheses with {entries:,} transitions",
        "use fewer hypotheses",
    )
    differs = len(mdps.reward) > 1
    label = np.zeros((entries, number) if differs else (0, 0), np.int32)
    rewards = [mdps.reward[0, entry : entry + 1] for entry in range(entries)]
    for entry in np.flatnonzero(~(mdps.variance > 0).any(axis=0)) if differs else ():
        possible = mdps.probability[:, entry] > 0
        rewards[entry], label[entry, possible] = np.unique(
            mdps.reward[possible, entry], return_inverse=True
        )
    return Cases(
        row_start=table.row_start.copy(),
        next_state=table.next_state.copy(),
        probability=np.array(mdps.probability.T, order="C"),
        reward=np.array(mdps.reward.T, order="C"),
        deviation=np.ascontiguousarray(np.sqrt(mdps.variance.T)),
        outcome_start=np.concatenate([[0], np.cumsum([len(each) for each in rewards])]),
        outcome_reward=np.concatenate(rewards),
        label=label,
        start=mdps.start.copy(),
        varying=np.flatnonzero(_varies(prior)),
    )


def _varies(prior: Hypotheses) -> Booleans:
    """Whether a pair's row [P], or its rewards, differ between possible hypotheses."""
    mdps = prior.mdps[np.flatnonzero(prior.weights)]
    differs = np.ptp(mdps.probability, axis=0) > 0  # [E]
    if max(len(mdps.reward), len(mdps.variance)) > 1:
        differs |= (np.ptp(mdps.reward, axis=0) > 0) | (np.ptp(mdps.variance, axis=0) > 0)
    return np.asarray(np.logical_or.reduceat(differs, mdps.places.row_start[:-1]))
