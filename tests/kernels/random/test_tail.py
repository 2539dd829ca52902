"""Rows in regions against plain draws of all rows, and the chances of regions."""

import numpy as np
import pytest

from brlbench.kernels.jit import kernel
from brlbench.kernels.random import tail as kernels
from brlbench.kernels.types import Words
from brlbench.mdps.sparse import Floats
from helpers.laws import assert_same_law
from helpers.sizes import sizes

SHAPES = {
    "uniform": np.ones(5),
    "unequal": np.array([0.3, 2.5, 1.0, 7.0]),
    "one large": np.array([400.0, 0.01, 1.0]),
    "two": np.array([1.0, 4.0]),
}
NUMBER = 300


@kernel
def find_region(
    shapes: Floats, worth: Floats, chance: float, distance: float, region: Floats
) -> tuple[float, float]:
    return kernels.find_region(shapes, worth, chance, distance, region)


@kernel
def draw_region(
    rng: Words, shapes: Floats, regions: Floats, chances: Floats, number: int, rows: Floats
) -> int:
    return kernels.draw_region(rng, shapes, regions, chances, number, rows)


def seeded(seed: int) -> Words:
    return np.random.default_rng(seed).integers(0, 2**64, size=4, dtype=np.uint64)


def worth_of(shapes: Floats, seed: int) -> Floats:
    return np.random.default_rng(seed).uniform(-1, 2, len(shapes))


@pytest.mark.parametrize("shapes", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("distance", [1e-9, 1e-2, 1e3])
def test_the_region_has_the_chance_asked_for(shapes: Floats, distance: float) -> None:
    for seed, wanted in enumerate([0.4, 1e-2, 1e-6]):
        worth, region = worth_of(shapes, seed), np.zeros(len(shapes))
        chance, _ = find_region(shapes, worth, wanted, distance, region)
        assert chance == pytest.approx(np.prod((1 - region) ** -shapes), rel=1e-6)
        assert abs(np.log(chance / wanted)) < 0.2 or chance > wanted
        # It is one of high values, and has the least chance of all that have its level.
        slope, level = np.polyfit(worth, region, 1)
        assert slope > 0
        np.testing.assert_allclose(region, slope * worth + level, atol=1e-9)
        for other in (0.999, 1.001):
            assert np.prod((1 - other * region) ** -shapes) >= chance * (1 - 1e-6)


def summary(rows: Floats, region: Floats) -> Floats:
    """How many rows are in a region, and sums over them."""
    inside = rows[rows @ region > 0]
    return np.array([len(inside), *inside.sum(axis=0), *(inside**2).sum(axis=0)])


@pytest.mark.parametrize("shapes", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("num_regions", [1, 2, 3])
@pytest.mark.parametrize("tries", sizes(500, 4000))
def test_rows_in_regions_have_the_law_of_plain_draws(
    shapes: Floats, num_regions: int, tries: int
) -> None:
    """Region after region, what is drawn is what a plain draw of all rows would have there."""
    length, rng, plain_rng = len(shapes), seeded(1), np.random.default_rng(2)
    regions, chances = np.zeros((num_regions, length)), np.zeros(num_regions)
    for j, region in enumerate(regions):
        worth = worth_of(shapes, 5) + 0.3 * worth_of(shapes, j)
        chances[j] = find_region(shapes, worth, 0.03 * (j + 1), 0.01, region)[0]
    if chances.sum() >= 1:
        pytest.skip("too many rows are in these regions")
    lazy, plain = [], []
    room = np.zeros(NUMBER * length)
    for _ in range(tries):
        found, left = [np.zeros((0, length))], NUMBER
        for j in range(num_regions):
            drawn = draw_region(rng, shapes, regions[: j + 1].ravel(), chances[: j + 1], left, room)
            left -= drawn
            found.append(room[: drawn * length].reshape(drawn, length).copy())
            assert (found[-1] @ regions[j] > 0).all()
            assert (found[-1] @ regions[:j].T <= 0).all()
        drawn_rows = plain_rng.dirichlet(shapes, NUMBER)
        lazy.append(np.concatenate([summary(np.concatenate(found), region) for region in regions]))
        plain.append(np.concatenate([summary(drawn_rows, region) for region in regions]))
    names = [f"{j}:{i}" for j in range(num_regions) for i in range(2 * length + 1)]
    assert_same_law(np.array(lazy), np.array(plain), names)
