"""UCRL2 beside a plain one, and its best rows beside a linear program and a root finder."""

from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.optimize

from brlbench.agents import make_agent
from brlbench.agents.base import Task
from brlbench.agents.ucrl2 import Ucrl2
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import InvalidInput, Pointless
from brlbench.mdps.sparse import Floats
from helpers.sizes import thinned
from helpers.visits import DISCOUNT, Seen, assert_plays_as, priors

DELTA = 0.05


def best_by_linear_program(p: Floats, worth: Floats, width: float) -> float:
    """The largest q w over distributions q with |q - p| at most the width: q and |q - p|."""
    n = len(p)
    eye = np.eye(n)
    above = np.block([[eye, -eye], [-eye, -eye], [np.zeros(n), np.ones(n)]])
    limits = np.concatenate([p, -p, [width]])
    sums = np.concatenate([np.ones(n), np.zeros(n)])[None]
    solved = scipy.optimize.linprog(
        np.concatenate([-worth, np.zeros(n)]), above, limits, sums, [1.0], method="highs"
    )
    assert solved.success
    return -float(solved.fun or 0.0)


def best_by_sorting(p: Floats, worth: Floats, width: float) -> float:
    """The same, as the paper says: probability goes from the worst outcomes to the best one."""
    q, order = p.copy(), np.argsort(worth)
    q[order[-1]] = min(1.0, q[order[-1]] + width / 2)
    for worst in order[:-1]:
        q[worst] = max(0.0, q[worst] - max(0.0, q.sum() - 1))
    return float(q @ worth)


def best_by_root(p: Floats, worth: Floats, radius: float) -> float:
    """The largest q w over distributions with KL(p, q) at most the radius, as Filippi et al.

    An outcome that was never seen can have probability if it is the best one.
    """
    gaps, seen = worth.max() - worth, p > 0
    if np.ptp(worth) == 0:
        return float(worth[0])

    def tilted(log_gap: float) -> Floats:
        q: Floats = p / (gaps + np.exp(log_gap))
        return np.asarray(q / q.sum())

    def error(log_gap: float) -> float:
        return float(p[seen] @ np.log(p[seen] / tilted(log_gap)[seen])) - radius

    if error(-700) < 0:
        share = 0.0 if seen[gaps == 0].any() else np.exp(error(-700))  # that is left to the others
        return float(worth.max() - share * (tilted(-700) @ gaps))
    return float(tilted(scipy.optimize.brentq(error, -700, 40, xtol=1e-12)) @ worth)


BEST = {False: best_by_sorting, True: best_by_root}


def optimistic(
    seen: Seen, value: Floats, left: int | None, prior: FlatDirichlet, scale: float, kl: bool
) -> Floats:
    """One step of extended value iteration, with the widths that the page states."""
    states, actions, _ = seen.row.shape
    q, discount = np.zeros((states, actions)), DISCOUNT if left is None else 1.0
    for x, u in np.ndindex(states, actions):
        possible = seen.is_possible[x, u]
        number, n = max(1, seen.visits[x, u]), possible.sum()
        if left is None:
            of_rows = 14 * np.log(2 * actions * seen.time / DELTA) / number
            of_reward = 3.5 * np.log(2 * states * actions * seen.time / DELTA) / number
        else:
            log = np.log(2 * states * actions * (seen.time + 1) / DELTA)
            of_rows = of_reward = 4 * log / number
        squared = scale**2 * n * of_rows
        worth = (seen.reward[x, u] + discount * value)[possible]
        width = squared / 2 if kl else np.sqrt(squared)
        q[x, u] = BEST[kl](seen.row[x, u][possible], worth, width)
        if prior.reward_prior is not None:
            expected = seen.reward[x, u, 0]
            noise = 1.0 if prior.rewards.is_binary else prior.reward_prior.deviation[x, u]
            wide = expected + scale * noise * np.sqrt(of_reward)
            q[x, u] += (min(wide, 1.0) if prior.rewards.is_binary else wide) - expected
    return q


@pytest.mark.slow
@pytest.mark.parametrize("rewards", thinned(priors(), usual=["known"]))
@pytest.mark.parametrize("kl", [False, True])
@pytest.mark.parametrize("replan", [None, "step", "episode"])
def test_it_plays_as_a_plain_one(replan: str | None, kl: bool, rewards: str) -> None:
    prior, scale = priors()[rewards], 0.2
    agent = Ucrl2(delta=DELTA, scale=scale, kl=kl, replan=replan or "step")
    operator = partial(optimistic, prior=prior, scale=scale, kl=kl)
    assert_plays_as(
        agent, prior, operator, replan is not None, steps=24, tolerance=1e-6 if kl else 1e-8
    )


