"""The bars of commands: what they show in a terminal."""

import pytest

from brlbench import progress
from brlbench.cli.bars import files_bar, playing_bar, study_bar, training_bar
from brlbench.study.tally import Progress, Running
from helpers.screens import Screen, patch_screen


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    return patch_screen(monkeypatch, columns=120)


def test_training_ends_at_the_total(screen: Screen) -> None:
    with training_bar() as show:
        for done in range(2, 12, 2):
            show(done, 10)
        assert screen.seen() == "training ████████████ 10 of 10 trajectories, 0 s left"
    assert screen.seen() == ""


def test_the_bar_of_files_names_the_next(screen: Screen) -> None:
    with files_bar() as show:
        assert screen.seen() == "reading results"
        show("figures/[GC]-map.pdf", 3, 10)
        assert screen.seen() == "figures/[GC]-map.pdf ████──────── 3 of 10 files"


def test_pipes_get_a_line_from_time_to_time(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with files_bar() as show:
        show("map.pdf", 3, 10)
    assert capfd.readouterr() == ("", "")
    monkeypatch.setattr(progress, "_NEXT_LINE_AFTER", 0.0)
    with files_bar() as show:
        show("map.pdf", 3, 10)
        show("scores.pdf", 4, 10)
    lines = capfd.readouterr().err.splitlines()
    assert [line.split()[0] for line in lines] == ["map.pdf", "scores.pdf"]
    assert "4 of 10 files" in lines[1]


def test_the_bar_of_a_study_says_what_is_running_and_left(screen: Screen) -> None:
    with study_bar(10) as show:
        assert screen.seen() == "getting ready"
        show(Progress(0, 0, 60, None, [Running("training beb")], stopping=False))
        assert screen.seen() == "training beb ──────────── 0 of 10 jobs"
        show(Progress(3, 1, 50, 90.0, [Running("beb on [GC]")], stopping=False))
        assert screen.seen() == "beb on [GC] █████─────── 4 of 10 jobs, 1.5 min left"
        show(Progress(3, 1, 50, None, [Running("beb on [GC]")], stopping=True))
        shown = "stopping; Ctrl-C again stops at once █████─────── 4 of 10 jobs"
        assert screen.seen() == shown


def test_bars_show_the_score_so_far(screen: Screen) -> None:
    running = [Running("training psrl on GC"), Running("beb on GC", 38.25, 1.5, 40)]
    with study_bar(10) as show:
        show(Progress(3, 1, 50, 90.0, running, stopping=False))
        assert screen.seen().startswith("mean return 38.25 ± 1.50 in 40 MDPs: beb on GC █████")
    with playing_bar(60) as show:
        show(Progress(0, 0, 20, 90.0, running[1:], stopping=False))
        seen = screen.seen()
        assert seen.startswith("mean return 38.25 ± 1.50 in 40 MDPs ████████──── 40 of 60 traj")
