"""BAMCP, Bayes-adaptive Monte-Carlo planning (Guez, Silver and Dayan, 2012).

UCT over histories, where each simulation plays one MDP drawn from the posterior. Here the MDP is
never drawn: an urn gives its transitions with the same law (see `urn`).

Settings that the benchmark's paper does not print are those of its library: the bonus is
exploration * sqrt(ln(N + 1) / n); untried actions come first, in random order; a node is made
when the action above it is taken for the second time; the roll-out policy is random with
probability `rollout_epsilon` and otherwise greedy in a Q-function learned, at the rate 0.2, from
real transitions; tree and roll-out together are `depth` steps long, and later rewards count as 0.
The paper's pseudo-code, in contrast, stops a roll-out when the discount is small enough and makes a
node at the first visit. Guez et al. keep the subtree of the observed transition
(`reuse_tree`).

Instead of a roll-out, a simulation can end with the optimal value of the mean MDP where the tree
ends (`leaf`). Then `depth` limits the tree alone, and nothing is lost beyond. The mean MDP is that
of the root's counts ("value"), or it also learns from the simulated transitions ("updated-value"),
so that the value counts what they teach. The latter depends on the history alone and stays true in
a subtree that is kept. The former changes with every real transition; a kept tree would mix returns
of several roots, so this is refused.

With a deadline, `simulations` is an upper limit: a decision ends with the last one in time.
"""

from dataclasses import dataclass

import numpy as np

from ...errors import InvalidInput
from ...values import FLAG, NOT_NEGATIVE, PROBABILITY, whole, words
from ..base import Arrays, CompiledAgent, FlatDirichlet, Generator, Task, parameter

_STEP = 8.0  # least nanoseconds per step of a simulation
_LEAVES = ("rollout", "value", "updated-value")  # in the order of the kinds in `leaf`
_LEAST = {"value": 40.0, "updated-value": 200.0}  # least nanoseconds per simulation
# Up to this many transitions, uniform rows have tables like other rows, which is faster. Beyond,
# making and storing these tables would cost more than they save.
_SMALL = 1 << 16
_MAX_DRAWS = 1 << 28  # 1 GB
_MAX_VISITS = 2**31 - 1
_MAX_NODES = 50_000_000
_MAX_EDGES = 1 << 27  # about 3 GB, beside 24 bytes per node
# Nodes per simulation in a tree that is kept, which outgrows one decision. Once it is full, no
# nodes are added.
_KEPT_NODES = 4


@dataclass
class Bamcp(CompiledAgent):
    """Plans by Monte-Carlo tree search over histories, on MDPs drawn from the posterior."""

    name = "bamcp"
    reference = "Guez, Silver and Dayan, 2012"
    quick = {"simulations": 30, "depth": 5}
    anytime = True
    simulations: int = parameter(
        500, "simulations per decision", whole(1, _MAX_NODES // _KEPT_NODES)
    )
    depth: int = parameter(15, "steps of a simulation, tree and roll-out together", whole(1, 10**6))
    exploration: float = parameter(
        3.0, "weight of the upper confidence bound's bonus", NOT_NEGATIVE
    )
    rollout_epsilon: float = parameter(
        0.5, "probability of a random action in roll-outs", PROBABILITY
    )
    reuse_tree: bool = parameter(False, "keep the subtree of the observed transition", FLAG)
    leaf: str = parameter(
        "rollout",
        "what follows the tree: a roll-out, or the mean MDP's optimal value at the root's counts "
        '("value") or at the leaf\'s ("updated-value")',
        words(*_LEAVES),
        variant=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reuse_tree and self.leaf == "value":
            raise InvalidInput(
                'bamcp: leaf = "value" and reuse_tree = True: a kept tree would mix values of '
                'several posteriors: use leaf = "updated-value", or no reuse_tree'
            )

    def prepare(self, prior: FlatDirichlet, task: Task, rng: Generator) -> Arrays:
        """Make room for the tree and the draws."""
        from ...builders.planning import build_deadline, simulations_in_time
        from . import kernel as kernels
        from .leaf import build_leaf
        from .rollout import build_policy
        from .tree import build_tree
        from .urn import build_urn

        nanoseconds = _LEAST.get(self.leaf, _STEP * self.depth)
        simulations = simulations_in_time(self.simulations, nanoseconds, task)
        nodes = simulations * (_KEPT_NODES if self.reuse_tree else 1) + 1
        self._check_limits(prior, nodes, simulations * task.horizon)
        transitions = prior.counts.num_pairs * prior.num_states
        return self.make_arrays(
            kernels.Bamcp,
            urn=build_urn(prior, task.horizon, transitions > _SMALL, self.depth),
            tree=build_tree(prior.num_actions, nodes, self.exploration, self.reuse_tree),
            policy=build_policy(prior, self.rollout_epsilon),
            leaf=build_leaf(prior, task, _LEAVES.index(self.leaf), self.depth),
            steps=kernels.Steps(
                edge=np.zeros(self.depth, np.int64),
                state=np.zeros(self.depth, np.int64),
                reward=np.zeros(self.depth),
            ),
            ranking=np.zeros(prior.num_actions),
            deadline=build_deadline(task, nanoseconds),
            discount=task.discount,
            simulations=simulations,
        )

    def _check_limits(self, prior: FlatDirichlet, nodes: int, visits: int) -> None:
        """Refuse searches that do not fit into memory, or visits that can't be counted."""
        edges, pairs = nodes * prior.num_actions, prior.counts.num_pairs
        if edges > _MAX_EDGES:
            raise InvalidInput(
                f"bamcp: simulations = {self.simulations} with {prior.num_actions} actions need "
                f"{edges:.1e} edges in memory, at most {_MAX_EDGES:.1e} are allowed: "
                "lower simulations"
            )
        if pairs * self.depth > _MAX_DRAWS:
            raise InvalidInput(
                f"bamcp: depth = {self.depth} with {pairs} pairs of a state and an action needs "
                f"{pairs * self.depth:.1e} draws in memory, at most {_MAX_DRAWS:.1e} are allowed: "
                "lower depth"
            )
        if self.reuse_tree and visits > _MAX_VISITS:
            raise InvalidInput(
                f"bamcp: simulations = {self.simulations} with reuse_tree could visit a node "
                f"{visits:.1e} times, at most {_MAX_VISITS:.1e} can be counted: lower simulations"
            )
