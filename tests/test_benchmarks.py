import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import compare, deadlines, halving, load, measure, plain, racing, scaling, startup
from benchmarks.__main__ import main
from benchmarks.agents import agent_case
from benchmarks.measure import Case, Figure
from benchmarks.tables import ratio_table

import brlbench as bb
from brlbench.report.loading import load as load_results
from helpers.quick import PLAYERS
from helpers.sizes import sizes

KEYS = {"topic", "name", "unit", "median", "min", "quartiles", "ratios", "samples", "calibrations"}


def run(folder: Path, *arguments: str) -> dict[str, Any]:
    output = folder / "bench.json"
    main(["--quick", "--output", str(output), *arguments])
    content = json.loads(output.read_text())
    assert set(content) == {"date", "exponents", "figures", "machine", "quick", "waiting"}
    for figure in content["figures"]:
        assert set(figure) >= KEYS
        assert 0 < figure["min"] <= figure["median"]
        assert figure["ratios"]["bound"] > 0
    return dict(content)


def test_a_quick_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = (
        "--only",
        "agents,overhead",
        "--agents",
        "epsilon-greedy",
        "--priors",
        "GC,uniform:GC",
    )
    content = run(tmp_path, *arguments)
    names = [figure["name"] for figure in content["figures"]]
    assert names[:3] == ["epsilon-greedy GC", "epsilon-greedy uniform:GC", "random, recorded"]
    first = content["figures"][0]
    assert len(first["samples"]) == len(first["calibrations"]) == 2
    assert all(ratio > 0 for ratio in first["ratios"].values())
    assert "x plain" in capsys.readouterr().out
    file = str(tmp_path / "bench.json")
    assert compare.main([file, file]) == 0
    assert "0 slower, 0 faster, 6 as before" in capsys.readouterr().out


@pytest.mark.slow
def test_the_other_topics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    soon_compiled = startup._FIRST_DECISION.replace('"epsilon-greedy", epsilon=0.1', '"random"')
    monkeypatch.setattr(startup, "_FIRST_DECISION", soon_compiled)
    content = run(tmp_path, "--only", "offline,startup,scaling", "--rounds", "1")
    assert {figure["topic"] for figure in content["figures"]} == {"offline", "startup", "scaling"}
    assert "bamcp, simulations" in content["exponents"]


def test_the_table_of_ratios() -> None:
    measured = [
        {"agent": agent, "prior": prior, "ratio": ratio}
        for agent, prior, ratio in [
            ("beb", "GC", "57.4"), ("beb", "GDL", "1234.0"), ("bfs3", "GDL", "7.11")
        ]
    ]  # fmt: skip
    assert ratio_table(measured).splitlines() == [
        "| agent | GC | GDL |",
        "| --- | ---: | ---: |",
        "| beb | 57x | 1200x |",
        "| bfs3 |  | 7.1x |",
    ]


def test_unknown_names_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--only", "agents,speed"])
    assert "'speed': must be one of agents, offline" in capsys.readouterr().err


def test_ratios() -> None:
    case = Case("agents", "some", "µs", sample=lambda: 2.0)
    figure = Figure(case, samples=[2.0, 4.0, 2.0], calibrations=[40.0] * 3, bounds=[1.0, 0.5])
    figure.plain = 100.0
    assert figure.ratios == {"plain": 50.0, "bound": 4.0}


def test_exponents() -> None:
    figures = [
        Figure(Case("scaling", "", "s", lambda: 0.0, series="squares", size=size), [3.0 * size**2])
        for size in (1, 10, 50)
    ]
    assert measure.exponents(figures) == {"squares": pytest.approx(2)}


@pytest.mark.parametrize("problem", [scaling.sparse, scaling.dense])
def test_problems_of_any_size(problem: Any) -> None:
    prior = problem(30, 3)
    assert (prior.num_states, prior.num_actions, prior.max_reward) == (30, 3, 1)


@pytest.mark.parametrize("name", PLAYERS)
def test_every_agent_has_a_case(name: str) -> None:
    experiment = bb.Experiment("GC", "GC", num_mdps=1, horizon=3)
    case = agent_case("agents", name, name, dict(bb.AGENTS[name].quick), experiment)
    assert case.bound is not None
    assert case.sample() > 0
    assert case.bound() > 0
    assert (case.plain is not None) == (name in plain.PLAIN)
    assert case.plain is None or case.plain() > 0


def test_plain_models_are_solved() -> None:
    prior = bb.distribution("Grid")
    agent = plain.PlainModels(1)
    bb.evaluate(agent, bb.Experiment(prior, prior, num_mdps=1, horizon=1))
    agent.start(0, None)  # type: ignore[arg-type]
    assert agent.solve(0) == pytest.approx(prior.mean().solve(0.95).q)


def made_run(calibration: float, **samples: list[float]) -> dict[str, Any]:
    figures = [
        {"topic": "agents", "name": name, "unit": "µs", "samples": values, "median": values[0],
         "calibrations": [calibration] * len(values)}
        for name, values in samples.items()
    ]  # fmt: skip
    return {"quick": False, "figures": figures}


