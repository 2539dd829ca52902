"""The mean model with a bonus per pair that depends on the values, kept solved.

With bonuses at hand the model is an ordinary one. `settle` makes values and bonuses agree: it
computes the bonuses from the values, switches to better actions, and corrects the values by the
inverse times their residual. The inverse leaves out how bonuses follow values, so the corrections
converge like a geometric series, by a factor of about two per round.
"""

import math
from typing import NamedTuple

from ...kernels.arrays import at, copy_vector
from ...kernels.counts import add_rewarded
from ...kernels.jit import cold, inlined, kernel
from ...kernels.loop.trajectory import register
from ...kernels.solving import model as models
from ...kernels.solving.model import Model
from ...kernels.solving.model_agent import act
from ...kernels.types import Floats, Words

SETTLED = 1e-11  # greatest residual of settled values, relative to their scale
_ROUNDS = 50  # of corrections with one inverse
_MAX_SWEEPS = 10_000


class Spread(NamedTuple):
    """The agent's state."""

    rng: Words
    model: Model  # its counts have no background
    initial: Model
    entry_reward: Floats  # [pool]
    size: Floats  # [P]; the bonus of a pair is its size times a standard deviation
    initial_size: Floats  # [P]
    kappa: float
    decay: float


@kernel
def solve(agent: Spread) -> None:
    """Solve from scratch."""
    for pair in range(len(agent.size)):
        set_size(agent, pair)
    models.solve(agent.model)
    settle(agent)


@inlined
def set_size(agent: Spread, pair: int) -> None:
    """Set the size of a pair's bonus from its count."""
    agent.size[pair] = agent.kappa * (agent.model.counts.total[pair] + 1) ** -agent.decay


@inlined
def settle(agent: Spread) -> None:
    """Make values and bonuses agree, from values that nearly do."""
    if len(agent.model.inverse) == 0:
        sweep(agent)
    elif not correct(agent):
        solve_afresh(agent)


@inlined
def correct(agent: Spread) -> bool:
    """Correct the values until they agree with the bonuses; return whether they do."""
    model = agent.model
    for _ in range(_ROUNDS):
        models.measure(model)
        set_bonuses(agent)
        residual, better = models.look(model)
        if better:
            switch(model)
        elif residual > SETTLED * models.scale(model):
            models.correct_values(model)
        else:
            return True
    return False


@cold
def solve_afresh(agent: Spread) -> None:
    """Correct with a fresh inverse; if that does not help either, sweep."""
    models.invert(agent.model)
    if not correct(agent):
        agent.model.value[:] = 0.0  # the corrections may have led anywhere
        sweep(agent)
        models.invert(agent.model)


@inlined
def set_bonuses(agent: Spread) -> None:
    """Set all bonuses from the values."""
    for pair in range(len(agent.size)):
        agent.model.bonus[at(pair)] = agent.size[at(pair)] * deviation(agent, pair)


@inlined
def deviation(agent: Spread, pair: int) -> float:
    """The standard deviation of what a pair's transitions are worth, over its mean row."""
    counts, row = agent.model.counts, at(pair)
    first = counts.row_start[row]
    mean = 0.0
    for entry in range(first, first + counts.row_length[row]):
        mean += counts.entry_count[at(entry)] * worth(agent, entry)
    mean /= counts.total[row]
    squares = 0.0
    for entry in range(first, first + counts.row_length[row]):
        squares += counts.entry_count[at(entry)] * (worth(agent, entry) - mean) ** 2
    return math.sqrt(squares / counts.total[row])


@inlined
def worth(agent: Spread, entry: int) -> float:
    """The reward of an entry's transition and the discounted value of its next state."""
    y = agent.model.counts.entry_next[at(entry)]
    return agent.entry_reward[at(entry)] + agent.model.discount * agent.model.value[at(y)]


@cold
def switch(model: Model) -> None:
    """Switch to the pending policy."""
    for x in range(len(model.policy)):
        if model.pending[x] != model.policy[x]:
            model.policy[x] = model.pending[x]
            models.switched_row(model, x)


@cold
def sweep(agent: Spread) -> None:
    """Gauss-Seidel sweeps over all states, until none changes much."""
    model = agent.model
    actions = model.counts.num_actions
    for _ in range(_MAX_SWEEPS):
        models.measure(model)
        set_bonuses(agent)
        change = 0.0
        for x in range(len(model.policy)):
            kept, best = model.value[x], x * actions
            for pair in range(x * actions, (x + 1) * actions):
                model.q[pair] = models.q_value(model, pair)
                if model.q[pair] > model.q[best]:
                    best = pair
            model.policy[x], model.value[x] = best - x * actions, model.q[best]
            change = max(change, abs(model.q[best] - kept))
        if change <= SETTLED * (1 - model.discount) * models.scale(model):
            return


def reset(agent: Spread, x: int) -> None:
    """Back to the prior."""
    models.reset(agent.model, agent.initial)
    copy_vector(agent.size, agent.initial_size)


@inlined
def learn(agent: Spread, x: int, u: int, y: int) -> None:
    """Count the transition, and solve again."""
    model = agent.model
    pair = x * model.counts.num_actions + u
    add_rewarded(model.counts, agent.entry_reward, pair, y)
    set_size(agent, pair)
    if len(model.inverse) > 0 and model.policy[x] == u:
        models.observed_row(model, x, y)
    settle(agent)


def observe(agent: Spread, x: int, u: int, y: int, r: float) -> None:
    """Learn from the transition."""
    learn(agent, x, u, y)


register(Spread, reset=reset, act=act, observe=observe)
