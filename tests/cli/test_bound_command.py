from pathlib import Path

import numpy as np

from brlbench import bayes_optimal_bound, distribution
from brlbench.analysis.bayes_bound.known import read_bound
from brlbench.storage import write_result
from helpers.made_results import result, settings
from helpers.shell import Shell, assert_error


def test_the_bound_is_printed(shell: Shell) -> None:
    done = shell("bound", "GC", "--beliefs", 200, "--seed", 3)
    found = bayes_optimal_bound(distribution("GC"), beliefs=200, seed=3)
    assert done.code == 0
    assert f"no agent that has to learn has an expected return above {found.upper:.4g} " in done.out
    assert f"{found.beliefs} beliefs up to {found.depth} decisions ahead" in done.out
    assert f"expects {found.clairvoyant:.4g}" in done.out


def test_a_search_that_looks_nowhere(shell: Shell) -> None:
    assert_error(shell("bound", "GC", "--depth", 0), "depth = 0: must be a whole number")


def test_compare_shows_a_bound_that_was_written_beside_the_results(
    shell: Shell, tmp_path: Path
) -> None:
    gc = distribution("GC")
    own = {**settings("mine", 40), "test_digest": gc.digest, "discount": 0.5}
    write_result(tmp_path / "beb.parquet", result("beb", np.ones((40, 1, 5)), "mine", settings=own))
    path = tmp_path / "gc.bound.json"
    options = ("--beliefs", 20, "--discount", 0.5, "--output", path)
    assert shell("bound", "GC", *options).code == 0
    found = read_bound(path).bound
    assert found == bayes_optimal_bound(gc, 0.5, beliefs=20)
    assert (
        f"no agent that has to learn can pass {np.ceil(100 * found.upper) / 100:.2f}"
        in shell("compare", tmp_path).out
    )
    assert_error(shell("bound", "GC", *options), "exists already")
    assert_error(
        shell("bound", "GC", "--output", tmp_path / "gc.json"), "must end with .bound.json"
    )


def test_bounds_of_episodes(shell: Shell, tmp_path: Path) -> None:
    episodes = ("--discount", 1, "--horizon", 4, "--episode", 2)
    done = shell("bound", "Bandit:arms=2", "--depth", 2, *episodes)
    found = bayes_optimal_bound("Bandit:arms=2", 1.0, depth=2, horizon=4, episode=2)
    assert done.code == 0
    assert f"return above {found.upper:.4g} " in done.out
    assert f"{found.beliefs} beliefs up to 2 decisions ahead" in done.out
    path = tmp_path / "arms.bound.json"
    done = shell("bound", "Bandit:arms=2,rewards=normal", *episodes, "--output", path)
    assert done.code == 0, done.err
    assert "no search is made of unknown Gaussian rewards" in done.out
    known = read_bound(path)
    assert (known.horizon, known.episode, known.bound.depth) == (4, 2, 0)
    assert_error(shell("bound", "RandomMDP"), "horizon is not given, and its rewards are Gaussian")
