"""What comes with the package, as tables for the terminal."""

from collections.abc import Iterable

from rich.markup import escape
from rich.table import Table

from ..agents.base import CompiledAgent
from ..agents.parameters import rules


def problem_table(names: Iterable[str]) -> Table:
    """The problems by name, with the sizes they have by default."""
    from ..mdps.single import SingleMDP
    from ..problems import distribution, parameters_of  # agents are listed without them

    table = Table("name", "parameters", "states", "actions", "MDPs", "description")
    for name in names:
        problem = distribution(name)
        parameters = "\n".join(f"{key}={value}" for key, value in parameters_of(name).items())
        sizes = (str(problem.num_states), str(problem.num_actions))
        mdps = "one" if isinstance(problem, SingleMDP) else "drawn"
        table.add_row(name, parameters, *sizes, mdps, escape(problem.description))
    table.caption = (
        "DeepSea:size=20 has a parameter. Before a name, uniform: makes a prior that knows the "
        "rewards only, and around:20: draws MDPs around it. gym:FrozenLake-v1 is an environment "
        "of Gymnasium."
    )
    return table


def agent_table(agents: dict[str, type[CompiledAgent]]) -> Table:
    """The agents with one line each, and their parameters with meaning and default."""
    table = Table("agent", "parameter", "default", "meaning", show_lines=False)
    for name, agent in agents.items():
        table.add_section()
        table.add_row(f"[bold]{name}[/bold]", "", "", (agent.__doc__ or "").splitlines()[0])
        for parameter, rule in rules(agent).items():
            default = getattr(agent, parameter)
            shown = "" if default is None else str(default)
            table.add_row("", parameter, shown, escape(f"{rule.meaning}; {rule.allowed}"))
    return table
