"""The leaderboard: a site of pages that hold all they need, made from results.

It reads results only, and trusts nothing in them: texts are escaped, names are not imported.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from ...errors import InvalidInput
from ...files import atomic_write, check_free, make_folder
from ..compare import Given, gather
from ..data import ReportData
from .aggregation import FEW_RESAMPLES, RESAMPLES, Aggregation
from .field import Field, field_of
from .pages import agent_page, overview_page, problem_page
from .positions import positions_in

Show = Callable[[str, int, int], None]
"""Progress callback(page, done, total)."""


def leaderboard(
    results: Given | Iterable[Given], folder: str | Path, *, overwrite: bool = False
) -> list[Path]:
    """Write a leaderboard: pages that compare all agents over all experiments.

    Args:
        results: results, or files and folders with results, compact files and entries among them.
        folder: where the pages go; open its `index.html`.
        overwrite: whether files of an older leaderboard may be replaced.
    """
    return build(gather(results, learning=True), Path(folder), overwrite)


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
    pages = dict(_pages(field))
    for name in pages:
        make_folder((folder / name).parent)
        check_free(folder / name, overwrite)
    for done, (name, make) in enumerate(pages.items()):
        show(name, done, len(pages))
        atomic_write(folder / name, make().encode(), overwrite)
    return [folder / name for name in pages]


def _pages(field: Field) -> Iterator[tuple[str, Callable[[], str]]]:
    """The names of the pages, each with the function that makes it."""
    best, single = (Aggregation(field.contests, number) for number in (RESAMPLES, FEW_RESAMPLES))
    positions = {each.number: positions_in(field, single, each) for each in field.contests}
    yield "index.html", partial(overview_page, field, best, single)
    drawings: dict[str, str | None] = {}
    for contest in field.contests:
        page = partial(problem_page, field, contest, positions[contest.number], drawings)
        yield f"problems/{contest.page}.html", page
    for agent in field.agents:
        yield f"agents/{agent.page}.html", partial(agent_page, field, agent, positions)
