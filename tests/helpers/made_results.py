"""Made-up results for tests of reports: returns and times are drawn, nothing is played."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from brlbench.mdps.sparse import Floats
from brlbench.protocol.recording import discounted
from brlbench.report.data import ExperimentData, ReportData
from brlbench.results.result import Result, join
from brlbench.results.schema import COLUMNS, MEASURED
from brlbench.results.summary import Summary
from brlbench.results.times import all_features
from brlbench.storage import write_result

ALGORITHMS = (
    "random",
    "epsilon-greedy",
    "soft-max",
    "vdbe",
    "beb",
    "bamcp",
    "bfs3",
    "boss",
    "sboss",
    "psrl",
    "opps-ds",
    "opps-cs",
)
SPECIAL_NAMES = ("<script>alert(1)</script>", "50%_a&b", "a\\b{}~^#$", "$x$ [b] -- `q' ε, µ 中")


def settings(name: str, num_mdps: int) -> dict[str, Any]:
    """An experiment's settings."""
    return {
        "name": name,
        "prior": name,
        "prior_digest": name,
        "test": name,
        "test_digest": name,
        "num_mdps": num_mdps,
        "discount": 0.95,
        "horizon": 250,
        "trajectories_per_mdp": 1,
        "seed": 0,
    }


def summary(
    algorithm: str,
    returns: Floats,
    offline: float = 1e-3,
    online: float = 1e-6,
    **parameters: Any,
) -> Summary:
    """An agent with the same time for every decision."""
    features = dict.fromkeys(("mean", "median", "p95", "max"), online)
    listed = ", ".join(f"{key}={value}" for key, value in parameters.items())
    label = f"{algorithm}({listed})" if listed else algorithm
    times = all_features({"offline": offline, **features, "total": 250 * online})
    return Summary(algorithm, parameters, label, returns, times, {"processor": "made up"})


def experiment(summaries: Sequence[Summary], name: str = "GC") -> ExperimentData:
    """An experiment of some agents."""
    num_mdps = len(summaries[0].returns) if summaries else 0
    return ExperimentData(name, f"hash of {name}", settings(name, num_mdps), summaries)


def study(seed: int, num_agents: int = 400, num_mdps: int = 500, name: str = "GC") -> ReportData:
    """One experiment of a dozen algorithms in many variants, and the optimal agent."""
    rng = np.random.default_rng(seed)
    shared = 40 + 15 * rng.standard_normal(num_mdps)
    summaries = [summary("random", shared - 10, 8e-5, 6e-8)]
    for number in range(num_agents - 2):
        kind = 1 + number % (len(ALGORITHMS) - 1)
        algorithm = ALGORITHMS[kind]
        effort = rng.random()
        offline = (
            10 ** (2.5 * effort) if algorithm.startswith("opps") else 10 ** -(3 + 0.3 * effort)
        )
        score = kind / 4 + 3 * effort + rng.standard_normal() / 2 - 5
        returns = shared + score + 8 * rng.standard_normal(num_mdps)
        online = 3e-7 * 10 ** (0.4 * kind + 1.5 * effort)
        summaries.append(
            summary(algorithm, returns, offline, online, value=round(effort, 4), n=number)
        )
    summaries.append(summary("optimal", shared + 25, 1e-3, 1e-7))
    return ReportData([experiment(summaries, name)], [])


def result(algorithm: str, rewards: Floats, name: str = "GC", **changes: Any) -> Result:
    """A result with given rewards [N, K, T]; changes are of its header, numbers and columns."""
    num_mdps, per_mdp, horizon = rewards.shape
    nanoseconds = changes.get("nanoseconds", np.full(rewards.shape, 1000))
    made_up = {
        "parameters": {},
        "settings": settings(name, num_mdps),
        "experiment_hash": f"hash of {name}",
        "offline_seconds": 1e-3,
        "offline_cpu_seconds": 0.0,
        "nanoseconds": nanoseconds,
        "cpu_nanoseconds": nanoseconds.sum(axis=2),
        "machine": {"processor": "made up"},
        **changes,
    }
    mdps, trajectories = np.divmod(np.arange(num_mdps * per_mdp), per_mdp)
    given = {**made_up, "rewards": rewards}
    columns = {
        each: array.reshape(len(mdps), *array.shape[2:])
        for each, array in given.items()
        if each in COLUMNS
    }
    header = {key: value for key, value in made_up.items() if key not in {**COLUMNS, **MEASURED}}
    header["settings"] = {"trajectories_per_mdp": per_mdp, **made_up["settings"]}
    header["settings"]["horizon"] = horizon
    returns = discounted(columns["rewards"], header["settings"]["discount"])
    part = Result(
        algorithm=algorithm,
        **header,
        measured={key: value for key, value in made_up.items() if key in MEASURED},
        columns={"mdp": mdps, "trajectory": trajectories, "return": returns, **columns},
    )
    return join([part])


def write_study(folder: Path, names: tuple[str, ...], num_mdps: int = 40, **more: Any) -> None:
    """Small results on disk: for each algorithm one agent, in the experiments GC and Grid."""
    for experiment_name in more.get("experiments", ("GC", "Grid")):
        rng = np.random.default_rng(1)
        for number, algorithm in enumerate(names):
            rewards = rng.random((num_mdps, 1, 5)) + number / 10
            made = result(
                algorithm,
                rewards,
                experiment_name,
                parameters={"value": number} if number % 2 else {},
                experiment_hash=more.get("hash", f"hash of {experiment_name}"),
                offline_seconds=10.0 ** (number - 4),
                nanoseconds=rng.integers(100, 1000, size=rewards.shape) * 10**number,
            )
            write_result(folder / f"{experiment_name}-{number}.parquet", made)
