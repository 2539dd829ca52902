"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Output = Annotated[Path, typer.Option("--output", "-o", help="The file to write.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")]
Parameters = Annotated[
    list[str] | None, typer.Option("--set", "-s", help="A parameter, as name=value; repeatable.")
]
Seed = Annotated[int, typer.Option(min=0, help="The seed of all random numbers.")]
Workers = Annotated[int | None, typer.Option(min=1, help="How many cores to use; all by default.")]
