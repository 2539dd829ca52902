"""The leaderboard: a site of pages that hold all they need, made from results.

It reads results only, and trusts nothing in them: texts are escaped, names are not imported.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from ...errors import InvalidInput
from ..build import Make, Show, write_files
from ..data import ReportData
from ..loading import Sources, load
from .aggregation import FEW_RESAMPLES, RESAMPLES, Aggregation
from .field import Field, field_of
from .pages import agent_page, overview_page, problem_page
from .positions import positions_in


def leaderboard(results: Sources, folder: str | Path, *, overwrite: bool = False) -> list[Path]:
    """Write a leaderboard: pages that compare all agents over all experiments.

    Args:
        results: results, or files and folders with results, compact files and entries among them.
        folder: where the pages go; open its `index.html`.
        overwrite: whether files of an older leaderboard may be replaced.
    """
    return build(load(results, learning=True), Path(folder), overwrite)


def build(
    data: ReportData,
    folder: Path,
    overwrite: bool = False,
    show: Show = lambda name, done, total: None,
) -> list[Path]:
    """Write the pages; returns their paths, the overview first.

    Nothing is written if a file is in the way.
    """
    field = field_of(data)
    if not any(contest.comparison.summaries for contest in field.contests):
        raise InvalidInput("there are no agents to compare: the results are of the reference only")
    *others, overview = write_files(folder, dict(_pages(field)), overwrite, show)[0]
    return [overview, *others]


def _pages(field: Field) -> Iterator[tuple[str, Make]]:
    """The names of the pages, each with the function that makes it."""
    best, single = (Aggregation(field.contests, number) for number in (RESAMPLES, FEW_RESAMPLES))
    positions = {each.number: positions_in(field, single, each) for each in field.contests}
    drawings: dict[str, str | None] = {}
    for contest in field.contests:
        page = partial(problem_page, field, contest, positions[contest.number], drawings)
        yield f"problems/{contest.page}.html", page
    for agent in field.agents:
        yield f"agents/{agent.page}.html", partial(agent_page, field, agent, positions)
    yield (
        "index.html",
        partial(overview_page, field, best, single),
    )  # last: its links lead somewhere
