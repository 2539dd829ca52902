"""The command line: it parses, calls the library and prints.

Start-up must be quick, so commands import what they need when they are called.
"""

from typing import Annotated

import typer

from . import listings, protocol, reports, studies
from .docstrings import documentation
from .ending import DEBUG, run_to_end

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="rich")


@app.callback(help="Measure Bayesian reinforcement-learning agents.")
def options(
    debug: Annotated[
        bool, typer.Option(DEBUG, help="Print the traceback of an error too; for every command.")
    ] = False,
) -> None:
    """Declare what `run_to_end` reads, so that the help lists it."""


# In the order of `brlbench --help`.
for _panel, _commands in {
    "First steps": (studies.demo, listings.problems, listings.agents),
    "Studies": (studies.run, studies.status),
    "Reports": (reports.compare, reports.report, reports.compact),
    "Step by step": (protocol.distribution, protocol.experiment, protocol.train, protocol.play),
}.items():
    for _command in _commands:
        app.command(help=documentation(_command), rich_help_panel=_panel)(_command)


def main() -> None:
    """Run the command line; errors are one sentence, without a traceback."""
    run_to_end(app)
