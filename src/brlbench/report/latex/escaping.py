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
}
_OTHERS = r"""
    ο o  ϵ $\epsilon$  Γ $\Gamma$  Δ $\Delta$  Θ $\Theta$  Λ $\Lambda$  Π $\Pi$  Σ $\Sigma$
    Φ $\Phi$  Ψ $\Psi$  Ω $\Omega$  ± $\pm$  ≤ $\leq$  ≥ $\geq$  ≈ $\approx$  ≠ $\neq$
    ∞ $\infty$  × $\times$  · $\cdot$  − $-$  → $\to$  √ $\surd$  ∈ $\in$  ★ $\star$
    µ \textmu{}  ° \textdegree{}  … \dots{}  – --  — ---  ‘ `  ’ '  “ ``  ” ''  § \S{}
    ² $^2$  ³ $^3$  ß \ss{}  æ \ae{}  ø \o{}  Æ \AE{}  Ø \O{}  ł \l{}  Ł \L{}  œ \oe{}  ı \i{}
"""
_SYMBOLS: dict[str, str] = {
    **dict(re.findall(r"(\S) (\S+)", _OTHERS)),
    "\N{NO-BREAK SPACE}": "~",
    "\N{NARROW NO-BREAK SPACE}": r"\,",
}
# Grave, acute, circumflex, tilde, diaeresis, ring, caron, cedilla, macron, breve, double acute, dot
# above and ogonek, as they follow a letter in Unicode and precede it in LaTeX.
_ACCENTS = dict(
    zip(
        "\u0300\u0301\u0302\u0303\u0308\u030a\u030c\u0327\u0304\u0306\u030b\u0307\u0328",
        "`'^~\"rvc=uH.k",
        strict=True,
    )
)
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
