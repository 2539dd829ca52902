"""Agents and problems of installed packages, by their entry points.

Nothing is imported to list them. A package names its agents in `pyproject.toml`:

    [project.entry-points."brlbench.agents"]
    my-agent = "my_agent:MyAgent"
"""

from importlib.metadata import entry_points

AGENTS, PROBLEMS = "brlbench.agents", "brlbench.problems"
"""The groups of entry points."""


def listed(group: str) -> dict[str, str]:
    """The `module:name` of each entry, by its own name; of two packages, the first one's."""
    entries = [each for each in entry_points(group=group) if each.attr]
    return {each.name: f"{each.module}:{each.attr}" for each in reversed(entries)}
