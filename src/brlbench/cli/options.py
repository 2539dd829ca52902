"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer


def problem_names(incomplete: str) -> list[str]:
    """Distributions whose names begin like this, for completion in the shell."""
    from ..problems import PROBLEMS

    names = [*PROBLEMS, *(f"uniform:{name}" for name in PROBLEMS)]
    return [name for name in names if name.startswith(incomplete)]


def agent_names(incomplete: str) -> list[str]:
    """Agents whose names begin like this, for completion in the shell."""
    from ..agents import AGENTS

    return [name for name in AGENTS if name.startswith(incomplete)]


Output = Annotated[Path, typer.Option("--output", "-o", help="The file to write.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")]
Parameters = Annotated[
    list[str] | None, typer.Option("--set", "-s", help="A parameter, as name=value; repeatable.")
]
Seed = Annotated[int, typer.Option(min=0, help="The seed of all random numbers.")]
Workers = Annotated[int | None, typer.Option(min=1, help="How many cores to use; all by default.")]
