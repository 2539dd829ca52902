"""Small files in the formats of the original library, BBRL 2.0, written by code of our own.

The formats were checked against the program itself. It made experiments, results with and without
trajectories, plain and compressed, and agents of all classes, as written out in the tests. When an
experiment or a result that it made is read and written by `run_text`, every byte is the same, and
the mean of the returns is the one that the program prints.
"""

import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from brlbench.mdps.sparse import Floats
from brlbench.problems.formats.original import Numbers
from brlbench.protocol.experiment import Experiment
from brlbench.storage.original.runs import Record, Run

HORIZON, NUM_MDPS, PER_MDP, DISCOUNT = 4, 3, 2, 0.95


def run_text(run: Run) -> str:
    """An experiment, or a result if it was played."""
    record = run.record
    number = len(run.mdps) * run.trajectories_per_mdp
    saves = record is not None and record.states is not None
    records = _records(run) if saves else []
    lists = [] if saves else _lists(record, number)
    return _lines(
        *("Serializable", 0, "IExperiment", 8 + len(run.mdps) + len(records), run.name),
        *(len(run.mdps), _blocks(map(_mdp_text, run.mdps)), run.trajectories_per_mdp),
        *(0 if record is None else 1000 * record.seconds, saves, len(records), _blocks(records)),
        *(len(lists), "".join(lists) or None, 0 if record is None else len(run.mdps)),
        *("Experiment", 3, run.discount, run.horizon, 0),
    )


def agent_text(kind: str, *values: Any, name: str = "an agent", seconds: float = 0.25) -> str:
    """An agent of a class whose number of values and values are given."""
    head = ("Serializable", 0, "IAgent", 1, name, "Agent", 1, 1000 * seconds, kind)
    return _lines(*head, *values)


def block(text: str) -> str:
    """An object within another."""
    return f"{len(text.encode())}\n{text}"


def write_examples(folder: Path) -> None:
    """The files that the documentation imports."""
    played = run_text(drawn_run(played=True, horizon=250))
    agent = agent_text("EGreedyAgent", 2, 0.1, 0)
    for name, text in {
        "GC500-exp": run_text(drawn_run(horizon=250)),
        "GC500-GC-EGreedy-0.1": played,
        "GC-EGreedy-0.1": agent,
    }.items():
        (folder / f"{name}.dat.zz").write_bytes(zlib.compress(text.encode(), 9))


def drawn_run(seed: int = 0, played: bool = False, saves: bool = False, **changes: Any) -> Run:
    """MDPs of GC, and what an agent that plays at random meets in them."""
    drawn = Experiment("GC", num_mdps=NUM_MDPS, seed=seed)
    means = drawn.test.rewards.mean.to_dense()
    mdps = [Numbers(0.0, drawn.mdp(i).transitions.to_dense(), means, None) for i in range(NUM_MDPS)]
    run = Run("GC test", mdps, PER_MDP, DISCOUNT, HORIZON, None)._replace(**changes)
    return run._replace(record=_play(run, seed, saves)) if played else run


def _play(run: Run, seed: int, saves: bool) -> Record:
    rng = np.random.default_rng(seed)
    shape = (len(run.mdps), run.trajectories_per_mdp, run.horizon)
    actions = rng.integers(3, size=shape)
    states, rewards = np.zeros((*shape[:2], run.horizon + 1), np.int64), np.zeros(shape)
    for i, k, t in np.ndindex(shape):
        place = (states[i, k, t], actions[i, k, t])
        states[i, k, t + 1] = rng.choice(5, p=run.mdps[i].weights[place])
        rewards[i, k, t] = run.mdps[i].means[(*place, states[i, k, t + 1])]
    return Record(rewards, states if saves else None, actions if saves else None, 0.48)


def _records(run: Run) -> list[str]:
    record = run.record
    assert record is not None
    assert record.states is not None
    assert record.actions is not None
    parts = (record.states[..., :-1], record.actions, record.states[..., 1:], record.rewards)
    rows = np.stack(parts, axis=-1).astype(np.float64).reshape(-1, run.horizon, 4)
    head = ("Serializable", 0, "SimulationRecord", 2 + 4 * run.horizon, run.discount, run.horizon)
    return [_lines(*head, _table(each)) for each in rows]


def _lists(record: Record | None, number: int) -> list[str]:
    if record is None:
        return [_lines(0)] * number
    rows = record.rewards.reshape(number, -1)
    return [_lines(len(row), *row) for row in rows]


def _mdp_text(mdp: Numbers) -> str:
    num_states, num_actions, _ = mdp.weights.shape
    numbers = [mdp.weights, mdp.means, *([] if mdp.variances is None else [mdp.variances])]
    tables = [_table(each.swapaxes(0, 1).reshape(-1, num_states)) for each in numbers]
    is_gaussian = mdp.variances is not None
    return _lines(
        *("Serializable", 0, "IMDP", 1, "", "MDP", 5 + mdp.weights.size * len(tables)),
        *(num_states, num_actions, mdp.start, tables[0], is_gaussian, tables[1], is_gaussian),
        *tables[2:],
    )


def _blocks(texts: Iterable[str]) -> str | None:
    return "".join(map(block, texts)) or None


def _table(rows: Floats) -> str:
    return "".join("\t".join(map(_word, row)) + "\n" for row in rows)


def _lines(*values: Any) -> str:
    """One line per value; texts of several lines end one already; None is nothing."""
    return "".join(
        value if isinstance(value, str) and value.endswith("\n") else f"{_word(value)}\n"
        for value in values
        if value is not None
    )


def _word(value: Any) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.15g}" if isinstance(value, float) else f"{value:d}"
