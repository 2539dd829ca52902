"""Build MDPs to be sampled from the posterior and solved, one by one."""

import numpy as np

from ..beliefs.base import Family
from ..beliefs.hypotheses import Hypotheses
from ..beliefs.hypotheses.drawing import solve_all
from ..beliefs.hypotheses.kernel import Solutions
from ..errors import InvalidInput
from ..kernels.solving.sampled import Initial, Optimum, Sampled, SampledRows
from ..kernels.solving.sampled_values import SampledValues
from ..kernels.types import Floats
from ..mdps.task import Task
from ..memory import SHARE, usable_bytes
from .belief import build_belief
from .model import build_plan, copy, solved_model

# Beyond this many states sweeps take less time than elimination.
MAX_MATRIX_STATES = 256
# Drawing more numbers than this in one sampling would take many seconds.
MAX_DRAWN = 10**9


def with_room(mdp: Sampled, room: int) -> Sampled:
    """The same with room for the probabilities of further rows."""
    rows = mdp.rows._replace(probability=np.zeros(len(mdp.entry_reward) + room))
    return mdp._replace(rows=rows)


def build_sampled(
    prior: Family,
    task: Task,
    look_up: bool = True,
    by_outcome: bool = False,
    every_step: bool = False,
) -> tuple[Sampled, Initial]:
    """An MDP of the prior, not sampled yet.

    To `look_up` solutions of hypotheses, all are solved here, if there is memory for that; not in
    episodes. There, each MDP is solved for the decisions left if one is sampled at `every_step`.
    With `by_outcome`, next states with unknown binary rewards are different entries.
    """
    belief, counts, entry_reward = build_belief(prior, task.horizon, False, by_outcome)
    states, pairs = prior.num_states, len(counts.total)
    side = states if states <= MAX_MATRIX_STATES and task.episode is None else 0
    value = solved_model(prior, task).value if task.episode is None else np.zeros(states)
    initial = Initial(counts=counts, belief=belief, value=value)
    mdp = Sampled(
        posterior=copy(counts),
        belief=copy(belief),
        discount=task.discount,
        entry_reward=entry_reward,
        rows=SampledRows(
            first_entry=np.zeros(pairs, np.int64),
            length=np.zeros(pairs, np.int64),
            probability=np.zeros(len(counts.entry_count)),
            start=np.zeros(pairs, np.int64),
            reward=np.zeros(pairs),
        ),
        optimum=Optimum(
            policy=np.zeros(states, np.int64),
            value=initial.value.copy(),
            scale=np.zeros(1),
            q=np.zeros(pairs),
            matrix=np.zeros((side, side)),
        ),
        plan=build_plan(pairs, task, every_step),
    )
    look_up = look_up and task.episode is None
    number = len(prior) if isinstance(prior, Hypotheses) and look_up else 0
    if 0 < number * 8 * (pairs + 1) < SHARE * usable_bytes():
        solutions = Solutions(q=np.zeros((number, pairs)), scale=np.zeros(number))
        solve_all(belief, mdp, solutions)
        mdp = mdp._replace(belief=mdp.belief._replace(solutions=solutions))
        initial = initial._replace(belief=copy(mdp.belief))
    return mdp, initial


def build_samples(prior: Family, task: Task, samples: int, agent: str) -> SampledValues:
    """Room for the Q-values of MDPs of the prior, not sampled yet; `agent` is for errors."""
    most_rows = np.full(prior.num_states * prior.num_actions, float(samples))
    check_size(prior, most_rows, f"{agent}: samples = {samples}", "use fewer samples")
    mdp, initial = build_sampled(prior, task, every_step=True)
    return SampledValues(
        mdp=mdp,
        initial=initial,
        q=np.zeros((samples, prior.num_actions)),
        mean=np.zeros(prior.num_actions),
    )


def check_size(prior: Family, most_rows: Floats, parameter: str, remedy: str) -> None:
    """Refuse a prior from which one sampling could draw too many numbers.

    Rows with two outcomes count as if they had three: once a transition is observed that is
    impossible under the prior, their shortcut no longer applies.
    """
    outcomes = np.maximum(np.diff(prior.frame.places.row_start), 3)
    drawn = float(np.sum(most_rows * outcomes))
    if drawn > MAX_DRAWN:
        raise InvalidInput(
            f"{parameter}: one sampling from this prior could draw {drawn:.1g} numbers, the limit "
            f"is {MAX_DRAWN:.0g}: {remedy}"
        )
