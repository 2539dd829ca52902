"""The page on RL²'s tables is what its results say; agents and random numbers are the originals."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reproduction.rl2 import audit, replay
from reproduction.rl2.legacy import (
    Stream,
    beta,
    binomial,
    choice,
    random_sample,
    standard_gamma,
    standard_normal,
    stream,
)
from reproduction.rl2.page import OWN, PAGE, make_page, rl2_z
from reproduction.rl2.tabular import GREEDY, Rule

from brlbench.kernels.jit import kernel

SEED = 7


@kernel
def draw_all(stream: Stream, numbers: Any) -> None:
    """All kinds of numbers, in turn."""
    for i in range(numbers.shape[0]):
        numbers[i, 0] = random_sample(stream)
        numbers[i, 1] = choice(stream, 1 + i % 10)
        numbers[i, 2] = standard_normal(stream)
        numbers[i, 3] = standard_gamma(stream, 1.0 + i % 3)
        numbers[i, 4] = beta(stream, 1.0 + i % 2, 1.0 + i % 4)
        numbers[i, 5] = binomial(stream, (i % 11) / 10)


@pytest.mark.slow
def test_random_numbers_are_those_of_numpy() -> None:
    numbers = np.zeros((2000, 6))
    draw_all(stream(SEED), numbers)
    rng = np.random.RandomState(SEED)
    for i, row in enumerate(numbers):
        expected = [
            rng.random_sample(),
            rng.choice(1 + i % 10),
            rng.normal(),
            rng.standard_gamma(1.0 + i % 3),
            rng.beta(1.0 + i % 2, 1.0 + i % 4),
            rng.binomial(1, (i % 11) / 10),
        ]
        assert row == pytest.approx(expected, rel=1e-12)


def plain_greedy(seed: int, rule: Rule, episodes: int) -> float:
    """The sum of rewards of a greedy agent, in plain NumPy."""
    means, rows = replay.draw_mdp(seed)
    rng = np.random.RandomState(seed)
    counts = np.full(rows.shape, rule.weight)
    mean, precision = np.full(means.shape, rule.mean), np.full(means.shape, rule.precision)
    total = 0.0
    for _ in range(episodes):
        expected = counts / counts.sum(axis=2, keepdims=True)
        q, value = [], np.zeros(len(means))
        for _ in range(replay.EPISODE):
            q.append(mean + expected @ value)
            value = q[-1].max(axis=1)
        x = 0
        for h, now in enumerate(reversed(q)):
            if rng.rand() < rule.epsilon:
                u = rng.choice(now.shape[1])
            else:
                u = rng.choice(np.flatnonzero(now[x] > now[x].max() - 1e-6))
            r = rng.normal(means[x, u])
            y = rng.choice(len(means), p=rows[x, u])
            if h + 1 < replay.EPISODE:
                counts[x, u, y] += 1
            mean[x, u] = (mean[x, u] * precision[x, u] + r) / (precision[x, u] + 1)
            precision[x, u] += 1
            total += r
            x = y
    return total


@pytest.mark.slow
def test_the_greedy_replay_is_that_of_a_plain_one() -> None:
    """Single precision decides only some ties."""
    rule = Rule(GREEDY, weight=1e-4, precision=1e-4, epsilon=0.1)
    row = replay.Row("mdps", replay.PUBLISHED, "epsilon-greedy", 0.1, rule)
    plain = np.array([plain_greedy(seed, rule, 10) for seed in range(10)])
    assert (np.abs(replay.sums(row, range(10))[:, 0] - plain) < 1e-3).sum() >= 9


@pytest.mark.slow
def test_some_rows_of_the_results_are_played_again() -> None:
    wanted = {("mdps", "psrl"), ("mdps", "greedy"), ("bandits", "ucb1"), ("bandits", "ts")}
    block = range(replay.BLOCK)
    for row in [*replay.mdp_rows(), *replay.bandit_rows()]:
        if (row.table, row.agent) in wanted and row.parameter in (None, 0.2):
            again = replay.sums(row, block).mean(axis=0)
            for n, score in zip(replay.LENGTHS[row.table], again, strict=True):
                grid = audit.grid(row.table, row.variant, row.agent, n, row.arms)
                stored = grid.blocks[grid.parameters.index(row.parameter), 0]
                assert stored == pytest.approx(score, rel=1e-6)


def test_the_page_is_made_from_the_results() -> None:
    assert make_page() == PAGE.read_text()


def test_the_rows_are_reproduced() -> None:
    for table, fewest in (("mdps", 35), ("bandits", 52)):
        assert sum(cell.is_exact for cell in audit.cells(table)) >= fewest
    assert all(abs(cell.difference) < 0.1 for cell in audit.cells("mdps"))
    assert len(audit.agreeing(OWN)) >= 5


def test_the_pages_sentences() -> None:
    for n in replay.LENGTHS["mdps"]:
        assert rl2_z("beb, right prior, by step", n) < -2
        assert audit.change("greedy", replay.RIGHT, n).mean > 15
        assert audit.change("ucrl2", replay.COPIED, n).mean < 0.1
    copied = audit.change("ucrl2", replay.COPIED, 100)
    assert copied.mean < -10 * copied.error
    few = audit.change("psrl", replay.RIGHT, 10)
    assert few.mean < -4 * few.error
    for cell in audit.cells("bandits"):
        if cell.agent == "gittins":
            assert abs(audit.own_z(cell)) < 2.5


def test_the_results_are_small_and_all_there() -> None:
    assert Path(audit.RESULTS).stat().st_size < 1e6
    rows = {
        (r.table, r.variant, r.agent, r.arms) for r in [*replay.mdp_rows(), *replay.bandit_rows()]
    }
    played = audit.results().select("table", "variant", "agent", "arms").unique().iter_rows()
    assert rows <= set(played)
