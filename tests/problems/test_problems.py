from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brlbench.beliefs.flat import FlatDirichlet
from brlbench.beliefs.own import OwnDistribution
from brlbench.errors import InvalidInput, StoreError
from brlbench.mdps.mdp import MDP
from brlbench.mdps.sparse import Floats
from brlbench.problems import PROBLEMS, distribution, write
from brlbench.problems.formats import from_json, to_json
from brlbench.protocol.experiment import Experiment
from brlbench.streams import generator

DISCOUNT, HORIZON, NUM_MDPS = 0.95, 250, 500

# Exact expected returns on MDPs drawn from each distribution: the mean and its standard error.
REFERENCE = {
    ("GC", "random"): (31.84, 0.15),
    ("GC", "optimal"): (73.7, 0.7),
    ("GC", "first action"): (34.46, 0.0),
    ("GC-appendix", "random"): (28.51, 0.095),
    ("GC-appendix", "optimal"): (51.4, 0.4),
    ("GDL", "random"): (2.736, 0.013),
    ("GDL", "optimal"): (3.52, 0.015),
    ("GDL", "first action"): (2.66, 0.0),
    ("Grid", "random"): (0.208, 0.003),
    ("Grid", "optimal"): (10.81, 0.06),
    ("Grid", "first action"): (0.0, 0.0),
}


def returns(prior: FlatDirichlet, policy: str) -> Floats:
    shape = (prior.num_states, prior.num_actions)
    fixed = {
        "random": np.full(shape, 1 / prior.num_actions),
        "first action": np.zeros(prior.num_states, dtype=np.int64),
    }
    mdps = (prior.sample(generator("test returns", prior.name, i)) for i in range(NUM_MDPS))
    return np.array(
        [
            mdp.expected_return(
                fixed[policy] if policy in fixed else mdp.solve(DISCOUNT).policy, DISCOUNT, HORIZON
            )
            for mdp in mdps
        ]
    )


@pytest.mark.slow  # statistical
@pytest.mark.parametrize(("name", "policy"), REFERENCE)
def test_expected_returns(name: str, policy: str) -> None:
    measured = returns(distribution(name), policy)
    mean, error = REFERENCE[name, policy]
    own_error = measured.std(ddof=1) / np.sqrt(NUM_MDPS)
    assert abs(measured.mean() - mean) <= 3 * np.hypot(error, own_error)


def by_state(counts: list[list[int]], num_actions: int) -> Floats:
    return np.repeat(np.array(counts, dtype=np.float64)[:, None, :], num_actions, axis=1)


