"""Numbers at the edge of what is allowed, in whole studies."""

import json
import shutil

import numpy as np

from brlbench.study.status import read_status

from .ground import Broken, Ground, results_in

_DISCOUNTS = (1e-12, 0.5, 0.95, 0.999999)
_EXPONENTS = -320, 101  # of 10; rewards are limited to 1e100
_AGENTS = ("random", "epsilon-greedy", "psrl", "beb", "optimal")


def attack(ground: Ground) -> None:
    """Run a study with tiny and huge rewards; look at what comes of it."""
    rng, place = ground.rng, ground.folder / "numbers"
    place.mkdir()
    text = f"[defaults]\nnum_mdps = {rng.choice([1, 2, 150])}\nhorizon = 3\n"
    for exponent in rng.integers(*_EXPONENTS, size=3):
        reward, name = float(f"1e{exponent}"), f"{exponent}.json"
        content = {
            "format": 1,
            "num_states": 3,
            "num_actions": 2,
            "start": 0,
            "counts": [["*", "*", "*", 1]],
            "rewards": [["*", 0, 1, reward], ["*", 1, 2, -reward / 2]],
        }
        (place / name).write_text(json.dumps(content))
        text += f"[[experiments]]\ntest = '{name}'\ndiscount = {rng.choice(_DISCOUNTS)}\n"
    for name in _AGENTS:
        text += f"[[agents]]\nalgorithm = '{name}'\n"
    study, out = place / "study.toml", place / "out"
    study.write_text(text)
    for command in (
        ("run", study, "-r", out, "--workers", "1"),
        ("compare", out),
        ("report", out, "--format", "csv", "--format", "html", "--output", place / "report"),
    ):
        if ground.run(*command):
            raise Broken(f"{command[0]} of {text}: {ground.said()}")
    for name, result in results_in(out).items():
        if not np.isfinite(result.returns).all():
            raise Broken(f"{name} in {text} has returns that are no numbers")
    if (status := read_status(out)).done != status.total:
        raise Broken(f"{text} is not complete: {status}")
    shutil.rmtree(place)
    ground.counts["studies with numbers at the edge"] += 1
