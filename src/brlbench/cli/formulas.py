"""The command that makes sets of formulas."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import InvalidInput
from .completion import formula_features, formula_operators
from .options import Overwrite
from .output import errors, say, verbatim


def formulas(
    size: Annotated[
        int, typer.Option(help="Most tokens of a formula: features, constants and operators.")
    ] = 3,
    features: Annotated[
        str,
        typer.Option(
            help="Some of Qmean, Qself and Quniform, with commas.", autocompletion=formula_features
        ),
    ] = "Qmean,Qself,Quniform",
    operators: Annotated[
        str,
        typer.Option(
            help="Some of abs, opposite, sqrt, ln, inverse, +, -, *, min, max, / (the default) "
            "and avg, with commas; max3 takes three values.",
            autocompletion=formula_operators,
        ),
    ] = "abs,opposite,sqrt,ln,inverse,+,-,*,min,max,/",
    constants: Annotated[str, typer.Option(help="Numbers, with commas.")] = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write a JSON file for opps-ds.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Make all formulas of some features, operators and constants, for opps-ds to search.

    Of formulas that rank all actions alike, only the shortest is kept. Without a file to write, the
    formulas are printed.

    Examples: [bold]brlbench formulas --size 2[/bold],
    [bold]brlbench formulas --features Qmean,Qself --operators +,max --constants 1,2 --size 4
    -o mine.json[/bold],
    [bold]brlbench train opps-ds --set formulas=mine.json --prior GC -o agent.json[/bold]
    """
    from ..files import check_free
    from ..formulas import make_formulas

    if output is not None:
        check_free(output, overwrite)
    made = make_formulas(size, _parts(features), _parts(operators), _numbers(constants))
    number = len(made.formulas)
    summary = f"{number:,} formula{'s' * (number != 1)} of at most {size} tokens"
    if output is not None:
        made.write(output, overwrite)
        say(f"wrote {output}: {summary}")
        return
    for formula in made.formulas:
        say(formula)
    errors.print(verbatim(summary))


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in _parts(text)]
    except ValueError:
        raise InvalidInput(f"constants = {text!r}: must be numbers with commas, as 1,2.5") from None
