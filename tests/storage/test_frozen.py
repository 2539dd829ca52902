import re
from pathlib import Path

import numpy as np
import pytest
from leaderboard.sets import SETS, draw

import brlbench as bb
from brlbench.errors import InvalidInput, StoreError
from brlbench.problems import frozen
from brlbench.storage import write_experiment
from brlbench.storage.frozen import why_not_frozen
from brlbench.study.plan import read_study
from brlbench.study.worker import pack_experiment, unpack_experiment
from helpers.made_studies import returns_in, write_study
from helpers.shell import Shell

PAPER = list(frozen.HASHES)[:6]


@pytest.mark.parametrize("name", PAPER)
def test_sets_are_the_papers_experiments(name: str) -> None:
    experiment = bb.frozen_set(name)
    problem, case, _ = name.split("/")
    prior = problem if case == "accurate" else f"uniform:{problem}"
    assert (experiment.prior.name, experiment.test.name) == (prior, problem)
    assert (experiment.num_mdps, experiment.discount, experiment.horizon) == (500, 0.95, 250)
    assert experiment.hash == frozen.HASHES[name]
    # Drawn again they are the same up to rounding: processors differ in the last bit of logarithms.
    drawn = bb.Experiment(prior, problem, num_mdps=500, seed=0)
    np.testing.assert_allclose(drawn.mdps.probability, experiment.mdps.probability, rtol=1e-12)


@pytest.mark.parametrize("name", SETS)
def test_other_sets_are_drawn_as_defined(name: str) -> None:
    """All their MDPs are rounded, so they are drawn again exactly."""
    experiment, drawn = bb.frozen_set(name), draw(name)
    for of_drawn, of_set in zip(drawn.mdps.contents(), experiment.mdps.contents(), strict=True):
        assert of_drawn == of_set
    assert drawn.hash == experiment.hash == frozen.HASHES[name]
    settings = (experiment.test.name, experiment.prior.name, experiment.discount)
    assert (*settings, experiment.horizon, experiment.episode) == SETS[name]
    assert experiment.num_mdps == 500
    hypotheses = experiment.hypotheses
    different = 500 if hypotheses is None else len(hypotheses)
    assert len({*experiment.mdps.contents()}) == different


def test_rounded_mdps_of_tied_priors_are_tied() -> None:
    """All pairs of a group have the same row, in the order of its outcomes."""
    for name in ("Chain-tied/accurate/v1", "Chain-semi/accurate/v1"):
        experiment = bb.frozen_set(name)
        prior = experiment.prior
        assert isinstance(prior, bb.TiedDirichlet)
        rows = experiment.mdps.probability
        for cell in np.unique(prior.cell):
            members = rows[:, prior.cell == cell]
            assert members.shape[1] in (5, 10)
            assert (members == members[:, :1]).all()
        assert (rows * 2**20 == np.rint(rows * 2**20)).all()


def test_sets_whose_rewards_differ() -> None:
    """The goals of GoalGrid's MDPs are drawn alike often, and stored with them."""
    mdps = bb.frozen_set("GoalGrid/accurate/v1").mdps
    goals = [int(mdp.rewards.mean.next_state[0]) for mdp in mdps]
    times = np.bincount(goals, minlength=25)
    assert (times > 0).sum() == 21
    expected = 500 / 21
    assert ((times[times > 0] - expected) ** 2 / expected).sum() < 45  # 20 degrees of freedom


def test_names_tell_problem_prior_and_version() -> None:
    assert list(frozen.HASHES) == [*PAPER, *SETS]
    pattern = r"[\w-]+/(accurate|inaccurate|unlabelled)/v\d+"
    assert all(re.fullmatch(pattern, name) for name in frozen.HASHES)
    for name in SETS:
        experiment, prior = bb.frozen_set(name), name.split("/")[1]
        assert (experiment.prior.digest == experiment.test.digest) == (prior == "accurate")
        assert experiment.prior.name.startswith("uniform:") == (prior == "inaccurate")
        assert experiment.test.name.startswith("shuffled:") == (prior == "unlabelled")


def test_files_are_small() -> None:
    sizes = {name: frozen.frozen_file(name).stat().st_size for name in frozen.HASHES}
    assert sum(sizes[name] for name in SETS) < 5e6


def test_cut_off_rewards_hardly_count() -> None:
    for name in frozen.HASHES:
        experiment = bb.frozen_set(name)
        is_cut_off = experiment.episode is None
        assert not is_cut_off or experiment.discount**experiment.horizon < 1e-4


def test_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="did you mean 'GC/accurate/v1'"):
        bb.frozen_set("GC/accurate/v2")
    other = tmp_path / "other.parquet"
    write_experiment(other, bb.Experiment("GC", "GC", num_mdps=500, seed=1))
    monkeypatch.setattr("brlbench.storage.frozen.frozen_file", lambda name: other)
    with pytest.raises(StoreError, match="is not the frozen set GC/accurate/v1"):
        bb.frozen_set("GC/accurate/v1")


def test_a_set_that_this_machine_draws_otherwise_is_not_recognised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = "GC/accurate/v1"
    settings = bb.frozen_set(name).settings() | {"num_mdps": 501}
    monkeypatch.setitem(frozen.LARGE_HASHES, name, "another")
    assert "this machine draws other MDPs" in why_not_frozen("any", settings)


def test_workers_play_given_mdps_whatever_they_would_draw() -> None:
    others = bb.Experiment("GC", num_mdps=3, seed=9).mdps.probability
    experiment = bb.Experiment("GC", num_mdps=3, mdps=others)
    built = unpack_experiment(pack_experiment(experiment))
    np.testing.assert_array_equal(built.mdps.probability, experiment.mdps.probability)
    assert built.hash == experiment.hash != bb.Experiment("GC", "GC", num_mdps=3).hash


def test_in_a_study(tmp_path: Path, shell: Shell) -> None:
    text = """
experiments = [{ frozen = "GDL/inaccurate/v1" }, { frozen = "GDL/inaccurate/v1", deadline = "1s" }]
agents = [{ algorithm = "random" }]
"""
    path = write_study(tmp_path, text)
    study = read_study(path)
    assert list(study.experiments) == [
        "GDL from uniform:GDL",
        "GDL from uniform:GDL within 1 s",
    ]
    done = shell("run", path, "-r", tmp_path / "out")
    assert done.code == 0, done.err
    found = returns_in(tmp_path / "out")
    assert {experiment for _, experiment in found} == {frozen.HASHES["GDL/inaccurate/v1"]}
    for addition, message in [
        ("horizon = 3", "experiments[1] can't have horizon: its frozen set has this setting"),
        ('frozen = "GDL/x"', "there is no frozen set 'GDL/x'"),
        ("", "experiments[1] must have test"),
    ]:
        entry = 'frozen = "GDL/inaccurate/v1"'
        wrong = f"{entry}, {addition}" if addition.startswith("horizon") else addition
        with pytest.raises(InvalidInput, match=re.escape(message)):
            read_study(write_study(tmp_path, text.replace(entry, wrong, 1)))
