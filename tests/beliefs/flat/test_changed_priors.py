"""Priors that are wrong by a chosen amount: mixed with the uniform one, or with scaled counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brlbench.beliefs.flat import FlatDirichlet
from brlbench.beliefs.flat.single import SingleMDP
from brlbench.errors import InvalidInput
from brlbench.problems import PREFIXES, PROBLEMS, distribution
from brlbench.protocol.experiment import Experiment
from helpers.strategies import priors, reproducible

SHARES = (0.0, 0.1, 0.25, 0.5, 1.0)


@reproducible
@given(priors(), st.floats(0, 1).filter(lambda share: share == 0 or share > 1e-200))
def test_mixed_counts(prior: FlatDirichlet, share: float) -> None:
    mixed = prior.mixed(share)
    expected = (1 - share) * prior.counts.to_dense() + share
    np.testing.assert_array_equal(mixed.counts.to_dense(), expected)
    assert mixed.rewards.content() == prior.rewards.content()
    np.testing.assert_array_equal(mixed.start, prior.start)
    assert mixed.name == f"mixed:{share:g}:drawn"


@reproducible
@given(priors())
def test_the_ends_of_the_mixture_are_the_prior_and_the_uniform_one(prior: FlatDirichlet) -> None:
    assert prior.mixed(0).digest == prior.digest
    assert prior.mixed(1).digest == prior.uniform().digest
    assert prior.mixed(0.5).mixed(1).digest == prior.uniform().digest


@reproducible
@given(priors(), st.floats(1e-200, 1e200))
def test_scaled_counts(prior: FlatDirichlet, factor: float) -> None:
    scaled = prior.scaled(factor)
    np.testing.assert_array_equal(scaled.counts.to_dense(), factor * prior.counts.to_dense())
    mean, expected = (each.mean().transitions.to_dense() for each in (scaled, prior))
    np.testing.assert_allclose(mean, expected, rtol=1e-12)
    assert scaled.rewards.content() == prior.rewards.content()
    np.testing.assert_array_equal(scaled.start, prior.start)
    assert scaled.name == f"scaled:{factor:g}:drawn"
    assert prior.scaled(1).digest == prior.digest


def test_scaled_counts_change_the_spread() -> None:
    """The variance of a Dirichlet variable with mean m and total count n is m (1 - m) / (n + 1)."""
    prior = FlatDirichlet(np.full((2, 1, 2), [1.0, 3.0]), 0)
    for factor in (0.1, 10.0):
        rng = np.random.default_rng(0)
        drawn = prior.scaled(factor).sample_many([rng] * 4000)[:, 0]
        wanted = 0.25 * 0.75 / (4 * factor + 1)
        assert np.var(drawn) == pytest.approx(wanted, rel=0.1)


def test_a_prior_made_from_one_mdp_is_no_mdp() -> None:
    chain = distribution("Chain")
    assert isinstance(chain, SingleMDP)
    for made in (chain.mixed(0), chain.scaled(1)):
        assert type(made) is FlatDirichlet
        assert made.digest == chain.as_prior().digest


def test_prefixes() -> None:
    for share in SHARES:
        assert distribution(f"mixed:{share:g}:GC").digest == distribution("GC").mixed(share).digest
    assert distribution("scaled:0.1:Grid").digest == distribution("Grid").scaled(0.1).digest
    nested = distribution("mixed:0.25:scaled:10:DeepSea:size=3")
    expected = distribution("DeepSea:size=3").scaled(10).mixed(0.25)
    assert (nested.digest, nested.name) == (expected.digest, "mixed:0.25:scaled:10:DeepSea:size=3")
    assert Experiment("mixed:0:GC", "GC", 2).name == "GC"
    assert Experiment("mixed:0.1:GC", "GC", 2).name == "GC from mixed:0.1:GC"
    assert Experiment("mixed:1:GC", "GC", 2).hash == Experiment("uniform:GC", "GC", 2).hash


def test_experiments_with_other_priors_have_the_same_mdps_and_noise() -> None:
    accurate = Experiment("GC", "GC", 5)
    for prior in ("mixed:0.5:GC", "scaled:10:GC"):
        other = Experiment(prior, "GC", 5)
        assert other.hash != accurate.hash
        np.testing.assert_array_equal(other.mdps.probability, accurate.mdps.probability)
        np.testing.assert_array_equal(other.noise_words, accurate.noise_words)


@reproducible
@given(st.lists(st.sampled_from(["uniform:", "mixed:0.5:", "scaled:10:", "around:20:"])))
def test_all_prefixes_are_known_before_a_name(prefixes: list[str]) -> None:
    for name in PROBLEMS:
        found = PREFIXES.match("".join(prefixes) + name)
        assert found is not None
        assert found[0] == "".join(prefixes)


SHARE = "must be a number at least 0 and at most 1"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("mixed:1.5:GC", f"mixed: the share of uniform counts = 1.5: {SHARE}"),
        ("mixed:-0.1:GC", f"mixed: the share of uniform counts = -0.1: {SHARE}"),
        ("mixed:nan:GC", f"mixed: the share of uniform counts = nan: {SHARE}"),
        ("mixed:GC", "'mixed:GC': must be mixed:, the share of uniform counts, a colon, and a "
         "distribution, as in mixed:0.25:GC"),
        ("scaled:0:GC", "scaled: the factor of all counts = 0.0: must be a number above 0"),
        ("scaled:inf:GC", "scaled: the factor of all counts = inf: must be a number above 0"),
        ("scaled:x:GC", "'scaled:x:GC': must be scaled:, the factor of all counts, a colon, and a "
         "distribution, as in scaled:10:GC"),
        ("scaled:1e308:GC", "the counts of state 0, action 0 are too large to be added: use "
         "smaller ones"),
        ("scaled:1e-320:GC", "the count at (state 0, action 0, next state 0) is 1e-320: must be 0 "
         "or at least 1e-300"),
    ],
)  # fmt: skip
def test_refused(source: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        distribution(source)
    assert str(caught.value) == message
