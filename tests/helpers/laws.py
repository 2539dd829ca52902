"""Tests of whether samples have a law, or the same law."""

from collections.abc import Sequence

import numpy as np
import scipy.stats
from numpy.typing import ArrayLike

from brlbench.mdps.sparse import Floats

LEVEL = 1e-4
LIMIT = 4.0  # of z-scores, in standard errors


def assert_law(observed: ArrayLike, probabilities: ArrayLike) -> None:
    """Frequencies fit probabilities: a chi-square test, in which rare cases count as one."""
    numbers, chances = np.asarray(observed, float).ravel(), np.asarray(probabilities).ravel()
    assert abs(chances.sum() - 1) < 1e-9
    assert (numbers[chances == 0] == 0).all()
    expected = chances * numbers.sum()
    rare = expected < 10
    cells = [(numbers[~rare], expected[~rare])]
    if expected[rare].sum() > 0:
        cells.append((numbers[rare].sum(keepdims=True), expected[rare].sum(keepdims=True)))
    seen, hoped = (np.concatenate(column) for column in zip(*cells, strict=True))
    if len(seen) > 1:
        test = scipy.stats.chisquare(seen, hoped * (seen.sum() / hoped.sum()))
        assert test.pvalue > LEVEL, f"chi-square {test.statistic:.1f} of {len(seen)} cells"


def assert_same_frequencies(one: ArrayLike, other: ArrayLike) -> None:
    """Two lists of frequencies come from one law: a chi-square test, rare cases counting as one."""
    table = np.array([np.ravel(one), np.ravel(other)])
    rare = table.sum(axis=0) < 20
    table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] > 1:
        test = scipy.stats.chi2_contingency(table)
        assert test.pvalue > LEVEL, f"chi-square {test.statistic:.1f} of {table.shape[1]} cells"


def z_scores(one: Floats, other: Floats) -> Floats:
    """The differences of the means of columns, in standard errors."""
    difference = one.mean(axis=0) - other.mean(axis=0)
    error = np.sqrt(one.var(axis=0, ddof=1) / len(one) + other.var(axis=0, ddof=1) / len(other))
    scale = np.maximum(np.abs(one).max(axis=0), np.abs(other).max(axis=0))
    # Columns that never vary have no error; they must be equal up to rounding.
    fixed = error <= 1e-12 * scale
    same = np.where(np.abs(difference) <= 1e-9 * scale, 0.0, np.inf)
    return np.where(fixed, same, difference / np.where(fixed, 1.0, error))


def assert_same_law(one: Floats, other: Floats, names: Sequence[str]) -> None:
    """The columns of two samples have the same means and the same spreads."""
    middle = (one.mean(axis=0) + other.mean(axis=0)) / 2
    scores = {
        "means": z_scores(one, other),
        "spreads": z_scores((one - middle) ** 2, (other - middle) ** 2),
    }
    told = "; ".join(
        f"{what}: " + ", ".join(f"{name} {z:.2f}" for name, z in zip(names, row, strict=True))
        for what, row in scores.items()
    )
    print(f"z-scores of {told}")
    assert max(np.abs(row).max() for row in scores.values()) < LIMIT, f"z-scores of {told}"
