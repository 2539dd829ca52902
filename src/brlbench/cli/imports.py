"""The command that imports files of the original library."""

from pathlib import Path
from typing import Annotated

import typer

from .completion import problem_names
from .options import Overwrite
from .output import say
from .protocol import Prior


def import_(
    files: Annotated[
        list[Path],
        typer.Argument(help="Experiments, results and agents of the original library, BBRL."),
    ],
    prior: Prior,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file to write; a folder for several.")
    ],
    test: Annotated[
        str | None,
        typer.Option(
            help="What MDPs were drawn from; by default the prior.", autocompletion=problem_names
        ),
    ] = None,
    mdps_only: Annotated[
        bool, typer.Option("--mdps-only", help="Import results as experiments, to play them again.")
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Import experiments and results of the original C++ library, .dat or .dat.zz.

    An experiment becomes one that brlbench play takes, with the same MDPs. A result becomes one
    that compare and report read, with the same rewards. Its agent's file must be given too: the
    only one, or the one whose name ends the result's. Files don't name distributions, so say what
    the agents were trained on, and what the MDPs were drawn from.

    Examples: [bold]brlbench import GC500-exp.dat.zz --prior GC -o gc.parquet[/bold],
    [bold]brlbench import GC500-GC-EGreedy-0.1.dat.zz GC-EGreedy-0.1.dat.zz --prior GC -o
    greedy.parquet[/bold],
    [bold]brlbench import results/Grid*.zz agents/Grid*.zz --prior Grid-distrib.dat -o
    imported[/bold]
    """
    from ..problems import distribution
    from ..storage.original import import_files

    known = distribution(prior)
    drawn_from = known if test is None else distribution(test)
    for path, made in import_files(files, known, drawn_from, output, mdps_only, overwrite):
        say(f"wrote {path}: {made}")
