"""Planners that look across the borders of episodes: against recursions and exact values."""

from typing import Any

import numpy as np
import pytest

import brlbench as bb
from brlbench.agents.base import Task
from brlbench.mdps.mdp import MDP
from brlbench.mdps.sparse import Floats
from helpers.sizes import thinned

LENGTH, HORIZON = 2, 6
FLAT = bb.FlatDirichlet(
    [[[1.0, 0.5], [0.3, 2.0]], [[1.0, 0.0], [0.7, 0.4]]],
    [[[0.2, 0.3], [0.0, 1.0]], [[0.5, 0.0], [1.0, 0.1]]],
    [0.6, 0.4],
)
BANDIT = bb.distribution("Bandit:arms=2")
PRIORS = {"flat": FLAT, "bandit": BANDIT}


def trained(name: str, prior: Any, task: Task, **parameters: Any) -> Any:
    agent = bb.make_agent(name, **parameters)
    agent.train(prior, task, np.random.default_rng(0))
    agent.start(int(np.flatnonzero(prior.start)[0]), np.random.default_rng(1))
    return agent


def left_of_all(mean: MDP, made: int, discount: float) -> Floats:
    """The optimal values [S] of a known MDP to the horizon, one decision after the other."""
    transitions, rewards = mean.transitions.to_dense(), mean.rewards.mean.to_dense()
    value = np.zeros(len(transitions))
    for t in range(HORIZON - 1, made - 1, -1):
        if (t + 1) % LENGTH == 0:
            value = np.full(len(value), mean.start @ value)
        value = (transitions * (rewards + discount * value)).sum(axis=2).max(axis=1)
    return value


def recursion(belief: Any, x: int, made: int, depth: int, discount: float) -> list[float]:
    """The values of all actions, by looking at all that can happen within some steps."""
    mean = belief.mean()
    values = []
    for u in range(mean.num_actions):
        values.append(0.0)
        for chance, y, r in belief.outcomes(x, u):
            mark = belief.mark()
            belief.observe(x, u, y, r)
            is_border = (made + 1) % LENGTH == 0
            future = 0.0
            for z, share in enumerate(mean.start) if is_border else [(y, 1.0)]:
                if made + 1 < HORIZON and share > 0:
                    if depth > 1:
                        then = max(recursion(belief, z, made + 1, depth - 1, discount))
                    else:
                        then = left_of_all(belief.mean(), made + 1, discount)[z]
                    future += share * then
            belief.undo(mark)
            values[-1] += chance * (r + discount * future)
    return values


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("name", PRIORS)
def test_values_of_lookahead_are_those_of_a_recursion(name: str, depth: int) -> None:
    """At every decision of a trajectory, within episodes and across their borders."""
    prior: Any = PRIORS[name]
    rng = np.random.default_rng(depth)
    agent = trained("lookahead", prior, Task(0.9, HORIZON, episode=LENGTH), depth=depth)
    belief = prior.belief()
    for made in range(HORIZON):
        x = int(rng.choice(np.flatnonzero(prior.start)))
        action = agent.act(x)
        wanted = recursion(belief, x, made, depth, 0.9)
        found = agent.arrays.levels.q[0]
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
        assert wanted[action] == pytest.approx(max(wanted))
        outcomes = belief.outcomes(x, action)
        _, y, r = outcomes[rng.integers(len(outcomes))]
        belief.observe(x, action, y, r)
        agent.observe(x, action, y, r)


@pytest.mark.parametrize("discount", [1.0, 0.8])
@pytest.mark.parametrize("name", PRIORS)
def test_as_deep_as_the_horizon_lookahead_is_bayes_optimal(name: str, discount: float) -> None:
    prior: Any = PRIORS[name]
    exact = bb.bayes_optimal_value(prior, discount, HORIZON, episode=LENGTH)
    agent = trained("lookahead", prior, Task(discount, HORIZON, episode=LENGTH), depth=20)
    found = 0.0
    for x in np.flatnonzero(prior.start).tolist():
        agent.act(x)
        found += prior.start[x] * agent.arrays.levels.q[0].max()
    assert found == pytest.approx(exact, rel=1e-12)


