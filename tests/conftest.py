"""Fixtures that several folders of tests share, and the marks and the order of tests."""

import gc
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from compileall import compile_dir
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import brlbench
from brlbench.executors.local import Local
from brlbench.protocol import evaluate, machine
from helpers import programs
from helpers.groups import Groups, group_of
from helpers.inline import in_this_process
from helpers.made_entries import write_made
from helpers.made_studies import SMALL, run_in_full
from helpers.shared import made_once
from helpers.shell import Shell, run_demo
from helpers.slurm_cluster import running_slurm

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

    from brlbench.executors.dask import Dask
    from helpers.page_browser import Page


QUICK_MODULES = (  # of tests/agents: those that compile little or nothing
    *("test_contract", "test_registry"),
    *("test_random", "test_optimal", "test_epsilon_greedy", "test_soft_max"),
)
CORES = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None


def pytest_configure(config: pytest.Config) -> None:
    """Keep each process of pytest-xdist to a core: its studies then start one worker each.

    Before, the package becomes bytecode, even where Python is told to write none: commands and
    workers then start in three quarters of the time.
    """
    if config.getoption("--exhaustive"):
        os.environ["BRLBENCH_EXHAUSTIVE"] = "1"  # for the settings of property tests
    worker = getattr(config, "workerinput", None)
    if worker is None:
        compile_dir(Path(brlbench.__file__).parent, quiet=2)
    elif CORES is not None:
        number = int(worker["workerid"].removeprefix("gw"))
        os.sched_setaffinity(0, {sorted(CORES)[number % len(CORES)]})


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option `--exhaustive`."""
    parser.addoption(
        "--exhaustive", action="store_true", help="also run tests with the mark `exhaustive`"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add marks, leave out exhaustive tests unless asked for, and put slow groups first."""
    for item in items:
        _add_marks(item)
    if not config.getoption("--exhaustive"):
        exhaustive = [item for item in items if item.get_closest_marker("exhaustive")]
        config.hook.pytest_deselected(items=exhaustive)
        items[:] = [item for item in items if not item.get_closest_marker("exhaustive")]
    if hasattr(config, "workerinput"):  # of pytest-xdist: a long group must not begin last
        slow = Counter(group_of(item.nodeid) for item in items if item.get_closest_marker("slow"))
        items.sort(key=lambda item: -slow[group_of(item.nodeid)])


def pytest_collection_finish() -> None:
    """Exempt modules and tests from garbage collection, which took a tenth of the tests' time."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Processes of pytest-xdist run tests in groups."""
    return Groups(config, log)


def _add_marks(item: pytest.Item) -> None:
    """A test that uses the fixture `browser` or `slurm` has that mark; both and Dask are slow.

    So are the tests of the demo, of a finished study and of most agents, whose code is compiled
    first.
    """
    fixtures = getattr(item, "fixturenames", ())
    for name in ("browser", "slurm"):
        if name in fixtures:
            item.add_marker(name)
    compiling = {"demo", "finished_small"} & set(fixtures)
    if compiling or any(item.get_closest_marker(name) for name in ("browser", "dask", "slurm")):
        item.add_marker("slow")
    if item.nodeid.startswith("tests/agents/") and item.path.stem not in QUICK_MODULES:
        item.add_marker("slow")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test whose program is missing is skipped; in CI it fails."""
    for mark in programs.REMEDIES:
        if item.get_closest_marker(mark) is not None:
            programs.require(mark)


@pytest.fixture
def all_cores() -> Iterator[None]:
    """Lets the test use all cores."""
    if CORES is None:
        pytest.skip("cores can't be chosen here")
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, CORES)
    yield
    os.sched_setaffinity(0, before)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Chrome]":
    """Chromium without a window."""
    from helpers.page_browser import start

    browser = start(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.quit()


@pytest.fixture
def page(browser: "Chrome", tmp_path: Path) -> "Iterator[Page]":
    """A report's page in the browser, which must load nothing and log no error."""
    from helpers.page_browser import Page, checked

    with checked(Page(browser, tmp_path), 1300) as page:
        yield page


@pytest.fixture(scope="session")
def dask_executor() -> "Iterator[Dask]":
    """A Dask cluster of this machine with two workers; tests may end workers, not the cluster."""
    from brlbench.executors.dask import Dask

    with Dask(workers=2) as executor:
        yield executor


@pytest.fixture(scope="session")
def slurm() -> Iterator[Path]:
    """A SLURM cluster of this machine, in the folder that is given."""
    with running_slurm() as folder:
        yield folder


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    """Runs commands of the command line in this process, in the test's folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.setattr(sys, "path", sys.path.copy())
    return Shell(monkeypatch, capsys)


@pytest.fixture(scope="session")
def two_workers() -> Iterator[Local]:
    with Local(2) as executor:
        yield executor


@pytest.fixture
def warm_workers(two_workers: Local, monkeypatch: pytest.MonkeyPatch) -> None:
    """Evaluations in several processes use two that earlier tests have started."""
    monkeypatch.setattr(evaluate, "Local", lambda workers: nullcontext(two_workers))


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Studies on this machine run in the test's process, unless it starts another."""
    in_this_process(monkeypatch)


@pytest.fixture(scope="session")
def finished_small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study SMALL and its results in `out`; only for reading."""
    return made_once(tmp_path_factory, "small", lambda folder: run_in_full(folder, SMALL))


@pytest.fixture
def small(finished_small: Path, tmp_path: Path) -> Path:
    """A copy of the finished study SMALL, which the test may change."""
    shutil.copytree(finished_small, tmp_path, dirs_exist_ok=True)
    sys.modules.pop("study_agents", None)  # of another test
    return tmp_path


@pytest.fixture(autouse=True)
def idle_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads of this process wait for no core, so that results get no note on that."""
    monkeypatch.setattr(machine, "_run_and_wait_time", lambda: (0, 0))


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a demo with three MDPs in each experiment; only for reading."""
    return made_once(tmp_path_factory, "demo", run_demo) / "demo-results"


@pytest.fixture(scope="session")
def made_entry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An entry of an agent outside the package and a built-in one, made once; only for reading."""
    return made_once(tmp_path_factory, "entry", write_made) / "made.entry.parquet"
