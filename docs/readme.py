"""Write the README's table of agents from the registry: `scripts/docs` runs it.

With `--check` nothing is written; the exit code says whether the table is up to date.
"""

import inspect
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import brlbench as bb

README = Path(__file__).parents[1] / "README.md"
_HEAD = ("name", "what it does", "reference")


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def agent_table(link: str) -> str:
    """The built-in agents, each linked to its page: `link` with the agent's name in it."""
    return table(
        _HEAD,
        (
            (f"[`{name}`]({link.format(name=name)})", _first_line(agent), agent.reference)
            for name, agent in bb.AGENTS.items()
        ),
    )


def _first_line(agent: type) -> str:
    return (inspect.getdoc(agent) or "").splitlines()[0]


def updated(text: str) -> str:
    """The README with the table of today's agents in its place."""
    rows = r"\| name \| what it does \| reference \|\n(\|.*\n)+"
    made = agent_table(link="docs/algorithms/{name}.md") + "\n"
    new, found = re.subn(rows, lambda _: made, text)
    assert found == 1, "the README has no table of agents"
    return new


def main(arguments: list[str]) -> None:
    """Write the table, or check it."""
    text = README.read_text()
    if arguments != ["--check"]:
        README.write_text(updated(text))
    elif text != updated(text):
        sys.exit("README.md: its table of agents is not the registry's: run scripts/docs")


if __name__ == "__main__":
    main(sys.argv[1:])
