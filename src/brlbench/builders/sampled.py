"""Build MDPs to be sampled from the posterior and solved, one by one."""

import numpy as np

from ..errors import InvalidInput
from ..kernels.solving.sampled import Initial, Optimum, Sampled, SampledRows
from ..kernels.solving.sampled_values import SampledValues
from ..kernels.types import Floats
from ..mdps.dirichlet import FlatDirichlet
from ..mdps.task import Task
from .model import build_counts, copy, entry_rewards, solved_model

# Beyond this many states sweeps take less time than elimination.
MAX_MATRIX_STATES = 256
# Drawing more numbers than this in one sampling would take many seconds.
MAX_DRAWN = 10**9


def build_sampled(prior: FlatDirichlet, task: Task, room: int = 0) -> tuple[Sampled, Initial]:
    """An MDP of the prior, not sampled yet; `room` is for the probabilities of further rows."""
    counts = build_counts(prior, task.horizon, background=False)
    states, pairs = prior.num_states, len(counts.total)
    side = states if states <= MAX_MATRIX_STATES else 0
    mdp = Sampled(
        posterior=copy(counts),
        discount=task.discount,
        entry_reward=entry_rewards(prior, counts),
        rows=SampledRows(
            first_entry=np.zeros(pairs, np.int64),
            length=np.zeros(pairs, np.int64),
            probability=np.zeros(len(counts.entry_count) + room),
            start=np.zeros(pairs, np.int64),
            reward=np.zeros(pairs),
        ),
        optimum=Optimum(
            policy=np.zeros(states, np.int64),
            value=np.zeros(states),
            scale=np.zeros(1),
            q=np.zeros(pairs),
            matrix=np.zeros((side, side)),
        ),
    )
    return mdp, Initial(counts=counts, value=solved_model(prior, task).value)


def build_samples(prior: FlatDirichlet, task: Task, samples: int, agent: str) -> SampledValues:
    """Room for the Q-values of MDPs of the prior, not sampled yet; `agent` is for errors."""
    most_rows = np.full(prior.counts.num_pairs, float(samples))
    check_size(prior, most_rows, f"{agent}: samples = {samples}", "use fewer samples")
    mdp, initial = build_sampled(prior, task)
    return SampledValues(
        mdp=mdp,
        initial=initial,
        q=np.zeros((samples, prior.num_actions)),
        mean=np.zeros(prior.num_actions),
    )


def check_size(prior: FlatDirichlet, most_rows: Floats, parameter: str, remedy: str) -> None:
    """Refuse a prior from which one sampling could draw too many numbers.

    Rows with two outcomes count as if they had three: once a transition is observed that is
    impossible under the prior, their shortcut no longer applies.
    """
    outcomes = np.maximum(np.diff(prior.counts.row_start), 3)
    drawn = float(np.sum(most_rows * outcomes))
    if drawn > MAX_DRAWN:
        raise InvalidInput(
            f"{parameter}: one sampling from this prior could draw {drawn:.1g} numbers, the limit "
            f"is {MAX_DRAWN:.0g}: {remedy}"
        )
