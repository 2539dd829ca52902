"""The command that checks whether an agent keeps the rules."""

import json
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text
from typer import Option

from ..arguments import counted
from .completion import problem_names
from .options import AgentName, Json, Parameters, Seed
from .output import console, say, verbatim

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..entries import CheckedEntry
    from ..testing import Checked
    from ..testing.findings import Requirement

_VERDICTS = {
    "kept": Text("✓ kept", "green"),
    "broken": Text("✗ broken", "bold red"),
    "doubtful": Text("? doubtful", "yellow"),
    "unknown": Text("… unknown", "dim"),
}


def check(
    agent: AgentName,
    parameters: Parameters = None,
    prior: Annotated[
        str,
        Option(
            help="Where it is played: a name, a file, or uniform:…", autocompletion=problem_names
        ),
    ] = "GC",
    mdps: Annotated[int, Option(help="How many MDPs it plays each time.")] = 4,
    horizon: Annotated[int, Option(help="Decisions per trajectory.")] = 25,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Check whether an agent keeps the rules, so that its results can be trusted.

    A distribution is checked as well: whether its methods are there and agree. The exit code is 1
    if a rule is broken. Agents that train long can be given quick parameters.

    Examples: [bold]brlbench check my_agent:MyAgent[/bold],
    [bold]brlbench check bamcp --set simulations=50[/bold],
    [bold]brlbench check my_problems:River --set slip=0.3[/bold]
    """
    from ..agents import make_agent
    from ..arguments import parse_parameters
    from ..problems import distribution as problem
    from ..problems import is_name
    from ..problems.guests import guest_object, is_path
    from ..protocol.experiment import Experiment
    from ..testing import RULES, Checked, check_rules
    from ..testing.priors import PRIOR_RULES, check_source
    from .bars import rules_bar

    distribution = ":".join(filter(None, [agent, ",".join(parameters or [])]))
    made: Any = None
    if is_name(agent):
        made = problem(distribution)
    elif is_path(distribution):
        made = guest_object(distribution, "agent or distribution")[0]
    if hasattr(made, "sample") and not hasattr(made, "act"):
        checked = Checked(distribution, check_source(made), {})
        _conclude(checked, PRIOR_RULES, as_json)
    experiment = Experiment(prior, num_mdps=mdps, horizon=horizon, seed=seed)
    with redirect_stdout(sys.stderr), rules_bar(agent, RULES) as show:  # agents may print
        candidate = make_agent(agent, **parse_parameters(parameters or []))
        checked = check_rules(candidate, experiment, on_rule=show)
    _conclude(checked, RULES, as_json)


def _conclude(checked: "Checked", rules: "Mapping[str, Requirement]", as_json: bool) -> None:
    """Print the findings and the verdict, and end."""
    broken, rules_checked = checked.broken, counted(len(checked.findings), "rule")
    verdict = f"breaks {len(broken)} of {rules_checked}"
    if waiting := sum(finding.waits for finding in checked.findings.values()):
        verdict += f"; {waiting} can't be judged before"
    if broken:
        _, seen, remedy = checked.findings[broken[0]]
        verdict += f". First: {seen}\n→ {remedy}"
    else:
        verdict = "keeps the rules"
    answer = "\n".join(filter(None, [checked.times, f"{checked.agent} {verdict}"]))
    print_findings(checked, checked.agent, rules, answer, as_json)
    raise typer.Exit(1 if checked.broken else 0)


def print_findings(
    checked: "Checked | CheckedEntry",
    title: str,
    requirements: "Mapping[str, Requirement]",
    answer: str,
    as_json: bool,
) -> None:
    """Print a line per requirement: the verdict, what was seen, and the remedy; or JSON."""
    if as_json:
        print(json.dumps(checked.to_json(), indent=2))
        return
    table = Table("verdict", "rule", "what was seen", box=box.SIMPLE_HEAD, pad_edge=False)
    table.title, table.title_justify = verbatim(title, "bold"), "left"
    for name, finding in checked.findings.items():
        if finding.waits:
            continue
        verdict, seen, remedy = finding
        advice = verbatim(f"\n→ {remedy}" if remedy else "", "bold")
        text = Text.assemble(verbatim(seen), advice)
        table.add_row(_VERDICTS[verdict], requirements[name].statement, text)
    console.print(table)
    say(answer)