def test_generalised_chain() -> None:
    rows = [[1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [1, 0, 0, 1, 0], [1, 0, 0, 0, 1], [1, 0, 0, 0, 1]]
    gc, appendix = distribution("GC"), distribution("GC-appendix")
    np.testing.assert_array_equal(gc.counts.to_dense(), by_state(rows, 3))
    np.testing.assert_array_equal(
        appendix.counts.to_dense(), by_state([*rows[:4], [1, 1, 0, 0, 1]], 3)
    )
    for problem in (gc, appendix):
        assert (problem.rewards.mean.to_dense() == [2, 0, 0, 0, 10]).all()


def test_generalised_double_loop() -> None:
    gdl = distribution("GDL")
    rows = [[1, 5], [2], [3], [4], [0], [0, 6], [0, 7], [0, 8], [0]]
    expected = [[int(y in row) for y in range(9)] for row in rows]
    np.testing.assert_array_equal(gdl.counts.to_dense(), by_state(expected, 2))
    rewards = gdl.rewards.mean.to_dense()
    assert (rewards[4, :, 0] == 1).all()
    assert (rewards[8, :, 0] == 2).all()
    assert np.count_nonzero(rewards) == 4


def test_grid() -> None:
    """Cell (i, j) of the paper, from 1, is state 5(i - 1) + j - 1 here."""

    def state(i: int, j: int) -> int:
        return 5 * (i - 1) + j - 1

    counts, rewards = np.zeros((25, 4, 25)), np.zeros((25, 4, 25))
    for i in range(1, 6):
        for j in range(1, 6):
            here = state(i, j)
            counts[here, :, here] = 1
            if i > 1:
                counts[here, 0, state(i - 1, j)] = 1
            if i < 5 and (i, j) != (4, 5):
                counts[here, 1, state(i + 1, j)] = 1
            if j > 1:
                counts[here, 2, state(i, j - 1)] = 1
            if j < 5 and (i, j) != (5, 4):
                counts[here, 3, state(i, j + 1)] = 1
    for here, action in ((state(4, 5), 1), (state(5, 4), 3)):
        counts[here, action, 0] = 1
        rewards[here, action, 0] = 10
    grid = distribution("Grid")
    np.testing.assert_array_equal(grid.counts.to_dense(), counts)
    np.testing.assert_array_equal(grid.rewards.mean.to_dense(), rewards)
    assert not grid.counts.to_dense()[:24, :, 24].any()
    assert distribution("Grid:size=5").digest == grid.digest


def test_a_larger_grid() -> None:
    """Its shortest way to the goal has 18 moves, if none fails."""
    grid = distribution("Grid:size=10")
    assert grid.num_states == 100
    assert grid.rewards.mean.values.tolist() == [10, 10]
    sure = grid.counts.to_dense()
    sure[np.arange(100), :, np.arange(100)] = 1e-9
    value = FlatDirichlet(sure, grid.rewards).mean().solve(DISCOUNT).value[0]
    assert value == pytest.approx(10 * DISCOUNT**17 / (1 - DISCOUNT**18), rel=1e-6)


def test_long_chain() -> None:
    chain = distribution("LongChain:states=4")
    rows = [[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]]
    np.testing.assert_array_equal(chain.counts.to_dense(), by_state(rows, 3))
    assert (chain.rewards.mean.to_dense() == [2, 0, 0, 10]).all()
    assert distribution("LongChain").num_states == 20


def test_gaussian_rewards_of_the_chain() -> None:
    plain, noisy = distribution("GC"), distribution("GC:deviation=5")
    assert noisy.counts.content() == plain.counts.content()
    assert noisy.rewards.mean.content() == plain.rewards.mean.content()
    assert (noisy.rewards.variance.to_dense() == 25).all()
    assert distribution("GC:deviation=0").digest == plain.digest
    for wrong in ("-1", "inf", "1e200", "x"):
        with pytest.raises(InvalidInput, match=r"^GC: (deviation|reward_variances)"):
            distribution(f"GC:deviation={wrong}")


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_problem(name: str) -> None:
    problem = distribution(name)
    assert problem.name == name
    assert problem.description
    assert problem.start.tolist() == [1.0] + [0.0] * (problem.num_states - 1)
    assert from_json(to_json(problem)).digest == problem.digest
    if not isinstance(problem, FlatDirichlet):
        return
    assert (len(problem.rewards.variance.values) > 0) == (name == "RandomMDP")
    uniform = distribution(f"uniform:{name}")
    assert uniform.name == f"uniform:{name}"
    assert (uniform.counts.to_dense() == 1).all()
    assert uniform.given_rewards.content() == problem.given_rewards.content()


def test_problems_have_their_own_content() -> None:
    assert len({distribution(name).digest for name in PROBLEMS}) == len(PROBLEMS) == 18


def test_distributions_of_files(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    write(distribution("GDL"), path)
    for source in (path, str(path)):
        assert distribution(source).digest == distribution("GDL").digest
    uniform = distribution(f"uniform:{path}")
    assert uniform.digest == distribution("uniform:GDL").digest
    assert uniform.name == "uniform:GDL"


def test_a_distribution_is_its_own_source() -> None:
    grid = distribution("Grid")
    assert distribution(grid) is grid


def test_a_path_is_never_a_name() -> None:
    with pytest.raises(InvalidInput, match=r"GC: the name must end in one of \.toml, \.json"):
        distribution(Path("GC"))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "gird",
            r"unknown distribution 'gird' \(did you mean 'Grid'\?\): must be one of GC, "
            r"GC-appendix, GDL, Grid, .*, Bandit, a file \(\.toml, \.json, \.dat, \.dat\.z, "
            r"\.dat\.zz\), gym: and an environment's id, module:name of your own, or uniform:",
        ),
        ("gc", r"unknown distribution 'gc' \(did you mean 'GC'\?\)"),
        ("uniform:GLD", r"unknown distribution 'GLD' \(did you mean 'GDL'\?\)"),
        ("maze", r"unknown distribution 'maze' \(did you mean 'Maze'\?\)"),
        ("mountain", "unknown distribution 'mountain': must be one of"),
        ("", "unknown distribution '': must be one of"),
    ],
)
def test_unknown_names(source: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        distribution(source)


def test_missing_files() -> None:
    with pytest.raises(StoreError, match=r"nowhere\.toml can't be read: No such file"):
        distribution("nowhere.toml")


class Weighted(FlatDirichlet):
    """Draws from another law than its counts say."""

    def sample(self, rng: np.random.Generator) -> MDP:
        return self.mean()


class Named(FlatDirichlet):
    """Adds a method of its own, which changes nothing."""

    def size(self) -> int:
        return self.num_states


def test_classes_with_another_law_are_known_by_their_draws() -> None:
    grid = distribution("Grid")
    own = distribution(Weighted(grid.counts, grid.rewards))
    assert isinstance(own, OwnDistribution)
    drawn = own.sample(generator("any")).transitions
    np.testing.assert_array_equal(drawn.values, grid.mean().transitions.values)
    assert distribution(Named(grid.counts, grid.rewards)).digest == grid.digest


@pytest.mark.parametrize("wrong", [[1, 2], 7, distribution("GC").mean()])
def test_other_objects_are_no_distributions(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="must be a name, a file, a distribution"):
        Experiment("GC", wrong)


def test_rewards_have_a_limit() -> None:
    with pytest.raises(InvalidInput, match=r"is 1e.200: must be at most 1e.100"):
        FlatDirichlet(np.ones((2, 1, 2)), [0, 1e200])
