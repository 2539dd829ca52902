"""The interactive page in headless Chromium, and results that are hard to get right."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from selenium.webdriver import ActionChains, Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

from brlbench.analysis.bounds import Comparison
from brlbench.report.data import ExperimentData, ReportData
from brlbench.report.page import write_page
from brlbench.results.summary import Summary
from helpers.made_results import experiment, summary
from helpers.programs import NEEDED

FEATURES = {
    "processor": "processor time per decision",
    "mean": "mean per decision",
    "median": "median per decision",
    "p95": "95th percentile per decision",
    "max": "longest decision",
    "total": "total per trajectory",
    "max_with_training": "longest of training and decisions",
    "own:feature": "own:feature",
}
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1300,1000",
)

SLIDE = """
const [moves] = arguments;
const sliders = [...document.querySelectorAll("input[type=range]")];
const text = (node) => node.textContent;
return moves.map((places) => {
  sliders.forEach((slider, k) => {
    slider.value = places[k];
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  });
  return {
    bounds: sliders.map((slider) => slider.dataset.seconds),
    winners: [...document.querySelectorAll("#agents tr.winner .name")].map(text),
    algorithms: [...document.querySelectorAll("#answer strong")].map(text),
    best: [...document.querySelectorAll("#best tbody .name")].map(text),
  };
});
"""


def start(folder: Path) -> Chrome:
    """Start a browser that keeps everything in a folder, downloads too."""
    options = ChromeOptions()
    browser, driver = (shutil.which(program) for program in NEEDED["browser"])
    options.binary_location = str(browser)
    for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return Chrome(options=options, service=Service(str(driver)))


class Page:
    """A page that is open in the browser."""

    def __init__(self, browser: Chrome, folder: Path) -> None:
        self.browser = browser
        self.folder = folder
        self.path = folder / "page.html"

    def open(self, data: ReportData) -> "Page":
        """Make the page and open it."""
        write_page(data, self.path, overwrite=True)
        self.browser.get(self.path.as_uri())
        self.wait()
        return self

    def wait(self) -> None:
        """Wait until the page shows its answer."""
        WebDriverWait(self.browser, 60).until(lambda _: self.text("#answer"))

    def run(self, script: str, *arguments: Any) -> Any:
        return self.browser.execute_script(script, *arguments)

    def all(self, selector: str) -> list[WebElement]:
        return self.browser.find_elements("css selector", selector)

    def one(self, selector: str) -> WebElement:
        return self.browser.find_element("css selector", selector)

    def texts(self, selector: str) -> list[str]:
        """Texts, those that are scrolled out of view too."""
        script = "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)"
        return list(self.run(script, selector))

    def text(self, selector: str) -> str:
        return " ".join(self.texts(selector))

    def choose(self, name: str, text: str) -> None:
        Select(self.one(f"#{name}")).select_by_visible_text(text)

    def tick(self, algorithm: str) -> None:
        """Tick an algorithm, or untick it."""
        for label in self.all("#algorithms label"):
            if label.text.removesuffix(" (knows the MDP)") == algorithm:
                label.click()

    def type(self, bound: str, text: str) -> None:
        field = self.one(f"#{bound}-text")
        field.send_keys(Keys.CONTROL + "a")
        field.send_keys(Keys.DELETE, text, Keys.ENTER)

    def slide(self, places: Any) -> list[dict[str, Any]]:
        """Move both sliders to each pair of places from 0 to 1000; say what is shown there."""
        return list(self.run(SLIDE, np.asarray(places).tolist()))

    def bounds(self) -> tuple[float, float]:
        sliders = self.all("input[type=range]")
        offline, online = (str(slider.get_attribute("data-seconds")) for slider in sliders)
        return seconds(offline), seconds(online)

    def click_map(self, x: float, y: float) -> list[str]:
        """Click at a part of the map's width and height; give the winners painted there."""
        plot = self.one("#map")
        self.run("arguments[0].scrollIntoView({block: 'center'})", plot)
        box = self.run("return arguments[0].getBoundingClientRect().toJSON()", plot)
        place = [round(box["left"] + x * box["width"]), round(box["top"] + y * box["height"])]
        found = self.run(
            "return document.elementFromPoint(...arguments[0])?.dataset.set ?? '[]'", place
        )
        actions = ActionChains(self.browser, duration=0)
        actions.w3c_actions.pointer_action.move_to_location(*place)  # type: ignore[no-untyped-call]
        actions.click().perform()
        return list(json.loads(found))

    def resize(self, width: int, height: int = 1000) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def prefer(self, scheme: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        shown = {"media": "", "features": features}
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", shown)

    def print(self) -> None:
        """Show the page as it is printed."""
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})

    def errors(self) -> list[str]:
        """What was written to the console since the last call."""
        return [summary["message"] for summary in self.browser.get_log("browser")]  # type: ignore[no-untyped-call]


P = TypeVar("P", bound="Page")


@contextmanager
def checked(page: P, width: int) -> Iterator[P]:
    """A page in light colours, which must load nothing and log no error."""
    page.resize(width)
    page.prefer("light")
    page.errors()  # forgets those of other tests' pages
    yield page
    assert page.errors() == []
    assert page.run("return performance.getEntriesByType('resource').length") == 0


def seconds(text: str) -> float:
    return float(text.replace("Infinity", "inf"))


def awkward(seed: int, num_mdps: int = 41, name: str = "GC") -> ExperimentData:
    """Few distinct times, some of them zero; returns that are equal, or apart by a constant."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=num_mdps)
    summaries = [
        summary("random", shared - 2, 0.0, 1e-6),
        summary("optimal", shared + 4, 0.0, 1e-6),
    ]
    for number in range(60):
        algorithm = "abcdef"[number % 6]
        noise = rng.normal(size=num_mdps) * (number % 5 > 0)
        returns = shared + rng.integers(0, 3) / 4 + noise
        offline, online = 10.0 ** rng.integers(-4, 3), 10.0 ** rng.integers(-8, 1)
        made = summary(algorithm, returns, offline * (number % 9 > 0), online, n=number)
        own = {feature: float(10.0 ** rng.integers(-6, 2)) for feature in FEATURES}
        summaries.append(replace(made, seconds={**made.seconds, **own, "processor": online}))
    for i in range(2):
        times = {**summaries[i].seconds, "own:feature": 1e-4}
        summaries[i] = replace(summaries[i], seconds=times)
    return experiment(summaries, name)


def expected(
    summaries: list[Summary], bounds: list[str], feature: str, level: float, honest: bool
) -> tuple[set[str], set[str], list[str]]:
    """Python's winners, their algorithms, and the best of all algorithms."""
    comparison = Comparison(summaries, level, honest, online=feature)
    best = comparison.within(*map(seconds, bounds))
    if best is None:
        return set(), set(), []
    winners = [summaries[i] for i in best.winners]
    labels = [summaries[i].label for i in best.best_of_algorithm]
    return {w.label for w in winners}, {w.algorithm for w in winners}, labels
