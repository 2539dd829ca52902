import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome

from helpers.page_browser import PROGRAMS, Page, start
from helpers.shell import Shell


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        message = f"no {' and no '.join(missing)}: install Debian's chromium and chromium-driver"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    browser = start(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.quit()


@pytest.fixture
def page(browser: Chrome, tmp_path: Path) -> Iterator[Page]:
    page = Page(browser, tmp_path)
    page.resize(1300)
    page.prefer("light")
    yield page
    assert page.errors() == []
    assert page.run("return performance.getEntriesByType('resource').length") == 0


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.setattr(sys, "path", sys.path.copy())
    return Shell(monkeypatch, capsys)
