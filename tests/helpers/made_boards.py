"""Made-up results for tests of leaderboards."""

import base64
import json
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from brlbench.report import board
from brlbench.report.data import ExperimentData, ReportData
from brlbench.results.adjusted import Adjusted
from brlbench.results.learning import Learning
from brlbench.results.result import Stopped
from brlbench.results.summary import RACE
from brlbench.storage.entries import Entry
from helpers.made_results import settings, summary
from helpers.page_browser import Page

RESAMPLES, FEW_RESAMPLES = 40, 20  # of the sites that tests make: most of their time is spent there
HTML = '<img src=x onerror="alert(1)">&amp;\'"</script><script>alert(2)</script>'
BAD_ENTRY = Entry(
    name=f"name {HTML}",
    authors=(f"one {HTML}", "two"),
    description=f"description {HTML}",
    code="javascript:alert(3)",
    commit=f"commit {HTML}",
    paper=f"https://example.org/{HTML}",
    licence=f"licence {HTML}",
)


def contest(
    seed: int, name: str, prior: str | None = None, num_mdps: int = 40, **changes: Any
) -> ExperimentData:
    """Agents of a few algorithms: some lack in Grid, one is slow, one stopped early."""
    rng = np.random.default_rng(seed)
    shared = 3 * rng.normal(size=num_mdps)

    def played(mean: float) -> np.ndarray[Any, np.dtype[np.float64]]:
        return mean + shared + rng.normal(size=num_mdps)

    agents = [
        summary("random", played(0.0), 0.0, 1e-7),
        summary("optimal", played(12.0), 1e-3, 1e-6),
        *(summary("beb", played(4 + n / 2), 1e-3, 2e-6, beta=n) for n in range(3)),
        summary("opps-ds", played(7.0), 30.0, 3e-6, draws=100),
        summary("bamcp", played(8.0), 1e-3, 5e-3, depth=15),
        summary("bamcp", played(6.0), 1e-3, 5e-5, depth=2),
        summary("mine:Agent", played(5.5), 1e-3, 1e-4, text=HTML),
    ]
    if name != "Grid":
        agents.append(summary("psrl", played(3.0)))
    dropped = summary("vdbe", played(2.0)[:20], sigma=1)
    agents.append(replace(dropped, stopped=Stopped(RACE, "left the race")))
    decisions = np.array([1, 10, 100, 250])
    made = [
        replace(
            each,
            quantities={"peak_bytes": 2**20 * (n + 1)},
            adjusted=Adjusted(each.returns - 0.9 * shared[: len(each.returns)], 0.3),
            learning=Learning(decisions, each.returns.mean() * decisions / 250, decisions / 500),
        )
        for n, each in enumerate(agents)
    ]
    told = {**settings(name, num_mdps), **changes}
    if prior is not None:
        told |= {"prior": prior, "prior_digest": prior}
    label = name if prior is None else f"{name} from {prior}"
    return ExperimentData(label, f"hash of {label}", told, made)


def board_data(*more: ExperimentData) -> ReportData:
    """Three experiments, one of them with a wrong prior."""
    contests = [contest(1, "GC"), contest(2, "Grid"), contest(3, "GC", "uniform:GC"), *more]
    [mine] = [each for each in contests[0].summaries if each.algorithm == "mine:Agent"]
    return ReportData(contests, [], {mine.full_label: BAD_ENTRY})


class Site(Page):
    """A leaderboard in the browser."""

    def visit(self, page: str = "index.html", state: str = "") -> None:
        """Open a page of the site anew."""
        self.browser.get("about:blank")
        self.browser.get((self.folder / page).as_uri() + state)

    def column(self, table: str, key: str) -> list[str]:
        """What a column of a table shows, from the top; only the first line of each cell."""
        script = """
        const [id, key] = arguments;
        const table = document.getElementById(id);
        const k = [...table.tHead.rows[0].cells].findIndex((cell) => cell.dataset.key === key);
        return [...table.tBodies[0].rows].map((row) => {
          const cell = row.cells[k];
          return (cell.querySelector(".value") ?? cell.firstChild).textContent.trim();
        });
        """
        return list(self.run(script, table, key))

    def sort(self, table: str, key: str) -> None:
        """Click on the heading of a column."""
        [button] = self.all(f'#{table} th[data-key="{key}"] button')
        self.run("arguments[0].scrollIntoView({block: 'center'}); arguments[0].click()", button)


def content_of(page: str) -> Any:
    """The data in a page, with lists for its arrays."""
    [text] = re.findall(r'<script type="application/json" id="content">(.*?)</script>', page)
    arrays = {}
    for kind, packed in json.loads(text)["arrays"].items():
        raw = np.frombuffer(zlib.decompress(base64.b64decode(packed)), np.uint8)
        arrays[kind] = raw.reshape(np.dtype(kind).itemsize, -1).T.copy().view(f"<{kind}").ravel()

    def unpacked(value: dict[str, Any]) -> Any:
        if "packed" not in value:
            return value
        kind, start, length = value["packed"]
        return arrays[kind][start : start + length].tolist()

    return json.loads(text, object_hook=unpacked)["content"]


def written(folder: Path, data: ReportData) -> dict[str, str]:
    """The pages of a site by name."""
    with patch.multiple(board, RESAMPLES=RESAMPLES, FEW_RESAMPLES=FEW_RESAMPLES):
        pages = board.build(data, folder)
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in pages}
