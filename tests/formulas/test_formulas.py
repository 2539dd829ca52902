"""The formula language and the sets of formulas, against Python's own parser and brute force."""

import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from brlbench.errors import InvalidInput
from brlbench.formulas import FEATURES, SETS, Formula, formula_set, generation, parse
from brlbench.formulas.formula import BINARY, UNARY
from helpers.plain_formulas import MATHEMATICS, formulas, value_of_tokens


def value_in_python(formula: Formula, features: dict[str, float]) -> float:
    """The value of the infix form in Python; NaN if it is undefined."""
    try:
        value = float(eval(str(formula), {"__builtins__": {}}, MATHEMATICS | features))
    except (ArithmeticError, ValueError):
        return math.nan
    return value if math.isfinite(value) else math.nan


@given(formulas)
@settings(deadline=None, max_examples=150)
def test_what_is_printed_is_read_back(formula: Formula) -> None:
    assert parse(str(formula)) == formula


@given(formulas, st.tuples(*[st.floats(-100, 100)] * 3))
@settings(deadline=None, max_examples=150)
def test_python_reads_what_is_printed_alike(formula: Formula, point: tuple[float, ...]) -> None:
    features = dict(zip(FEATURES, point, strict=True))
    in_python, expected = value_in_python(formula, features), value_of_tokens(formula, features)
    if not math.isnan(expected):
        assert in_python == expected


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Qmean", ["Qmean"]),
        ("Q2/Q0", ["Qmean", "Quniform", "/"]),
        ("max(Q0, |Q2|)", ["Quniform", "Qmean", "abs", "max"]),
        ("max(Qself, abs(Qmean))", ["Qself", "Qmean", "abs", "max"]),
        ("Q1 - Q2 - Q0", ["Qself", "Qmean", "-", "Quniform", "-"]),
        ("Q1 - (Q2 - Q0)", ["Qself", "Qmean", "Quniform", "-", "-"]),
        ("Q1 + Q2 * Q0", ["Qself", "Qmean", "Quniform", "*", "+"]),
        ("Q1 × Q2 / Q0", ["Qself", "Qmean", "*", "Quniform", "/"]),  # noqa: RUF001
        ("1/Qself", ["Qself", "inverse"]),
        ("1/Qself/Qmean", ["Qself", "inverse", "Qmean", "/"]),
        ("2/Qself", [2.0, "Qself", "/"]),
        ("(1)/Qself", [1.0, "Qself", "/"]),
        ("1*Qself/Qmean", [1.0, "Qself", "*", "Qmean", "/"]),
        ("inverse(opposite(Q1))", ["Qself", "opposite", "inverse"]),
        ("-Q1*Q2", ["Qself", "opposite", "Qmean", "*"]),
        ("-1.5e-3*Q2", [-0.0015, "Qmean", "*"]),
        ("-(3)", [3.0, "opposite"]),
        ("Q1--.5", ["Qself", -0.5, "-"]),
        ("||Q0|-Q1|", ["Quniform", "abs", "Qself", "-", "abs"]),
        (" sqrt( ln(min(Q1,2 )))\n", ["Qself", 2.0, "min", "ln", "sqrt"]),
        ("max(Q0, Q1, Q2)", ["Quniform", "Qself", "Qmean", "max3"]),
        ("max(max(Q0, Q1), Q2)", ["Quniform", "Qself", "max", "Qmean", "max"]),
        ("avg(Q0, Q1)", ["Quniform", "Qself", "avg"]),
        ("sum(Q0, Q1)", ["Quniform", "Qself", "+"]),
        ("product(Q0, sum(1, 2, 3, 4))", ["Quniform", 1.0, 2.0, 3.0, 4.0, "+4", "*"]),
        ("rpn: Qself Qmean abs max", ["Qself", "Qmean", "abs", "max"]),
        (" rpn:Q0 -1.5 *2 Q1 + 3 avg2\n", ["Quniform", -1.5, "*", "Qself", "+", 3.0, "avg"]),
        ("rpn: Q0 Q1 Q2 ×3", ["Quniform", "Qself", "Qmean", "*3"]),  # noqa: RUF001
    ],
)
def test_reading(text: str, tokens: list[str | float]) -> None:
    assert parse(text).tokens == tuple(tokens)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "at character 1: the end found: must be a number, a feature"),
        ("Qmean +", "at character 8: the end found: must be a number, a feature"),
        ("Qmean Qself", "at character 7: 'Qself' found: must be an operator or the end"),
        ("Qmean)", "at character 6: ')' found: must be an operator or the end"),
        ("(Qmean", "at character 7: the end found: must be ')'"),
        ("|Qmean", "at character 7: the end found: must be '|'"),
        ("max(Qmean)", "at character 10: ')' found: must be ','"),
        ("ln Qmean", "at character 4: 'Qmean' found: must be '('"),
        ("ln(Qmean, 2)", "at character 9: ',' found: must be ')'"),
        ("Qmaen", "at character 1: unknown name 'Qmaen' (did you mean 'Qmean'?)"),
        ("log(Qmean)", "at character 1: unknown name 'log'"),
        ("Qmean @ 2", "at character 7: '@' found: must be an operator or the end"),
        ("1e999", "at character 1: '1e999' found: must be a number that is not too large"),
        ("(" * 101, "at character 101: '(' found: must be nested at most 100 deep"),
        ("-" * 101, "must be nested at most 100 deep"),
        ("Qmean" + " + 1" * 500, "has 1002 tokens: must have at most 1000"),
        ("sum(Qmean)", "at character 10: ')' found: must be ','"),
        ("abs(Qmean, Qself)", "at character 10: ',' found: must be ')'"),
        ("rpn:", "not a formula in reverse Polish order"),
        ("rpn: Qmean Qself", "['Qmean', 'Qself']: not a formula in reverse Polish order"),
        ("rpn: Qmean Qself max3", "not a formula in reverse Polish order"),
        ("rpn: Qmean Qmaen +", "unknown name 'Qmaen' (did you mean 'Qmean'?)"),
        ("rpn: Qmean w *", "unknown name 'w': must be a number or one of Qmean"),
        ("rpn: 1e999", "'1e999' found: must be a number that is not too large"),
        ("rpn: Qmean" + " abs" * 150, "must be nested at most 100 deep"),
        ("rpn: Qmean" + " Qself +" * 600, "has 1201 tokens: must have at most 1000"),
    ],
)
def test_errors_say_what_where_and_why(text: str, complaint: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(text)
    assert complaint in str(caught.value)
    assert str(caught.value).startswith("formula ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("tokens", [[], ["+"], ["Qmean", "abs", "Qself"], ["Qmean", "+"], ["abs"],
                                    ["+", "Qmean", "Qself", "Qmean"]])  # fmt: skip
