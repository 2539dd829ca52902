"""Figures as tables."""

from collections.abc import Iterable, Mapping
from typing import Any

from rich.table import Table


def table(topic: str, figures: Iterable[dict[str, Any]]) -> Table:
    """A topic's figures: median, spread, ratios and targets."""
    made = Table(title=topic, title_justify="left")
    made.add_column("")
    for heading in ("median", "min", "quartiles", "x plain", "of bound", "target"):
        made.add_column(heading, justify="right")
    for figure in figures:
        low, high = figure["quartiles"]
        ratios = figure["ratios"]
        made.add_row(
            _name(figure),
            f"{_number(figure['median'])} {figure['unit']}",
            _number(figure["min"]),
            f"{_number(low)} to {_number(high)}",
            _number(ratios["plain"]),
            _number(ratios["bound"]),
            _target(figure),
        )
    return made


def exponent_table(exponents: dict[str, float]) -> Table:
    """How times grow."""
    made = Table("series", "exponent", title="exponents", title_justify="left")
    for series, exponent in exponents.items():
        made.add_row(series, f"{exponent:.2f}")
    return made


def ratio_table(measured: Iterable[Mapping[str, str]]) -> str:
    """How many times faster than the original library agents are, per experiment, as Markdown."""
    ratios: dict[str, dict[str, str]] = {}
    for row in measured:
        ratio = float(f"{float(row['ratio']):.2g}")
        ratios.setdefault(row["agent"], {})[row["prior"]] = f"{ratio:g}x"
    priors = list(dict.fromkeys(prior for row in ratios.values() for prior in row))
    lines = [["agent", *priors], ["---"] + ["---:"] * len(priors)]
    lines += [[agent, *(row.get(prior, "") for prior in priors)] for agent, row in ratios.items()]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _name(figure: dict[str, Any]) -> str:
    rate = figure["a_second"]
    return f"{figure['name']} ({rate:,.0f} per second)" if rate else str(figure["name"])


def _target(figure: dict[str, Any]) -> str:
    """The target, and whether it is reached."""
    if figure["most"] is not None:
        return _mark(figure["median"] <= figure["most"], f"≤ {figure['most']:g} {figure['unit']}")
    return ""


def _mark(is_reached: bool, text: str) -> str:
    return text if is_reached else f"{text} missed"


def _number(value: float | None) -> str:
    """Three digits."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
