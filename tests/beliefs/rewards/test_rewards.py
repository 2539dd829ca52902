"""Unknown rewards: closed forms, draws, files, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brlbench as bb
from brlbench.beliefs.rewards import RewardPrior
from brlbench.beliefs.tied import TiedDirichlet
from brlbench.errors import InvalidInput
from brlbench.problems.formats import read, write
from brlbench.streams import generator
from helpers.families import FAMILIES, two_groups

PRIORS = {"normal": bb.NormalRewards(1.0, 2.0, 0.5), "binary": bb.BernoulliRewards(0.7, 2.0)}


def flat(rewards: RewardPrior) -> bb.FlatDirichlet:
    return bb.FlatDirichlet(np.ones((2, 3, 2)), rewards)


def test_normal_rewards_after_observations() -> None:
    """The posterior of a Normal mean: precisions add, and means are weighted by them."""
    belief = flat(PRIORS["normal"]).belief()
    seen = [0.3, 2.0, -1.0]
    for reward in seen:
        belief.observe(1, 2, 0, reward)
    precision = 2.0 + 3 / 0.25
    mean = (2.0 * 1.0 + sum(seen) / 0.25) / precision
    rewards = belief.mean().rewards
    assert belief.predictive(1, 2)[1] == pytest.approx(mean, rel=1e-14)
    np.testing.assert_allclose(rewards.mean.to_dense()[1, 2], mean, rtol=1e-14)
    np.testing.assert_allclose(rewards.variance.to_dense()[1, 2], 1 / precision + 0.25, rtol=1e-14)
    assert (rewards.mean.to_dense()[0] == 1.0).all()
    assert belief.counts().to_dense()[1, 2].tolist() == [4.0, 1.0]


def test_binary_rewards_after_observations() -> None:
    belief = flat(PRIORS["binary"]).belief()
    for reward in (1.0, 0.0, 1.0, 1.0):
        belief.observe(0, 1, 1, reward)
    chance = (0.7 + 3) / (0.7 + 2.0 + 4)
    assert belief.predictive(0, 1)[1] == pytest.approx(chance, rel=1e-14)
    outcomes = {(y, r): p for p, y, r in belief.outcomes(0, 1)}
    assert outcomes[1, 1.0] == pytest.approx(5 / 6 * chance, rel=1e-14)
    assert outcomes[0, 0.0] == pytest.approx(1 / 6 * (1 - chance), rel=1e-14)
    mark = belief.mark()
    belief.observe(0, 1, 1, 0.0)
    belief.undo(mark)
    assert belief.predictive(0, 1)[1] == pytest.approx(chance, rel=1e-14)


@pytest.mark.parametrize("kind", PRIORS)
def test_draws_have_the_moments_of_the_prior(kind: str) -> None:
    prior, number = flat(PRIORS[kind]), 4000
    drawn = prior.draw([generator("test rewards", kind, i) for i in range(number)])
    means = drawn.reward[:, drawn.places.row_start[:-1]]
    assert (drawn.reward[:, 0] == drawn.reward[:, 1]).all()  # of one pair
    wanted, variance = (1.0, 0.5) if kind == "normal" else (0.7 / 2.7, 0.7 * 2 / (2.7**2 * 3.7))
    error = np.sqrt(variance / number)
    np.testing.assert_allclose(means.mean(axis=0), wanted, atol=5 * error)
    np.testing.assert_allclose(means.var(axis=0), variance, rtol=0.15)
    assert abs(np.corrcoef(means.T) - np.eye(means.shape[1])).max() < 5 / np.sqrt(number)
    assert drawn.is_binary == (kind == "binary")
    assert (drawn.variance == (0.25 if kind == "normal" else 0.0)).all()
    one = prior.sample(generator("test rewards", kind, 0))
    assert one.rewards.content() == drawn.mdp(0).rewards.content()


@pytest.mark.parametrize("suffix", [".toml", ".json"])
@pytest.mark.parametrize("name", ["binary", "normal"])
def test_files(tmp_path: Path, name: str, suffix: str) -> None:
    prior = FAMILIES[name]
    write(prior, tmp_path / f"prior{suffix}")
    again = read(tmp_path / f"prior{suffix}")
    assert again.digest == prior.digest
    assert repr(again.reward_prior) == repr(prior.reward_prior)  # type: ignore[attr-defined]


def test_a_file_of_a_person(tmp_path: Path) -> None:
    path = tmp_path / "arms.toml"
    text = "format = 1\nnum_states = 1\nnum_actions = 2\ncounts = [[0, '*', 0, 1]]\n"
    path.write_text(text + "[rewards]\nprior = 'Bernoulli'\nalpha = [[1, 2]]\n")
    prior = read(path).reward_prior
    assert prior.parameters()["alpha"].tolist() == [[1.0, 2.0]]
    assert prior.parameters()["beta"].tolist() == [[1.0, 1.0]]
    for wrong, message in (
        ("prior = 'normal'\nbeta = 1", r"unknown key 'rewards.beta': must be one of prior, mean"),
        ("prior = 'Gauss'", r"rewards.prior = 'Gauss': must be \"normal\" or \"Bernoulli\""),
        ("prior = 'normal'\nnoise = 0", r"noise = 0.0: must be positive"),
        ("prior = 'normal'\nmean = [[1, 2, 3]]", r"mean of the rewards has shape \[1, 3\]: must"),
    ):
        path.write_text(f"{text}[rewards]\n{wrong}\n")
        with pytest.raises(InvalidInput, match=message):
            read(path)


def test_binary_rewards_that_are_known(tmp_path: Path) -> None:
    """They are 1 with a probability that agents are told."""
    mdp = bb.MDP(np.ones((1, 2, 1)), [[[0.3], [0.8]]], binary_rewards=True)
    prior = bb.FlatDirichlet(np.ones((1, 2, 1)), mdp.rewards)
    write(prior, tmp_path / "known.json")
    assert read(tmp_path / "known.json").digest == prior.digest
    plain = bb.FlatDirichlet(np.ones((1, 2, 1)), mdp.rewards.mean)
    assert prior.digest != plain.digest
    rewards = bb.evaluate(bb.make_agent("random"), bb.Experiment(prior, num_mdps=20)).rewards
    assert rewards is not None
    assert set(rewards.ravel()) == {0.0, 1.0}
    assert rewards.mean() == pytest.approx(0.55, abs=4 * np.sqrt(0.25 / rewards.size))


def test_renumbered_states_keep_their_rewards() -> None:
    prior: Any = FAMILIES["binary"]
    order = np.array([2, 0, 1])
    one, other = prior.mean().renumbered(order), prior.renumbered(order).mean()
    assert one.rewards.content() == other.rewards.content()


def test_rewards_of_impossible_transitions_of_a_tied_prior_teach_nothing() -> None:
    prior = two_groups().with_rewards(PRIORS["normal"])
    assert isinstance(prior, TiedDirichlet)
    state, action, following = np.argwhere(prior.counts.to_dense() == 0)[0].tolist()
    belief = prior.belief()
    belief.observe(state, action, following, 100.0)
    assert belief.predictive(state, action)[1] == pytest.approx(1.0)


def test_digests_tell_rewards_apart() -> None:
    priors = [flat(bb.NormalRewards(0, 1, 1)), flat(bb.NormalRewards(0, 1, 2))]
    priors += [flat(bb.BernoulliRewards()), flat(bb.BernoulliRewards(2)), flat(PRIORS["normal"])]
    assert len({prior.digest for prior in priors}) == len(priors)


def test_refused() -> None:
    normal = flat(PRIORS["normal"])
    with pytest.raises(InvalidInput, match="infinitely many can follow an action"):
        normal.belief().outcomes(0, 0)
    with pytest.raises(InvalidInput, match="infinitely many: use BernoulliRewards"):
        bb.bayes_optimal_value(normal, 0.9, 2)
    with pytest.raises(InvalidInput, match="one MDP has known rewards"):
        bb.SingleMDP(np.full((2, 3, 2), 0.5), normal)
    with pytest.raises(InvalidInput, match="constant or Gaussian, not binary"):
        bb.Hypotheses([flat(PRIORS["binary"]).sample(generator("test rewards"))])
    with pytest.raises(InvalidInput, match="must be from 0 to 1"):
        bb.MDP(np.ones((1, 1, 1)), 1.5, binary_rewards=True)
    with pytest.raises(InvalidInput, match="reward_variances: the prior of the rewards has them"):
        bb.FlatDirichlet(np.ones((1, 1, 1)), bb.NormalRewards(), 0, 1.0)


def test_a_prior_that_knows_the_rewards_plays_as_if_told() -> None:
    """So narrow that nothing can be learned: returns agree to rounding."""
    counts, mean = np.ones((3, 2, 3)), np.arange(6.0).reshape(3, 2)
    told = bb.FlatDirichlet(counts, mean[:, :, None], 0, np.full((3, 2, 3), 0.49))
    narrow = bb.FlatDirichlet(counts, bb.NormalRewards(mean, 1e20, 0.7))
    mdps = told.draw([generator("test narrow", i) for i in range(20)])
    for name in ("epsilon-greedy", "psrl"):
        returns = [
            bb.evaluate(
                bb.make_agent(name),
                bb.Experiment(prior, told, num_mdps=20, horizon=50, mdps=mdps),
            ).returns
            for prior in (told, narrow)
        ]
        if name == "psrl":  # it draws rewards, too, so it uses other random numbers
            assert abs(returns[0] - returns[1]).mean() > 0
            assert returns[0].mean() == pytest.approx(returns[1].mean(), rel=0.1)
        else:
            np.testing.assert_allclose(returns[0], returns[1], rtol=1e-9)