def one_step(p: Floats, rewards: Floats, scale: float, kl: bool) -> tuple[float, float]:
    """The best worth of a row in the agent's first plan, and the width of the row."""
    counts = np.zeros((len(p), 1, len(p)))
    counts[:] = p
    agent: Any = Ucrl2(scale=scale, kl=kl)
    paid = np.broadcast_to(rewards, counts.shape)
    agent.train(FlatDirichlet(counts, paid), Task(1.0, 1, episode=1), np.random.default_rng(0))
    return agent.arrays.model.q[0], agent.arrays.width[0]


@pytest.mark.parametrize("seed", range(20))
def test_best_rows_within_a_distance_solve_a_linear_program(seed: int) -> None:
    """In an episode of one decision, nothing but the next reward counts."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(5, 0.5)) + 1e-12
    rewards = rng.normal(size=5).round(1)  # some are equal
    q, width = one_step(p, rewards, float(rng.uniform(0, 0.4)), kl=False)
    assert q == pytest.approx(best_by_linear_program(p / p.sum(), rewards, width), abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_best_rows_within_a_divergence_are_feasible_and_best(seed: int) -> None:
    """Another solver finds the same, and no feasible row that is drawn is better."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(5, 0.5)) + 1e-12
    p /= p.sum()
    rewards = rng.normal(size=5).round(1)
    q, radius = one_step(p, rewards, float(rng.uniform(0.01, 0.4)), kl=True)
    assert q == pytest.approx(best_by_root(p, rewards, radius), abs=1e-7)
    drawn = rng.dirichlet(p * 30 + 0.1, 2000)
    feasible = (p * np.log(p / np.maximum(drawn, 1e-300))).sum(axis=1) <= radius
    assert (drawn[feasible] @ rewards <= q + 1e-9).all()
    wide = best_by_linear_program(p, rewards, float(np.sqrt(2 * radius)))  # Pinsker's inequality
    assert q <= wide + 1e-9


def carried_values(p: Floats, reward: Floats, width: float, layers: int) -> Floats:
    """The Q-values of TabulaRL's sweep, whose rows are changed in place."""
    states, actions, _ = p.shape
    rows, value = p.copy(), np.zeros(states)
    for _ in range(layers):
        order, q = np.argsort(value, kind="stable"), np.zeros((states, actions))
        for x, u in np.ndindex(states, actions):
            row = rows[x, u]  # a view: changes stay
            if row[order[-1]] + width / 2 > 1:
                row = np.eye(states)[order[-1]]
            else:
                row[order[-1]] += width / 2
            for worst in order:
                if row.sum() <= 1 + 1e-15:
                    break
                row[worst] = max(0.0, 1 - row.sum() + row[worst])
            q[x, u] = reward[x, u] + row @ value
        value = q.max(axis=1)
    return q


@pytest.mark.parametrize("scale", [0.003, 0.02, 0.1])
def test_carried_rows_are_those_of_a_sweep_in_place(scale: float) -> None:
    rng = np.random.default_rng(3)
    counts, rewards = rng.gamma(1.0, size=(5, 2, 5)), rng.normal(size=(5, 2))
    prior = FlatDirichlet(counts, np.repeat(rewards[..., None], 5, axis=2))
    found = {}
    for rows in ("fresh", "carried"):
        agent: Any = Ucrl2(scale=scale, rows=rows)
        agent.train(prior, Task(1.0, 10, episode=10), np.random.default_rng(0))
        found[rows] = agent.arrays.model.q.reshape(5, 2)
    p = counts / counts.sum(axis=2, keepdims=True)
    width = agent.arrays.width[0]
    np.testing.assert_allclose(found["carried"], carried_values(p, rewards, width, 10), rtol=1e-9)
    assert found["carried"].max() > found["fresh"].max()


def test_forms_that_do_not_exist_are_refused() -> None:
    with pytest.raises(InvalidInput, match='rows = "carried": kl has no such form'):
        make_agent("ucrl2", kl=True, rows="carried")
    with pytest.raises(Pointless, match="the experiment has no episodes"):
        Ucrl2(rows="carried").check_task(Task(0.9, 10))
