"""Scores with the luck taken out: control variates.

Returns are regressed on luck whose expectation is known (see `protocol.luck`). The adjusted score
is the regression's value at expected luck. It estimates the same number as the mean return, with a
smaller error.

The regression is repeated without each MDP in turn (the jackknife). This gives each MDP an adjusted
return, removes the bias of estimated coefficients, and makes the interval count their uncertainty.
"""

import math
from dataclasses import dataclass

import numpy as np

from ..mdps.sparse import Floats
from .schema import NUM_BASELINES
from .score import Score, ci95

LEAST_MDPS = 100
"""In smaller experiments, adjusted intervals hold the truth less often than plain ones."""

LEAST_PLAYED = 20
"""Agents that stop early in larger ones are compared by adjusted scores from here on."""

_MDPS_FOR_TWO = 200  # from here on, noise and start values get coefficients of their own
# Of the variance of one baseline: in directions with less, baselines nearly coincide. Coefficients
# there would be large, and would multiply the error of expected luck.
_NEGLIGIBLE = 1e-3
_ROUNDING = 1e-9
_LEAST_LEVERAGE = 1e-10
_LEAST_FREEDOM = 3.0


@dataclass(frozen=True)
class StartValues:
    """The baselines' expected values at the start of an MDP, estimated from `num_mdps` MDPs."""

    mean: list[float]  # [F]
    covariance: list[list[float]]  # [F, F]; of the estimated mean
    num_mdps: int

    def __post_init__(self) -> None:
        """Raise ValueError if the numbers can't be."""
        mean, covariance = np.array(self.mean), np.array(self.covariance)
        shapes = (mean.shape, covariance.shape)
        if shapes != ((NUM_BASELINES,), (NUM_BASELINES, NUM_BASELINES)) or self.num_mdps < 1:
            raise ValueError("these are no start values")
        if not (np.isfinite(mean).all() and np.isfinite(covariance).all()):
            raise ValueError("start values must be finite")
        scale = np.abs(covariance).max() or 1.0
        variances = np.linalg.eigvalsh(covariance / scale)
        if not np.allclose(covariance, covariance.T) or variances[0] < -_ROUNDING:
            raise ValueError("the covariance of start values must be one")


@dataclass(frozen=True, eq=False, repr=False)
class Adjusted:
    """An agent's score with the luck taken out."""

    returns: Floats  # [N]; one per MDP, for paired tests
    ci95: float  # half-width of the 95% interval

    @property
    def mean(self) -> float:
        """The adjusted score."""
        return float(self.returns.mean())

    @property
    def score(self) -> Score:
        """The mean and its 95% interval."""
        return Score(self.mean, self.ci95)

    def __repr__(self) -> str:
        return f"Adjusted({self.score}, {len(self.returns)} MDPs)"

    def first(self, num_mdps: int) -> "Adjusted":
        """The adjusted score on the first MDPs only, with coefficients that come from all."""
        returns = self.returns[:num_mdps]
        return Adjusted(returns, _quantile(returns) * returns.std(ddof=1) / math.sqrt(num_mdps))


def adjust(
    returns: Floats,  # [N]
    noise: Floats,  # [N, F]
    start_values: Floats,  # [N, F]
    expected: StartValues,
) -> Adjusted:
    """Take the luck out of returns, one per MDP; they stay as they are if that gains nothing."""
    start, mean = start_values, np.array(expected.mean)
    _, exponent = np.frexp(max(np.abs(each).max() for each in (returns, noise, start, mean)))
    scale = np.ldexp(1.0, -exponent)  # a power of two, so that nothing is rounded
    returns, noise, start = returns * scale, noise * scale, (start - mean) * scale
    num_baselines, covariance = len(mean), np.array(expected.covariance) * scale * scale
    separate = len(returns) >= _MDPS_FOR_TWO
    luck = np.hstack([noise, start]) if separate else noise + start
    basis = _directions(luck)  # [L, P]
    adjusted, coefficients = _jackknife(returns, luck @ basis)
    of_start = (basis @ coefficients)[-num_baselines:]
    variance = adjusted.var(ddof=1) / len(adjusted) + of_start @ covariance @ of_start
    half_width, plain = _quantile(adjusted) * math.sqrt(variance), ci95(returns)
    if not half_width <= plain:
        adjusted, half_width = returns, plain
    return Adjusted(adjusted / scale, float(half_width / scale))


def _directions(luck: Floats) -> Floats:
    """Scaled directions [L, P] in which luck [N, L] varies: baselines can coincide."""
    scale = luck.std(axis=0)
    scale = np.where(scale > _ROUNDING, scale, 1.0)  # a baseline's value can be the same everywhere
    variances, vectors = np.linalg.eigh(np.cov(luck / scale, rowvar=False))
    varying = variances > _NEGLIGIBLE * max(variances[-1], 1.0)
    return np.asarray(vectors[:, varying] / scale[:, None])


def _jackknife(returns: Floats, luck: Floats) -> tuple[Floats, Floats]:
    """The pseudo-values [N] of the regression's value at zero luck, and its coefficients [P]."""
    number = len(returns)
    design = np.column_stack([np.ones(number), luck])
    inverse = np.linalg.inv(design.T @ design)
    fitted = inverse @ (design.T @ returns)
    residual = returns - design @ fitted
    leverage = np.einsum("ni,ij,nj->n", design, inverse, design)
    # Without MDP i, the value at zero luck would be lower by this much.
    influence = (design @ inverse[0]) * residual / np.maximum(1 - leverage, _LEAST_LEVERAGE)
    return fitted[0] + (number - 1) * influence, fitted[1:]


def _quantile(numbers: Floats) -> float:
    """The quantile of Student's t for a 95% interval, with fewer degrees for heavy tails.

    The deviation of N numbers with kurtosis k is as uncertain as that of 2 N / (k - 1) normal ones.
    """
    from scipy.special import stdtrit

    centred = numbers - numbers.mean()
    largest = float(np.abs(centred).max())
    if largest == 0:
        return 0.0
    centred = np.ldexp(centred, -math.frexp(largest)[1])  # or small squares would vanish
    variance = float((centred**2).mean())
    kurtosis = float((centred**4).mean()) / variance**2
    freedom = min(2 * len(numbers) / max(kurtosis - 1, _ROUNDING), len(numbers) - 1)
    return float(stdtrit(max(freedom, _LEAST_FREEDOM), 0.975))
