"""A formula: its tokens in reverse Polish order, and how it is printed.

Some operators take any number of values, which is part of the token: `max` and `avg` take two, and
`max3` and `+4` three and four.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

from ..errors import InvalidInput, short
from . import opcodes

Token = str | float
"""A feature, a weight or an operator by name, or a number."""

FEATURES = ("Qmean", "Qself", "Quniform")
UNARY = {
    "abs": opcodes.ABS,
    "opposite": opcodes.OPPOSITE,
    "sqrt": opcodes.SQRT,
    "ln": opcodes.LN,
    "inverse": opcodes.INVERSE,
}
BINARY = {
    "+": opcodes.ADD,
    "-": opcodes.SUBTRACT,
    "*": opcodes.MULTIPLY,
    "min": opcodes.MIN,
    "max": opcodes.MAX,
    "/": opcodes.DIVIDE,
}
OPERATORS = (*UNARY, *BINARY)
"""The eleven operators of the benchmark's paper."""

VARIADIC = {"+": "sum", "*": "product", "min": "min", "max": "max", "avg": "avg"}
"""The operators of two or more values, with the names of their functions."""

_COUNTED = re.compile(r"(\+|\*|min|max|avg)([3-9]|[1-9][0-9]{1,3})")
# Precedence of a printed part.
_SUM, _PRODUCT, _SIGNED, _ATOM = range(4)


def operator(token: Token) -> tuple[str, int]:
    """The operator of a token and the number of its values; ("", 0) for an operand."""
    if not isinstance(token, str):
        return "", 0
    if token in UNARY:
        return token, 1
    if token in BINARY or token in VARIADIC:
        return token, 2
    match = _COUNTED.fullmatch(token)
    return (match[1], int(match[2])) if match else ("", 0)


@dataclass(frozen=True)
class Formula:
    """A formula; `str` gives its infix form, which `parse` reads back."""

    tokens: tuple[Token, ...]

    def __post_init__(self) -> None:
        # The number of values on the stack after each token.
        heights = list(accumulate(1 - operator(token)[1] for token in self.tokens))
        if min(heights, default=0) < 1 or heights[-1] != 1:
            raise InvalidInput(
                f"{short(list(self.tokens))}: not a formula in reverse Polish order: "
                "each operator must find its operands before it, and one value must remain"
            )

    @property
    def features(self) -> tuple[str, ...]:
        """The features that occur."""
        return tuple(feature for feature in FEATURES if feature in self.tokens)

    @property
    def weights(self) -> tuple[str, ...]:
        """The names that stand for numbers given later, in order of appearance."""
        names = [token for token in self.tokens if isinstance(token, str)]
        weights = (name for name in names if name not in FEATURES and not operator(name)[1])
        return tuple(dict.fromkeys(weights))

    def with_weights(self, values: Mapping[str, float]) -> "Formula":
        """The formula with numbers in place of weights."""
        return Formula(tuple(values.get(t, t) if isinstance(t, str) else t for t in self.tokens))

    def __str__(self) -> str:
        stack: list[tuple[str, int]] = []  # texts and their precedence
        for token in self.tokens:
            symbol, count = operator(token)
            operands, stack = stack[len(stack) - count :], stack[: len(stack) - count]
            if isinstance(token, float):
                stack.append((_number(token), _SIGNED if _number(token)[0] == "-" else _ATOM))
            elif count == 1:
                stack.append(_print_unary(token, *operands[0]))
            elif token in BINARY and token not in ("min", "max"):
                stack.append(_print_binary(token, *operands))
            elif count:
                texts = ", ".join(text for text, _ in operands)
                stack.append((f"{VARIADIC[symbol]}({texts})", _ATOM))
            else:
                stack.append((token, _ATOM))
        return stack[0][0]


def _print_unary(name: str, text: str, level: int) -> tuple[str, int]:
    if name == "opposite":
        # Without brackets the opposite of a number would be read as a negative number.
        plain = level == _ATOM and not text[0].isdigit()
        return f"-{text}" if plain else f"-({text})", _SIGNED
    if name == "inverse":
        return f"1/{_bracketed(text, level, _ATOM)}", _PRODUCT
    return f"{name}({text})", _ATOM


def _print_binary(name: str, left: tuple[str, int], right: tuple[str, int]) -> tuple[str, int]:
    if name in ("+", "-"):
        after = right[0] if right[1] in (_PRODUCT, _ATOM) else f"({right[0]})"
        return f"{left[0]} {name} {after}", _SUM
    before = _bracketed(*left, _PRODUCT)
    if name == "/" and before == "1":  # 1/x is the inverse of x
        before = "(1)"
    return f"{before}{name}{_bracketed(*right, _ATOM)}", _PRODUCT


def _bracketed(text: str, level: int, needed: int) -> str:
    return text if level >= needed else f"({text})"


def _number(value: float) -> str:
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else repr(value)