def test_without_steps_lookahead_plans_to_the_end_of_the_episode() -> None:
    """What comes after the border is the same whatever is done."""
    where = bb.Experiment(FLAT, num_mdps=5, horizon=20, episode=4, discount=1)
    greedy = bb.evaluate(bb.make_agent("epsilon-greedy", epsilon=0.0), where)
    none = bb.evaluate(bb.make_agent("lookahead", depth=0), where)
    np.testing.assert_array_equal(none.actions, greedy.actions)


def roots(prior: Any, task: Task, seeds: int, **parameters: Any) -> Floats:
    """The highest values at the root [seeds] of BFS3, over all start states."""
    agent = trained("bfs3", prior, task, **parameters)
    found = np.zeros(seeds)
    for seed in range(seeds):
        for x in np.flatnonzero(prior.start).tolist():
            agent.start(x, np.random.default_rng(seed))
            agent.act(x)
            found[seed] += prior.start[x] * agent.arrays.q.max()
    return found


@pytest.mark.parametrize(("name", "discount"), [("bandit", 1.0), ("flat", 0.9)])
def test_many_simulations_of_bfs3_are_bayes_optimal(name: str, discount: float) -> None:
    """A maximum of sampled values is slightly too high."""
    prior: Any = PRIORS[name]
    exact = bb.bayes_optimal_value(prior, discount, 4, episode=LENGTH)
    task = Task(discount, 4, episode=LENGTH)
    values = roots(prior, task, 8, simulations=10**6, branching=1000, depth=9) / exact
    error = values.std(ddof=1) / np.sqrt(len(values))
    assert error < 0.003
    assert -4 * error < values.mean() - 1 < 0.005 + 4 * error


@pytest.mark.parametrize("depth", [1, 2, 9])
def test_bfs3_where_all_is_certain(depth: int) -> None:
    """With nothing to draw, values are exact, up to the bound of what lies beyond the depth."""
    following = np.array([[1, 0], [2, 0], [2, 1]])
    counts = np.eye(3)[following]
    rewards = np.arange(18.0).reshape(3, 2, 3) % 7 - 2
    prior = bb.FlatDirichlet(counts, rewards, 1)
    agent = trained("bfs3", prior, Task(1.0, HORIZON, episode=3), depth=depth, branching=2)

    def value(x: int, made: int, left: int) -> float:
        if made == HORIZON or left == 0:
            highest = max(rewards[z, u, following[z, u]] for z in range(3) for u in range(2))
            return (HORIZON - made) * float(highest)
        return max(after(x, u, made, left) for u in range(2))

    def after(x: int, u: int, made: int, left: int) -> float:
        y = int(following[x, u])
        then = 1 if (made + 1) % 3 == 0 else y
        return float(rewards[x, u, y]) + value(then, made + 1, left - 1)

    x = 1
    for made in range(HORIZON):
        action = agent.act(x)
        wanted = [after(x, u, made, depth + 1) for u in range(2)]
        assert agent.arrays.q.max() == pytest.approx(max(wanted), abs=1e-9)
        assert wanted[action] == pytest.approx(max(wanted), abs=1e-9)
        y = int(following[x, action])
        agent.observe(x, action, y, rewards[x, action, y])
        x = 1 if made == 2 else y


ENOUGH: dict[str, dict[str, Any]] = {
    "lookahead": {"depth": 5},
    "bfs3": {"simulations": 4000, "branching": 40},
}


@pytest.mark.parametrize("name", thinned(ENOUGH, usual=["bfs3"]))
def test_planners_explore_for_later_episodes(name: str) -> None:
    """One decision per episode: only what it teaches for later ones makes the unknown arm good."""
    rewards = bb.BernoulliRewards([[60.0, 1.0]], [[40.0, 1.0]])  # means 0.6, known, and 0.5
    prior = bb.FlatDirichlet(np.ones((1, 2, 1)), rewards)
    for horizon, best in ((12, 1), (1, 0)):
        agent = trained(name, prior, Task(1.0, horizon, episode=1), **ENOUGH[name])
        assert agent.act(0) == best