def test_only_formulas_are_formulas(tokens: list[str]) -> None:
    with pytest.raises(InvalidInput, match="not a formula in reverse Polish order"):
        Formula(tuple(tokens))


@given(formulas)
@settings(deadline=None, max_examples=200)
def test_the_reverse_form_is_the_same_formula(formula: Formula) -> None:
    assert parse("rpn: " + " ".join(map(str, formula.tokens))) == formula


def test_weights_in_reverse_form() -> None:
    assert parse("rpn: w Qmean * Qself +", weights=True) == parse("w*Qmean + Qself", weights=True)
    for name in ("max3", "avg"):
        with pytest.raises(InvalidInput):
            parse(f"{name}*Qmean", weights=True)


def test_weights() -> None:
    formula = parse("w0*Qmean + w1*Qself - w0", weights=True)
    assert formula.weights == ("w0", "w1")
    assert formula.features == ("Qmean", "Qself")
    assert str(formula.with_weights({"w0": 0.1, "w1": -2.0})) == "0.1*Qmean + -2*Qself - 0.1"
    with pytest.raises(InvalidInput, match="unknown name 'w0'"):
        parse("w0*Qmean")


@pytest.mark.parametrize(("name", "size"), [("F2", 12), ("F3", 43), ("F4", 226)])
def test_sizes_of_the_paper(name: str, size: int) -> None:
    assert len(formula_set(name)) == SETS[name] == size


