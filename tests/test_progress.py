"""The bar of `evaluate`: where it appears, what it says, and that it leaves nothing behind."""

import re
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from brlbench import progress as bars
from brlbench.agents import make_agent
from brlbench.progress import Bar
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from helpers.own_agents import Scripted
from helpers.processes import wait_for
from helpers.screens import Screen, patch_screen


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    return patch_screen(monkeypatch)


def test_a_bar_says_how_far_it_is_and_is_erased_in_the_end(screen: Screen) -> None:
    with Bar("beb on GC", 4, "trajectory", True) as bar:
        assert screen.seen() == "beb on GC"
        bar.begin("training")
        assert screen.seen() == "beb on GC: training"
        bar.advance(1)
        assert re.fullmatch(r"beb on GC ███─{9} 1 of 4 trajectories, .* left", screen.seen())
        bar.show(4, 0.0)
        assert screen.seen() == "beb on GC ████████████ 4 of 4 trajectories, 0 s left"
    assert screen.seen() == ""


def test_a_bar_fits_the_terminal(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    with Bar("a\x1b[2J" + "long name" * 20, 4, "trajectory", True) as bar:
        bar.advance(2)
    lines = screen.getvalue().split("\r")
    assert max(map(len, lines)) == 39
    assert "\x1b" not in screen.getvalue()


class Waiting(Scripted):
    """Its training waits until something is on the screen."""

    screen: Screen

    def train(self, prior: Any, task: Any, rng: np.random.Generator) -> None:
        wait_for(lambda: "training" in Waiting.screen.getvalue())


def test_a_bar_appears_in_terminals_when_it_takes_long(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bars, "APPEARS_AFTER", 0.0)
    Waiting.screen = screen
    result = evaluate(Waiting(), Experiment("GC", num_mdps=7, horizon=5))
    assert "7 of 7 trajectories" in screen.getvalue()
    assert screen.seen() == ""
    silent = evaluate(Scripted(), Experiment("GC", num_mdps=7, horizon=5), progress=False)
    assert (result.rewards == silent.rewards).all()


def test_a_bar_appears_in_notebooks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not Bar("", 1, "", None).is_used
    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert Bar("", 1, "", None).is_used


@pytest.mark.parametrize("given", [{"progress": False}, {"on_played": lambda number: None}])
def test_no_bar_where_none_is_wanted(
    screen: Screen, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any]
) -> None:
    monkeypatch.setattr(Bar, "_appear", lambda bar: pytest.fail("a bar"))
    monkeypatch.setattr(bars, "APPEARS_AFTER", 0.0)
    evaluate(make_agent("random"), Experiment("GC", num_mdps=2, horizon=5), **given)
    assert screen.getvalue() == ""


def test_a_bar_on_demand_anywhere(screen: Screen) -> None:
    agent, experiment = make_agent("random"), Experiment("GC", num_mdps=5, horizon=5)
    evaluate(agent, experiment, progress=True)
    assert "5 of 5 trajectories" in screen.getvalue()
