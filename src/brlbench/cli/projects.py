"""The command that makes a project with an agent of one's own."""

import re
import sys
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..errors import InvalidInput
from .output import say

_FILES = {  # of the project, by the file that is shipped; my_agent stands for the module
    "pyproject.txt": "pyproject.toml",
    "README.txt": "README.md",
    "agent.txt": "src/my_agent/__init__.py",
    "test_agent.txt": "tests/test_my_agent.py",
    "study.txt": "study.toml",
    "workflow.txt": ".github/workflows/test.yml",
}
_SHIPPED = Path(__file__).parent / "shipped/project"


def new(
    name: Annotated[str, Argument(help="The agent's name, in small letters, such as my-agent.")],
    output: Annotated[
        Path | None, Option("--output", "-o", help="The folder to make; by default ./NAME.")
    ] = None,
) -> None:
    """Make a project with an agent of your own: a package, a test, a study and a workflow.

    Once it is installed, `brlbench agents` lists the agent.

    Example: [bold]brlbench new my-agent[/bold]
    """
    from ..agents import AGENTS
    from ..files import atomic_write, make_folder
    from .running import print_next

    module = name.replace("-", "_")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise InvalidInput(
            f"name = {name!r}: must be small letters and digits, and begin with a letter; hyphens "
            "join words, as in my-agent"
        )
    if name in AGENTS or module in {*sys.stdlib_module_names, "brlbench"}:
        raise InvalidInput(f"name = {name!r}: there is one already: choose another, as my-{name}")
    folder = output or Path(name)
    if folder.exists():
        raise InvalidInput(f"{folder} exists already: choose another folder with --output")
    kind = "".join(word.capitalize() for word in name.split("-"))
    for shipped, place in _FILES.items():
        text = (_SHIPPED / shipped).read_text(encoding="utf-8")
        for example, own in {"my-agent": name, "my_agent": module, "MyAgent": kind}.items():
            text, place = text.replace(example, own), place.replace(example, own)
        make_folder((folder / place).parent)
        atomic_write(folder / place, text.encode())
    say(f"made {folder}; the agent is in {folder / 'src' / module / '__init__.py'}")
    print_next(
        {
            f"cd {folder} && pip install --editable '.[test]'": "brlbench agents then lists it",
            "python -m pytest": "does it keep the rules, and does it learn?",
            "brlbench run study.toml --results results": "plays the study",
        }
    )
