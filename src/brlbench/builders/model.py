"""Build models and environments from priors and MDPs."""

from typing import Any, TypeVar

import numpy as np

from ..beliefs.base import Family
from ..kernels.counts import Counts
from ..kernels.families import Flat
from ..kernels.loop.environment import NO_EPISODE, Environment, Tables
from ..kernels.solving import endless as endless  # provides functions by type
from ..kernels.solving import episodes as episodes  # so does this
from ..kernels.solving import horizon as horizon  # and this
from ..kernels.solving import model as kernels
from ..kernels.solving.model import Model
from ..kernels.solving.plans import Endless, Episode, Horizon
from ..kernels.solving.undo import NUM_NUMBER, NUM_ROW, Saved, SavedRows
from ..kernels.types import Floats
from ..mdps.batch import MDPs
from ..mdps.mdp import MDP
from ..mdps.task import STEP, Task
from ..memory import check_memory
from .belief import build_belief, build_saved_belief
from .counts import build_counts as build_counts

# Beyond this many states, an inverse takes too much memory and time: sweeps take over.
MAX_INVERSE_STATES = 1000

Arrays = TypeVar("Arrays", bound=tuple[Any, ...])
Plan = Endless | Episode | Horizon


def copy(arrays: Arrays) -> Arrays:
    """A deep copy of a NamedTuple, without what copies share; work space gets no contents."""
    if getattr(arrays, "is_shared", False):
        return arrays
    copy_array = np.empty_like if getattr(arrays, "is_work_space", False) else np.copy

    def copy_field(field: Any) -> Any:
        if isinstance(field, tuple):
            return copy(field)
        return copy_array(field, subok=True) if isinstance(field, np.ndarray) else field

    return type(arrays)(*map(copy_field, arrays))


def build_plan(pairs: int, task: Task, every_step: bool) -> Endless | Episode:
    """How far solutions plan ahead; in episodes anew at `every_step`, or once per episode."""
    if task.episode is None:
        return Endless()
    check_memory(
        2 * 8 * pairs * (task.episode + 1), f"a plan for episode = {task.episode}", "shorten it"
    )
    return Episode(
        length=task.episode,
        every_step=every_step,
        step=np.zeros(1, np.int64),
        q=np.zeros((task.episode + 1, pairs)),
    )


def build_horizon(prior: Family, task: Task) -> Endless | Horizon:
    """The plan of agents that look across the border of episodes."""
    if task.episode is None:
        return Endless()
    states, length = np.flatnonzero(prior.start), task.episode
    begins = task.discount ** (length * np.arange(max(1, task.horizon // length), dtype=float))
    return Horizon(
        length=length,
        horizon=task.horizon,
        step=np.zeros(1, np.int64),
        state=states,
        probability=np.asarray(prior.start)[states],
        power=task.discount ** np.arange(length + 1, dtype=float),
        weight=np.concatenate([[0.0], np.cumsum(begins)]),
        q=np.zeros(prior.num_states * prior.num_actions),
    )


def build_model(
    prior: Family,
    task: Task,
    by_entry: bool = False,
    replan: str = STEP,
    plan: Plan | None = None,
    by_outcome: bool | None = None,
) -> Model:
    """The prior's mean MDP, not solved yet.

    For agents that look at entries, `by_entry` leaves out background and adds rewards of entries;
    next states with unknown binary rewards are different entries, unless `by_outcome` is false. In
    episodes, `replan` says how often it is solved, unless a `plan` says how far.
    """
    states, pairs = prior.num_states, prior.num_states * prior.num_actions
    side = states if states <= MAX_INVERSE_STATES and task.episode is None else 0
    belief, counts, entry_reward = build_belief(
        prior,
        task.horizon,
        background=not by_entry,
        by_outcome=by_entry if by_outcome is None else by_outcome,
    )
    return Model(
        counts=counts,
        belief=belief,
        discount=task.discount,
        entry_reward=entry_reward if by_entry else np.zeros(0),
        bonus=np.zeros(pairs),
        policy=np.zeros(states, np.int64),
        pending=np.zeros(states, np.int64),
        inverse=np.zeros((side, side)),
        row=np.zeros(states),
        value=np.zeros(states),
        q=np.zeros(pairs),
        norms=np.zeros(2),
        plan=build_plan(pairs, task, every_step=replan == STEP) if plan is None else plan,
    )


def solved_model(
    prior: Family, task: Task, by_entry: bool = False, replan: str = STEP, plan: Plan | None = None
) -> Model:
    """The prior's mean MDP, solved."""
    model = build_model(prior, task, by_entry, replan, plan)
    solve(model)
    return model


def solve(model: Model) -> None:
    """Solve from scratch, by code that is compiled once for all agents and families."""
    kernels.solve(model._replace(belief=Flat()))


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
        # Under flat priors, transitions are taken back one by one.
        rows=Flat()
        if isinstance(model.belief, Flat)
        else build_saved_rows(model.belief, model.counts, model.entry_reward, solutions),
    )


def build_saved_rows(belief: Any, counts: Counts, entry_reward: Floats, number: int) -> SavedRows:
    """Room for all counts and beliefs."""
    pairs = len(counts.total)
    return SavedRows(
        total=np.zeros((number, pairs)),
        reward_sum=np.zeros((number, pairs)),
        entry_count=np.zeros((number, len(counts.entry_count))),
        entry_reward=np.zeros((number, len(entry_reward))),
        belief=build_saved_belief(belief, number),
    )


def build_environment(mdps: MDP | MDPs, episode: int | None = None) -> Environment:
    """An environment for compiled code: an MDP, or what MDPs share, before it enters one."""
    if isinstance(mdps, MDP):
        mdps = MDPs.gather([mdps])
    places = mdps.places

    def shared(rows: Floats) -> Floats:
        return rows[0].copy() if len(rows) == 1 else np.zeros(rows.shape[1])

    return Environment(
        num_actions=places.num_actions,
        row_start=places.row_start.copy(),
        next_state=places.next_state.copy(),
        probability=shared(mdps.probability),
        reward=shared(mdps.reward),
        deviation=np.sqrt(shared(mdps.variance)),
        start=shared(mdps.start),
        visits=np.zeros(places.num_pairs, np.int64),
        is_binary=mdps.is_binary,
        episode=NO_EPISODE if episode is None else episode,
    )


def build_tables(mdps: MDPs) -> Tables:
    """MDPs for compiled code."""
    deviation = np.sqrt(mdps.variance)
    deviation.flags.writeable = False  # as the others, for which code is compiled
    return Tables(
        probability=mdps.probability,
        reward=mdps.reward,
        deviation=deviation,
        start=mdps.start,
    )
