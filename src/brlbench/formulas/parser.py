"""Reading formulas in infix form: `Qmean/Quniform`, `max(Qself, |Qmean|)`, `-2*(Q0 + ln(Q2))`.

sum     = product { ("+" | "-") product }
product = factor { ("*" | "/") factor }
factor  = "-" factor | number | name | function "(" sum { "," sum } ")" | "(" sum ")" | "|" sum "|"

A minus sign before a number makes a negative number, and 1/x is the inverse of x. The
multiplication sign is read as "*". The functions min, max, avg, sum and product take two or more
values.

After `rpn:`, a formula is in reverse Polish order: `rpn: Qself Qmean abs max`.
"""

import math
import re
from typing import NamedTuple, NoReturn

from ..errors import InvalidInput, did_you_mean, short
from .formula import FEATURES, OPERATORS, UNARY, VARIADIC, Formula, Token, operator

# The paper's names. It doesn't say which is which; its published scores do.
_PAPER_NAMES = {"Q0": "Quniform", "Q1": "Qself", "Q2": "Qmean"}
_VARIADIC = {function: symbol for symbol, function in VARIADIC.items()}
_FUNCTIONS = (*UNARY, *_VARIADIC)
_REVERSE = "rpn:"
_TIMES = "\N{MULTIPLICATION SIGN}"
_MAX_DEPTH = 100
_MAX_TOKENS = 1000
_MAX_LETTERS = 100_000
_MOST_SHOWN = 200  # characters in a message
_PIECE = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[^\W\d]\w*)|(?P<sign>\S)|(?P<end>\Z)"
)
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_WEIGHT = re.compile(r"[^\W\d]\w*")
_OPERAND = "a number, a feature, a function, '(', '|' or '-'"


class _Piece(NamedTuple):
    kind: str
    text: str
    place: int


def parse(text: str, weights: bool = False) -> Formula:
    """Read a formula.

    Args:
        text: the formula in infix form or, after `rpn:`, in reverse Polish order.
        weights: whether other names may occur, which stand for numbers to be given later.
    """
    _check_size(text, len(text), "characters", _MAX_LETTERS)
    if text.lstrip().startswith(_REVERSE):
        return _parse_reverse(text, weights)
    return _Parser(text, weights).formula()


def to_token(word: str) -> str:
    """A feature or an operator by the name used here: Q0 is Quniform, and max2 is max."""
    word = "*" + word[1:] if word.startswith(_TIMES) else word
    name = _PAPER_NAMES.get(word, word)
    return name[:-1] if name[:-1] in VARIADIC and name.endswith("2") else name


def _parse_reverse(text: str, weights: bool) -> Formula:
    words = text.lstrip().removeprefix(_REVERSE).split()
    _check_size(text, len(words), "tokens", _MAX_TOKENS)
    try:
        formula = Formula(tuple(_parse_word(word, weights) for word in words))
        parse(str(formula), weights)  # the infix form, which is kept, has limits of its own
    except InvalidInput as error:
        shown = "" if str(error).startswith("formula ") else f"formula {_show(text)}: "
        raise InvalidInput(f"{shown}{error}") from None
    return formula


def _parse_word(word: str, weights: bool) -> Token:
    """A number, or the token of a word."""
    if _NUMBER.fullmatch(word):
        if not math.isfinite(float(word)):
            raise InvalidInput(f"{short(word)} found: must be a number that is not too large")
        return float(word)
    token = to_token(word)
    if token in FEATURES or operator(token)[1] or (weights and _WEIGHT.fullmatch(token)):
        return token
    known = (*FEATURES, *_PAPER_NAMES, *OPERATORS, "avg")
    raise InvalidInput(
        f"unknown name {short(word)}{did_you_mean(word, known)}: must be a number or one of "
        f"{', '.join(known)}; max3 takes three values"
    )


