"""Agents against the exact Bayes-optimal value of tiny problems.

No agent that knows only the prior can do better, and planners with large budgets do as well.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest

from brlbench.agents import make_agent
from brlbench.agents.base import Task
from brlbench.analysis.bayes_optimal import bayes_optimal_value
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.mdps.sparse import Floats
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.results.result import Result
from helpers.planner_cases import PRIORS
from helpers.quick import GENERAL, make_quick
from helpers.sizes import sizes, thinned

pytestmark = pytest.mark.slow

Seen = tuple[tuple[int, int, int], ...]
LARGEST_ERROR = 0.004  # of the Bayes-optimal value
# Priors, discounts and horizons of searches from the root.
ROOTS = thinned(
    [(name, *task) for name in PRIORS for task in ((0.8, 5), (0.95, 4))],
    usual=[("chain", 0.95, 4)],
)


def roots(
    algorithm: str, prior: FlatDirichlet, task: Task, seeds: int, **parameters: Any
) -> Floats:
    """The values [seeds, A] of the root's actions."""
    agent: Any = make_agent(algorithm, **parameters)
    agent.train(prior, task, np.random.default_rng(0))
    found = []
    for seed in range(seeds):
        agent.start(0, np.random.default_rng(seed))
        agent.act(0)
        arrays = agent.arrays
        values = (
            arrays.q if algorithm == "bfs3" else arrays.tree.edges["value"][: prior.num_actions]
        )
        found.append(values.copy())
    return np.array(found)


def assert_near(values: Floats, exact: float) -> None:
    """The mean of the best action is within 1%, and known well enough to tell."""
    best = values[:, values.mean(axis=0).argmax()] / exact
    error = best.std(ddof=1) / np.sqrt(len(best))
    told = f"{best.mean():.4f} ± {error:.4f} of the Bayes-optimal value"
    print(told)
    assert error < LARGEST_ERROR, told
    assert abs(best.mean() - 1) < 0.01, told


@pytest.mark.parametrize("case", ROOTS)
def test_the_root_of_bamcp(case: tuple[str, float, int]) -> None:
    """With the published exploration constant, whose cost fades slowly: many simulations."""
    name, discount, horizon = case
    prior, task = PRIORS[name], Task(discount, horizon)
    values = roots("bamcp", prior, task, 3, simulations=2_000_000, depth=horizon)
    assert_near(values, bayes_optimal_value(prior, discount, horizon))


@pytest.mark.parametrize("case", ROOTS)
def test_the_root_of_bfs3(case: tuple[str, float, int]) -> None:
    """One step and a search of one less; the value of its leaves is taken off."""
    name, discount, horizon = case
    prior, task = PRIORS[name], Task(discount, horizon)
    settings = {"simulations": 2001 * 300, "branching": 2001, "depth": horizon - 1}
    values = roots("bfs3", prior, task, 8, **settings)
    rewards = prior.rewards.mean.at(prior.counts)
    leaves = discount**horizon * rewards.max() / (1 - discount)
    assert_near(values - leaves, bayes_optimal_value(prior, discount, horizon))


DISCOUNT, HORIZON = 0.5, 10  # what comes later is below a thousandth
SIZES = sizes((4_000, 0.01), (25_000, LARGEST_ERROR))  # MDPs, and the largest error they allow
BETTER: dict[str, dict[str, Any]] = {  # than the quick ones
    "bamcp": {"simulations": 25, "depth": 6},
    "bfs3": {"simulations": 6, "branching": 3, "depth": 3},
    "epsilon-greedy": {"epsilon": 0.0},
    "opps-ds": {"formulas": "F2", "draws": 500},
    "opps-cs": {"evaluations": 10},
}
UNINFORMED = [name for name in GENERAL if name != "optimal"]


@cache
def experiment(name: str, num_mdps: int) -> Experiment:
    prior = PRIORS[name]
    return Experiment(prior, prior, num_mdps, DISCOUNT, HORIZON)


