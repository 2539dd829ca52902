"""BFS3, Bayesian forward-search sparse sampling (Asmuth and Littman, 2011).

For each action, C next states are drawn from the posterior's mean. The value of each is the upper
bound that FSSS (Walsh, Goschin and Littman, 2010) finds in max(1, K / C) roll-outs, in a tree of
its own. Its nodes are histories: the belief learns along each path. Leaves have the bounds
Vmin = min(0, Rmin) / (1 - discount) and Vmax = Rmax / (1 - discount).

A search is complete when its root has only the leaves' gap left; it then stops early, with the
same result. Deviations: the paper's text speaks of one model sampled from the posterior, its
pseudo-code of the mean MDP, which its library and this agent use. The pseudo-code marks
(depth, state) pairs as visited; the library and this agent mark histories.

By the pseudo-code a roll-out goes to the next state with the widest gap times draws. But leaves
keep their gap Vmax - Vmin for ever, so a next state that was drawn often can stay the widest when
all below it is known. Each further roll-out then goes there and changes nothing: no budget
completes the search. By default such next states are passed over, and a complete search gives the
value of its sampled tree. `skip_complete = false` follows the pseudo-code to the letter, which
matters where many roll-outs are made to a small depth; it stops when it can go no further.

Upper bounds never rise. So an action whose bound falls below the value of an action that has had
all its roll-outs is given up: the choice is the same. With a deadline no action is given up, and K
is an upper limit: each (action, next state) gets an equal share of the time that is left when its
turn comes, and at least one roll-out.

Under other priors than flat ones with known rewards, each roll-out learns from its outcomes as the
agent learns from real ones, and what it has learned is forgotten at its end, bit for bit. Outcomes
are next states with their rewards: where rewards are unknown, a next state can have several.

In episodes, too, it searches in this way, under all priors. Roll-outs look across the border, where
they draw a start state as the prior expects it, and end at the horizon. With n decisions left,
leaves have the bounds Rmin S and Rmax S, where S is the sum of the first n powers of the discount.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...errors import InvalidInput
from ...mdps.sparse import Floats
from ...values import FLAG, whole
from ..base import (
    Arrays,
    CompiledAgent,
    Family,
    FlatDirichlet,
    Generator,
    Task,
    has_known_rows,
    parameter,
)

if TYPE_CHECKING:  # importing kernels takes long
    from .bounds import Constants

_STEP = 25.0  # least nanoseconds per step of a roll-out
_ROUNDING = 1e-12  # of bounds, relative to their range
_TURNS = 32  # a root gets at least 1 / _TURNS of its roll-outs per turn
_MAX_KEPT = 1 << 23  # outcomes in the trees of all roots, about 170 MB; sketches: a quarter
_MAX_NUMBERS = 1 << 27  # about 6.5 GB in the tree's arrays
_MAX_IN_TIME = 1 << 24  # the same with a deadline: roll-outs that do not fit are left out


class _Sizes(NamedTuple):
    """Sizes of the search's arrays."""

    rollouts: int  # from each root
    most_outcomes: int  # of all arms of a node
    nodes: int
    sketches: int