def verdicts(old: dict[str, Any], new: dict[str, Any]) -> dict[str, str]:
    return {change.name: change.verdict for change in compare.compare(old, new, threshold=1.1)}


def test_changes_beyond_the_noise() -> None:
    old = made_run(80, up=[10.0, 11, 12], down=[10.0, 11, 12], noisy=[10.0, 15, 20], gone=[1.0])
    new = made_run(80, up=[15.0, 16, 17], down=[5.0, 6, 7], noisy=[14.0, 18, 22], new=[1.0])
    assert verdicts(old, new) == {
        "agents: up": "slower",
        "agents: noisy": "same",
        "agents: down": "faster",
    }


def test_small_changes_do_not_count() -> None:
    assert verdicts(made_run(80, a=[10.0, 10.1]), made_run(80, a=[10.5, 10.6])) == {
        "agents: a": "same"
    }


def test_a_slower_machine_is_no_slower_program() -> None:
    assert verdicts(made_run(80, a=[10.0, 11]), made_run(160, a=[20.0, 22])) == {
        "agents: a": "same"
    }


@pytest.mark.parametrize(("factor", "code"), [(2.0, 1), (0.5, 0), (1.0, 0)])
def test_the_exit_code(factor: float, code: int, tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps(made_run(80, a=[10.0, 11])))
    new.write_text(json.dumps(made_run(80, a=[10 * factor, 11 * factor])))
    assert compare.main([str(old), str(new)]) == code


def test_quick_and_full_runs_are_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps(made_run(80, a=[1.0])))
    new.write_text(json.dumps(made_run(80, a=[1.0]) | {"quick": True}))
    with pytest.raises(SystemExit):
        compare.main([str(old), str(new)])
    assert "measure different things" in capsys.readouterr().err


def test_decisions_that_only_waited_did_not_compute_for_too_long() -> None:
    wall = np.array([[40_000, 60_000, 60_000, 60_000]])
    processor = np.array([[51_000, 49_000, 51_000, 58_000]])
    times = deadlines.Times(wall, processor, waited=0.5)
    assert deadlines.late(times, 50e-6) == (0.75, 0.5, 0.25)


def test_decisions_are_timed_by_both_clocks() -> None:
    experiment, agent = bb.Experiment("GC", num_mdps=5, horizon=200), bb.AGENTS["psrl"]()
    agent.train(experiment.prior, experiment.task, np.random.default_rng(0))
    with deadlines.busy_loops(1):
        times = deadlines.measure(agent, experiment)
    assert times.wall.shape == times.processor.shape == (5, 200)
    assert times.wall.min() > 0
    # The time of reading clocks is subtracted, and varies: decisions of psrl are that short.
    assert abs(np.median(times.processor)) < 2 * np.median(times.wall) + 2000
    assert 0 <= times.waited <= 1


@pytest.mark.slow
def test_deadlines_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    deadlines.main(["--mdps", "1", "--loops", "0,1", "--deadlines", "200us"])
    rows = capsys.readouterr().out.splitlines()[2:]
    assert [row.split(" | ")[:3] for row in rows] == [
        [f"| {agent}", "200 µs", loops] for agent in ("bamcp", "bfs3") for loops in ("0", "1")
    ]


@pytest.mark.slow
def test_load_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    allowed = os.sched_getaffinity(0)
    try:
        load.main([str(tmp_path), "--quick"])
    finally:
        os.sched_setaffinity(0, allowed)
    shown = capsys.readouterr().out
    assert "status of 40 jobs" in shown
    assert "evaluate on 400 MDPs" in shown
    assert len(list((tmp_path / "out/results").rglob("*.parquet"))) == 40
    assert len(list((tmp_path / "made").iterdir())) == 20
    assert (tmp_path / "report/report.html").exists()


@pytest.mark.slow
def test_races_find_the_winners_of_the_full_results(capsys: pytest.CaptureFixture[str]) -> None:
    """On the stored results of the paper's algorithms, within the bounds of all classes."""
    results = Path(__file__).parents[1] / "reproduction/results.parquet"
    algorithms = ["random", "epsilon-greedy", "soft-max", "beb", "opps-ds", "bamcp", "bfs3"]
    racing.main([str(results), "--algorithms", *algorithms])
    rows = capsys.readouterr().out.splitlines()[2:]
    assert len(rows) == 6
    assert all("| 63 of 63 |" in row for row in rows)
    assert "bfs3 10%" in rows[2]  # Grid: far behind, and dropped at once


@pytest.mark.slow
@pytest.mark.parametrize("resamples", sizes(40, 1000))
def test_halving_errs_as_seldom_as_the_full_study(resamples: int) -> None:
    """On the stored results of GC; equal algorithms are excluded in 5% of studies, or fewer."""
    results = Path(__file__).parents[1] / "reproduction/results.parquet"
    gc = load_results(results).experiments[0].competitors
    shares = halving.simulate(gc, resamples, halves=True)
    assert 0.06 < shares.played < 0.1
    spread = 3 * math.sqrt(0.06 * 0.94 / resamples)
    assert max(shares.excluded.values()) < 0.06 + spread
    assert shares.alarms < 0.03 + spread
