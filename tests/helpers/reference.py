"""Agents step by step beside a plain reference: the posterior's mean MDP, always solved afresh."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.stats

from brlbench.agents.base import Task
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.mdps.mdp import MDP
from brlbench.mdps.sparse import Floats, Integers
from brlbench.streams import generator

TIE = 1e-9
Bonus = Callable[[Floats], Floats]
"""From the posterior's counts [S, A, S] to a bonus [S, A, S] on rewards."""
Solver = Callable[[FlatDirichlet, float], Floats]
"""From a posterior and the discount to Q-values [S, A]."""


class Step(NamedTuple):
    """One decision and the reference's Q-values [S, A] before and after it."""

    state: int
    action: int
    q_before: Floats
    q_after: Floats


def no_bonus(counts: Floats) -> Floats:
    """Nothing is added."""
    return np.zeros(counts.shape)


def solved(posterior: FlatDirichlet, discount: float, bonus: Bonus = no_bonus) -> Floats:
    """The optimal Q-values [S, A] of the mean MDP, with a bonus."""
    extra = bonus(posterior.counts.to_dense())
    mean = posterior.mean()
    return MDP(mean.transitions, mean.rewards.mean.to_dense() + extra).solve(discount).q


def best(q: Floats) -> list[int]:
    """The best actions of a state by its Q-values [A]."""
    return np.flatnonzero(q >= q.max() - TIE * np.abs(q).max()).tolist()


def assert_close(q: Floats, expected: Floats, tolerance: float = 1e-9) -> None:
    """The values [S * A] and [S, A] are equal to within a tolerance, relative to their scale."""
    assert np.abs(q.reshape(expected.shape) - expected).max() <= tolerance * np.abs(expected).max()


def walk(
    agent: Any,
    prior: FlatDirichlet,
    discount: float = 0.95,
    steps: int = 120,
    bonus: Bonus = no_bonus,
    seed: int = 0,
    solve: Solver | None = None,
    tolerance: float = 1e-9,
) -> Iterator[Step]:
    """Let an agent with a solved model play an MDP, and compare its Q-values at every step.

    The reference is the mean MDP with a bonus, or what `solve` returns.
    """
    solve = solve or partial(solved, bonus=bonus)
    rng = generator("test walk", prior.digest, seed)
    probabilities = prior.sample(rng).transitions.to_dense()
    rewards = prior.rewards.mean.to_dense()
    agent.train(prior, Task(discount, steps), rng)
    state, observed = int(prior.start.argmax()), []
    agent.start(state, rng)
    q = solve(prior, discount)
    # Those of shift-prior are around those of sparse-prior, and these around those of spread.
    arrays = getattr(agent.arrays, "sparse", agent.arrays)
    model = arrays.model if hasattr(arrays, "model") else arrays.spread.model
    for _ in range(steps):
        assert_close(model.q, q, tolerance)
        action = agent.act(state)
        following = int(rng.choice(prior.num_states, p=probabilities[state, action]))
        agent.observe(state, action, following, rewards[state, action, following])
        observed.append((state, action, following))
        before, q = q, solve(prior.posterior(observed), discount)
        yield Step(state, action, before, q)
        state = following
    assert_close(model.q, q, tolerance)


def draw_actions(agent: Any, state: int, number: int = 6_000) -> Integers:
    """How often each action is chosen in a state, without learning in between."""
    actions = [agent.act(state) for _ in range(number)]
    return np.bincount(actions, minlength=agent.arrays.model.counts.num_actions)


def assert_frequencies(observed: Integers, probabilities: Floats) -> None:
    """Frequencies agree with probabilities, by a chi-square test at the level 0.001."""
    possible = probabilities > 0
    assert (observed[~possible] == 0).all()
    if possible.sum() > 1:
        expected = probabilities[possible] * observed.sum()
        assert expected.min() >= 5
        assert scipy.stats.chisquare(observed[possible], expected).pvalue > 1e-3
