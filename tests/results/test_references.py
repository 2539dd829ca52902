"""Agents that are told the MDP are references, whatever they are called."""

from pathlib import Path

import pytest

from brlbench.agents import make_agent
from brlbench.entries.replay import play_again
from brlbench.errors import InvalidInput
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.results.compact import ExperimentHeader, read_summaries, write_summaries
from brlbench.results.summary import summarise
from brlbench.storage import read_result, write_result
from helpers.own_agents import Scripted, Told

GC = Experiment("GC", "GC", num_mdps=2, horizon=4)


@pytest.mark.parametrize(
    ("agent", "is_told"),
    [
        (Told(), True),
        (Scripted(), False),
        (make_agent("optimal"), True),
        (make_agent("random-mix", base="optimal"), True),
        (make_agent("random"), False),
    ],
)
def test_results_say_whether_the_agent_was_told_the_mdp(
    agent: object, is_told: bool, tmp_path: Path
) -> None:
    write_result(tmp_path / "a.parquet", evaluate(agent, GC))  # type: ignore[arg-type]
    result = read_result(tmp_path / "a.parquet")
    header = ExperimentHeader("GC", result.experiment_hash, result.settings)
    write_summaries(tmp_path / "small.parquet", [(header, [summarise(result)])])
    [(_, summary)] = read_summaries(tmp_path / "small.parquet")
    assert result.is_told == summary.is_told == summary.is_reference == is_told


def test_an_entry_cannot_hide_that_its_agent_is_told_the_mdp() -> None:
    claim = {
        "agent": "helpers.own_agents:Told",
        "algorithm": Told().name,
        "parameters": {},
        "is_reference": False,
    }
    with pytest.raises(InvalidInput, match="is told the MDP, and the entry does not say so"):
        play_again(claim, lambda message: False)
