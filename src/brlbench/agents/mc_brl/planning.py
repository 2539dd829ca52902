"""The offline phase: a plan for weighted hypotheses, and its bounds."""

import math

import numpy as np

from ...beliefs.base import Family
from ...kernels.types import Floats, Integers
from ...mdps.batch import MDPs
from ...mdps.mdp import MDP
from ...memory import check_memory
from .bounds import NONE, POINTS, VECTORS, Bounds
from .pomdp import Pomdp, build_pomdp
from .search import Path, evaluate_policy, search, total_bounds

ENOUGH = 1e-6  # distance of the bounds where planning ends, relative to the largest value
_ACCURACY = 1e-9  # of the first vectors, relative to the largest value
_NEGLIGIBLE = 1e-7  # discount of steps that paths do not reach
_LONGEST = 1000  # steps of a path


def plan(
    mdps: MDPs, weights: Floats, mean: MDP, discount: float, backups: int
) -> tuple[Pomdp, Bounds, Floats]:
    """The POMDP of hypotheses, bounds on its values, and the weights [S, K] of start states."""
    number = len(mdps)
    pomdp = build_pomdp(mdps, discount)
    solved = [mdp.solve(discount) for mdp in mdps]
    policies = np.unique([mean.solve(discount).policy, *(each.policy for each in solved)], axis=0)
    corner = np.array([each.value for each in solved])
    bounds = _first_bounds(pomdp, policies, np.ascontiguousarray(corner.T), backups)
    roots = np.ascontiguousarray((weights[:, None] * mdps.start).T)
    steps = min(_LONGEST, math.ceil(math.log(_NEGLIGIBLE) / math.log(discount)))
    path = Path(
        state=np.zeros(steps, np.int64),
        weight=np.zeros((steps, number)),
        following=np.zeros(number),
        vector=np.zeros(number),
        best=np.zeros(number),
    )
    search(pomdp, bounds, path, roots, backups, ENOUGH * float(np.abs(corner).max()))
    vectors, points = bounds.size[VECTORS], bounds.size[POINTS]
    used = bounds._replace(
        next_vector=bounds.next_vector[:vectors].copy(),
        vector=bounds.vector[:vectors].copy(),
        action=bounds.action[:vectors].copy(),
        next_point=bounds.next_point[:points].copy(),
        point=bounds.point[:points].copy(),
        drop=bounds.drop[:points].copy(),
    )
    return pomdp, used, roots


def check_size(prior: Family, hypotheses: int, backups: int) -> None:
    """Refuse a plan that would not fit into memory."""
    check_memory(
        8 * hypotheses * (prior.num_states * hypotheses + 2 * prior.num_transitions + 2 * backups),
        f"mc-brl: hypotheses = {hypotheses} and backups = {backups}",
        "use fewer",
    )


def bounds_at_start(bounds: Bounds, roots: Floats) -> tuple[float, float]:
    """The lower and the upper bound before the start state is seen."""
    both = np.zeros(2)
    total_bounds(bounds, roots, both)
    return float(both[0]), float(both[1])


def _first_bounds(pomdp: Pomdp, policies: Integers, corner: Floats, backups: int) -> Bounds:
    """A vector per state and policy [n, S], and no points."""
    (number, states), hypotheses = policies.shape, corner.shape[1]
    lowest = pomdp.reward.min() / (1 - pomdp.discount)
    accuracy = _ACCURACY * (1 - pomdp.discount) * float(np.abs(corner).max())
    vector = np.zeros((number * states + backups, hypotheses))
    for i, policy in enumerate(policies):
        value = np.full((states, hypotheses), lowest)
        evaluate_policy(pomdp, policy, value, accuracy)
        vector[i * states : (i + 1) * states] = value
    previous = np.arange(len(vector)) - states  # the same state's, of the policy before
    action = np.zeros(len(vector), np.int64)
    action[: number * states] = policies.ravel()
    return Bounds(
        size=np.array([number * states, 0]),
        first_vector=np.arange((number - 1) * states, number * states),
        next_vector=np.where(previous < 0, NONE, previous),
        vector=vector,
        action=action,
        corner=corner,
        first_point=np.full(states, NONE),
        next_point=np.full(backups, NONE),
        point=np.zeros((backups, hypotheses)),
        drop=np.zeros(backups),
    )
