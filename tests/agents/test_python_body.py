"""Compiled code does what its source says: the same functions as plain Python, bit for bit."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brlbench.agents import AGENTS
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from helpers.families import FAMILIES
from helpers.shared import made_once
from helpers.sizes import thinned

SETTINGS: dict[str, Any] = {"num_mdps": 2, "horizon": 20, "seed": 11}
PLAYED_FAMILIES = ("two groups", "constant", "binary", "normal")
FOLDERS = [str(Path(__file__).parents[level]) for level in (1, 2)]  # of helpers, of benchmarks
REFUSED = {
    "bfs3": ("normal",),
    "gittins": PLAYED_FAMILIES,
    "lookahead": ("normal",),
    "mc-brl": ("normal",),
    "sboss": ("normal",),
}
# One agent for each way to use a belief; the others have the same code.
USUAL = ("epsilon-greedy", "spread", "psrl", "bamcp", "bfs3")
UNTIED = ("optimal", "bfs3", "gittins")  # bfs3 searches on flat priors in another form

SCRIPT = """
import json, sys, traceback
import numba
import numpy as np
import brlbench as bb
from brlbench.errors import Pointless
from brlbench.protocol import machine
from benchmarks.families import as_tied
from helpers.families import FAMILIES
from helpers.stepping import actions_taken

assert numba.config.DISABLE_JIT
machine.describe = dict  # its calibration would take long
settings = json.loads(sys.argv[1])
played = {}
for prior in ("", "uniform:"):
    for name, agent in bb.AGENTS.items():
        problem = agent.example
        experiment = bb.Experiment(prior + problem, problem, **settings)
        try:
            with np.errstate(over="ignore"):  # of the random generators
                result = bb.evaluate(agent(**agent.quick), experiment)
            played[f"{name} {prior}"] = {
                "actions": result.actions.tolist(),
                "states": result.states.tolist(),
                "rewards": result.rewards.tolist(),
            }
        except Exception:
            played[f"{name} {prior}"] = {"error": traceback.format_exc()}
for name, agent in bb.AGENTS.items():
    for family in json.loads(sys.argv[2]):
        prior = FAMILIES[family]
        try:
            with np.errstate(over="ignore"):
                result = bb.evaluate(agent(**agent.quick), bb.Experiment(prior, **settings))
            played[f"{name} {family}"] = {
                "actions": result.actions.tolist(),
                "states": result.states.tolist(),
                "rewards": result.rewards.tolist(),
            }
        except Pointless as refusal:
            played[f"{name} {family}"] = {"refused": str(refusal)}
        except Exception:
            played[f"{name} {family}"] = {"error": traceback.format_exc()}
    if agent.episodes:
        episodes = bb.Experiment("GC", **settings, episode=5, discount=1)
        try:
            with np.errstate(over="ignore"):
                result = bb.evaluate(agent(**agent.quick), episodes)
            played[f"{name} episodes"] = {"actions": result.actions.tolist()}
        except Exception:
            played[f"{name} episodes"] = {"error": traceback.format_exc()}
    if name not in ("optimal", "gittins"):
        for source in ("GC", "uniform:GC"):
            flat = bb.distribution(source)
            for kind, prior in (("flat", flat), ("tied", as_tied(flat))):
                try:
                    with np.errstate(over="ignore"):
                        actions = actions_taken(agent(**agent.quick), prior, "GC", 30)
                except Pointless:
                    actions = []
                played[f"{name} {source} {kind}"] = {"actions": actions}
print(json.dumps(played))
"""


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The actions, states and rewards of all agents without a compiler."""
    folder = made_once(tmp_path_factory, "plain", play_without_compiler)
    return dict(json.loads((folder / "played.json").read_text()))


def play_without_compiler(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(SETTINGS), json.dumps(PLAYED_FAMILIES)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(FOLDERS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (folder / "played.json").write_text(done.stdout)


@pytest.mark.parametrize("prior", ["", "uniform:"])
@pytest.mark.parametrize("name", AGENTS)
def test_compiled_agents_do_what_their_source_says(
    plain: dict[str, Any], name: str, prior: str
) -> None:
    expected = plain[f"{name} {prior}"]
    assert "error" not in expected, expected["error"]
    problem = AGENTS[name].example
    experiment = Experiment(prior + problem, problem, **SETTINGS)
    result = evaluate(AGENTS[name](**AGENTS[name].quick), experiment)
    for field in ("actions", "states", "rewards"):
        np.testing.assert_array_equal(getattr(result, field), np.array(expected[field]))


@pytest.mark.parametrize("name", [name for name in AGENTS if AGENTS[name].episodes])
def test_compiled_agents_do_the_same_in_episodes(plain: dict[str, Any], name: str) -> None:
    expected = plain[f"{name} episodes"]
    assert "error" not in expected, expected["error"]
    experiment = Experiment("GC", **SETTINGS, episode=5, discount=1)
    result = evaluate(AGENTS[name](**AGENTS[name].quick), experiment)
    np.testing.assert_array_equal(result.actions, np.array(expected["actions"]))


@pytest.mark.parametrize("family", PLAYED_FAMILIES)
@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_plays_every_family_or_refuses(
    plain: dict[str, Any], name: str, family: str
) -> None:
    played = plain[f"{name} {family}"]
    assert "error" not in played, played["error"]
    assert ("refused" in played) == (family in REFUSED.get(name, ()))


@pytest.mark.parametrize("family", PLAYED_FAMILIES)
@pytest.mark.parametrize("name", thinned(AGENTS, USUAL))
def test_compiled_agents_do_the_same_under_other_families(
    plain: dict[str, Any], name: str, family: str
) -> None:
    expected = plain[f"{name} {family}"]
    if "refused" not in expected:
        experiment = Experiment(FAMILIES[family], **SETTINGS)
        result = evaluate(AGENTS[name](**AGENTS[name].quick), experiment)
        for field in ("actions", "states", "rewards"):
            np.testing.assert_array_equal(getattr(result, field), np.array(expected[field]))


@pytest.mark.parametrize("source", ["GC", "uniform:GC"])
@pytest.mark.parametrize("name", [name for name in AGENTS if name not in UNTIED])
def test_a_flat_prior_written_as_a_tied_one_is_played_alike(
    plain: dict[str, Any], name: str, source: str
) -> None:
    """BOSS draws rows of high value first if pairs are independent, and whole models else.

    Under a uniform prior, mean and uniform are one model if flat; else they differ by rounding,
    which matters to formulas like 1 / (Qmean - Quniform).
    """
    flat, tied = (plain[f"{name} {source} {kind}"]["actions"] for kind in ("flat", "tied"))
    assert len(flat) == 30
    assert flat == tied or (name, source) in (
        ("boss", "GC"),
        ("boss", "uniform:GC"),
        ("opps-ds", "uniform:GC"),
    )
