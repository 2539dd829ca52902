"""Sizes beyond what studies have: many results, many MDPs, many states."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from brlbench.storage import read_result, write_result

from .ground import Broken, Ground

_STATES, _NEXT = 2000, 3
_MDPS = 100_000
_FOR_MANY_STATES = ("random", "epsilon-greedy", "psrl", "beb", "bamcp", "optimal")


def attack(ground: Ground, results: int) -> None:
    """Look at a folder with many results, and play many MDPs and an MDP with many states."""
    place = ground.folder / "sizes"
    place.mkdir()
    _many_results(ground, place / "many", results)
    _many_mdps(ground, place)
    _many_states(ground, place)
    ground.check_processes()
    shutil.rmtree(place)


def _many_results(ground: Ground, folder: Path, number: int) -> None:
    """Results of one agent with many settings."""
    some = next(iter(ground.expected.values()))
    folder.mkdir()
    for i in range(number):
        renamed = replace(some, algorithm="own:Agent", parameters={"number": i})
        write_result(folder / f"{i}.parquet", renamed, keep_paths=False)
    _do(ground, 60 + number / 20, "compare", folder)
    _do(ground, 60 + number / 20, "compact", folder, "--output", folder / "small.parquet")
    ground.counts["results in one folder"] += number


def _many_mdps(ground: Ground, place: Path) -> None:
    experiment, agent = place / "experiment.parquet", place / "agent.json"
    told = ("--prior", "GC", "--test", "GC", "--mdps", _MDPS, "--horizon", 3)
    _do(ground, 300, "experiment", *told, "--output", experiment)
    _do(ground, 60, "train", "random", "--prior", "GC", "--horizon", 3, "--output", agent)
    played = place / "played.parquet"
    _do(ground, 600, "play", agent, experiment, "--workers", 1, "--output", played)
    if len(read_result(played).returns) != _MDPS:
        raise Broken(f"{played} has not all returns")
    ground.counts["MDPs in one experiment"] += _MDPS


def _many_states(ground: Ground, place: Path) -> None:
    pairs = [(x, u) for x in range(_STATES) for u in range(2)]
    after = ground.rng.integers(_STATES, size=(len(pairs), _NEXT)).tolist()
    rows = zip(pairs, after, strict=True)
    content = {
        "format": 1,
        "num_states": _STATES,
        "num_actions": 2,
        "start": 0,
        "counts": [(*pair, y, 1) for pair, ys in rows for y in {*ys}],
        "rewards": [("*", "*", int(y), 1) for y in ground.rng.integers(_STATES, size=20)],
    }
    (place / "sparse.json").write_text(json.dumps(content))
    agents = (f'[[agents]]\nalgorithm = "{each}"\n' for each in _FOR_MANY_STATES)
    (place / "study.toml").write_text(
        "[defaults]\nnum_mdps = 3\nhorizon = 10\n[[experiments]]\ntest = 'sparse.json'\n"
        + "".join(agents)
    )
    _do(ground, 600, "run", place / "study.toml", "-r", place / "out")
    ground.counts["states of an MDP"] += _STATES


def _do(ground: Ground, seconds: float, *arguments: object) -> None:
    """Run a command, which must succeed within seconds of processor time."""
    before = getrusage(RUSAGE_CHILDREN)
    code = ground.run(*map(str, arguments))
    after = getrusage(RUSAGE_CHILDREN)
    if code:
        raise Broken(f"{arguments[0]} ended with code {code}: {ground.said()}")
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if took > seconds:
        raise Broken(f"{arguments} took {took:.0f} s of processor time, more than {seconds:.0f}")
