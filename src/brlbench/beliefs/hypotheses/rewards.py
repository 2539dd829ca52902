"""The rewards of hypotheses: which of them are the same, and how likely an observed one is."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidInput
from ...mdps.batch import MDPs
from ...mdps.sparse import Floats

REWARD_TOLERANCE = 1e-9
"""Constant rewards this close, relative to the larger of 1 and their size, are the same."""


def log_likelihoods(reward: float, means: Floats, variances: Floats) -> Floats:
    """The logarithm of the likelihood of a reward under each mean, up to a common constant.

    That of a density where the reward is Gaussian; else 0, or minus infinity for another reward.
    """
    close = np.abs(reward - means) <= REWARD_TOLERANCE * np.maximum(1.0, np.abs(means))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        density = -((reward - means) ** 2) / (2 * variances) - np.log(variances) / 2
    return np.asarray(np.where(variances > 0, density, np.where(close, 0.0, -np.inf)))


def with_equal_rewards(mdps: MDPs) -> MDPs:
    """The same MDPs, where constant rewards within the tolerance of each other are equal."""
    if len(mdps.reward) == 1:
        return mdps
    ordered = np.sort(mdps.reward, axis=0)
    gap = np.diff(ordered, axis=0)
    close = (gap > 0) & (gap <= REWARD_TOLERANCE * np.maximum(1.0, np.abs(ordered[:-1])))
    entries = np.flatnonzero(close.any(axis=0) & ~(mdps.variance > 0).any(axis=0))
    if len(entries) == 0:
        return mdps
    reward = mdps.reward.copy()
    for entry in entries:
        reward[:, entry] = _equal_if_close(reward[:, entry])
    return replace(mdps, reward=reward)


def _equal_if_close(rewards: Floats) -> Floats:
    """Numbers, each replaced by the lowest one of those that it is close to."""
    values, place = np.unique(rewards, return_inverse=True)
    for i in range(1, len(values)):
        if values[i] - values[i - 1] <= REWARD_TOLERANCE * max(1.0, abs(values[i - 1])):
            values[i] = values[i - 1]
    return np.asarray(values[place])


def check_rewards(mdps: MDPs) -> None:
    """Refuse a transition whose reward is constant in one hypothesis and Gaussian in another."""
    possible, is_gaussian = mdps.probability > 0, mdps.variance > 0
    constant, gaussian = possible & ~is_gaussian, possible & is_gaussian
    mixed = np.flatnonzero(constant.any(axis=0) & gaussian.any(axis=0))
    if len(mixed):
        place = mdps.places.locate(int(mixed[0]))
        raise InvalidInput(
            f"the reward at {place} is constant in one MDP and Gaussian in another: it must be "
            "constant in all, or Gaussian in all"
        )


def has_unknown_gaussian(mdps: MDPs, weights: Floats) -> bool:
    """Whether possible MDPs differ in a Gaussian reward: then infinitely much can follow."""
    if mdps.share_rewards:
        return False
    relevant = (mdps.variance > 0) & (mdps.probability > 0) & (weights > 0)[:, None]
    return bool((_differ(mdps.reward, relevant) | _differ(mdps.variance, relevant)).any())


def _differ(numbers: Floats, relevant: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether the relevant ones of numbers [K or 1, E] differ [E]."""
    largest = np.where(relevant, numbers, -np.inf).max(axis=0)
    return np.asarray(largest > np.where(relevant, numbers, np.inf).min(axis=0))
