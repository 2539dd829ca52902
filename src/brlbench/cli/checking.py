"""The command that checks whether an agent keeps the rules."""

import json
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from .completion import agent_names, problem_names
from .options import Parameters, Seed
from .output import console, errors, say, verbatim

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..testing import Checked
    from ..testing.findings import Finding, Requirement

_VERDICTS = {
    "kept": Text("✓ kept", "green"),
    "broken": Text("✗ broken", "bold red"),
    "doubtful": Text("? doubtful", "yellow"),
    "unknown": Text("… unknown", "dim"),
}


def check(
    agent: Annotated[
        str, typer.Argument(help="An agent's name, or module:Class.", autocompletion=agent_names)
    ],
    parameters: Parameters = None,
    prior: Annotated[
        str,
        typer.Option(
            help="Where it is played: a name, a file, or uniform:…", autocompletion=problem_names
        ),
    ] = "GC",
    mdps: Annotated[int, typer.Option(help="How many MDPs it plays each time.")] = 4,
    horizon: Annotated[int, typer.Option(help="Decisions per trajectory.")] = 25,
    seed: Seed = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Check whether an agent keeps the rules, so that its results can be trusted.

    The exit code is 1 if it breaks one. Agents that train long can be given quick parameters.

    Examples: [bold]brlbench check my_agent:MyAgent[/bold],
    [bold]brlbench check bamcp --set simulations=50[/bold]
    """
    from ..agents import make_agent
    from ..arguments import parse_parameters
    from ..protocol.experiment import Experiment
    from ..testing import check_rules

    experiment = Experiment(prior, num_mdps=mdps, horizon=horizon, seed=seed)
    with redirect_stdout(sys.stderr), errors.status("playing …"):  # agents may print
        made = make_agent(agent, **parse_parameters(parameters or []))
        checked = check_rules(made, experiment)
    _print(checked, as_json)
    raise typer.Exit(1 if checked.broken else 0)


def _print(checked: "Checked", as_json: bool) -> None:
    from ..testing import RULES

    if as_json:
        print(json.dumps(checked.to_json(), indent=2))
        return
    console.print(findings_table(checked.agent, checked.findings, RULES))
    for line in filter(None, [checked.times, _answer(checked)]):
        say(line)


def findings_table(
    title: str, findings: "Mapping[str, Finding]", requirements: "Mapping[str, Requirement]"
) -> Table:
    """A line per requirement: the verdict, what was seen, and what to do about it."""
    table = Table("verdict", "rule", "what was seen", box=box.SIMPLE_HEAD, pad_edge=False)
    table.title, table.title_justify = verbatim(title, "bold"), "left"
    for name, (verdict, seen, remedy) in findings.items():
        advice = verbatim(f"\n→ {remedy}" if remedy else "", "bold")
        text = Text.assemble(verbatim(seen), advice)
        table.add_row(_VERDICTS[verdict], requirements[name].statement, text)
    return table


def _answer(checked: "Checked") -> str:
    if not checked.broken:
        return f"{checked.agent} keeps the rules"
    return f"{checked.agent} breaks {len(checked.broken)} of {len(checked.findings)} rules"
