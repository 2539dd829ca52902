"""The command that makes a leaderboard."""

from pathlib import Path
from typing import Annotated

import typer

from .options import Overwrite
from .output import say
from .reports import Results


def leaderboard(
    results: Results,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write.")],
    overwrite: Overwrite = False,
) -> None:
    """Make a leaderboard: a site that compares all agents over all experiments.

    An overview has scores, ranks, times, memory and aggregates over the experiments; agents and
    problems have pages of their own. Pages need no network: open index.html, or put the folder on
    any web server. Results, compact files and entries can be mixed; nothing in them is run.

    Examples: [bold]brlbench leaderboard reproduction/results.parquet --output site[/bold],
    [bold]brlbench leaderboard results mine.entry.parquet -o site --overwrite[/bold]
    """
    from ..report.board import build
    from ..report.loading import load
    from .answers import print_notes
    from .bars import files_bar

    with files_bar() as show:
        data = load(*results, learning=True)
        pages = build(data, output, overwrite, show)
    say(f"wrote {len(pages)} pages: open {pages[0]}")
    print_notes(data.notes_on(data.experiments), in_full=False, how="the overview lists all")
