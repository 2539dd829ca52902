"""UCBVI, value iteration with upper confidence bounds (Azar, Osband and Munos, 2017).

Values are those of the observed frequencies with a bonus per pair, by backward induction. They are
never above the largest return that is possible, nor above those of the last plan; a pair that was
never taken has the largest return. After N visits, with H the difference between the largest and
the least return and L = log(5 S A T / delta), T the decisions of the trajectory, the bonus is
7 H L / sqrt(N), by Hoeffding's inequality. By Bernstein's it is
sqrt(8 L var / N) + 14/3 H L / N, with var the observed variance of what follows. `scale` is a
factor of the bonus.

Of the prior it uses which transitions are possible, for the limits of returns, and known rewards.
Mean rewards of Gaussian ones are taken to be within three standard deviations of the prior.

Without episodes, discounted values and bonuses are solved together, as by He, Zhou and Gu (2021),
but to within rounding; a new plan is made when the visits of the pair to be taken have doubled
since the last one, as in `ucrl2`. Their form has Bernstein bonuses in a schedule of its own; here
these are for episodes only, because without them the equation need not have a solution.

Deviations: rewards of the paper are known and from 0 to 1, and its largest return is H, however few
decisions are left. The Bernstein bonus leaves out the paper's third term, a correction by visits of
the next states. It is H sqrt(8 / N) until these exceed 10^4 H S^2 A L^2, so nearly Hoeffding's
bonus again. Unknown rewards are the observed means, without a bonus of their own. The paper plans
once per episode: `replan` = "episode". Ties are broken at random.
"""

from dataclasses import dataclass

import numpy as np

from ...errors import Pointless
from ...mdps.sparse import Floats
from ...memory import check_memory
from ...values import BETWEEN_0_AND_1, NOT_NEGATIVE, words
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

_HOEFFDING, _BERNSTEIN = "hoeffding", "bernstein"


@dataclass
class Ucbvi(CompiledAgent):
    """Takes the best action of the observed MDP, with a bonus from confidence bounds on values."""

    name = "ucbvi"
    reference = "Azar, Osband and Munos, 2017"
    needs = ("mean",)
    episodes = PLANS
    scale: float = parameter(1.0, "factor of the bonus", NOT_NEGATIVE)
    delta: float = parameter(0.05, "chance that confidence fails", BETWEEN_0_AND_1)
    bonus: str = parameter(
        _HOEFFDING, "the inequality behind it", words(_HOEFFDING, _BERNSTEIN), variant=True
    )
    replan: str = replan_parameter()

    def check_task(self, task: Task) -> None:
        """Raise if the agent can't play in episodes, or only in them."""
        super().check_task(task)
        if self.bonus == _BERNSTEIN and task.episode is None:
            raise Pointless(f'ucbvi: bonus = "{_BERNSTEIN}": the experiment has no episodes')

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Plan without any visits."""
        from ...builders.model import copy
        from ...builders.visits import build_visits, from_visits, reward_limits
        from ...kernels.solving import optimism
        from . import kernel as kernels

        model, pace = build_visits(from_visits(prior), task, self.replan)
        low, high = reward_limits(prior)
        lengths = np.full(1, 1 / (1 - task.discount)) if task.episode is None else _lengths(task)
        pairs = len(model.q)
        check_memory(8 * pairs * len(lengths), f"ucbvi: episode = {task.episode}", "shorten it")
        highest = high * lengths
        agent = self.make_arrays(
            kernels.Ucbvi,
            model=model,
            initial=model,
            pace=pace,
            highest=highest,
            limit=np.repeat(highest[:, None], pairs, axis=1),
            span=(high - low) * lengths[-1],
            log=np.log(5 * pairs * task.horizon / self.delta),
            bernstein=self.bonus == _BERNSTEIN,
        )
        optimism.solve(agent)
        return agent._replace(model=copy(model))


def _lengths(task: Task) -> Floats:
    """The discounted number of decisions, by decisions left."""
    assert task.episode is not None
    return np.concatenate([[0.0], np.cumsum(task.discount ** np.arange(task.episode))])
