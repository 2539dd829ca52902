"""Learning curves: the discounted reward so far, after each decision or each episode."""

from typing import NamedTuple

import numpy as np

from ..mdps.sparse import Floats, Integers
from .result import Result

_MOST_POINTS = 25  # of a curve; compact files keep them


class Learning(NamedTuple):
    """The mean discounted reward so far after some decisions, with its 95% intervals."""

    decisions: Integers  # [P], increasing; the last one is the horizon
    mean: Floats  # [P]
    ci95: Floats  # [P]; NaN for a single MDP

    def at(self, decisions: Integers) -> "Learning":
        """The curve at other decisions: between its points it is straight."""
        numbers = (np.interp(decisions, self.decisions, each) for each in (self.mean, self.ci95))
        return Learning(decisions, *numbers)


def so_far(result: Result) -> Floats:
    """The discounted rewards [N, T] until each decision, the mean of an MDP's trajectories.

    In episodes: [N, K], until the end of each.
    """
    weights = result.settings["discount"] ** np.arange(result.rewards.shape[2])
    sums = np.cumsum(result.rewards.mean(axis=1) * weights, axis=1)
    episode = result.settings.get("episode") or 1
    return np.asarray(sums[:, episode - 1 :: episode])


def with_intervals(curves: Floats) -> tuple[Floats, Floats]:
    """The mean [T] of curves [N, T], and two standard errors of it; NaN for a single curve."""
    spread = curves.std(axis=0, ddof=1) if len(curves) > 1 else np.full(curves.shape[1], np.nan)
    return curves.mean(axis=0), 2 * spread / np.sqrt(len(curves))


def learning_of(result: Result) -> Learning | None:
    """A result's learning curve at a few decisions; None if single rewards are not kept."""
    if "rewards" not in result.columns:
        return None
    curves, episode = so_far(result), result.settings.get("episode") or 1
    ends = few_decisions(curves.shape[1])
    return Learning(ends * episode, *with_intervals(curves[:, ends - 1]))


def few_decisions(horizon: int) -> Integers:
    """At most 25 decisions from the first to the last, most of them early."""
    if horizon <= _MOST_POINTS:
        return np.arange(1, horizon + 1)
    return np.unique(np.geomspace(1, horizon, _MOST_POINTS).round().astype(np.int64))
