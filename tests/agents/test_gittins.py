"""Gittins indices against published ones, and against the exact values of bandits."""

from typing import Any

import numpy as np
import pytest

import brlbench as bb
from brlbench.agents.base import Task
from brlbench.errors import Pointless
from brlbench.streams import generator

# Gittins, Glazebrook and Weber (2011), tables 8.4 and after: discount 0.9, by (alpha, beta).
PUBLISHED = {(1, 1): 0.7029, (1, 2): 0.5001, (2, 1): 0.8001, (1, 3): 0.3796, (2, 2): 0.6346}


def place(pulls: int, wins: int) -> int:
    """Where an index is in its table: after each number of pulls, by successes."""
    return pulls * (pulls + 1) // 2 + wins


def trained(discount: float, horizon: int, problem: str = "Bandit:arms=2", **given: Any) -> Any:
    agent: Any = bb.make_agent("gittins", **given)
    agent.train(bb.distribution(problem), Task(discount, horizon), generator("test gittins"))
    return agent


def test_published_indices() -> None:
    index = trained(0.9, 10).arrays.indices[0]
    for (alpha, beta), wanted in PUBLISHED.items():
        pulls = alpha + beta - 2
        assert index[place(pulls, alpha - 1)] == pytest.approx(wanted, abs=1e-4)


def test_arms_that_differ_have_tables_of_their_own() -> None:
    prior = bb.FlatDirichlet(np.ones((1, 3, 1)), bb.BernoulliRewards([[1, 2, 1]], 1.0))
    agent: Any = bb.make_agent("gittins", accuracy=0.001)
    agent.train(prior, Task(0.9, 5), generator("test gittins"))
    assert agent.arrays.indices.shape[0] == 2
    first = agent.arrays.indices[agent.arrays.table, 0]
    np.testing.assert_allclose(first, [0.7029, 0.8001, 0.7029], atol=1e-3)


def test_it_takes_the_bayes_optimal_actions() -> None:
    """In a bandit of two arms, against dynamic programming over beliefs far ahead."""
    discount, ahead, agent = 0.6, 25, trained(0.6, 40)
    values: dict[tuple[int, ...], float] = {}

    def q(known: tuple[int, ...], arm: int, left: int) -> float:
        wins, losses = known[2 * arm], known[2 * arm + 1]
        chance = wins / (wins + losses)
        after = [list(known), list(known)]
        after[0][2 * arm] += 1
        after[1][2 * arm + 1] += 1
        won, lost = (value(tuple(each), left - 1) for each in after)
        return chance * (1 + discount * won) + (1 - chance) * discount * lost

    def value(known: tuple[int, ...], left: int) -> float:
        if left == 0:
            return 0.0
        if known not in values:
            values[known] = max(q(known, 0, left), q(known, 1, left))
        return values[known]

    rng = generator("test gittins play")
    known = [1, 1, 1, 1]
    agent.start(0, rng)
    for step in range(15):
        values.clear()
        exact = [q(tuple(known), arm, ahead) for arm in (0, 1)]
        arm = agent.act(0)
        assert exact[arm] >= max(exact) - 1e-4, step
        reward = float(rng.random() < 0.5)
        agent.observe(0, arm, 0, reward)
        known[2 * arm + (reward == 0)] += 1


@pytest.mark.slow
def test_no_agent_is_better_and_bamcp_comes_closer() -> None:
    experiment = bb.Experiment("Bandit:arms=3", num_mdps=400, discount=0.9, horizon=60)
    best = bb.evaluate(bb.make_agent("gittins"), experiment)
    scores = []
    for name, given in (("bamcp", {"simulations": 20}), ("bamcp", {"simulations": 1000})):
        other = bb.evaluate(bb.make_agent(name, **given), experiment)
        scores.append(other.adjusted.mean)
        assert bb.paired_z_test(other.returns, best.returns).z < 3
    for name in ("psrl", "epsilon-greedy"):
        other = bb.evaluate(bb.make_agent(name), experiment)
        assert bb.paired_z_test(best.returns, other.returns).significant
    assert scores[0] < scores[1] < best.adjusted.mean + best.adjusted.ci95


def test_everything_else_is_refused() -> None:
    for problem in ("GC", "Bandit:rewards=normal", "Chain:prior=tied", "GoalGrid"):
        with pytest.raises(Pointless, match=r"gittins needs one state with unknown binary rewards"):
            trained(0.9, 5, problem)
    with pytest.raises(bb.InvalidInput, match="steps of the recursion"):
        trained(0.999, 1000, accuracy=1e-6)


@pytest.mark.slow
def test_the_rules_are_kept() -> None:
    agent: Any = bb.make_agent("gittins", accuracy=0.01)
    checked = bb.check_rules(agent, bb.Experiment("Bandit", num_mdps=3, horizon=15))
    for rule, found in checked.findings.items():
        assert found.verdict == ("unknown" if rule == "odd problems" else "kept"), rule
