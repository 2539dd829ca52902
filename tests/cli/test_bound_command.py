from brlbench import bayes_optimal_bound, distribution
from helpers.shell import Shell, assert_error


def test_the_bound_is_printed(shell: Shell) -> None:
    done = shell("bound", "GC", "--beliefs", 200, "--seed", 3)
    found = bayes_optimal_bound(distribution("GC"), beliefs=200, seed=3)
    assert done.code == 0
    assert f"no agent's expected return is above {found.upper:.4g} " in done.out
    assert f"{found.beliefs} beliefs up to {found.depth} decisions ahead" in done.out
    assert f"expects {found.clairvoyant:.4g}" in done.out


def test_a_search_that_looks_nowhere(shell: Shell) -> None:
    assert_error(shell("bound", "GC", "--depth", 0), "depth = 0: must be a whole number")
