from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes

from brlbench import AGENTS
from brlbench.mdps.sparse import Floats
from brlbench.report.answers import answer
from brlbench.report.figures import score_against_online_time, score_against_time
from brlbench.report.map import best_algorithms_map
from brlbench.report.styles import COLOURS, line_styles, point_styles, styles_of
from helpers.made_results import experiment, summary

# Machado, Oliveira and Fernandes (2009): what people see without one kind of cones.
VISION = {
    "all cones": np.eye(3),
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
TO_XYZ = np.array([[0.434, 0.376, 0.190], [0.213, 0.715, 0.072], [0.018, 0.109, 0.873]])


def lab(colour: str, vision: Any) -> Floats:
    """A colour as CIELAB, in which distances are how different colours look."""
    parts = np.array(list(bytes.fromhex(colour[1:]))) / 255
    light = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    x, y, z = np.cbrt(TO_XYZ @ np.clip(np.array(vision) @ light, 1e-6, 1))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("ground", [0, 1])
def test_colours_differ_for_any_vision(vision: str, ground: int) -> None:
    seen = [lab(pair[ground], VISION[vision]) for pair in COLOURS]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 12


def test_built_in_algorithms_look_alike_whatever_else_is_shown() -> None:
    names = list(dict.fromkeys([*AGENTS, "hindsight", "ann", "mine:Agent"]))
    together = styles_of(reversed(names))
    assert all(styles_of([name])[name] == together[name] for name in names)
    assert len({(style.light, style.marker) for style in together.values()}) == len(names)
    assert len({(style.light, style.hatch) for style in together.values()}) == len(names)
    assert all(together[name].hatch < 5 for name in AGENTS), "add the agent to report/styles.py"
    # Those that the paper's maps show most have colours of their own.
    common = styles_of(["bamcp", "opps-ds", "soft-max", "beb", "epsilon-greedy", "bfs3", "random"])
    assert [style.hatch for style in common.values()] == [0] * 7


def test_agents_of_users_are_told_apart() -> None:
    names = [f"mine:Agent{i}" for i in range(24)]
    styles = styles_of([*names, *AGENTS])
    assert len({(style.light, style.hatch) for style in styles.values()}) == len(styles)
    assert point_styles(names) == {name: styles[name].points for name in names}


def test_agents_of_one_algorithm_share_its_colour_and_differ_in_dashes() -> None:
    lines = line_styles({"psrl(a=1)": "psrl", "beb": "beb", "psrl(a=2)": "psrl"})
    first, _, second = lines.values()
    assert first["color"] == second["color"] == point_styles(["psrl"])["psrl"]["color"]
    assert first["marker"] == second["marker"]
    assert first["linestyle"] != second["linestyle"]


def test_the_map_has_the_colours_and_hatchings_of_winners() -> None:
    """Soft-max and opps-cs share a colour, and have neighbouring regions."""
    rng = np.random.default_rng(0)
    names = ("soft-max", "opps-cs", "beb")
    agents = [summary(name, rng.normal(9 * i, 1, 40), 1.0, 10.0**i) for i, name in enumerate(names)]
    regions = best_algorithms_map(answer(experiment(agents))).axes[0].collections
    painted = [(tuple(each.get_facecolor()[0]), each.get_hatch()) for each in regions]  # type: ignore[arg-type]
    assert len(set(painted)) == 3
    assert len({colour for colour, _ in painted}) == 2


@pytest.mark.parametrize("times", [(1e-9, 1e5), (0.0, 7e3)])
def test_tick_labels_of_figures_never_touch(times: tuple[float, float]) -> None:
    agents = [
        summary(name, np.arange(40.0) * 1e4**i, time, time)
        for i, (name, time) in enumerate(zip(("beb", "psrl"), times, strict=True))
    ]
    data = experiment(agents)
    found = answer(data)
    for figure in (
        best_algorithms_map(found),
        score_against_time(found, "mean"),
        score_against_online_time([data, data, data]),
    ):
        figure.draw_without_rendering()
        for axes in figure.axes:
            check_ticks(axes)


def check_ticks(axes: Axes) -> None:
    for axis, side in ((axes.xaxis, 0), (axes.yaxis, 1)):
        low, high = axis.get_view_interval()
        ends = sorted(
            tuple(tick.label1.get_window_extent().get_points()[:, side])
            for tick in axis.get_major_ticks()
            if tick.label1.get_text() and low <= tick.get_loc() <= high
        )
        assert all(after[0] - before[1] >= 2 for before, after in pairwise(ends)), ends
