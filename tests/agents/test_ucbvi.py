"""UCBVI beside a plain one."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from brlbench.agents import make_agent
from brlbench.agents.base import Task
from brlbench.agents.ucbvi import Ucbvi
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import Pointless
from brlbench.mdps.sparse import Floats
from helpers.sizes import thinned
from helpers.visits import DISCOUNT, EPISODE, Operator, Seen, assert_plays_as, priors

STEPS = 60


def limits(prior: FlatDirichlet) -> tuple[float, float]:
    """The least and the largest mean reward, by the definition on the page."""
    own: Any = prior.reward_prior
    if own is None:
        possible = prior.rewards.mean.to_dense()[prior.counts.to_dense() > 0]
        return possible.min(), possible.max()
    if own.is_binary:
        return 0.0, 1.0
    reach = 3 / np.sqrt(own.precision)
    return (own.mean - reach).min(), (own.mean + reach).max()


def plain(prior: FlatDirichlet, agent: Ucbvi, in_episodes: bool) -> Operator:
    """Optimistic values, with the bonuses that the page states; in episodes they never rise."""
    low, high = limits(prior)
    length = EPISODE if in_episodes else 1 / (1 - DISCOUNT)
    h, log = (high - low) * length, np.log(5 * 12 * STEPS / agent.delta)
    last: dict[int, Floats] = {}

    def operator(seen: Seen, value: Floats, left: int | None) -> Floats:
        n = np.maximum(1, seen.visits)
        worth = seen.reward + (1.0 if in_episodes else DISCOUNT) * value
        mean = (seen.row * worth).sum(axis=2)
        bonus = 7 * h * log / np.sqrt(n)
        if agent.bonus == "bernstein":
            variance = (seen.row * (worth - mean[..., None]) ** 2).sum(axis=2)
            bonus = np.sqrt(8 * log * variance / n) + 14 / 3 * h * log / n
        highest = high / (1 - DISCOUNT) if left is None else high * left
        q = np.where(seen.visits > 0, np.minimum(highest, mean + agent.scale * bonus), highest)
        if left is not None:
            q = last[left] = np.minimum(q, last.get(left, highest))
        return q

    return operator


FORMS = (
    (None, "hoeffding"),
    ("step", "hoeffding"),
    ("episode", "hoeffding"),
    ("step", "bernstein"),
)
COMPILED = [(form, "known") for form in FORMS] + [(FORMS[0], "normal")]


@pytest.mark.slow
@pytest.mark.parametrize("case", thinned(product(FORMS, priors()), COMPILED))
def test_it_plays_as_a_plain_one(case: tuple[tuple[str | None, str], str]) -> None:
    (replan, bonus), rewards = case
    prior, in_episodes = priors()[rewards], replan is not None
    agent = Ucbvi(scale=0.01, bonus=bonus, replan=replan or "step")
    assert_plays_as(agent, prior, plain(prior, agent, in_episodes), in_episodes, STEPS)


def test_large_bonuses_leave_all_pairs_at_the_largest_return() -> None:
    agent: Any = Ucbvi(scale=1.0)
    agent.train(priors()["normal"], Task(0.9, 50), np.random.default_rng(0))
    agent.start(0, np.random.default_rng(1))
    for _ in range(50):
        agent.observe(0, agent.act(0), 0, 0.0)
    assert agent.arrays.model.q == pytest.approx(10 * limits(priors()["normal"])[1])


def test_bernstein_bonuses_are_for_episodes() -> None:
    with pytest.raises(Pointless, match="the experiment has no episodes"):
        make_agent("ucbvi", bonus="bernstein").check_task(Task(0.9, 10))  # type: ignore[attr-defined]
