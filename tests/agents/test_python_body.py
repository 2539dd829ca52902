"""Compiled code does what its source says: the same functions as plain Python, bit for bit."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brlbench.agents import AGENTS, make_agent
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from helpers.contract_parameters import SMALL

SETTINGS = {"num_mdps": 3, "horizon": 25, "seed": 11}

SCRIPT = """
import json, sys, traceback
import numba
import numpy as np
import brlbench as bb
from brlbench.protocol import machine
from helpers.contract_parameters import SMALL

assert numba.config.DISABLE_JIT
machine.describe = dict  # its calibration would take long
settings = json.loads(sys.argv[1])
played = {}
for prior in ("GC", "uniform:GC"):
    experiment = bb.Experiment(prior, "GC", **settings)
    for name in bb.AGENTS:
        try:
            with np.errstate(over="ignore"):  # of the random generators
                result = bb.evaluate(bb.make_agent(name, **SMALL.get(name, {})), experiment)
            played[f"{name} {prior}"] = {
                "actions": result.actions.tolist(),
                "states": result.states.tolist(),
                "rewards": result.rewards.tolist(),
            }
        except Exception:
            played[f"{name} {prior}"] = {"error": traceback.format_exc()}
print(json.dumps(played))
"""


@pytest.fixture(scope="module")
def plain() -> dict[str, Any]:
    """What all agents do without a compiler."""
    tests = str(Path(__file__).parents[1])
    path = os.pathsep.join([tests, *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(SETTINGS)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("prior", ["GC", "uniform:GC"])
@pytest.mark.parametrize("name", AGENTS)
def test_compiled_agents_do_what_their_source_says(
    plain: dict[str, Any], name: str, prior: str
) -> None:
    expected = plain[f"{name} {prior}"]
    assert "error" not in expected, expected["error"]
    agent = make_agent(name, **SMALL.get(name, {}))
    result = evaluate(agent, Experiment(prior, "GC", **SETTINGS))
    for field in ("actions", "states", "rewards"):
        np.testing.assert_array_equal(getattr(result, field), np.array(expected[field]))
