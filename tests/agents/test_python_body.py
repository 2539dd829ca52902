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
from brlbench.analysis.bayes_optimal import bayes_optimal_value
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from helpers.families import FAMILIES
from helpers.quick import IN_EPISODES
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
EPISODES: dict[str, Any] = {"episode": 5, "discount": 1}
LOOKED_AT = {"chain": (4, 2), "constant": (3, 1), "goal": (3, 3)}  # horizons, lengths of episodes
# Other agents draw MDPs, or count outcomes, which Gaussian rewards tell apart.
UNMOVED = "epsilon-greedy soft-max vdbe beb bolt mbie-eb spread sparse-prior formula".split()
# One agent for each way to use a belief; the others have the same code.
USUAL = ("epsilon-greedy", "spread", "psrl", "bamcp", "bfs3")
UNTIED = ("optimal", "bfs3", "gittins")  # bfs3 searches on flat priors in another form

SCRIPT = """
import json, sys, traceback
import numba
import numpy as np
import brlbench as bb
from brlbench.agents.base import Task
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
for family, (horizon, episode) in json.loads(sys.argv[5]).items():
    prior, agent, values = FAMILIES[family], bb.make_agent("lookahead", depth=horizon), []
    agent.train(prior, Task(1.0, horizon, episode=episode), np.random.default_rng(0))
    for x in range(prior.num_states):
        agent.start(x, np.random.default_rng(1))
        agent.act(x)
        values.append(agent.arrays.levels.q[0].max())
    played[f"lookahead {family} in episodes"] = {"value": float(prior.start @ values)}
counts, mean = np.ones((3, 2, 3)), np.sin(np.arange(6.0)).reshape(3, 2)
told = bb.FlatDirichlet(counts + mean[:, :, None] / 2, mean[:, :, None])
narrow = bb.FlatDirichlet(told.counts, bb.NormalRewards(mean, 1e30, 1e-9))
mdps = bb.Experiment(told, **settings).mdps
for name in json.loads(sys.argv[4]):
    for kind, prior in (("told", told), ("narrow", narrow)):
        with np.errstate(over="ignore"):
            agent = bb.AGENTS[name](**bb.AGENTS[name].quick)
            result = bb.evaluate(agent, bb.Experiment(prior, told, mdps=mdps, **settings))
        played[f"{name} {kind}"] = {"returns": result.returns.tolist()}
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
        episodes = bb.Experiment("GC", **settings, **json.loads(sys.argv[3]))
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
    arguments = (SETTINGS, PLAYED_FAMILIES, EPISODES, UNMOVED, LOOKED_AT)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *map(json.dumps, arguments)],
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


@pytest.mark.parametrize("name", IN_EPISODES)
def test_compiled_agents_do_the_same_in_episodes(plain: dict[str, Any], name: str) -> None:
    expected = plain[f"{name} episodes"]
    assert "error" not in expected, expected["error"]
    experiment = Experiment("GC", **SETTINGS, **EPISODES)
    result = evaluate(AGENTS[name](**AGENTS[name].quick), experiment)
    np.testing.assert_array_equal(result.actions, np.array(expected["actions"]))


@pytest.mark.parametrize("family", LOOKED_AT)
def test_lookahead_to_the_horizon_is_bayes_optimal(plain: dict[str, Any], family: str) -> None:
    horizon, episode = LOOKED_AT[family]
    exact = bayes_optimal_value(FAMILIES[family], 1.0, horizon, episode=episode)
    assert plain[f"lookahead {family} in episodes"]["value"] == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("name", UNMOVED)
def test_rewards_that_are_nearly_known_are_played_as_known(
    plain: dict[str, Any], name: str
) -> None:
    told, narrow = (plain[f"{name} {kind}"]["returns"] for kind in ("told", "narrow"))
    assert told == pytest.approx(narrow, rel=1e-9)


@pytest.mark.parametrize("family", PLAYED_FAMILIES)
@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_plays_every_family_or_refuses(
    plain: dict[str, Any], name: str, family: str
) -> None:
    played = plain[f"{name} {family}"]
    assert "error" not in played, played["error"]
    assert ("refused" in played) == (family in REFUSED.get(name, ()))


@pytest.mark.parametrize("family", thinned(PLAYED_FAMILIES, usual=["two groups", "normal"]))
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
