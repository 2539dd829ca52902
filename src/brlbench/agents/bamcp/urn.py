"""Transitions of one MDP of the posterior, without drawing the MDP: a Polya urn.

Given n earlier draws from a pair, the next one copies one of them with probability n / (total + n),
and otherwise comes from the posterior's counts. This has the same law as drawing the pair's row
first. All draws are taken back at once.

There are two kinds for flat priors. `ball_urn` is a list of balls per pair, one per count: for
whole counts that fit into memory. `table_urn` has tables, for all other counts. `tied_urn` has one
of them, for groups of pairs. `case_urn` draws a hypothesis at the root of each simulation.
`reward_urn` adds unknown rewards to one of the others. All have the functions below.
"""

from typing import Any

import numpy as np

from ...beliefs.base import Family
from ...beliefs.counting import CountingPrior
from ...beliefs.flat import FlatDirichlet
from ...beliefs.hypotheses import Hypotheses
from ...beliefs.tied import TiedDirichlet
from ...kernels.counts import known_reward
from ...kernels.dispatch import by_type, provide
from ...kernels.random.rng import State
from ...kernels.types import Words
from .ball_urn import MAX_BYTE, build_balls, has_balls
from .table_urn import build_tables

Urn = Any  # BallUrn, TableUrn, TiedUrn, CaseUrn or RewardUrn


def build_urn(prior: Family, horizon: int, background: bool, limit: int) -> Urn:
    """The prior as an urn for at most `limit` draws at a time; it must be reset first."""
    from .case_urn import build_case_urn
    from .reward_urn import build_reward_urn

    if isinstance(prior, Hypotheses):
        return build_case_urn(prior, limit)
    assert isinstance(prior, CountingPrior)
    transitions = _build_transitions(prior, horizon, background, limit)
    if prior.reward_prior is None:
        return transitions
    return build_reward_urn(transitions, prior)


def _build_transitions(prior: Family, horizon: int, background: bool, limit: int) -> Urn:
    from .tied_urn import build_tied_urn

    if isinstance(prior, TiedDirichlet):
        return build_tied_urn(prior, horizon, limit)
    assert isinstance(prior, FlatDirichlet)
    if has_balls(prior, horizon, limit):
        return build_balls(prior, horizon, limit)
    return build_tables(prior, horizon, background, limit)


def tiny_prior(prior: Family, horizon: int, limit: int) -> Family:
    """A tiny prior whose urn has the same type as a prior's."""
    tiny = _tiny_transitions(prior, horizon, limit)
    if not isinstance(prior, CountingPrior) or prior.reward_prior is None:
        return tiny
    assert isinstance(tiny, CountingPrior)
    return tiny.with_rewards(type(prior.reward_prior)())


def _tiny_transitions(prior: Family, horizon: int, limit: int) -> Family:
    from .tied_urn import as_rows

    if isinstance(prior, TiedDirichlet):
        has_tables = not has_balls(as_rows(prior), horizon, limit)
        return prior.tiny(0.5 if has_tables else 1.0)
    if not isinstance(prior, FlatDirichlet):
        return prior.tiny()
    whole = has_balls(prior, horizon, limit)
    states = MAX_BYTE + 1 if whole and prior.num_states > MAX_BYTE else 2
    counts = np.eye(states)[:, None, :].repeat(2, axis=1)
    return FlatDirichlet(counts if whole else counts / 2, np.eye(states)[:, None, :])


@by_type
def reset(urn: Urn, x: int) -> None:
    """Back to the prior, and learn from the start state."""


@by_type
def learn(urn: Urn, pair: int, y: int, r: float) -> None:
    """Learn from a real transition."""


@by_type
def begin(urn: Urn, rng: Words) -> None:
    """Begin a simulation: draw its MDP, unless its transitions come one by one."""


@by_type
def reward(urn: Urn, pair: int, y: int) -> float:  # type: ignore[empty-body]
    """The reward of the transition that was drawn last."""


@by_type
def outcome(urn: Urn, pair: int, y: int) -> int:  # type: ignore[empty-body]
    """The number of what histories learn from the transition that was drawn last."""


@by_type
def real_outcome(urn: Urn, pair: int, y: int, r: float) -> int:  # type: ignore[empty-body]
    """The number of what histories learn from a real transition."""


@by_type
def allows(urn: Urn, pair: int, y: int) -> bool:  # type: ignore[empty-body]
    """Whether a real transition is possible, or becomes so."""


def _allows(urn: Urn, pair: int, y: int) -> bool:
    return True


def _begin(urn: Urn, rng: Words) -> None:
    pass


def _reward(urn: Urn, pair: int, y: int) -> float:
    return known_reward(urn.counts, urn.rewards, pair, y)


def _outcome(urn: Urn, pair: int, y: int) -> int:
    return y


def _real_outcome(urn: Urn, pair: int, y: int, r: float) -> int:
    return y


provide(
    tuple,
    {
        begin: _begin,
        reward: _reward,
        outcome: _outcome,
        real_outcome: _real_outcome,
        allows: _allows,
    },
)


@by_type
def draw(urn: Urn, pair: int, state: State) -> tuple[int, State]:  # type: ignore[empty-body]
    """Draw a next state; it counts for later draws once it is pushed."""


@by_type
def draw_after(  # type: ignore[empty-body]
    urn: Urn, pair: int, word: np.uint64, state: State
) -> tuple[int, State]:
    """The same, given a random word whose lower half is not used otherwise."""


@by_type
def push(urn: Urn, draws: int, pair: int, y: int) -> None:
    """Let a draw count for later ones; `draws` is the number of earlier draws."""


@by_type
def undo(urn: Urn, draws: int) -> None:
    """Take back all draws; `draws` is their number."""
