"""Frozen sets of other sizes: the same MDPs first, comparable on those in common."""

from pathlib import Path

import numpy as np
import pytest

import brlbench as bb
from brlbench.errors import InvalidInput
from brlbench.problems.frozen import HASHES, LARGE_HASHES
from brlbench.report.loading import load
from brlbench.storage import write_result
from brlbench.storage.frozen import round_rows
from helpers.shell import Shell


@pytest.mark.parametrize("name", HASHES)
def test_smaller_and_larger_sets_have_the_same_mdps(name: str) -> None:
    usual, small, large = (bb.frozen_set(name, number) for number in (500, 50, 5000))
    assert (usual.hash, large.hash) == (HASHES[name], LARGE_HASHES[name])
    for shorter, longer in ((small, usual), (usual, large)):
        contents = zip(shorter.mdps.contents(), longer.mdps.contents(), strict=False)
        assert all(one == other for one, other in contents)
    np.testing.assert_array_equal(large.noise_words[:50], small.noise_words)
    row_start = large.mdps.places.row_start
    assert (np.add.reduceat(large.mdps.probability[500:], row_start[:-1], axis=1) == 1).all()
    with pytest.raises(InvalidInput, match=r"num_mdps = 5001: the frozen set .* has at most 5000"):
        bb.frozen_set(name, 5001)


def test_rounding_forgets_last_bits() -> None:
    rng = np.random.default_rng(0)
    drawn, row_start = rng.dirichlet(np.ones(4), size=(100, 2)).reshape(100, 8), np.array([0, 4, 8])
    rounded = round_rows(drawn, row_start)
    other_machine = drawn * (1 + 1e-15 * rng.standard_normal(drawn.shape))
    np.testing.assert_array_equal(round_rows(other_machine, row_start), rounded)
    np.testing.assert_allclose(rounded, drawn, atol=4 * 2.0**-20)


def test_agents_are_compared_on_the_mdps_in_common(tmp_path: Path, shell: Shell) -> None:
    results = {}
    for agent, number in (("random", 100), ("optimal", 100), ("epsilon-greedy", 120), ("beb", 120)):
        experiment = bb.frozen_set("GC/accurate/v1", number)
        results[agent] = bb.evaluate(bb.make_agent(agent), experiment)
        write_result(tmp_path / f"{agent}.parquet", results[agent])
    small, large = load(tmp_path).experiments
    assert [small.name, large.name] == ["GC (100 MDPs)", "GC (120 MDPs)"]
    found = {summary.algorithm: summary for summary in small.summaries}
    assert found.keys() == results.keys()
    assert {summary.algorithm for summary in large.summaries} == {"epsilon-greedy", "beb"}
    for agent, summary in found.items():
        np.testing.assert_array_equal(summary.returns, results[agent].returns[:100])
        assert summary.adjusted is not None
        np.testing.assert_array_equal(
            summary.adjusted.returns, results[agent].adjusted.returns[:100]
        )
        assert 0 < summary.score.ci95 < 20
    assert "GC (100 MDPs)" in shell("compare", tmp_path).out


def test_other_seeds_and_given_mdps_have_nothing_in_common(tmp_path: Path) -> None:
    drawn = bb.Experiment("GC", num_mdps=3, horizon=5)
    given = bb.Experiment("GC", num_mdps=2, horizon=5, mdps=drawn.mdps.probability[:2])
    other = bb.Experiment("GC", num_mdps=2, horizon=5, seed=1)
    more = bb.Experiment("GC", num_mdps=4, horizon=5)
    for i, experiment in enumerate((drawn, given, other, more)):
        result = bb.evaluate(bb.make_agent("epsilon-greedy", epsilon=i / 10), experiment)
        write_result(tmp_path / f"{i}.parquet", result)
    loaded = load(tmp_path).experiments
    sizes = {e.hash: len(e.summaries) for e in loaded}
    assert sizes == {drawn.hash: 2, given.hash: 1, other.hash: 1, more.hash: 1}
    marked = sorted(f"GC (2 MDPs) [{e.hash[:6]}]" for e in (given, other))
    assert [e.name for e in loaded] == [*marked, "GC (3 MDPs)", "GC (4 MDPs)"]


def test_in_a_study(tmp_path: Path, shell: Shell) -> None:
    for text in (
        '[defaults]\nnum_mdps = 3\n[[experiments]]\nfrozen = "GC/accurate/v1"\n',
        '[[experiments]]\nfrozen = "GC/accurate/v1"\nnum_mdps = 3\n',
    ):
        study = tmp_path / "study.toml"
        study.write_text(text + '[[agents]]\nalgorithm = "random"\n')
        done = shell("run", study, "-r", tmp_path / "out")
        assert done.code == 0, done
        [experiment] = load(tmp_path / "out").experiments
        assert experiment.hash == bb.frozen_set("GC/accurate/v1", 3).hash
