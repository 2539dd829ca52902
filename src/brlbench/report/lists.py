"""What comes with the package, as tables for the terminal."""

from rich.markup import escape
from rich.table import Table

from ..agents.base import CompiledAgent
from ..agents.parameters import rules
from ..prior import FlatDirichlet


def problem_table(problems: dict[str, FlatDirichlet]) -> Table:
    """The problems by name."""
    table = Table("name", "states", "actions", "possible transitions", "description")
    for name, problem in problems.items():
        sizes = (problem.num_states, problem.num_actions, len(problem.counts.values))
        table.add_row(name, *map(str, sizes), escape(problem.description))
    table.caption = "Before each name, uniform: makes a prior that knows the rewards only."
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
