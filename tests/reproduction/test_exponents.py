import numpy as np
import pytest
from reproduction.exponents import exponent

from brlbench.results.summary import Summary


def summary(seconds: float, **parameters: float | str) -> Summary:
    return Summary("some", dict(parameters), "some", np.zeros(2), {"processor": seconds}, {})


def test_powers_are_found_whatever_the_other_parameters_do() -> None:
    summaries = [summary(3e-6 * k**0.9 / e**2, k=k, e=e) for k in (1, 10, 100) for e in (0.1, 1.0)]
    assert exponent(summaries, "k", "processor") == pytest.approx(0.9)
    assert exponent(summaries, "e", "processor") == pytest.approx(-2)


def test_a_parameter_that_never_changes_alone_tells_nothing() -> None:
    assert exponent([summary(1.0, k=1, e=1), summary(2.0, k=2, e=2)], "k", "processor") is None
    assert exponent([], "k", "processor") is None


def test_zero_has_no_logarithm() -> None:
    assert (
        exponent([summary(1.0, e=0), summary(2.0, e=1), summary(4.0, e=2)], "e", "processor") == 1
    )


def test_a_formula_counts_its_q_functions() -> None:
    summaries = [summary(1.0, formula="Qmean"), summary(2.0, formula="max(Qmean, Qself) + Qmean")]
    assert exponent(summaries, "formula", "processor") == pytest.approx(1)
