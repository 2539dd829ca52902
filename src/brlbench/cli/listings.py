"""Commands that list what comes with the package: problems, agents."""

import textwrap
from typing import Annotated, Any

from rich import box
from rich.markup import escape
from rich.table import Table
from rich.text import Text
from typer import Argument

from .commands import documentation
from .completion import agent_names, problem_names
from .output import console, say


def problems(
    name: Annotated[
        str | None,
        Argument(help="Only this problem; it may have parameters.", autocompletion=problem_names),
    ] = None,
) -> None:
    """List the distributions over MDPs that come with the package, or show one.

    Examples: [bold]brlbench problems[/bold], [bold]brlbench problems DeepSea:size=20[/bold]
    """
    console.print(problem_table(name))


def agents(
    name: Annotated[
        str | None,
        Argument(help="Only this agent, with its parameters.", autocompletion=agent_names),
    ] = None,
) -> None:
    """List the agents, or show one with its parameters.

    Examples: [bold]brlbench agents[/bold], [bold]brlbench agents bamcp[/bold]
    """
    if name is None:
        _print_agents()
    else:
        _print_agent(name)


def problem_table(only: str | None = None) -> Table:
    """The problems, or one of them, with their parameters and sizes."""
    from .. import plugins
    from ..beliefs.flat.single import SingleMDP
    from ..problems import PREFIXES, PROBLEMS, distribution, parameters_of

    table = Table("name", "parameters", "states", "actions", "MDPs", "description")
    for name in PROBLEMS if only is None else [only]:
        problem = distribution(name)
        kind = PREFIXES.sub("", name, count=1).partition(":")[0]
        defaults = parameters_of(kind) if kind in PROBLEMS else {}
        parameters = "\n".join(f"{key}={value}" for key, value in defaults.items())
        sizes = (str(problem.num_states), str(problem.num_actions))
        mdps = "one" if isinstance(problem, SingleMDP) else "drawn"
        table.add_row(name, parameters, *sizes, mdps, escape(problem.description))
    for name, path in plugins.listed(plugins.PROBLEMS).items() if only is None else ():
        table.add_row(name, "", "", "", "", f"{path}, of an installed package")
    table.caption = (
        "DeepSea:size=20 sets a parameter. Before a name, uniform: makes a prior that knows only "
        "the rewards, mixed:0.25: one that is a quarter uniform, scaled:10: one that is ten times "
        "as certain; around:20: draws MDPs around the problem, and shuffled:20: does so with "
        "actions in another order. gym:FrozenLake-v1 is an environment of Gymnasium."
    )
    return table


def _print_agents() -> None:
    """One line per agent, which is cut where the terminal is narrow."""
    from .. import plugins
    from ..agents import AGENTS

    width = max(map(len, AGENTS))
    for name, agent in AGENTS.items():
        room = max(10, console.width - width - 2)
        short = textwrap.shorten(_first_line(agent), room, placeholder=" …")
        line = Text.assemble((name.ljust(width), "bold"), "  ", short)
        console.print(line, no_wrap=True, overflow="ellipsis")
    for name, path in plugins.listed(plugins.AGENTS).items():
        say(f"{name}  {path}, of an installed package")
    say("\nbrlbench agents NAME shows one of them with its parameters.")


def _print_agent(name: str) -> None:
    from .. import plugins
    from ..agents.registry import AGENTS, built_in

    if name not in AGENTS and (path := plugins.listed(plugins.AGENTS).get(name)):
        _print_plugin(name, path)
        return
    agent = built_in(name, ', or "module:Class"')
    reference = f" ({agent.reference})" if agent.reference else ""
    console.print(f"[bold]{name}[/bold]: {escape(_first_line(agent) + reference)}")
    table = parameter_table(name)
    if table.row_count:
        console.print(table)
    say(f"Example: brlbench train {name} --prior GC --output {name}.json")
    if table.row_count:
        say("Give parameters with --set name=value, or in a study as parameters.name = value.")


def _print_plugin(name: str, path: str) -> None:
    """Print what an agent of an installed package is, which is imported for that."""
    from ..agents.registry import constructor_parameters
    from ..arguments import import_named

    kind: Any = import_named(path, "agent")
    say(f"{name} ({path}): {_first_line(kind)}")
    for each in constructor_parameters(kind):
        say(f"  {each.name}" + ("" if each.default is each.empty else f" = {each.default!r}"))
    say(f"Example: brlbench check {name}")


def parameter_table(name: str) -> Table:
    """The parameters of a built-in agent: defaults, meanings and limits."""
    from ..agents.parameters import declarations
    from ..agents.registry import built_in

    agent = built_in(name)
    rules = declarations(agent)
    table = Table("parameter", "default", "meaning", "must be", box=box.SIMPLE_HEAD)
    table.padding, table.pad_edge = (0, 1, 0, 0), False
    table.columns[0].min_width = max(map(len, rules), default=0)
    for parameter, rule in rules.items():
        default = getattr(agent, parameter)
        cells = ("" if default is None else str(default), rule.meaning, rule.kind.allowed)
        table.add_row(parameter, *map(escape, cells))
    return table


def _first_line(agent: type) -> str:
    return documentation(agent).partition("\n")[0]
