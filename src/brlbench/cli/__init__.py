"""The command line: it parses, calls the library and prints.

Start-up must be quick, so commands import what they need when they are called.
"""

from typing import Annotated

import typer

from .. import __version__
from . import bounds, checking, entries, formulas, imports, listings, protocol, reports, studies
from .completion import mend_words
from .docstrings import documentation
from .ending import DEBUG, run_to_end
from .flags import Command, Group
from .output import say

app = typer.Typer(
    cls=Group, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="rich"
)


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"brlbench {__version__}")
        raise typer.Exit


@app.callback(help="Measure Bayesian reinforcement-learning agents.")
def options(
    debug: Annotated[
        bool, typer.Option(DEBUG, help="Print the traceback of an error too; for every command.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Declare what `run_to_end` reads, so that the help lists it."""


# In the order of `brlbench --help`.
for _panel, _commands in {
    "First steps": (studies.demo, listings.problems, listings.agents),
    "Studies": (studies.run, studies.status),
    "Reports": (reports.compare, reports.report, reports.compact),
    "Your own agent": (checking.check,),
    "Step by step": (
        protocol.distribution,
        protocol.experiment,
        protocol.train,
        protocol.play,
        bounds.bound,
        formulas.formulas,
        imports.import_,
    ),
}.items():
    for _command in _commands:
        app.command(
            _command.__name__.rstrip("_"),  # import is a word of Python
            cls=Command,
            help=documentation(_command),
            rich_help_panel=_panel,
        )(_command)


app.add_typer(
    entries.app,
    name="entry",
    help="Pack results for a board, and check what others have packed.",
    rich_help_panel="Your own agent",
)


def main() -> None:
    """Run the command line; errors are one sentence, without a traceback."""
    mend_words()
    run_to_end(app)
