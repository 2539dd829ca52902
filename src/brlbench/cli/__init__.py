"""The command line: it parses, calls the library and prints.

Start-up must be quick, so commands import what they need when they are called.
"""

from collections.abc import Callable
from typing import Annotated

import typer
from typer import Option

from .. import __version__
from . import checking, entries, listings, projects, reports, steps, studies
from .commands import Group, add_command
from .completion import mend_words
from .ending import DEBUG, run_to_end
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
        bool, Option(DEBUG, help="Print the traceback of an error too; for every command.")
    ] = False,
    version: Annotated[
        bool,
        Option(
            "--version", help="Print the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Declare what `run_to_end` reads, so that the help lists it."""


_PANELS: dict[str, tuple[Callable[..., None], ...]] = {  # in the order of `brlbench --help`
    "First steps": (studies.demo, listings.problems, listings.agents),
    "Studies": (studies.run, studies.status, studies.retime),
    "Reports": (reports.compare, reports.report, reports.compact, reports.leaderboard),
    "Your own agent": (projects.new, checking.check),
    "Step by step": (
        steps.distribution,
        steps.experiment,
        steps.train,
        steps.play,
        steps.bound,
        steps.formulas,
        steps.import_,
    ),
}
for _panel, _commands in _PANELS.items():
    for _command in _commands:
        add_command(app, _command, _panel)
app.add_typer(entries.app, name="entry", help=entries.HELP, rich_help_panel="Your own agent")


def main() -> None:
    """Run the command line; errors are one sentence, without a traceback."""
    mend_words()
    run_to_end(app)
