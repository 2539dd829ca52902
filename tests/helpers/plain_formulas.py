"""Random formulas for property tests, and what they are worth, in plain Python."""

import math
from typing import Any

from hypothesis import strategies as st

from brlbench.agents.formulas import FEATURES, Formula
from brlbench.agents.formulas.formula import BINARY, UNARY

numbers = st.floats(-1e9, 1e9, allow_nan=False).map(lambda x: x + 0.0)
operands = st.one_of(st.sampled_from(FEATURES), numbers).map(lambda token: (token,))
formulas = st.recursive(
    operands,
    lambda shorter: st.one_of(
        st.tuples(shorter, st.sampled_from(list(UNARY))).map(lambda p: (*p[0], p[1])),
        st.tuples(shorter, shorter, st.sampled_from(list(BINARY))).map(
            lambda p: (*p[0], *p[1], p[2])
        ),
    ),
    max_leaves=12,
).map(Formula)

MATHEMATICS: dict[str, Any] = {
    "ln": math.log, "sqrt": math.sqrt, "abs": abs, "min": min, "max": max
}  # fmt: skip


def value_of_tokens(formula: Formula, features: dict[str, float]) -> float:
    """What the tokens say; NaN if it is undefined."""
    stack: list[float] = []
    rules: dict[str, Any] = {
        "inverse": lambda a: 1 / a, "opposite": lambda a: -a, "+": lambda a, b: a + b,
        "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b,
    }  # fmt: skip
    for token in formula.tokens:
        if isinstance(token, float):
            stack.append(token)
        elif token in features:
            stack.append(features[token])
        else:
            count = 2 if token in BINARY else 1
            arguments, stack = stack[-count:], stack[:-count]
            try:
                stack.append((MATHEMATICS | rules)[token](*arguments))
            except (ArithmeticError, ValueError):
                return math.nan
            if not math.isfinite(stack[-1]):
                return math.nan
    return stack[0]
