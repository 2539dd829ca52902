from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.shared import made_once

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

    from helpers.made_boards import Site


@pytest.fixture(scope="session")
def made_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a leaderboard, made once; only for reading."""
    from helpers.made_boards import board_data, written

    return made_once(tmp_path_factory, "board", lambda folder: written(folder, board_data()))


@pytest.fixture
def site(browser: "Chrome", made_site: Path) -> "Iterator[Site]":
    """The leaderboard in the browser, which must load nothing and log no error."""
    from helpers.made_boards import Site

    site = Site(browser, made_site)
    site.resize(1400)
    site.prefer("light")
    site.errors()  # forgets those of other tests' pages
    yield site
    assert site.errors() == []
    assert site.run("return performance.getEntriesByType('resource').length") == 0