def _check_size(text: str, size: int, unit: str, most: int) -> None:
    if size > most:
        raise InvalidInput(f"formula {text[:20]!r}…: has {size} {unit}: must have at most {most}")


def _show(text: str) -> str:
    return repr(text) if len(text) < _MOST_SHOWN else f"{text[:_MOST_SHOWN]!r}…"


class _Parser:
    def __init__(self, text: str, weights: bool) -> None:
        self._shown = _show(text)
        self._weights = weights
        self._pieces = [
            _Piece(match.lastgroup or "", match.group(), match.start() + 1)
            for match in _PIECE.finditer(text)
        ]
        _check_size(text, len(self._pieces), "tokens", _MAX_TOKENS)
        self._position = 0
        self._depth = 0
        self._tokens: list[Token] = []

    def formula(self) -> Formula:
        self._sum()
        if self._next.kind != "end":
            self._refuse("an operator or the end")
        return Formula(tuple(self._tokens))

    @property
    def _next(self) -> _Piece:
        return self._pieces[self._position]

    def _take(self) -> _Piece:
        self._position += 1
        return self._pieces[self._position - 1]

    def _take_if(self, *signs: str) -> str:
        return self._take().text if self._next.text in signs else ""

    def _expect(self, sign: str) -> None:
        if not self._take_if(sign):
            self._refuse(f"'{sign}'")

    def _refuse(self, wanted: str) -> NoReturn:
        word = short(self._next.text) if self._next.text else "the end"
        raise InvalidInput(
            f"formula {self._shown}: at character {self._next.place}: {word} found: "
            f"must be {wanted}"
        )

    def _sum(self) -> None:
        self._product()
        while operator := self._take_if("+", "-"):
            self._product()
            self._tokens.append(operator)

    def _product(self) -> None:
        one = self._next.kind == "number" and float(self._next.text) == 1
        first = len(self._tokens)
        self._factor()
        while operator := self._take_if("*", _TIMES, "/"):
            inverted = one and operator == "/"
            if inverted:
                del self._tokens[first]
            one = False
            self._factor()
            self._tokens.append("inverse" if inverted else "/" if operator == "/" else "*")

    def _factor(self) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            self._refuse(f"nested at most {_MAX_DEPTH} deep")
        if self._take_if("-"):
            negative = self._next.kind == "number"
            self._factor()
            if negative:
                self._tokens[-1] = -float(self._tokens[-1])
            else:
                self._tokens.append("opposite")
        elif self._take_if("("):
            self._sum()
            self._expect(")")
        elif self._take_if("|"):
            self._sum()
            self._expect("|")
            self._tokens.append("abs")
        elif self._next.kind == "number":
            self._number()
        elif self._next.kind == "name":
            self._name()
        else:
            self._refuse(_OPERAND)
        self._depth -= 1

    def _number(self) -> None:
        if not math.isfinite(float(self._next.text)):
            self._refuse("a number that is not too large")
        self._tokens.append(float(self._take().text))

    def _name(self) -> None:
        name = self._next.text
        if name in _FUNCTIONS:
            self._take()
            self._expect("(")
            self._sum()
            count = 1
            while name in _VARIADIC and (count == 1 or self._next.text == ","):
                self._expect(",")
                self._sum()
                count += 1
            self._expect(")")
            if count > 1:
                name = to_token(f"{_VARIADIC[name]}{count}")
            self._tokens.append(name)
        elif name in FEATURES or name in _PAPER_NAMES:
            self._take()
            self._tokens.append(_PAPER_NAMES.get(name, name))
        elif self._weights and not operator(name)[1]:
            self._tokens.append(self._take().text)
        else:
            known = (*FEATURES, *_PAPER_NAMES, *_FUNCTIONS)
            raise InvalidInput(
                f"formula {self._shown}: at character {self._next.place}: unknown name "
                f"{short(name)}{did_you_mean(name, known)}: must be one of {', '.join(known)}"
            )
