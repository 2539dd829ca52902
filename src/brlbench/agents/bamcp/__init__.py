"""BAMCP, Bayes-adaptive Monte-Carlo planning (Guez, Silver and Dayan, 2012).

UCT over histories, where each simulation plays one MDP drawn from the posterior. Here the MDP is
never drawn: an urn gives its transitions with the same law (see `kernels.copying_urn`).

Settings that the benchmark's paper does not print are those of its library: the bonus is
exploration * sqrt(ln(N + 1) / n); untried actions come first, in random order; a node is made
when the action above it is taken for the second time; the roll-out policy is random with
probability `rollout_epsilon` and otherwise greedy in a Q-function learned, at the rate 0.2, from
real transitions; tree and roll-out together are `depth` steps long, and nothing is added beyond.
Its pseudo-code, in contrast, stops a roll-out where the discount is small enough, and makes a node
at the first visit. Guez et al. keep the part of the tree below what happened (`reuse_tree`).

With a deadline, `simulations` is an upper limit: a decision ends with the one that is in time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...errors import InvalidInput
from ...mdps.dirichlet import FlatDirichlet
from ..base import CompiledAgent, Task, new_rng
from ..parameters import Sweep, flag, number, whole

_LEARNING_RATE = 0.2
_STEP = 8.0  # nanoseconds that a step of a simulation takes, or more
# Up to this many transitions, uniform rows are drawn from like others, which is faster; beyond,
# their tables would take more time to make, and memory, than they save.
_SMALL = 1 << 16
_MAX_DRAWS = 1 << 28  # 1 GB
_MAX_VISITS = 2**31 - 1
_MAX_NODES = 50_000_000
_MAX_EDGES = 1 << 27  # about 3 GB, beside 24 bytes a node
# A tree that is kept grows beyond one decision's simulations; when it is full it only deepens
# no further.
_KEPT_NODES = 4


@dataclass
class Bamcp(CompiledAgent):
    """Plans by Monte-Carlo tree search over histories, on MDPs drawn from the posterior."""

    name: ClassVar[str] = "bamcp"
    reference: ClassVar[str] = "Guez, Silver and Dayan, 2012"
    quick: ClassVar[Mapping[str, Any]] = {"simulations": 30, "depth": 5}
    sweeps: ClassVar[tuple[Sweep, ...]] = (
        Sweep("simulations", (1, 10, 100, 1000)),
        Sweep("depth", (2, 5, 15, 30), {"simulations": 100}),
        Sweep("exploration", (0.0, 1.0, 3.0, 10.0), {"simulations": 100}),
    )
    benchmark_mdps: ClassVar[int] = 2
    anytime: ClassVar[bool] = True
    simulations: int = whole(500, "simulations a decision", least=1, most=_MAX_NODES // _KEPT_NODES)
    depth: int = whole(15, "steps of a simulation, tree and roll-out together", least=1, most=10**6)
    exploration: float = number(3.0, "weight of the upper confidence bound's bonus", least=0)
    rollout_epsilon: float = number(
        0.5, "probability of a random action in roll-outs", least=0, most=1
    )
    reuse_tree: bool = flag(False, "keep the part of the tree below what happened")

    def prepare(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> Any:
        """Make room for the tree, and tables of roots and logarithms."""
        from ..arrays.model import build_counts, copy
        from ..arrays.planning import (
            build_alias,
            build_copying_urn,
            build_deadline,
            reward_table,
            simulations_in_time,
        )
        from . import kernel as kernels

        actions, pairs = prior.num_actions, prior.num_states * prior.num_actions
        simulations = simulations_in_time(self.simulations, _STEP * self.depth, task)
        nodes = simulations * (_KEPT_NODES if self.reuse_tree else 1) + 1
        if nodes * actions > _MAX_EDGES:
            raise InvalidInput(
                f"bamcp: simulations = {self.simulations} with {actions} actions need "
                f"{nodes * actions:.1e} edges in memory, at most {_MAX_EDGES:.1e} are allowed: "
                "lower simulations"
            )
        if pairs * self.depth > _MAX_DRAWS:
            raise InvalidInput(
                f"bamcp: depth = {self.depth} with {pairs} pairs of a state and an action needs "
                f"{pairs * self.depth:.1e} draws in memory, at most {_MAX_DRAWS:.1e} are allowed: "
                "lower depth"
            )
        if self.reuse_tree and simulations * task.horizon > _MAX_VISITS:
            raise InvalidInput(
                f"bamcp: simulations = {self.simulations} in {task.horizon} decisions can't be "
                f"counted with reuse_tree, at most {_MAX_VISITS:.1e} can: lower simulations"
            )
        counts = build_counts(prior, task.horizon, background=prior.num_states * pairs > _SMALL)
        # With a tree that is kept, visits can grow beyond the tables, which then end flat.
        visits = np.arange(nodes * (2 if self.reuse_tree else 1) + 1)
        tree = kernels.Tree(
            size=np.zeros(1, np.int64),
            nodes=np.zeros(nodes, kernels.NODE),
            edges=np.zeros(nodes * actions, kernels.EDGE),
        )
        return kernels.Bamcp(
            rng=new_rng(),
            counts=copy(counts),
            initial=counts,
            urn=build_copying_urn(counts, self.depth),
            tree=tree,
            kept=np.zeros(nodes if self.reuse_tree else 0, np.int64),
            ranking=np.zeros(actions),
            path=np.zeros(self.depth, np.int64),
            path_reward=np.zeros(self.depth),
            rewards=reward_table(prior),
            root_log=self.exploration * np.sqrt(np.log(visits + 1)),
            inverse_root=1 / np.sqrt(np.maximum(visits, 1)),
            rollout_q=np.zeros(pairs),
            rollout_weight=np.zeros(pairs),
            rollout_table=build_alias(pairs),
            action_of=np.tile(np.arange(actions), prior.num_states),
            discount=task.discount,
            deadline=build_deadline(task, _STEP * self.depth),
            simulations=simulations,
            depth=self.depth,
            rollout_epsilon=self.rollout_epsilon,
            learning_rate=_LEARNING_RATE,
            reuse_tree=self.reuse_tree,
        )

    def small(self) -> "Bamcp":
        """Few simulations."""
        return replace(self, simulations=2, depth=2)