@dataclass
class Bfs3(CompiledAgent):
    """Plans by forward search with sparse sampling over histories, guided by value bounds."""

    name = "bfs3"
    reference = "Asmuth and Littman, 2011"
    needs = ("predictive",)
    episodes = "Roll-outs look across the border, where they draw a start state, up to the horizon."
    quick = {"simulations": 5, "branching": 2, "depth": 4}
    anytime = True
    simulations: int = parameter(
        100, "roll-outs per action (K), shared by its branches", whole(1, 10**12)
    )
    branching: int = parameter(5, "next states drawn for each action (C)", whole(1, 10**6))
    depth: int = parameter(15, "depth of the search", whole(1, 10**6))
    skip_complete: bool = parameter(True, "pass over next states below which all is known", FLAG)

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Make room for the trees."""
        from ...builders.planning import build_deadline
        from . import kernel as kernels
        from .fsss import STEP, Path
        from .tree import NUM_SIZES, build_trees

        belief, rewards, outcomes = self._build_belief(prior, task)
        sizes = self._sizes(prior, task, outcomes)
        return self.make_arrays(
            kernels.Bfs3,
            belief=belief,
            constants=self._build_constants(rewards, task),
            tree=build_trees(
                prior.num_actions,
                sizes.most_outcomes,
                sizes.nodes,
                sizes.sketches,
                belief.most_special,
            ),
            path=Path(
                node=np.zeros(self.depth, np.int64),
                upper_floor=np.zeros(self.depth),
                gap_floor=np.zeros(self.depth),
                step=np.recarray(self.depth, STEP),
                size_before=np.zeros(NUM_SIZES, np.int64),
            ),
            roots=kernels.Roots(
                root=np.recarray((prior.num_actions, self.branching), kernels.ROOT),
                turn=np.zeros(prior.num_actions, np.int64),
                left=np.zeros(prior.num_actions, np.int64),
                tree_size=np.zeros(NUM_SIZES, np.int64),
                rollouts=sizes.rollouts,
                least=max(1, sizes.rollouts // _TURNS) if task.deadline is None else sizes.rollouts,
            ),
            q=np.zeros(prior.num_actions),
            made=np.zeros(1, np.int64),
            deadline=build_deadline(task, _STEP * self.depth),
        )

    def _build_belief(self, prior: Family, task: Task) -> tuple[Any, Floats, int]:
        """The belief, the rewards that are possible, and the most outcomes of a pair."""
        if has_known_rows(prior) and task.episode is None:
            from .belief import build_belief

            self._check_paths(prior)
            belief = build_belief(prior, task, self.depth + 1, self.branching)
            return belief, prior.rewards.mean.at(prior.counts), prior.num_states
        from ...builders.belief import most_outcomes
        from .any_belief import build_any_belief

        any_belief = build_any_belief(prior, task, self.depth, self.skip_complete)
        _, counts, rewards = any_belief.initial
        starts = 1 if task.episode is None else int(np.count_nonzero(prior.start))
        return any_belief, rewards[counts.entry_count > 0], most_outcomes(counts) * starts

    def _check_paths(self, prior: FlatDirichlet) -> None:
        """Refuse paths whose transitions do not fit into memory."""
        pairs = prior.num_states * prior.num_actions
        if pairs * (self.depth + 1) > _MAX_NUMBERS:
            raise InvalidInput(
                f"bfs3: depth = {self.depth} with {pairs} pairs of state and action: their "
                f"product is more than {_MAX_NUMBERS:.1e}: lower depth"
            )

    def _sizes(self, prior: Family, task: Task, outcomes: int) -> _Sizes:
        """Room for one root's tree in any case, and for all roots' if they are small enough."""
        from ...builders.planning import simulations_in_time

        actions = prior.num_actions
        rollouts = max(1, self.simulations // self.branching)
        most_outcomes = actions * min(self.branching, outcomes)
        if task.deadline is not None:
            most = simulations_in_time(rollouts, _STEP, task)  # one step may be all that is new
            rollouts = min(most, max(1, _MAX_IN_TIME // (self.depth * most_outcomes)))
        steps = rollouts * (self.depth - 1)
        all_steps = steps * actions * self.branching
        sizes = _Sizes(
            rollouts=rollouts,
            most_outcomes=most_outcomes,
            nodes=max(steps, min(all_steps, _MAX_KEPT // most_outcomes)) + 2,
            sketches=max(steps, min(all_steps, _MAX_KEPT // 4)) + 2,
        )
        number = sizes.nodes * most_outcomes
        if number > _MAX_NUMBERS:
            raise InvalidInput(
                f"bfs3: simulations = {self.simulations} and depth = {self.depth} need "
                f"{number:.1e} outcomes in memory, at most {_MAX_NUMBERS:.1e} are allowed: "
                "lower simulations, depth or branching"
            )
        return sizes

    def _build_constants(self, rewards: Floats, task: Task) -> "Constants":
        """The constants of all searches, from the rewards that are possible."""
        from .bounds import Constants

        # In episodes, bounds depend on the time: see `spans`.
        later = 1 - task.discount if task.episode is None else 1.0
        value_min = min(0.0, float(rewards.min())) / later
        value_max = float(rewards.max()) / later
        scale = max(abs(value_min), abs(value_max))
        to_leaves = np.power(task.discount, np.arange(self.depth, -1, -1.0))
        complete = (value_max - value_min) * (to_leaves * (1 + 1e-9) + _ROUNDING)
        return Constants(
            depth=self.depth,
            branching=self.branching,
            discount=task.discount,
            value_min=value_min,
            value_max=value_max,
            per_draw=1 / self.branching,
            share=task.discount / self.branching,
            stretch=self.branching / task.discount / np.maximum(1, np.arange(self.branching + 1)),
            scale=scale,
            rounding=_ROUNDING * scale,
            complete=complete,
            skipped=complete if self.skip_complete else np.full(self.depth + 1, -np.inf),
        )
