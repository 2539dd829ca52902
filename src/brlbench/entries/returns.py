"""Plausibility checks of returns: what rewards allow, what optimal policies reach, arithmetic."""

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..analysis.bayes_bound.known import known_bound
from ..mdps.mdp import last_q_values
from ..mdps.sparse import Floats
from ..protocol.experiment import Experiment
from ..protocol.luck import can_adjust
from ..results.score import Score
from ..storage import frozen_set
from ..testing.findings import Finding, finding_of
from .submission import Claim, Submission

_ERRORS = 5.0  # standard errors by which chance can lift a mean
_DEVIATIONS = 8.0  # of a sum of Gaussian rewards
_ROUNDING = 1e-9
_NUMBERS_AT_ONCE = 2**18


class ReturnLimits(NamedTuple):
    """Limits on returns in the MDPs of a set."""

    lowest: float  # of a trajectory
    highest: float
    best: Floats  # the expected return [N] of an agent that knows the MDP


def limits_of(claim: Claim) -> ReturnLimits:
    """Limits on returns in the MDPs of a claim."""
    return _limits(claim.set_name, claim.header.settings["num_mdps"])


@lru_cache(maxsize=100)
def _limits(set_name: str, num_mdps: int) -> ReturnLimits:
    experiment = frozen_set(set_name, num_mdps)
    batches = [
        (mdps.reward.min(), mdps.reward.max(), mdps.variance.max()) for mdps in experiment.batches()
    ]
    least, most, variances = (np.array(column) for column in zip(*batches, strict=True))
    weights = experiment.discount ** np.arange(experiment.horizon)
    spread = _DEVIATIONS * math.sqrt(float(variances.max()) * float((weights**2).sum()))
    total = float(weights.sum())
    lowest, highest = float(least.min()) * total - spread, float(most.max()) * total + spread
    return ReturnLimits(lowest, highest, best_returns(experiment))


def best_returns(experiment: Experiment) -> Floats:
    """The greatest expected return [N] in each MDP over the horizon, by value iteration."""
    size = max(1, _NUMBERS_AT_ONCE // experiment.numbers_per_mdp)
    values = []
    for first in range(0, experiment.num_mdps, size):
        mdps = experiment.some_mdps(range(first, min(first + size, experiment.num_mdps)))
        episode = experiment.episode or experiment.horizon
        task = (experiment.discount, episode)
        q = last_q_values(mdps.places, mdps.probability, mdps.reward, *task)
        firsts = range(0, experiment.horizon, episode)
        weight = sum(experiment.discount**first for first in firsts)
        values.append(weight * (q.max(axis=2) * mdps.start).sum(axis=1))
    return np.concatenate(values)


def within_limits(submission: Submission) -> Finding:
    """Every return lies between the least and the most that rewards add up to."""
    problems = []
    for claim in submission.claims:
        lowest, highest, _ = limits_of(claim)
        slack = _ROUNDING * max(1.0, abs(lowest), abs(highest))
        returns = claim.summary.returns
        # Written so that NaN is refused too.
        fine = (returns >= lowest - slack) & (returns <= highest + slack)
        if not fine.all():
            wrong = int(np.argmin(fine))
            problems.append(
                f"{claim}, MDP {wrong}: the return {returns[wrong]:.6g} is impossible: rewards "
                f"allow {lowest:.6g} to {highest:.6g}"
            )
    number = sum(len(claim.summary.returns) for claim in submission.claims)
    return finding_of(problems, f"{number:,} returns, as rewards allow", "play it again")


def not_better_than_best(submission: Submission) -> Finding:
    """No score is above that of the optimal policies or above the bound, by more than chance."""
    problems = filter(None, map(_excess, submission.claims))
    seen = "no score is above what agents that know the MDP can expect, nor above a known bound"
    return finding_of(problems, seen, "agents that are told the MDP have no place on a board")


def _excess(claim: Claim) -> str:
    returns, best = claim.summary.returns, limits_of(claim).best
    excess = returns - best
    error = float(excess.std(ddof=1)) / math.sqrt(len(excess))
    if excess.mean() > _ERRORS * error + _ROUNDING * float(np.abs(best).max()):
        return (
            f"{claim}: its mean return {returns.mean():.2f} is more than chance above "
            f"{best.mean():.2f}, which an agent that knows every MDP can expect"
        )
    bound = known_bound(claim.header.settings)
    if bound is not None and claim.summary.passes(bound.upper, _ERRORS):
        return (
            f"{claim}: its score {claim.summary.score} is more than chance above "
            f"{bound.upper:.2f}, which no agent that has to learn can pass (one-sided 95% limit)"
        )
    return ""


def consistent(submission: Submission) -> Finding:
    """Adjusted scores and learning curves fit the returns."""
    problems = [f"{claim}: {text}" for claim in submission.claims for text in _misfits(claim)]
    curves = sum(claim.summary.learning is not None for claim in submission.claims)
    seen = f"adjusted scores fit the returns, and so do {curves} learning curves"
    return finding_of(problems, seen, "pack results as this version of brlbench writes them")


def _misfits(claim: Claim) -> Iterator[str]:
    yield from _adjusted_misfits(claim)
    summary, curve = claim.summary, claim.summary.learning
    if curve is None:
        return
    mean, ci95 = Score.of(summary.returns)
    if not math.isclose(curve.mean[-1], mean, rel_tol=1e-6, abs_tol=_ROUNDING):
        yield f"its learning curve ends at {curve.mean[-1]:.6g}, its mean return is {mean:.6g}"
    elif not math.isclose(curve.ci95[-1], ci95, rel_tol=1e-6, abs_tol=_ROUNDING):
        yield f"its learning curve's interval ends at {curve.ci95[-1]:.6g}, not at {ci95:.6g}"
    if limits_of(claim).lowest >= 0 and (np.diff(curve.mean, prepend=0.0) < -_ROUNDING).any():
        yield "its learning curve falls, where no reward is negative"


def _adjusted_misfits(claim: Claim) -> Iterator[str]:
    adjusted, returns = claim.summary.adjusted, claim.summary.returns
    expected = can_adjust(claim.experiment)
    if (adjusted is not None) != expected:
        yield "it has no adjusted score" if expected else "the set allows no adjusted scores"
    if adjusted is None or not expected:
        return
    # The luck taken out is as uncertain as the mean itself, at most.
    error = float(returns.std(ddof=1)) / math.sqrt(len(returns))
    difference = adjusted.mean - float(returns.mean())
    if not abs(difference) <= _ERRORS * error + _ROUNDING:
        yield f"luck does not explain that its adjusted score is {difference:.2f} from its mean"
    if not adjusted.ci95 >= (1 - 1e-6) * adjusted.first(len(returns)).ci95:
        yield f"its adjusted score's interval ± {adjusted.ci95:.3g} is too narrow for its returns"
