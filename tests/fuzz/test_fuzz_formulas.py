"""Formulas as texts and as lists of tokens, and the files that keep sets of formulas."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from brlbench.agents import make_agent
from brlbench.errors import BrlbenchError
from brlbench.formulas import FEATURES, SETS, Formula, generation, parse
from brlbench.formulas.formula import BINARY, UNARY
from helpers.fuzzing import damaged, fuzzing, outcome, values

pieces = st.sampled_from(
    [
        *FEATURES,
        *UNARY,
        *BINARY,
        "Q0",
        "Q1",
        "Q2",
        "(",
        ")",
        "|",
        ",",
        "-",
        "1",
        "0",
        ".5",
        "1e9",
        "1e999",
        "1" * 5000,
        "\N{MULTIPLICATION SIGN}",
        " ",
        "\n",
        "\x00",
        "\ud800",
        "w",
        "é",
        "٣",
    ]
)
texts = st.lists(pieces | st.text(max_size=3), max_size=30).map("".join)


@fuzzing(150)
@given(texts, st.booleans())
def test_texts(text: str, weights: bool) -> None:
    formula = outcome(lambda: parse(text, weights))
    if not isinstance(formula, BrlbenchError):
        assert parse(str(formula), weights) == formula
        replaced = formula.with_weights(dict.fromkeys(formula.weights, 0.5))
        assert parse(str(replaced)) == replaced


@fuzzing(20)
@given(pieces, pieces, st.integers(1, 3000))
def test_long_and_deep_texts(one: str, other: str, times: int) -> None:
    for text in (one * times, one * times + other * times, (one + other) * times):
        outcome(lambda text=text: str(parse(text)))  # type: ignore[misc]


@fuzzing(100)
@given(st.lists(pieces | st.floats(), max_size=8))
def test_lists_of_tokens(tokens: list[Any]) -> None:
    outcome(lambda: str(Formula(tuple(tokens))))


@fuzzing(60)
@given(st.data())
def test_the_file_of_a_set(data: st.DataObject) -> None:
    """What can't be the set is not taken for it."""
    rows = "\n".join(" ".join(map(str, formula.tokens)) for formula in generation.generate(2))
    text = f"F2: {SETS['F2']}\n{rows}\n".encode()
    changed = data.draw(damaged(text)).decode(errors="replace")
    found = outcome(lambda: generation._parse_set("F2", changed))
    if not isinstance(found, BrlbenchError):
        assert not any(formula.weights for formula in found)


@fuzzing(60)
@given(values, values, values)
def test_parameters_of_agents_that_have_formulas(one: Any, other: Any, third: Any) -> None:
    outcome(lambda: make_agent("formula", formula=one))
    outcome(lambda: make_agent("opps-cs", strategy=one, ranges=other, evaluations=third))
    outcome(lambda: make_agent("opps-ds", formulas=one, draws=other, exploration=third))
