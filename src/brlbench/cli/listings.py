"""Commands that list what comes with the package: problems, agents."""

from rich.markup import escape
from rich.table import Table

from .docstrings import documentation
from .output import console


def problems() -> None:
    """List the distributions over MDPs that come with the package.

    Example: [bold]brlbench problems[/bold]
    """
    console.print(problem_table())


def agents() -> None:
    """List the agents with their parameters.

    Example: [bold]brlbench agents[/bold]
    """
    console.print(agent_table())


def problem_table() -> Table:
    """The problems with their parameters and default sizes."""
    from ..mdps.single import SingleMDP
    from ..problems import PROBLEMS, distribution, parameters_of

    table = Table("name", "parameters", "states", "actions", "MDPs", "description")
    for name in PROBLEMS:
        problem = distribution(name)
        parameters = "\n".join(f"{key}={value}" for key, value in parameters_of(name).items())
        sizes = (str(problem.num_states), str(problem.num_actions))
        mdps = "one" if isinstance(problem, SingleMDP) else "drawn"
        table.add_row(name, parameters, *sizes, mdps, escape(problem.description))
    table.caption = (
        "DeepSea:size=20 sets a parameter. Before a name, uniform: makes a prior that knows only "
        "the rewards, and around:20: draws MDPs around the problem. gym:FrozenLake-v1 is an "
        "environment of Gymnasium."
    )
    return table


def agent_table() -> Table:
    """The agents with one line each, and the meaning and default of their parameters."""
    from ..agents import AGENTS
    from ..agents.parameters import rules

    table = Table("agent", "parameter", "default", "meaning", show_lines=False)
    for name, agent in AGENTS.items():
        table.add_section()
        summary, _, _ = documentation(agent).partition("\n")
        table.add_row(f"[bold]{name}[/bold]", "", "", escape(summary))
        for parameter, rule in rules(agent).items():
            default = getattr(agent, parameter)
            shown = "" if default is None else str(default)
            table.add_row("", parameter, shown, escape(f"{rule.meaning}; {rule.allowed}"))
    return table
