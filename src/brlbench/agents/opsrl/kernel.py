"""The largest Q-values of MDPs sampled from the posterior, which are resampled now and then."""

from typing import Any, NamedTuple

from ...kernels.arrays import copy_vector
from ...kernels.dispatch import by_type, provide
from ...kernels.jit import cold, inlined
from ...kernels.loop.trajectory import register
from ...kernels.solving import episodes, sampled
from ...kernels.solving import merged as merging
from ...kernels.solving.plans import Endless, Episode
from ...kernels.solving.sampled import Initial, Sampled
from ...kernels.types import Floats, Integers, Words
from ..psrl.kernel import NOT_SAMPLED, is_due


class Envelope(NamedTuple):
    """The largest Q-values of K MDPs, each of which is sampled and solved on its own."""

    mdp: Sampled  # shows these values instead of its own
    number: int  # K
    q: Floats  # [L + 1, P], by decisions left, or [1, P] without end; work space


class Opsrl(NamedTuple):
    """The agent's state."""

    rng: Words
    draws: Any  # Envelope or MergedModels
    initial: Initial
    chance: float  # probability of resampling at a step
    every: int  # steps from one sampling to the next, or BY_CHANCE
    age: Integers  # [1]; steps since the last sampling, or NOT_SAMPLED


@cold
def resample_envelope(envelope: Envelope, rng: Words) -> None:
    """Sample and solve all MDPs; show the largest of their Q-values."""
    mdp, scale = envelope.mdp, 0.0
    for i in range(envelope.number):
        sampled.resample(mdp, rng)
        scale = max(scale, mdp.optimum.scale[0])
        keep_largest(mdp.plan, mdp, envelope.q, i == 0)
    show_largest(mdp.plan, mdp, envelope.q)
    mdp.optimum.scale[0] = scale


@by_type
def keep_largest(plan: Any, mdp: Sampled, q: Floats, is_first: bool) -> None:
    """Raise the values to the solution's, or set them to the first one's."""


@by_type
def show_largest(plan: Any, mdp: Sampled, q: Floats) -> None:
    """Make the values those of the solution."""


@inlined
def raise_to(largest: Floats, q: Floats, is_first: bool) -> None:
    """Raise values [P] to others, or set them to the first ones."""
    for pair in range(len(q)):
        if is_first or q[pair] > largest[pair]:
            largest[pair] = q[pair]


def _keep_endless(plan: Endless, mdp: Sampled, q: Floats, is_first: bool) -> None:
    raise_to(q[0], mdp.optimum.q, is_first)


def _show_endless(plan: Endless, mdp: Sampled, q: Floats) -> None:
    copy_vector(mdp.optimum.q, q[0])


def _keep_episode(plan: Episode, mdp: Sampled, q: Floats, is_first: bool) -> None:
    for n in range(1, plan.length + 1):
        raise_to(q[n], plan.q[n], is_first)


def _show_episode(plan: Episode, mdp: Sampled, q: Floats) -> None:
    for n in range(1, plan.length + 1):
        copy_vector(plan.q[n], q[n])
    episodes.show_sampled(plan, mdp)


def _reset_envelope(envelope: Envelope, initial: Initial, x: int) -> bool:
    return sampled.reset(envelope.mdp, initial, x)


def _resample_envelope(envelope: Envelope, rng: Words) -> None:
    resample_envelope(envelope, rng)


provide(Endless, {keep_largest: _keep_endless, show_largest: _show_endless})
provide(Episode, {keep_largest: _keep_episode, show_largest: _show_episode})
provide(Envelope, {merging.reset: _reset_envelope, merging.resample: _resample_envelope})


def reset(agent: Opsrl, x: int) -> None:
    """Back to the prior; the first act samples."""
    merging.reset(agent.draws, agent.initial, x)
    agent.age[0] = NOT_SAMPLED


def act(agent: Opsrl, x: int) -> int:
    """Sample MDPs if that is due, and take the first best action."""
    if is_due(agent):
        merging.resample(agent.draws, agent.rng)
    return sampled.first_best_action(agent.draws.mdp, x)


def observe(agent: Opsrl, x: int, u: int, y: int, r: float) -> None:
    """Learn from the transition."""
    mdp = agent.draws.mdp
    sampled.learn(mdp, x * mdp.posterior.num_actions + u, y, r)


register(Opsrl, reset=reset, act=act, observe=observe)
