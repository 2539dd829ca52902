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
from helpers.shared import made_once

SETTINGS: dict[str, Any] = {"num_mdps": 2, "horizon": 20, "seed": 11}

SCRIPT = """
import json, sys, traceback
import numba
import numpy as np
import brlbench as bb
from brlbench.protocol import machine

assert numba.config.DISABLE_JIT
machine.describe = dict  # its calibration would take long
settings = json.loads(sys.argv[1])
played = {}
for prior in ("GC", "uniform:GC"):
    experiment = bb.Experiment(prior, "GC", **settings)
    for name, agent in bb.AGENTS.items():
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
print(json.dumps(played))
"""


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The actions, states and rewards of all agents without a compiler."""
    folder = made_once(tmp_path_factory, "plain", play_without_compiler)
    return dict(json.loads((folder / "played.json").read_text()))


def play_without_compiler(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(SETTINGS)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (folder / "played.json").write_text(done.stdout)


@pytest.mark.parametrize("prior", ["GC", "uniform:GC"])
@pytest.mark.parametrize("name", AGENTS)
def test_compiled_agents_do_what_their_source_says(
    plain: dict[str, Any], name: str, prior: str
) -> None:
    expected = plain[f"{name} {prior}"]
    assert "error" not in expected, expected["error"]
    result = evaluate(AGENTS[name](**AGENTS[name].quick), Experiment(prior, "GC", **SETTINGS))
    for field in ("actions", "states", "rewards"):
        np.testing.assert_array_equal(getattr(result, field), np.array(expected[field]))
