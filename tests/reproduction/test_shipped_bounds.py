from reproduction.page import RESULTS

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
    from brlbench.analysis.bayes_bound.shipped import shipped_bound

    for name in HASHES:
        experiment = frozen_set(name)
        bound = shipped_bound(experiment.test.digest, experiment.discount)
        assert bound is not None
        assert bound.estimate < bound.upper < bound.clairvoyant
        assert shipped_bound(experiment.test.digest, 0.9) is None
    assert shipped_bound(frozen_set("GC/inaccurate/v1").prior.digest, 0.95) is None
