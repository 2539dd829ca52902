"""The command line: it parses, calls the library and prints.

Start-up must be quick, so commands import what they need when they are called.
"""

import sys

import typer

from ..errors import BrlbenchError
from . import listings, protocol, reports, studies

app = typer.Typer(
    help="Measure Bayesian reinforcement-learning agents.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
# In the order of `brlbench --help`.
for _panel, _commands in {
    "First steps": (studies.demo, listings.problems, listings.agents),
    "Studies": (studies.run, studies.status),
    "Reports": (reports.compare, reports.report, reports.compact),
    "Step by step": (protocol.distribution, protocol.experiment, protocol.train, protocol.play),
}.items():
    for _command in _commands:
        app.command(rich_help_panel=_panel)(_command)


def main() -> None:
    """Run the command line; errors are one sentence, without a traceback."""
    try:
        app()
    except BrlbenchError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
