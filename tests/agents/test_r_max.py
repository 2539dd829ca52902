"""R-max beside a plain one, and where it must reach the optimum."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import brlbench as bb
from brlbench.agents.base import Task
from brlbench.agents.r_max import RMax
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.beliefs.hypotheses import Hypotheses
from brlbench.builders import model
from brlbench.mdps.sparse import Floats
from brlbench.streams import generator
from helpers.families import FAMILIES
from helpers.reference import assert_close, best
from helpers.sizes import thinned
from helpers.visits import DISCOUNT, EPISODE, Memory, Seen, priors, solve, step

REPLANS = (None, "step", "episode")
COMPILED = ((None, "known"), (None, "binary"), ("step", "known"), ("episode", "known"))


def largest_reward(prior: FlatDirichlet) -> float:
    """By the definition on the page."""
    own: Any = prior.reward_prior
    if own is None:
        return float(prior.rewards.mean.to_dense()[prior.counts.to_dense() > 0].max())
    return 1.0 if own.is_binary else float((own.mean + 3 / np.sqrt(own.precision)).max())


@pytest.mark.slow
@pytest.mark.parametrize("case", thinned(product(REPLANS, priors()), COMPILED))
def test_it_plays_as_a_plain_one(case: tuple[str | None, str]) -> None:
    replan, rewards = case
    prior, visits, in_episodes = priors()[rewards], 3, replan is not None
    largest = largest_reward(prior)

    def operator(seen: Seen, value: Floats, left: int | None) -> Floats:
        discount = 1.0 if in_episodes else DISCOUNT
        known = (seen.row * (seen.reward + discount * value)).sum(axis=2)
        ceiling = largest / (1 - DISCOUNT) if left is None else largest * left
        return np.where(seen.visits >= visits, known, ceiling)

    agent: Any = RMax(visits=visits, replan=replan or "step")
    mdp, rng = prior.sample(generator("visits", "MDP")), np.random.default_rng(1)
    task = Task(1.0 if in_episodes else DISCOUNT, 120, episode=EPISODE if in_episodes else None)
    agent.train(prior, task, rng)
    agent.start(0, generator("visits", "start"))
    memory, x = Memory(prior), 0
    for t in range(120):
        left = EPISODE - t % EPISODE if in_episodes else None
        if replan != "episode" or t % EPISODE == 0:
            seen = memory.seen(t)
        q = solve(seen, operator, left)
        assert_close(agent.arrays.model.q, q, 1e-9)
        u = agent.act(x)
        assert u in best(q[x])
        y, r = step(mdp, x, u, rng)
        agent.observe(x, u, y, r)
        if memory.number[x, u].sum() < visits:  # later ones teach nothing
            memory.learn(x, u, y, r)
        x = int(rng.integers(4)) if left == 1 else y


@pytest.mark.parametrize("problem", ["DeepSea:size=4", "Loop"])
def test_in_deterministic_problems_one_visit_leads_to_the_optimum(problem: str) -> None:
    """Once all that may be better is known, each round of the problem earns what is optimal."""
    where = bb.Experiment(problem, num_mdps=3, discount=0.99, horizon=600)
    played = bb.evaluate(RMax(visits=1), where).rewards[:, 0]
    optimal = bb.evaluate(bb.make_agent("optimal"), where).rewards[:, 0]
    round_length = {"DeepSea:size=4": 4, "Loop": 5}[problem]
    late = 40 * round_length
    assert (played[:, -late:].sum(axis=1) >= optimal[:, -late:].sum(axis=1) - 1e-9).all()
    assert played[:, :late].sum() < optimal[:, :late].sum()


@pytest.mark.slow
def test_in_episodes_one_visit_leads_to_the_optimum() -> None:
    where = bb.Experiment("DeepSea:size=5", num_mdps=3, discount=1.0, horizon=500, episode=5)
    for replan in ("step", "episode"):
        played = bb.evaluate(RMax(visits=1, replan=replan), where).rewards[:, 0]
        assert played[:, -50:].sum(axis=1) == pytest.approx([10 * (1 - 0.01)] * 3)


def test_many_states_are_solved_by_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    where = bb.Experiment("DeepSea:size=4", num_mdps=1, discount=0.9, horizon=100)
    exact = bb.evaluate(RMax(visits=1), where)
    monkeypatch.setattr(model, "MAX_INVERSE_STATES", 0)
    np.testing.assert_array_equal(bb.evaluate(RMax(visits=1), where).actions, exact.actions)


@pytest.mark.parametrize(
    ("name", "largest"), [("chain", 10.0), ("goal", 1.0), ("constant", 1.0), ("binary", 1.0)]
)
def test_the_largest_reward_of_other_families(name: str, largest: float) -> None:
    """Nothing is worth more before anything is known."""
    prior, agent = FAMILIES[name], RMax()
    agent.train(prior, Task(0.5, 10), generator("train"))
    assert agent.arrays.model.q == pytest.approx(2 * largest)
    if isinstance(prior, Hypotheses):
        assert prior.max_reward == largest
