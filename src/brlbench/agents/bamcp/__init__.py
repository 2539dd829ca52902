"""BAMCP, Bayes-adaptive Monte-Carlo planning (Guez, Silver and Dayan, 2012).

UCT over histories, where each simulation plays one MDP drawn from the posterior. Here the MDP is
never drawn: an urn gives its transitions with the same law (see `urn`). Of a set of hypotheses, one
is drawn at the root. Histories then include rewards that are constant and differ between
hypotheses, but not Gaussian ones: returns have their means. Unknown mean rewards belong to the MDP,
too. Binary rewards then are part of histories. Deviation: Gaussian ones are not, so a simulation
does not learn from them.

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

In episodes, simulations go on across the border: the next start state is drawn from the prior's,
and histories include it. The roll-out policy learns that nothing follows the end of an episode, but
not how many decisions are left. No subtree is kept across a border. Only roll-outs have a form for
episodes.

With a deadline, `simulations` is an upper limit: a decision ends with the last one in time.
"""

from dataclasses import dataclass

import numpy as np

from ...errors import InvalidInput, Pointless
from ...values import FLAG, NOT_NEGATIVE, PROBABILITY, whole, words
from ..base import Arrays, CompiledAgent, Family, Generator, Task, parameter

_STEP = 5.0  # least nanoseconds per step of a simulation
_LEAVES = ("rollout", "value", "updated-value")
_LEAST = {"value": 40.0, "updated-value": 200.0}  # least nanoseconds per simulation
# Up to this many transitions, uniform rows have tables like other rows, which is faster. Beyond,
# making and storing these tables would cost more than they save.
_SMALL = 1 << 16
_MAX_DRAWS = 1 << 28  # 1 GB
_MAX_VISITS = 2**31 - 1
_MAX_NODES = 50_000_000
_MAX_EDGES = 1 << 27  # about 3 GB, beside at most 152 bytes per node
# Nodes per simulation in a tree that is kept, which outgrows one decision. Once it is full, no
# nodes are added.
_KEPT_NODES = 4


@dataclass
class Bamcp(CompiledAgent):
    """Plans by Monte-Carlo tree search over histories, on MDPs drawn from the posterior."""

    name = "bamcp"
    reference = "Guez, Silver and Dayan, 2012"
    needs = ("sample",)
    episodes = "Simulations look across the border, where they draw a start state."
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

    def needed(self) -> frozenset[str]:
        """Draws, and what the leaf needs."""
        leaf = {"rollout": set(), "value": {"mean"}, "updated-value": {"mean", "predictive"}}
        return frozenset(self.needs) | leaf[self.leaf]

    def check_task(self, task: Task) -> None:
        """Raise if the leaf has no values of episodes."""
        super().check_task(task)
        if task.episode is not None and self.leaf != "rollout":
            raise Pointless(f'bamcp: leaf = "{self.leaf}" has no form for episodes: use "rollout"')

    def code(self) -> object:
        """This class, and whether there are roll-outs."""
        return type(self), self.leaf == "rollout"

    def tiny(self, prior: Family, task: Task) -> Family:
        """A tiny problem with the same kind of urn."""
        from .urn import tiny_prior

        return tiny_prior(prior, task.horizon, self.depth)

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Make room for the tree and the draws."""
        from ...builders.planning import build_deadline, simulations_in_time
        from . import kernel as kernels
        from .leaf import Leaf
        from .mean_values import build_values
        from .rollout import build_policy
        from .starts import build_starts
        from .tree import build_tree
        from .urn import build_urn

        nanoseconds = _LEAST.get(self.leaf, _STEP * self.depth)
        simulations = simulations_in_time(self.simulations, nanoseconds, task)
        nodes = simulations * (_KEPT_NODES if self.reuse_tree else 1) + 1
        self._check_limits(prior, nodes, simulations * task.horizon)
        transitions = prior.num_states**2 * prior.num_actions
        leaf: Leaf = build_policy(prior, self.rollout_epsilon)
        if self.leaf != "rollout":
            leaf = build_values(prior, task, self.leaf == "updated-value", self.depth)
        return self.make_arrays(
            kernels.Bamcp,
            starts=build_starts(prior, task),
            urn=build_urn(prior, task.horizon, transitions > _SMALL, self.depth),
            tree=build_tree(prior, nodes, self.exploration, self.reuse_tree),
            leaf=leaf,
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

    def _check_limits(self, prior: Family, nodes: int, visits: int) -> None:
        """Refuse searches that do not fit into memory, or visits that can't be counted."""
        edges, pairs = nodes * prior.num_actions, prior.num_states * prior.num_actions
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
