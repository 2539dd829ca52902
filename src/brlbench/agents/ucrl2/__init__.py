"""UCRL2 (Jaksch, Ortner and Auer, 2010), and KL-UCRL (Filippi, Cappé and Garivier, 2010).

The agent follows the optimal policy of the best MDP that its observations leave plausible. Extended
value iteration finds it: each pair has the best row within an L1 distance of the observed
frequencies or, with `kl`, within a Kullback-Leibler divergence. Unknown rewards have the upper end
of a confidence interval, at most 1 if they are binary; known ones have no width.

Of the prior it uses which transitions are possible, and known rewards. Rows and unknown rewards are
those observed; a pair that was never taken has the prior's mean, with a width as if it had been
taken once. So n next states that are possible take the place of S in the width of a row.

Without episodes, time t and N visits of a pair give, as in the paper,
sqrt(14 n log(2 A t / delta) / N) for its row and sqrt(7/2 log(2 S A t / delta) / N) for a reward,
times the noise of Gaussian rewards; a plan ends when the visits of the pair to be taken have
doubled. In episodes both are sqrt(4 m log(2 S A (k + 1) / delta) / N) in episode k, where m is n
for rows and 1 for rewards: those of TabulaRL (Osband), whose agent plans once per episode. `scale`
is a factor of all widths. The divergence is half the square of the distance, so that by Pinsker's
inequality the rows of `kl` are among those without it; the paper's own radius needs the horizon.

Deviations: the paper maximises average rewards, and stops value iteration early; here discounted
optimistic values are computed to within rounding or, in episodes, by backward induction. Ties are
broken at random.

With `rows` = "carried", an oversight of TabulaRL is played: in backward induction, each optimistic
row begins as the one with one decision less, so that optimism adds up, except where a row would
have been certain of the best state.
"""

from dataclasses import dataclass

import numpy as np

from ...errors import InvalidInput, Pointless
from ...values import BETWEEN_0_AND_1, FLAG, NOT_NEGATIVE, words
from ..base import (
    PLANS,
    Arrays,
    CompiledAgent,
    Family,
    Generator,
    Task,
    parameter,
    replan_parameter,
)

_FRESH, _CARRIED = "fresh", "carried"


@dataclass
class Ucrl2(CompiledAgent):
    """Follows the best policy of the best MDP that is plausible after what was observed."""

    name = "ucrl2"
    reference = "Jaksch, Ortner and Auer, 2010"
    needs = ("mean",)
    episodes = PLANS
    delta: float = parameter(0.05, "chance that confidence fails", BETWEEN_0_AND_1)
    scale: float = parameter(1.0, "factor of the widths of confidence", NOT_NEGATIVE)
    kl: bool = parameter(False, "KL-UCRL: rows are limited by their divergence", FLAG)
    rows: str = parameter(
        _FRESH,
        "in episodes, optimistic rows start from the estimate, or from the last optimistic ones",
        words(_FRESH, _CARRIED),
        variant=True,
    )
    replan: str = replan_parameter()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kl and self.rows == _CARRIED:
            raise InvalidInput(
                'ucrl2: rows = "carried": kl has no such form: leave one of them out'
            )

    def check_task(self, task: Task) -> None:
        """Raise if the agent can't play in episodes, or only in them."""
        super().check_task(task)
        if self.rows == _CARRIED and task.episode is None:
            raise Pointless('ucrl2: rows = "carried": the experiment has no episodes')

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Plan without any visits."""
        from ...builders.model import copy
        from ...builders.visits import build_visits, from_visits, reward_widths
        from ...kernels.solving import optimism
        from . import kernel as kernels

        known = from_visits(prior)
        model, pace = build_visits(known, task, self.replan)
        in_episodes = task.episode is not None
        pairs, pool = len(model.q), len(model.counts.entry_count)
        agent = self.make_arrays(
            kernels.Ucrl2,
            model=model,
            initial=model,
            pace=pace,
            width=np.zeros(pairs),
            row=np.zeros(pool),
            order=np.zeros(pool, np.int64),
            log_gap=np.zeros(pairs),
            reward_width=reward_widths(known),
            largest_reward=1.0 if known.rewards.is_binary else np.inf,
            reward_factor=4.0 if in_episodes else 3.5,
            row_factor=4.0 if in_episodes else 14.0,
            reward_pairs=pairs,
            row_pairs=pairs if in_episodes else prior.num_actions,
            delay=int(in_episodes),
            carried=self.rows == _CARRIED,
        )
        optimism.solve(agent)
        return agent._replace(model=copy(model))
