"""Escapes any text for LaTeX."""
# ruff: noqa: RUF001 (characters that look like others are what this is about)

import re
import unicodedata


class Latex(str):
    """A text that is LaTeX already."""

    __slots__ = ()


_ASCII = {
    **{character: "\\" + character for character in "{}$&%#_"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    # After the end of a row these would be its arguments.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
}
_GREEK = {
    chr(code): f"$\\{name}$"
    for code, name in enumerate(
        "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi omicron pi "
        "rho varsigma sigma tau upsilon varphi chi psi omega".split(),
        start=ord("α"),
    )
} | {"ο": "o", "ϵ": r"$\epsilon$", "Γ": r"$\Gamma$", "Δ": r"$\Delta$", "Θ": r"$\Theta$",
     "Λ": r"$\Lambda$", "Π": r"$\Pi$", "Σ": r"$\Sigma$", "Φ": r"$\Phi$", "Ψ": r"$\Psi$",
     "Ω": r"$\Omega$"}  # fmt: skip
_SYMBOLS = {
    "±": r"$\pm$", "≤": r"$\leq$", "≥": r"$\geq$", "≈": r"$\approx$", "≠": r"$\neq$",
    "∞": r"$\infty$", "×": r"$\times$", "·": r"$\cdot$", "−": "$-$", "→": r"$\to$",
    "√": r"$\surd$", "∈": r"$\in$", "★": r"$\star$", "µ": r"\textmu{}", "°": r"\textdegree{}",
    "…": r"\dots{}", "–": "--", "—": "---", "‘": "`", "’": "'", "“": "``", "”": "''",
    "§": r"\S{}", "²": "$^2$", "³": "$^3$", "ß": r"\ss{}", "æ": r"\ae{}", "ø": r"\o{}",
    "Æ": r"\AE{}", "Ø": r"\O{}", "ł": r"\l{}", "Ł": r"\L{}", "œ": r"\oe{}", "ı": r"\i{}",
    "\N{NO-BREAK SPACE}": "~", "\N{NARROW NO-BREAK SPACE}": r"\,",
}  # fmt: skip
_ACCENTS = {
    "\N{COMBINING GRAVE ACCENT}": "`", "\N{COMBINING ACUTE ACCENT}": "'",
    "\N{COMBINING CIRCUMFLEX ACCENT}": "^", "\N{COMBINING TILDE}": "~",
    "\N{COMBINING DIAERESIS}": '"', "\N{COMBINING RING ABOVE}": "r", "\N{COMBINING CARON}": "v",
    "\N{COMBINING CEDILLA}": "c", "\N{COMBINING MACRON}": "=", "\N{COMBINING BREVE}": "u",
    "\N{COMBINING DOUBLE ACUTE ACCENT}": "H", "\N{COMBINING DOT ABOVE}": ".",
    "\N{COMBINING OGONEK}": "k",
}  # fmt: skip
_KNOWN = {**_ASCII, **_GREEK, **_SYMBOLS}
# Neighbours that a font would join into another character.
_LIGATURES = re.compile(r"(?<=-)(?=-)|(?<=,)(?=,)")


def escape(value: object) -> Latex:
    """A text as LaTeX in ASCII; characters that the fonts lack are shown by their codes."""
    if isinstance(value, Latex):
        return value
    text = unicodedata.normalize("NFC", " ".join(str(value).split()))
    apart = _LIGATURES.sub("\0", text)
    return Latex("".join(_one(character) for character in apart))


def breakable(value: object) -> Latex:
    """As `escape`, for long names, which may break within words after some signs."""
    return Latex(re.sub(r"(\\_|[:/])(?=\S)", r"\1\\allowbreak{}", escape(value)))


def plain(value: object) -> Latex:
    """The letters, digits and harmless signs of a text, for PDF bookmarks."""
    return Latex(re.sub(r"[^A-Za-z0-9 .,:()+-]", "", str(value)))


def _one(character: str) -> str:
    if character in _KNOWN:
        return _KNOWN[character]
    if character == "\0":
        return "{}"
    if " " <= character <= "~":
        return character
    apart = unicodedata.normalize("NFD", character)
    if len(apart) == 2 and apart[0].isascii() and apart[1] in _ACCENTS:
        base = {"i": r"\i", "j": r"\j"}.get(apart[0], apart[0])
        return f"\\{_ACCENTS[apart[1]]}{{{base}}}"
    return f"{{[}}U+{ord(character):04X}{{]}}"
