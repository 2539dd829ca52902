"""What pages say about the library is true, and no page needs a program to be read."""

import runpy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "<!-- generated: " in path.read_text())


@cache
def generated() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "generated.py"))


@pytest.mark.slow  # the values of problems are computed
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_generated_content_is_up_to_date(page: Path) -> None:
    text = page.read_text()
    assert text == generated()["updated"](text), f"{page.name}: run scripts/docs"


def test_pages_can_be_read_as_they_are() -> None:
    for page in DOCS.rglob("*.md"):
        assert "{{" not in page.read_text(), page
