"""Commands for entries: results that others can list on a board."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from ..arguments import counted
from ..errors import InvalidInput
from .checking import print_findings
from .commands import Group, add_command
from .options import Json, Output, Overwrite, Results
from .output import say

if TYPE_CHECKING:
    from ..entries import CheckedEntry

app = typer.Typer(cls=Group, no_args_is_help=True, rich_markup_mode="rich")

HELP = """Pack results for a board, and check what others have packed.

Examples: [bold]brlbench entry new results -o mine.entry.parquet[/bold],
[bold]brlbench entry check mine.entry.parquet[/bold]
"""
_QUESTIONS = {
    "name": "What the agent is called",
    "author": "Authors, separated by semicolons",
    "description": "What it does, in a few sentences",
    "licence": "The licence of its code, such as MIT",
    "code": "The address of its code",
    "commit": "The commit that was played",
    "paper": "The address of a paper (Enter for none)",
}


def new(
    results: Results,
    output: Output,
    name: Annotated[str | None, Option(help="What the agent is called.")] = None,
    author: Annotated[list[str] | None, Option(help="Who made it; repeatable.")] = None,
    description: Annotated[str | None, Option(help="Some sentences on what it does.")] = None,
    licence: Annotated[str | None, Option(help="Its code's licence, such as MIT.")] = None,
    code: Annotated[str | None, Option(help="The address of its code.")] = None,
    commit: Annotated[str | None, Option(help="Its version: the hash of a commit.")] = None,
    paper: Annotated[str | None, Option(help="The address of a paper.")] = None,
    only: Annotated[
        list[str] | None, Option(help="Pack only results of this algorithm; repeatable.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Pack results on frozen sets into one file, to be listed beside those of others.

    The file holds returns, times, memory, learning curves, machines and versions. In a terminal,
    you are asked for what you don't give as an option.

    Example: [bold]brlbench entry new results --only my_agent:Thompson -o mine.entry.parquet[/bold]
    """
    from ..entries.packing import check_name, has_own, pack, select
    from ..storage.entries import Entry

    check_name(output, overwrite)
    selection = select(results, only or [])
    texts = {"name": name, "author": ";".join(author or []), "description": description}
    texts |= {"licence": licence, "code": code, "commit": commit, "paper": paper}
    answers = _complete(texts, has_own(selection))
    authors = [each.strip() for each in answers.pop("author").split(";")]
    pack(output, Entry(authors=tuple(filter(None, authors)), **answers), selection, overwrite)
    say(f"wrote {output}: check it with brlbench entry check {output}")


def _complete(texts: Mapping[str, str | None], needs_code: bool) -> dict[str, str]:
    """The texts of an entry; in a terminal, the user is asked for missing ones."""
    needed = ["name", "author", "description", "licence", *(["code", "commit"] * needs_code)]
    missing = [name for name in needed if not texts[name]]
    if missing and not (sys.stdin and sys.stdin.isatty()):
        options = ", ".join(f"--{name}" for name in missing)
        raise InvalidInput(f"the entry lacks {options}: give these options, or use a terminal")
    answers = dict(texts)
    for name in [*missing, *(["paper"] if missing and texts["paper"] is None else [])]:
        default = "" if name == "paper" else None
        answer = typer.prompt(_QUESTIONS[name], default=default, show_default=False, err=True)
        answers[name] = str(answer).strip()
    return {name: answer or "" for name, answer in answers.items()}


def check(
    entry: Annotated[Path, Argument(help="The entry's file.")],
    agent: Annotated[
        list[str] | None,
        Option(help="Run this class of an agent that is not built in; repeatable."),
    ] = None,
    replay: Annotated[
        int, Option(min=0, help="How many MDPs to play again, per agent and set.")
    ] = 3,
    within: Annotated[str, Option(help="How long replays may take, such as 5m.")] = "5m",
    seed: Annotated[
        int | None, Option(min=0, help="The seed that chooses MDPs; random by default.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check whether an entry can be listed: sets, hashes, returns, texts and more.

    Built-in agents are played again on a few MDPs. Code of others is run only if you name it with
    [bold]--agent[/bold]. The exit code is 1 if the entry is refused.

    Examples: [bold]brlbench entry check mine.entry.parquet[/bold],
    [bold]brlbench entry check mine.entry.parquet --agent my_agent:Thompson --replay 10[/bold]
    """
    from ..entries import CHECKS, check_entry
    from .bars import files_bar

    with files_bar() as show:
        checked = check_entry(
            entry, agent or [], replay=replay, within=within, seed=seed, on_replay=show
        )
    print_findings(checked, checked.path, CHECKS, _answer(checked), as_json)
    raise typer.Exit(0 if checked.accepted else 1)


def _answer(checked: "CheckedEntry") -> str:
    if checked.refused:
        return (
            f"refused: {len(checked.refused)} of {counted(len(checked.findings), 'check')} failed"
        )
    name = "" if checked.entry is None else checked.entry.name
    if checked.unknown:
        return f"accepted: {name}; not checked: {', '.join(checked.unknown)}"
    return f"accepted: {name}"


for _command in (new, check):
    add_command(app, _command)
