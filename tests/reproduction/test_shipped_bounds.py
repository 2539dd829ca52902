from reproduction.page import RESULTS

from brlbench.analysis.bayes_bound import least_reward
from brlbench.analysis.bayes_bound.known import known_bound
from brlbench.problems.frozen import HASHES
from brlbench.report.loading import load
from brlbench.storage import frozen_set


def test_no_agent_of_the_reproduction_is_above_its_bound_beyond_noise() -> None:
    experiments = load(RESULTS).experiments
    assert len(experiments) == 6
    for experiment in experiments:
        assert experiment.upper_bound is not None
        for each in experiment.competitors:
            assert each.score.mean - 2 * each.score.ci95 < experiment.upper_bound  # four sigmas
        optimal = experiment.score_of("optimal")
        assert optimal is None or experiment.upper_bound < optimal


def test_every_frozen_set_has_a_bound() -> None:
    for name in HASHES:
        experiment = frozen_set(name)
        settings = experiment.settings()
        bound = known_bound(settings)
        assert bound is not None
        assert bound.estimate < bound.upper
        # Knowing the distribution, there may be nothing to learn: `upper` is then higher by chance.
        assert bound.estimate <= bound.clairvoyant + 2 * bound.standard_error
        assert known_bound({**settings, "discount": 0.9}) is None
        if experiment.prior.digest != experiment.test.digest:
            assert known_bound({**settings, "test_digest": experiment.prior.digest}) is None


def test_with_negative_rewards_a_bound_has_a_least_horizon() -> None:
    sea = frozen_set("DeepSea-6/unlabelled/v1")
    assert least_reward(sea.test) < 0
    settings = sea.settings()
    assert known_bound(settings) == known_bound({**settings, "horizon": 2000}) is not None
    assert known_bound({**settings, "horizon": 999}) is None