def play(algorithm: str, name: str, num_mdps: int) -> tuple[float, float]:
    """The mean return and its standard error, as parts of the Bayes-optimal value."""
    agent = make_quick(algorithm, **BETTER.get(algorithm, {}))
    result = evaluate(agent, experiment(name, num_mdps))
    exact = bayes_optimal_value(PRIORS[name], DISCOUNT, HORIZON)
    return result.mean / exact, result.ci95 / 2 / exact


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("prior", thinned(PRIORS, usual=["uneven"]))
@pytest.mark.parametrize("name", UNINFORMED)
def test_nobody_is_better_than_bayes_optimal(
    name: str, prior: str, size: tuple[int, float]
) -> None:
    num_mdps, largest_error = size
    mean, error = play(name, prior, num_mdps)
    told = f"{mean:.4f} ± {error:.4f} of the Bayes-optimal value"
    print(told)
    assert mean <= 1 + 4 * error, told
    assert error < largest_error or mean + 4 * error < 1, told  # it is known well enough


@pytest.mark.parametrize("name", PRIORS)
def test_who_knows_the_mdp_is_better(name: str) -> None:
    mean, error = play("optimal", name, 4_000)
    assert mean > 1 + 4 * error


class BayesOptimal:
    """The values of all beliefs, with their actions."""

    def __init__(self, prior: FlatDirichlet) -> None:
        self.counts = prior.counts.to_dense().tolist()
        self.rewards = prior.rewards.mean.to_dense().tolist()
        self.states, self.actions = range(prior.num_states), range(prior.num_actions)
        self.values: dict[tuple[int, Seen], float] = {}

    def q(self, x: int, u: int, seen: Seen) -> float:
        """The value of an action, and of acting optimally after it."""
        counts = [self.counts[x][u][y] + seen.count((x, u, y)) for y in self.states]
        q = 0.0
        for y in self.states:
            if counts[y] > 0:
                later = self.value(y, tuple(sorted((*seen, (x, u, y)))))
                q += counts[y] / sum(counts) * (self.rewards[x][u][y] + DISCOUNT * later)
        return q

    def value(self, x: int, seen: Seen) -> float:
        """The value of a state after some transitions in any order."""
        if len(seen) == HORIZON:
            return 0.0
        if (x, seen) not in self.values:
            self.values[x, seen] = max(self.q(x, u, seen) for u in self.actions)
        return self.values[x, seen]


def regrets(result: Result, optimal: BayesOptimal) -> Floats:
    """The cost of each trajectory's actions, at the beliefs in which they were taken.

    The expected return is the Bayes-optimal value less the mean of these, which vary much less
    than returns do: luck is left out.
    """
    assert result.states is not None and result.actions is not None
    costs = []
    for states, actions in zip(result.states[:, 0], result.actions[:, 0], strict=True):
        seen: Seen = ()
        cost = 0.0
        for step, (x, u, y) in enumerate(zip(states[:-1], actions, states[1:], strict=True)):
            cost += DISCOUNT**step * (optimal.value(int(x), seen) - optimal.q(int(x), int(u), seen))
            seen = tuple(sorted((*seen, (int(x), int(u), int(y)))))
        costs.append(cost)
    return np.array(costs)


@pytest.mark.parametrize("name", thinned(PRIORS, usual=["chain"]))
@pytest.mark.parametrize(
    ("algorithm", "parameters"),
    [
        ("bamcp", {"simulations": 3000, "depth": 8}),
        ("bfs3", {"simulations": 2000, "branching": 100, "depth": 3}),
    ],
)
def test_planners_play_nearly_bayes_optimally(
    algorithm: str, parameters: dict[str, int], name: str
) -> None:
    optimal = BayesOptimal(PRIORS[name])
    exact = optimal.value(0, ())
    assert exact == pytest.approx(bayes_optimal_value(PRIORS[name], DISCOUNT, HORIZON), rel=1e-12)
    result = evaluate(make_agent(algorithm, **parameters), experiment(name, 200))
    costs = regrets(result, optimal) / exact
    error = costs.std(ddof=1) / np.sqrt(len(costs))
    told = f"{1 - costs.mean():.4f} ± {error:.4f} of the Bayes-optimal value"
    print(told)
    assert (costs > -1e-12).all()
    assert error < LARGEST_ERROR, told
    assert costs.mean() + 4 * error < 0.01, told
    returns = result.mean / exact
    assert abs(returns - (1 - costs.mean())) < 4 * result.ci95 / 2 / exact
