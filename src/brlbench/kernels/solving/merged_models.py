"""The merged MDP of whole models sampled from a belief: each state has all actions of all models.

For beliefs in which the rows of pairs depend on each other (see `merged` for those in which they
don't). Policy iteration as in `sampled`, but every pair first takes its best model.
"""

from typing import Any, NamedTuple

from ..dispatch import by_type, provide
from ..jit import cold, inlined
from ..types import Floats, Words
from . import sampled
from .plans import Endless
from .sampled import (
    MAX_TURNS,
    Initial,
    Sampled,
    draw_rows,
    evaluate,
    improve,
    q_value,
    without_belief,
)


class MergedModels(NamedTuple):
    """An MDP of best rows, and the N models from which they are chosen.

    In `rows.probability` of the MDP, one row per pair comes first, and then the rows of all models.
    """

    mdp: Sampled
    reward: Floats  # [N, P]; expected rewards of the models' rows


def reset(merged: MergedModels, initial: Initial, x: int) -> bool:
    """Back to the prior, and learn from the start state x; return whether that taught anything."""
    return sampled.reset(merged.mdp, initial, x)


def resample(merged: MergedModels, rng: Words) -> None:
    """Draw all models and solve the merged MDP."""
    resample_models(merged, rng)


@cold
def resample_models(merged: MergedModels, rng: Words) -> None:
    """Draw all models, and solve the merged MDP."""
    mdp, rows, pool = merged.mdp, merged.mdp.rows, len(merged.mdp.entry_reward)
    for model in range(len(merged.reward)):
        draw_rows(mdp.belief, mdp, rng)
        for i in range(pool):
            rows.probability[(model + 1) * pool + i] = rows.probability[i]
        for pair in range(len(rows.reward)):
            merged.reward[model, pair] = rows.reward[pair]
    solve_models(mdp.plan, MergedModels(without_belief(mdp), merged.reward))


@by_type
def solve_models(plan: Any, merged: MergedModels) -> None:
    """Solve the merged MDP, by the plan."""


def _solve_endless(plan: Endless, merged: MergedModels) -> None:
    for turn in range(MAX_TURNS):
        take_best_models(merged)
        better = improve(merged.mdp)
        if turn > 0 and not better:
            break
        evaluate(merged.mdp)


provide(Endless, {solve_models: _solve_endless})


@inlined
def take_best_models(merged: MergedModels) -> None:
    """Give every pair the row of the model in which it is worth most, and compute all Q-values."""
    for pair in range(len(merged.mdp.rows.reward)):
        take_best_model(merged, pair)


@inlined
def take_best_model(merged: MergedModels, pair: int) -> None:
    """Give a pair the row of the model in which it is worth most."""
    mdp, best = merged.mdp, 0
    for model in range(len(merged.reward)):
        take_model(merged, pair, model)
        q = q_value(mdp, pair)
        if model == 0 or q > mdp.optimum.q[pair]:
            best, mdp.optimum.q[pair] = model, q
    take_model(merged, pair, best)


@inlined
def take_model(merged: MergedModels, pair: int, model: int) -> None:
    """Give a pair the row of a model."""
    rows, pool = merged.mdp.rows, len(merged.mdp.entry_reward)
    rows.start[pair] = (model + 1) * pool + rows.first_entry[pair]
    rows.reward[pair] = merged.reward[model, pair]
