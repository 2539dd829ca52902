"""Random formulas for property tests, and what they are worth, in plain Python."""

import math
import re
from functools import reduce
from typing import Any

from hypothesis import strategies as st

from brlbench.formulas import FEATURES, Formula
from brlbench.formulas.formula import BINARY, UNARY

VARIADIC = ("+", "*", "min", "max", "avg")


def counted(symbol: str, count: int) -> str:
    """The token of an operator of so many values."""
    return symbol if count == 2 else f"{symbol}{count}"


numbers = st.floats(-1e9, 1e9, allow_nan=False).map(lambda x: x + 0.0)
operands = st.one_of(st.sampled_from(FEATURES), numbers).map(lambda token: (token,))
formulas = st.recursive(
    operands,
    lambda shorter: st.one_of(
        st.tuples(shorter, st.sampled_from(list(UNARY))).map(lambda p: (*p[0], p[1])),
        st.tuples(shorter, shorter, st.sampled_from(list(BINARY))).map(
            lambda p: (*p[0], *p[1], p[2])
        ),
        st.tuples(st.lists(shorter, min_size=2, max_size=4), st.sampled_from(VARIADIC)).map(
            lambda p: (*(token for part in p[0] for token in part), counted(p[1], len(p[0])))
        ),
    ),
    max_leaves=12,
).map(Formula)


def add(*values: float) -> float:
    """The sum from left to right; Python's own rounds only once."""
    return reduce(lambda a, b: a + b, values)


MATHEMATICS: dict[str, Any] = {
    "ln": math.log,
    "sqrt": math.sqrt,
    "abs": abs,
    "min": min,
    "max": max,
    "sum": add,
    "product": lambda *values: math.prod(values[1:], start=values[0]),
    "avg": lambda *values: add(*values) / len(values),
}


def value_of_tokens(formula: Formula, features: dict[str, float]) -> float:
    """What the tokens say; NaN if it is undefined."""
    stack: list[float] = []
    rules: dict[str, Any] = {
        "inverse": lambda a: 1 / a,
        "opposite": lambda a: -a,
        "+": add,
        "-": lambda a, b: a - b,
        "*": MATHEMATICS["product"],
        "/": lambda a, b: a / b,
    }
    for token in formula.tokens:
        if isinstance(token, float):
            stack.append(token)
        elif token in features:
            stack.append(features[token])
        else:
            digits = re.search(r"\d*$", token)
            count = int(digits[0]) if digits and digits[0] else 1 if token in UNARY else 2
            token = token.rstrip("0123456789")
            arguments, stack = stack[-count:], stack[:-count]
            try:
                stack.append((MATHEMATICS | rules)[token](*arguments))
            except (ArithmeticError, ValueError):
                return math.nan
            if not math.isfinite(stack[-1]):
                return math.nan
    return stack[0]