@pytest.mark.parametrize(("name", "size"), [("F5", 1210), ("F6", 7407)])
def test_sizes_that_depend_on_the_points(name: str, size: int) -> None:
    assert len(formula_set(name)) == SETS[name] == pytest.approx(size, rel=0.01)


def test_the_sets_are_nested_and_have_the_shortest_first() -> None:
    for smaller, larger in zip(SETS, list(SETS)[1:], strict=False):
        assert formula_set(larger)[: SETS[smaller]] == formula_set(smaller)
    assert len(set(formula_set("F6"))) == SETS["F6"]
    assert all(len(formula.tokens) <= 6 for formula in formula_set("F6"))
    assert all(parse(str(formula)) == formula for formula in formula_set("F6"))


def test_operators_that_are_always_defined_are_preferred() -> None:
    names = {str(formula) for formula in formula_set("F3")}
    assert "-abs(Qself)" in names
    assert "1/abs(Qself)" not in names


@pytest.mark.parametrize("most", [2, 3, 4])
def test_all_sequences_of_tokens_give_the_same_sets(most: int) -> None:
    """Brute force, with other points: each formula that is defined ranks them as one of the set."""
    points = np.random.default_rng(most).uniform(-100, 100, (3, 1000))
    chosen = {ranks(formula.tokens, points) for formula in formula_set(f"F{most}")}
    assert None not in chosen
    tokens = (*FEATURES, *UNARY, *BINARY)
    every = {ranks(t, points) for n in range(1, most + 1) for t in product(tokens, repeat=n)}
    assert every - {None} == chosen
    assert len(chosen) == SETS[f"F{most}"]


def ranks(tokens: tuple[Any, ...], points: Any) -> bytes | None:
    """The ranks that tokens give to points; None unless they are a formula defined on all."""
    functions: dict[str, Any] = {
        "abs": np.abs, "ln": np.log, "sqrt": np.sqrt, "min": np.minimum, "max": np.maximum,
        "inverse": lambda a: 1 / a, "opposite": lambda a: -a, "+": lambda a, b: a + b,
        "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b,
    }  # fmt: skip
    stack: list[Any] = []
    with np.errstate(all="ignore"):
        for token in tokens:
            if token in FEATURES:
                stack.append(points[FEATURES.index(token)])
                continue
            count = 2 if token in BINARY else 1
            if len(stack) < count:
                return None
            stack[-count:] = [functions[token](*stack[-count:])]
            if not np.isfinite(stack[-1]).all():
                return None
    if len(stack) != 1:
        return None
    return bytes(scipy.stats.rankdata(stack[0], method="dense").astype(np.int16).tobytes())


def test_sets_are_kept_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation, "_cache_file", lambda name: tmp_path / f"{name}.txt")
    made = generation.formula_set.__wrapped__("F3")
    text = (tmp_path / "F3.txt").read_text()
    assert text.splitlines()[0] == "F3: 43"
    assert "Qmean Quniform /" in text.splitlines()
    with monkeypatch.context() as patched:
        patched.setattr(generation, "generate", None)
        assert generation.formula_set.__wrapped__("F3") == made
    for damage in (text[:200], text.replace("Qmean Quniform /", "Quniform /"), ""):
        (tmp_path / "F3.txt").write_text(damage)
        assert generation.formula_set.__wrapped__("F3") == made
        assert (tmp_path / "F3.txt").read_text() == text


def test_without_a_cache_sets_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation, "_cache_file", lambda name: tmp_path / "missing" / name)
    assert generation.formula_set.__wrapped__("F2") == formula_set("F2")
