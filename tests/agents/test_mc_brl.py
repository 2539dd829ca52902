"""MC-BRL: its bounds and what it earns, against exact Bayes-optimal values."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from brlbench.agents.base import Task
from brlbench.agents.mc_brl import McBrl
from brlbench.agents.mc_brl.pomdp import build_pomdp
from brlbench.analysis.bayes_optimal import bayes_optimal_value
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.beliefs.hypotheses import Hypotheses
from brlbench.beliefs.rewards import BernoulliRewards
from brlbench.errors import InvalidInput, Pointless
from brlbench.mdps.batch import MDPs
from brlbench.mdps.mdp import MDP
from brlbench.mdps.sparse import Floats
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.streams import generator
from helpers.families import FAMILIES, goal_grid, random_hypotheses


def chain() -> Hypotheses:
    """Three members of the chain with one unknown probability of slipping, with weights."""
    tied = distribution("Chain:prior=tied")
    mdps = [tied.sample(generator("test chain", i)) for i in range(3)]
    return Hypotheses(mdps, [0.5, 0.3, 0.2])


TINY: dict[str, tuple[Hypotheses, float, int]] = {
    "goal": (goal_grid(2), 0.8, 60),
    "chain": (chain(), 0.2, 5),
    "known": (random_hypotheses("known", 3), 0.2, 4),
    "constant": (random_hypotheses("constant", 3), 0.2, 3),
}
"""Priors, discounts, and decisions after which little is left."""


def value_of_chain(discount: float, horizon: int) -> float:
    """The exact value, by recursion over how often actions have slipped, and how often not."""
    prior = chain()
    # In the first state the second action stays, unless it slips.
    slip = np.array([mdp.transitions.to_dense()[0, 1, 1] for mdp in prior.mdps])
    forward, rewards = np.minimum(np.arange(5) + 1, 4), prior.mdps.mdp(0).rewards.mean.to_dense()

    @cache
    def value(x: int, slips: int, others: int) -> float:
        if slips + others == horizon:
            return 0.0
        weight = prior.weights * slip**slips * (1 - slip) ** others
        chance, best = float(weight @ slip / weight.sum()), -np.inf
        for u, (right, wrong) in enumerate(((forward[x], 0), (0, forward[x]))):
            q = (1 - chance) * (rewards[x, u, right] + discount * value(right, slips, others + 1))
            q += chance * (rewards[x, u, wrong] + discount * value(wrong, slips + 1, others))
            best = max(best, q)
        return best

    return value(0, 0, 0)


def trained(prior: Any, discount: float, **parameters: Any) -> Any:
    agent = McBrl(**parameters)
    agent.train(prior, Task(discount, 60), generator("test mc-brl"))
    return agent


def limits(prior: Hypotheses, discount: float, horizon: int) -> tuple[float, float]:
    """Bounds on the value of infinitely many decisions, by that of finitely many."""
    value = bayes_optimal_value(prior, discount, horizon)
    beyond = discount**horizon / (1 - discount) * prior.max_reward
    return value - beyond, value + beyond


@pytest.mark.parametrize("name", TINY)
def test_bounds_enclose_the_exact_value_and_close_in(name: str) -> None:
    prior, discount, horizon = TINY[name]
    least, most = limits(prior, discount, horizon)
    last, rounding = np.inf, 1e-8 * prior.max_reward / (1 - discount)
    for backups in (0, 3, 30, 300, 3000):
        bounds = trained(prior, discount, backups=backups).bounds
        print(backups, bounds, (least, most))
        assert bounds.lower <= most + rounding
        assert bounds.upper >= least - rounding
        assert bounds.lower <= bounds.upper + rounding
        assert bounds.upper <= bounds.clairvoyant + rounding
        gap = bounds.upper - bounds.lower
        assert gap < 0.8 * last or bounds.is_complete
        last = gap
    assert bounds.hypotheses == len(prior)
    assert bounds.is_complete
    assert last < 1e-5 * abs(bounds.upper)


def earned(agent: Any, mdp: MDP, x: int, discount: float, steps: int) -> float:
    """The discounted sum in an MDP without chance."""
    transitions, rewards = mdp.transitions.to_dense(), mdp.rewards.mean.to_dense()
    agent.start(x, generator("test mc-brl"))
    total = 0.0
    for t in range(steps):
        u = agent.act(x)
        y = int(transitions[x, u].argmax())
        total += discount**t * rewards[x, u, y]
        agent.observe(x, u, y, float(rewards[x, u, y]))
        x = y
    return total


@pytest.mark.parametrize("side", [2, 3])
def test_it_earns_the_exact_value_where_nothing_is_left_to_chance(side: int) -> None:
    prior = goal_grid(side)
    agent = trained(prior, 0.8, backups=3000)
    assert agent.bounds.is_complete
    sums = [earned(agent, mdp, 0, 0.8, 100) for mdp in prior.mdps]
    assert prior.weights @ sums == pytest.approx(agent.bounds.upper, rel=2e-6)
    if side == 2:
        exact = bayes_optimal_value(prior, 0.8, 100)
        assert prior.weights @ sums == pytest.approx(exact, rel=2e-6)


def test_the_chain() -> None:
    """Over many decisions: both bounds, and the mean of what is earned, are the exact value."""
    assert value_of_chain(0.2, 5) == pytest.approx(bayes_optimal_value(chain(), 0.2, 5), rel=1e-9)
    prior, discount, horizon = chain(), 0.8, 60
    experiment = Experiment(prior, num_mdps=2000, discount=discount, horizon=horizon)
    agent = McBrl(backups=3000)
    returns, exact = evaluate(agent, experiment).returns, value_of_chain(discount, horizon)
    print(agent.bounds, exact)
    assert exact <= agent.bounds.upper + 1e-6
    assert agent.bounds.lower <= exact + 10 * discount**horizon / (1 - discount)
    assert agent.bounds.upper - agent.bounds.lower < 1e-3 * exact
    error = returns.std(ddof=1) / np.sqrt(len(returns))
    print(f"{returns.mean():.4f} ± {2 * error:.4f}")
    assert abs(returns.mean() - exact) < 4 * error


def test_a_plan_earns_at_least_its_lower_bound() -> None:
    """Even one that is far from the best."""
    prior = distribution("GoalGrid")
    agent = McBrl(backups=20)
    result = evaluate(agent, Experiment(prior, num_mdps=500, discount=0.9, horizon=150))
    bounds = agent.bounds
    assert bounds.upper - bounds.lower > 0.2 * bounds.upper
    assert result.mean + 2 * result.ci95 > bounds.lower
    assert result.mean - 2 * result.ci95 < bounds.upper


def value_by_recursion(mdps: MDPs, weight: Floats, x: int, discount: float, left: int) -> float:
    """The Bayes-optimal value under weights of MDPs with binary rewards, from the definition."""
    best = 0.0
    for u in range(mdps.places.num_actions if left else 0):
        q, pair = 0.0, x * mdps.places.num_actions + u
        for entry in range(*mdps.places.row_start[pair : pair + 2]):
            y, chance = int(mdps.places.next_state[entry]), mdps.probability[:, entry]
            for r in (0, 1):
                after = (
                    weight * chance * (mdps.reward[:, entry] if r else 1 - mdps.reward[:, entry])
                )
                q += r * after.sum() + discount * value_by_recursion(
                    mdps, after, y, discount, left - 1
                )
        best = max(best, q)
    return best


def test_binary_rewards_teach() -> None:
    prior = FlatDirichlet(np.ones((1, 2, 1)), BernoulliRewards([[1.0, 0.5]], [[1.0, 0.5]]))
    agent = trained(prior, 0.3, hypotheses=4)
    mdps = prior.draw([generator("test mc-brl")] * 4)
    value = value_by_recursion(mdps, np.full(4, 0.25), 0, 0.3, 7)
    assert agent.bounds.is_complete
    assert value - 1e-6 < agent.bounds.upper < value + 0.3**7 / 0.7 + 1e-6
    agent.start(0, generator("start"))
    likelihood = np.full(4, 0.25)
    for u, r in ((0, 1.0), (1, 0.0), (0, 1.0), (0, 0.0)):
        agent.observe(0, u, 0, r)
        likelihood *= mdps.reward[:, u] if r else 1 - mdps.reward[:, u]
        expected = likelihood / likelihood.sum()
        np.testing.assert_allclose(agent.arrays.weight, expected, rtol=1e-12)


@pytest.mark.parametrize("kind", ["known", "constant"])
def test_weights_are_those_of_the_belief(kind: str) -> None:
    shared = random_hypotheses(kind, 6)
    starts = generator("test mc-brl").dirichlet([0.3, 0.3, 0.3], 6)
    mdps = [MDP(m.transitions, m.rewards, s) for m, s in zip(shared.mdps, starts, strict=True)]
    prior = Hypotheses(mdps, shared.weights)
    agent, rng = trained(prior, 0.5, backups=10), generator("test weights")
    for _ in range(5):
        mdp = prior.sample(rng)
        tables = mdp.transitions.to_dense(), mdp.rewards.mean.to_dense()
        x, belief = int(rng.choice(3, p=mdp.start)), prior.belief()
        agent.start(x, rng)
        belief.begin(x)
        for _ in range(8):
            np.testing.assert_allclose(agent.arrays.weight, belief.weights, rtol=1e-9, atol=1e-12)
            u = agent.act(x)
            y = int(rng.choice(3, p=tables[0][x, u]))
            agent.observe(x, u, y, float(tables[1][x, u, y]))
            belief.observe(x, u, y, float(tables[1][x, u, y]))
            x = y


def test_few_hypotheses_are_taken_as_they_are_and_many_are_drawn() -> None:
    prior = random_hypotheses("known", 6)
    for number in (6, 50):
        agent = trained(prior, 0.5, hypotheses=number, backups=0)
        np.testing.assert_array_equal(agent.arrays.prior, prior.weights)
    few = trained(prior, 0.5, hypotheses=5, backups=0).arrays.prior
    assert few.sum() == pytest.approx(1)
    np.testing.assert_allclose(few * 5, np.round(few * 5), atol=1e-12)
    assert trained(distribution("GC"), 0.9, hypotheses=7, backups=0).bounds.hypotheses == 7


@pytest.mark.parametrize("name", ["known", "constant", "binary"])
def test_outcomes_of_a_pair_are_all_that_can_follow(name: str) -> None:
    prior = FAMILIES[name]
    mdps = prior.draw([generator("test pomdp", i) for i in range(4)])
    pomdp = build_pomdp(mdps, 0.9)
    totals = np.add.reduceat(pomdp.likelihood, pomdp.start[:-1], axis=0)
    np.testing.assert_allclose(totals, 1.0, rtol=1e-12)
    for k, mdp in enumerate(mdps):
        rewards = mdp.transitions.to_dense() * mdp.rewards.mean.to_dense()
        np.testing.assert_allclose(pomdp.reward[:, k], rewards.sum(axis=2).ravel(), atol=1e-12)


def test_refusals() -> None:
    with pytest.raises(InvalidInput, match="mc-brl has no bounds before its training"):
        _ = McBrl().bounds
    with pytest.raises(Pointless, match="mc-brl has no form for episodes: use one of"):
        McBrl().train(distribution("GC"), Task(1.0, 10, episode=5), generator("test"))
    with pytest.raises(InvalidInput, match=r"mc-brl: hypotheses = 100000 .*use fewer"):
        trained(distribution("uniform:Grid"), 0.9, hypotheses=100_000, backups=10**6)
