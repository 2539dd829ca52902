"""Build counts, models and environments from priors and MDPs."""

from typing import Any, TypeVar

import numpy as np

from ..kernels.counts import Counts
from ..kernels.loop.environment import Environment
from ..kernels.solving import model as kernels
from ..kernels.solving.model import Model
from ..kernels.solving.undo import NUM_NUMBER, NUM_ROW, Saved
from ..kernels.types import Booleans, Floats
from ..mdps.dirichlet import FlatDirichlet
from ..mdps.mdp import MDP
from ..mdps.task import Task

# Beyond this many states, an inverse takes too much memory and time: sweeps take over.
MAX_INVERSE_STATES = 1000

Arrays = TypeVar("Arrays", bound=tuple[Any, ...])


def copy(arrays: Arrays) -> Arrays:
    """A deep copy of a NamedTuple; work space gets the same shape but no contents."""
    copy_array = np.empty_like if getattr(arrays, "is_work_space", False) else np.copy

    def copy_field(field: Any) -> Any:
        if isinstance(field, tuple):
            return copy(field)
        return copy_array(field, subok=True) if isinstance(field, np.ndarray) else field

    return type(arrays)(*map(copy_field, arrays))


def has_equal_counts(prior: FlatDirichlet) -> Booleans:
    """Whether, for each pair [P], all next states are possible with the same count."""
    table, first = prior.counts, prior.counts.row_start[:-1]
    lowest, highest = (each.reduceat(table.values, first) for each in (np.minimum, np.maximum))
    return np.asarray((lowest == highest) & (np.diff(table.row_start) == prior.num_states))


def build_counts(
    prior: FlatDirichlet, horizon: int, background: bool = True, listed: Booleans | None = None
) -> Counts:
    """The prior's counts, with room for the next states that `horizon` transitions can add.

    With `background`, a full row of equal counts becomes background. Its only entries are those of
    the prior's transitions that are `listed`; they begin at zero. Listed entries come first in all
    rows.
    """
    table, rewards = prior.counts, prior.rewards.mean
    uniform = background & has_equal_counts(prior)
    in_uniform = uniform[table.pair]
    listed = np.zeros(len(in_uniform), np.bool_) if listed is None else listed
    chosen = np.flatnonzero(~in_uniform | listed)
    chosen = chosen[np.lexsort((~listed[chosen], table.pair[chosen]))]
    entries = len(chosen)
    row_length = np.bincount(table.pair[chosen], minlength=table.num_pairs)
    # A full row moves to room for twice its length plus two; at worst, every transition moves one.
    growing = row_length[row_length < prior.num_states]
    moved = horizon * (2 * int(growing.max(initial=0)) + 8)
    # However long the horizon, all the rooms of a row take less than 4 S entries together.
    room = entries + min(moved, 4 * prior.num_states * len(growing))
    next_state, count = np.zeros(room, np.int64), np.zeros(room)
    next_state[:entries] = table.next_state[chosen]
    count[:entries] = np.where(in_uniform, 0.0, table.values)[chosen]
    reward_sum = table.replace(table.values * rewards.at(table)).row_sums()
    return Counts(
        num_states=prior.num_states,
        num_actions=prior.num_actions,
        has_background=bool(uniform.any()),
        background=np.where(uniform, table.values[table.row_start[:-1]], 0.0),
        total=table.row_sums(),
        reward_sum=reward_sum,
        row_start=np.concatenate([[0], np.cumsum(row_length)[:-1]]),
        row_length=row_length,
        row_room=row_length.copy(),
        entry_next=next_state,
        entry_count=count,
        pool_end=np.array([entries]),
        reward_start=rewards.row_start.copy(),
        reward_next=rewards.next_state.copy(),
        reward=rewards.values.copy(),
    )


def entry_rewards(prior: FlatDirichlet, counts: Counts) -> Floats:
    """The rewards [pool] of the entries of counts without background, with the same room."""
    rewards = np.zeros(len(counts.entry_count))
    rewards[: counts.pool_end[0]] = prior.rewards.mean.at(prior.counts)
    return rewards


def build_model(prior: FlatDirichlet, task: Task, background: bool = True) -> Model:
    """The prior's mean MDP, not solved yet."""
    states, pairs = prior.num_states, prior.num_states * prior.num_actions
    side = states if states <= MAX_INVERSE_STATES else 0
    return Model(
        counts=build_counts(prior, task.horizon, background),
        discount=task.discount,
        bonus=np.zeros(pairs),
        policy=np.zeros(states, np.int64),
        pending=np.zeros(states, np.int64),
        inverse=np.zeros((side, side)),
        row=np.zeros(states),
        value=np.zeros(states),
        q=np.zeros(pairs),
        norms=np.zeros(2),
    )


def solved_model(prior: FlatDirichlet, task: Task) -> Model:
    """The prior's mean MDP, solved."""
    model = build_model(prior, task)
    kernels.solve(model)
    return model


def build_saved(model: Model, solutions: int, transitions: int) -> Saved:
    """Room for solutions of a model, and for transitions to take back."""
    return Saved(
        policy=np.zeros((solutions, *model.policy.shape), np.int64),
        inverse=np.zeros((solutions, *model.inverse.shape)),
        value=np.zeros((solutions, *model.value.shape)),
        q=np.zeros((solutions, *model.q.shape)),
        norms=np.zeros((solutions, *model.norms.shape)),
        row=np.zeros((transitions, NUM_ROW), np.int64),
        number=np.zeros((transitions, NUM_NUMBER)),
    )


def build_environment(mdp: MDP | FlatDirichlet) -> Environment:
    """An environment for compiled code; made from a distribution, it still lacks probabilities."""
    table = mdp.transitions if isinstance(mdp, MDP) else mdp.counts
    return Environment(
        num_actions=table.num_actions,
        row_start=table.row_start.copy(),
        next_state=table.next_state.copy(),
        probability=table.values.copy(),
        reward=mdp.rewards.mean.at(table),
        deviation=np.sqrt(mdp.rewards.variance.at(table)),
        start=mdp.start.copy(),
        visits=np.zeros(table.num_pairs, np.int64),
    )
