"""BFS3, Bayesian forward-search sparse sampling (Asmuth and Littman, 2011).

For each action, C next states are drawn from the posterior's mean; the value of each is the upper
bound that FSSS (Walsh, Goschin and Littman, 2010) finds in max(1, K / C) roll-outs, in a tree of
its own whose nodes are histories: the belief learns along each path. Bounds at the leaves are
Vmin = min(0, Rmin) / (1 - discount) and Vmax = Rmax / (1 - discount).

A search whose root has only the leaves' gap left is complete, and stops early without any change
of its result. Deviations: the paper's text speaks of one model sampled from the posterior, its
pseudo-code of the mean MDP, which is what its library uses and what this agent follows. Its
pseudo-code marks (depth, state) pairs as visited; its library, and this agent, histories.

By the pseudo-code a roll-out goes to the next state with the widest gap times draws. But leaves
keep their gap Vmax - Vmin for ever, so one that was drawn often can be the widest when all below
it is known; each further roll-out then goes there and changes nothing, and the search never
completes, whatever its budget. By default such next states are passed over, and a search ends as
the value of its sampled tree. `skip_complete = false` follows the pseudo-code to the letter, which
matters where many roll-outs are made to a small depth; it stops when it can go no further.

Upper bounds never rise. An action whose bound is below the value of another one, which has had all
its roll-outs, is given up: the choice is the same. With a deadline none is, and K is an upper
limit: each (action, next state) gets an equal share of the time that is left when its turn comes,
and at least one roll-out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidInput
from ...mdps.dirichlet import FlatDirichlet
from ...mdps.sparse import Floats, Integers
from ..base import CompiledAgent, Task, new_rng
from ..parameters import Sweep, flag, whole

if TYPE_CHECKING:  # importing kernels takes long
    from .belief import PathBelief

_STEP = 25.0  # nanoseconds that a step of a roll-out takes, or more
_MAX_ENTRIES = 16  # with more states, the rows of a uniform prior are a background
_MAX_SPECIAL = 8  # with more special next states, a pair's are all drawn at once
_ROUNDING = 1e-12  # of bounds, as a part of their range
_LOOKS = 32  # roll-outs from a root are this part of all, or more, at a time
_MAX_KEPT = 1 << 23  # outcomes in the trees of all roots, about 130 MB, and a quarter in sketches
_MAX_NUMBERS = 1 << 27  # about 6 GB in the tree's arrays
_MAX_IN_TIME = 1 << 24  # the same with a deadline, where more roll-outs than fit are cut off


@dataclass
class Bfs3(CompiledAgent):
    """Plans by forward search with sparse sampling over histories, guided by value bounds."""

    name: ClassVar[str] = "bfs3"
    reference: ClassVar[str] = "Asmuth and Littman, 2011"
    quick: ClassVar[Mapping[str, Any]] = {"simulations": 5, "branching": 2, "depth": 4}
    sweeps: ClassVar[tuple[Sweep, ...]] = (
        Sweep("simulations", (1, 10, 30, 100)),
        Sweep("branching", (1, 2, 5, 15), {"simulations": 15}),
        Sweep("depth", (2, 5, 15, 30), {"simulations": 15}),
    )
    benchmark_mdps: ClassVar[int] = 1
    anytime: ClassVar[bool] = True
    simulations: int = whole(
        100, "roll-outs an action (K), shared by its branches", least=1, most=10**12
    )
    branching: int = whole(5, "next states drawn for each action (C)", least=1, most=10**6)
    depth: int = whole(15, "depth of the search", least=1, most=10**6)
    skip_complete: bool = flag(True, "pass over next states below which all is known")

    def prepare(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> Any:
        """Make room for the trees."""
        from ..arrays.planning import build_deadline, simulations_in_time
        from . import kernel as kernels
        from . import tree as fsss_state

        actions = prior.num_actions
        rollouts = max(1, self.simulations // self.branching)
        most_outcomes = actions * min(self.branching, prior.num_states)  # of all arms of a node
        if task.deadline is not None:
            most = simulations_in_time(rollouts, _STEP, task)  # one step may be all that is new
            rollouts = min(most, max(1, _MAX_IN_TIME // (self.depth * most_outcomes)))
        # Room for the tree of one root in any case, and for those of all if they are not too large.
        steps = rollouts * (self.depth - 1)
        all_steps = steps * actions * self.branching
        nodes = max(steps, min(all_steps, _MAX_KEPT // most_outcomes)) + 2
        sketches = max(steps, min(all_steps, _MAX_KEPT // 4)) + 2
        outcomes = nodes * most_outcomes
        if outcomes > _MAX_NUMBERS:
            raise InvalidInput(
                f"bfs3: simulations = {self.simulations} and depth = {self.depth} need "
                f"{outcomes:.1e} outcomes in memory, at most {_MAX_NUMBERS:.1e} are allowed: "
                "lower simulations, depth or branching"
            )
        if prior.num_states * actions * (self.depth + 1) > _MAX_NUMBERS:
            raise InvalidInput(
                f"bfs3: depth = {self.depth} with {prior.num_states * actions} pairs of state and "
                f"action: their product is more than {_MAX_NUMBERS:.1e}: lower depth"
            )
        rewards = prior.rewards.mean.at(prior.counts)
        value_min = min(0.0, float(rewards.min())) / (1 - task.discount)
        value_max = float(rewards.max()) / (1 - task.discount)
        to_leaves = np.power(task.discount, np.arange(self.depth, -1, -1.0))
        complete = (value_max - value_min) * (to_leaves * (1 + 1e-9) + _ROUNDING)
        belief = _build_belief(prior, task, self.depth + 1)
        tree = fsss_state.Tree(
            size=np.zeros(4, np.int64),
            node=np.recarray(nodes, fsss_state.NODE),
            arm=np.recarray(nodes * actions, fsss_state.ARM),
            special_times=np.zeros(nodes * actions * belief.most_special, np.int32),
            edge=np.recarray(nodes * actions, fsss_state.EDGE),
            outcome=np.recarray(outcomes + 1, fsss_state.OUTCOME),
            sketch=np.recarray(sketches, fsss_state.SKETCH),
        )
        return kernels.Bfs3(
            rng=new_rng(),
            belief=belief,
            tree=tree,
            loose=np.zeros(self.branching, np.int64),
            tally=np.zeros(prior.num_states, np.int64),
            path=np.zeros(self.depth, np.int64),
            before=np.zeros(3, np.int64),
            base=np.zeros(4, np.int64),
            upper_floor=np.zeros(self.depth),
            gap_floor=np.zeros(self.depth),
            root=np.recarray(actions * self.branching, fsss_state.ROOT),
            turn=np.zeros(actions, np.int64),
            left=np.zeros(actions, np.int64),
            q=np.zeros(actions),
            complete=complete,
            skipped=complete if self.skip_complete else np.full(self.depth + 1, -np.inf),
            made=np.zeros(1, np.int64),
            deadline=build_deadline(task, _STEP * self.depth),
            discount=task.discount,
            rollouts=rollouts,
            least=max(1, rollouts // _LOOKS) if task.deadline is None else rollouts,
            branching=self.branching,
            most_outcomes=most_outcomes,
            depth=self.depth,
            value_min=value_min,
            value_max=value_max,
            per_draw=1 / self.branching,
            share=task.discount / self.branching,
            stretch=self.branching / task.discount / np.maximum(1, np.arange(self.branching + 1)),
            rounding=_ROUNDING * max(abs(value_min), abs(value_max)),
        )

    def small(self) -> "Bfs3":
        """Few roll-outs."""
        return replace(self, simulations=1, branching=1, depth=2)


def _build_belief(prior: FlatDirichlet, task: Task, steps: int) -> "PathBelief":
    """The prior, with room for what is learned, and for paths of so many steps."""
    from ..arrays.model import build_counts, copy
    from ..arrays.planning import reward_table
    from .belief import ENTRY, PAIR, STATE, PathBelief

    common, special, num_special = _special(prior)
    counts = build_counts(prior, task.horizon, prior.num_states > _MAX_ENTRIES, special)
    pairs = np.zeros(len(common), PAIR).view(np.recarray)
    pairs.background, pairs.common_reward = counts.background, common
    return PathBelief(
        counts=copy(counts),
        initial=counts,
        pair=pairs,
        entry=np.zeros(len(counts.entry_count), ENTRY).view(np.recarray),
        state=np.zeros(prior.num_states, STATE).view(np.recarray),
        path_length=steps,
        unlisted=np.zeros(len(common) * steps, np.int32),
        rewards=reward_table(prior),
        num_special=num_special.copy(),
        initial_num_special=num_special,
        most_special=max(1, int(num_special.max())),
    )


def _special(prior: FlatDirichlet) -> tuple[Floats, NDArray[np.bool_], Integers]:
    """Each pair's common reward, the transitions with another one, and how many they are.

    Where they are too many, none is marked.
    """
    from .belief import ALL_SPECIAL

    rewards, bounds = prior.rewards.mean.at(prior.counts), prior.counts.row_start
    common, number = rewards[bounds[:-1]], np.zeros(len(bounds) - 1, np.int64)
    special = np.zeros(len(rewards), np.bool_)
    lowest, highest = (f.reduceat(rewards, bounds[:-1]) for f in (np.minimum, np.maximum))
    for pair in np.flatnonzero(lowest < highest):
        row = slice(bounds[pair], bounds[pair + 1])
        values, times = np.unique(rewards[row], return_counts=True)
        common[pair] = values[times.argmax()]
        is_special = rewards[row] != common[pair]
        number[pair] = np.count_nonzero(is_special)
        if number[pair] > _MAX_SPECIAL:
            number[pair] = ALL_SPECIAL
        else:
            special[row] = is_special
    return common, special, number
