"""Lookahead: all that can happen within a few steps, and the mean MDP's optimal values after that.

V_0(x, b) is the optimal value of the mean MDP of the belief b. V_d(x, b) is the highest mean, over
what can follow an action, of the reward and the discounted V_{d-1} of the belief that has learned
from the transition. So d steps count what they teach, and later ones do not. This is the planning
in belief states that Duff (2002) describes, cut off at a depth. Without steps the agent is greedy.

Where binary rewards are unknown, what follows is a next state with its reward.

All values are exact: every transition that the posterior thinks possible is followed. The mean MDP
is kept solved on the way down and up again. Of actions with equal counts and rewards in a state,
only the first is looked at. Transitions that are certain teach nothing and change no model.

Values are discounted without end, whatever the horizon. Ties are broken at random.

In episodes, values are those of all decisions up to the horizon: V_0 is the optimal value of the
mean MDP in what is left of the episode, plus that of each later one, which begins in a start state
as the prior expects it. The search looks across the border: there, each outcome is followed by each
start state. With as many steps as are left, the values are Bayes-optimal.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ...errors import InvalidInput
from ...mdps.sparse import Integers
from ...values import whole
from ..base import Arrays, CompiledAgent, Family, Generator, Task, has_known_rows, parameter

_MAX_BELIEFS = 10**7  # per decision; they take up to a few seconds
_MAX_DEPTH = 20


@dataclass
class Lookahead(CompiledAgent):
    """Looks at all that can happen within a few steps, and at the mean MDP's values beyond."""

    name = "lookahead"
    reference = "Duff, 2002"
    needs = ("predictive",)
    episodes = "Looks across the border; values are those of all episodes up to the horizon."
    quick = {"depth": 2}
    depth: int = parameter(2, "steps whose outcomes are all looked at", whole(0, _MAX_DEPTH))

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Solve the prior's mean MDP, and make room for the beliefs of a search."""
        from ...builders.belief import build_belief, most_outcomes
        from ...builders.model import build_horizon, build_saved, copy, solved_model
        from ...builders.planning import reward_table
        from . import kernel as kernels
        from .leaf import Leaf
        from .levels import KnownRewards, Levels

        longer = replace(task, horizon=task.horizon + self.depth)
        starts, steps = 1, self.depth
        if task.episode is not None:
            starts, steps = int(np.count_nonzero(prior.start)), min(steps, task.horizon)
        counts = build_belief(prior, 0, background=False, by_outcome=True).counts
        self._check_size(prior, counts, steps, starts ** (-(-steps // (task.episode or 1))))
        plan = build_horizon(prior, task)
        initial = solved_model(prior, longer, by_entry=not has_known_rows(prior), plan=plan)
        levels = max(1, self.depth)
        shape = levels, most_outcomes(initial.counts) * starts
        return self.make_arrays(
            kernels.Lookahead,
            model=copy(initial),
            initial=initial,
            rewards=KnownRewards(
                table=reward_table(prior) if has_known_rows(prior) else np.zeros(0),
                alike=_alike_rewards(prior),
            ),
            levels=Levels(
                state=np.zeros(levels, np.int64),
                action=np.zeros(levels, np.int64),
                place=np.zeros(levels, np.int64),
                length=np.zeros(levels, np.int64),
                is_solved=np.zeros(levels, np.bool_),
                following=np.zeros(shape, np.int64),
                chance=np.zeros(shape),
                reward=np.zeros(shape),
                entered=np.zeros((0, 0) if task.episode is None else shape, np.int64),
                q=np.zeros((levels, prior.num_actions)),
            ),
            leaf=Leaf(reach=np.zeros(len(initial.q)), limits=np.zeros(2)),
            saved=build_saved(initial, solutions=self.depth, transitions=self.depth),
        )

    def _check_size(self, prior: Family, counts: Any, steps: int, starts: int) -> None:
        """Refuse a prior with too many beliefs within some steps of some state.

        `starts` is the number of combinations of start states on the way.
        """
        pairs = np.repeat(np.arange(len(counts.total)), counts.row_length)
        following = counts.entry_next[: counts.pool_end[0]]
        beliefs: Any = np.ones(prior.num_states)
        for _ in range(steps):
            beliefs = np.bincount(pairs // prior.num_actions, beliefs[following], prior.num_states)
        beliefs = beliefs * float(starts)
        if beliefs.max() > _MAX_BELIEFS:
            raise InvalidInput(
                f"lookahead: depth = {self.depth}: {beliefs.max():.1e} beliefs can follow a state "
                f"of this prior, at most {_MAX_BELIEFS:.0e} are allowed: lower depth"
            )


def _alike_rewards(prior: Family) -> Integers:
    """The first action [P] of the same state that has the same rewards, under a flat prior.

    Under others, actions with equal counts can teach different things: none is like another.
    """
    if not has_known_rows(prior):
        return np.tile(np.arange(prior.num_actions), prior.num_states)
    table, actions = prior.rewards.mean, prior.num_actions
    first_with: dict[tuple[int, bytes, bytes], int] = {}
    alike = np.zeros(table.num_pairs, np.int64)
    for pair, (first, end) in enumerate(pairwise(table.row_start)):
        row = table.next_state[first:end].tobytes(), table.values[first:end].tobytes()
        alike[pair] = first_with.setdefault((pair // actions, *row), pair % actions)
    return alike
