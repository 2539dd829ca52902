import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from brlbench.agents import make_agent
from brlbench.agents.base import Task
from brlbench.errors import AgentError, InvalidInput, StoreError
from brlbench.mdps.dirichlet import FlatDirichlet
from brlbench.protocol.evaluate import Training, evaluate, play_trained, train_new
from brlbench.protocol.experiment import Experiment
from brlbench.protocol.result import Result
from brlbench import storage
from helpers.own_agents import BadLoading, BadSaving, Learner, Saving, Scripted
from helpers.stored import experiment, resealed, trained


def assert_equal(one: Result, other: Result) -> None:
    for field in dataclasses.fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype
            assert a.tobytes() == b.tobytes()
            assert a.shape == b.shape
        else:
            assert a == b
            assert type(a) is type(b)


# Results.


@pytest.mark.parametrize(
    "changes",
    [{}, {"trajectories": 3}, {"num_mdps": 1, "horizon": 1}, {"seed": 2**70}, {"deadline": 0.1}],
)
@pytest.mark.parametrize("trajectories", [True, False])
def test_results_come_back_bit_for_bit(
    tmp_path: Path, changes: dict[str, Any], trajectories: bool
) -> None:
    result = evaluate(make_agent("vdbe"), experiment(**changes))
    path = tmp_path / "result.parquet"
    storage.write_result(path, result, trajectories)
    if not trajectories:
        result = dataclasses.replace(result, states=None, actions=None)
    assert_equal(result, storage.read_result(path))
    assert storage.read_result(path).returns.tobytes() == result.returns.tobytes()


def test_extreme_numbers_come_back(tmp_path: Path) -> None:
    result = evaluate(make_agent("random"), experiment())
    rewards = result.rewards.copy()
    rewards[0, 0, :6] = [-0.0, 5e-324, 1.7976931348623157e308, 0.1, -np.inf, np.nan]
    changed = dataclasses.replace(result, rewards=rewards, offline_seconds=0.1 + 0.2)
    storage.write_result(tmp_path / "a", changed, trajectories=True)
    assert_equal(changed, storage.read_result(tmp_path / "a"))


def test_results_of_a_plain_python_agent(tmp_path: Path) -> None:
    result = evaluate(Scripted([2, 1], name="mine"), experiment())
    storage.write_result(tmp_path / "a", result, trajectories=True)
    assert_equal(result, storage.read_result(tmp_path / "a"))
    assert storage.read_result(tmp_path / "a").label == "mine(script=[2, 1])"


def test_what_a_result_s_file_says_about_itself(tmp_path: Path) -> None:
    made = experiment()
    storage.write_result(tmp_path / "a.parquet", evaluate(make_agent("beb", beta=2), made))
    metadata = json.loads(pl.read_parquet_metadata(tmp_path / "a.parquet")["brlbench"])
    assert (metadata["kind"], metadata["format"]) == ("result", 1)
    assert metadata["algorithm"] == "beb"
    assert metadata["parameters"]["beta"] == 2.0
    assert metadata["experiment"] == made.settings()
    assert metadata["experiment"]["seed"] == 0
    assert metadata["experiment_hash"] == made.hash
    assert metadata["offline_seconds"] > 0
    assert set(metadata["machine"]["versions"]) >= {"brlbench", "python", "numba", "numpy"}
    assert metadata["machine"]["calibration_microseconds"] > 0


def test_plain_polars_reads_results(tmp_path: Path) -> None:
    result = evaluate(make_agent("beb"), experiment(trajectories=2))
    storage.write_result(tmp_path / "a.parquet", result, trajectories=True)
    table = pl.read_parquet(tmp_path / "a.parquet")
    assert table["mdp"].to_list() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert table["trajectory"].to_list() == [0, 1] * 5
    np.testing.assert_array_equal(table["return"].to_numpy(), result.trajectory_returns.ravel())
    assert result.actions is not None
    assert table["rewards"].to_numpy().shape == (10, 20)
    np.testing.assert_array_equal(table["actions"].to_numpy(), result.actions.reshape(10, 20))
    assert set(table.schema.to_python().values()) <= {int, float, list}


def test_without_trajectories_only_rewards_and_times_are_kept(tmp_path: Path) -> None:
    storage.write_result(tmp_path / "a", evaluate(make_agent("random"), experiment()))
    columns = pl.read_parquet(tmp_path / "a").columns
    assert columns == ["mdp", "trajectory", "return", "cpu_nanoseconds", "rewards", "nanoseconds"]


# Experiments.


@pytest.mark.parametrize(
    "changes", [{}, {"trajectories": 3, "seed": 9}, {"num_mdps": 1, "discount": 0.123456789}]
)
def test_experiments_come_back_bit_for_bit(tmp_path: Path, changes: dict[str, Any]) -> None:
    made = experiment(**changes)
    storage.write_experiment(tmp_path / "a", made)
    read = storage.read_experiment(tmp_path / "a")
    assert read.hash == made.hash
    assert read.settings() == made.settings()
    assert read.probabilities.tobytes() == made.probabilities.tobytes()
    one, other = (evaluate(make_agent("beb"), e).rewards for e in (made, read))
    np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="read-only"):
        read.probabilities[0, 0] = 1


def test_an_experiment_s_file_has_its_distributions(tmp_path: Path) -> None:
    prior = FlatDirichlet(
        [[[0.1, 1 / 3]], [[1e-5, 7]]], [1, 2], [0.25, 0.75], 0.5, "two", "Two states"
    )
    made = Experiment(prior, prior, num_mdps=3, horizon=4)
    storage.write_experiment(tmp_path / "a", made)
    read = storage.read_experiment(tmp_path / "a")
    assert read.test.digest == read.prior.digest == prior.digest
    assert (read.test.name, read.test.description) == ("two", "Two states")


def test_stored_mdps_are_played_not_drawn_again(tmp_path: Path) -> None:
    """Another version of NumPy may draw other MDPs; the hash still holds."""
    made = experiment()
    other = made.probabilities[::-1].copy()
    made.__dict__["probabilities"] = other
    storage.write_experiment(tmp_path / "a", made)
    np.testing.assert_array_equal(storage.read_experiment(tmp_path / "a").probabilities, other)


def test_mdps_that_do_not_match_the_hash_are_refused(tmp_path: Path) -> None:
    made = experiment()
    assert made.hash
    made.__dict__["probabilities"] = made.probabilities[::-1].copy()
    storage.write_experiment(tmp_path / "a", made)
    with pytest.raises(StoreError, match=r"is damaged: its MDPs don't match its hash; make it"):
        storage.read_experiment(tmp_path / "a")


# Trained agents.


def test_trained_agents_come_back(tmp_path: Path) -> None:
    one = trained()
    storage.write_agent(tmp_path / "a.json", one)
    read = storage.read_agent(tmp_path / "a.json")
    assert read.agent == one.agent
    assert read.prior.digest == one.prior.digest
    assert read[2:] == one[2:]
    results = [play_trained(t, experiment(), 1, lambda _: None) for t in (one, read)]
    np.testing.assert_array_equal(results[0].rewards, results[1].rewards)
    assert results[0].offline_seconds == results[1].offline_seconds


@pytest.mark.parametrize("kind", [Learner, Saving])
def test_agents_of_users_come_back(tmp_path: Path, kind: type[Learner]) -> None:
    """With a name of their own, saving or trained again: the training's seed is kept."""
    one = trained(kind())
    storage.write_agent(tmp_path / "a.json", one)
    read = storage.read_agent(tmp_path / "a.json")
    assert type(read.agent) is kind
    np.testing.assert_array_equal(read.agent.table, one.agent.table)  # type: ignore[attr-defined]
    assert json.loads((tmp_path / "a.json").read_text())["agent"] == f"own_agents:{kind.__name__}"


def test_parameters_of_users_agents_come_back(tmp_path: Path) -> None:
    agent = make_agent("own_agents:Scripted", script=[2, 0, 1], name="steps")
    with pytest.raises(InvalidInput, match=r"own_agents:Scripted.* refuses its parameters"):
        make_agent("own_agents:Scripted", length=3)
    one = trained(agent)
    one.agent.parameters = {"script": (2, 0, np.int64(1)), "name": "steps"}  # type: ignore[attr-defined]
    storage.write_agent(tmp_path / "a.json", one)
    read: Any = storage.read_agent(tmp_path / "a.json").agent
    assert (read.script, read.name) == ([2, 0, 1], "steps")


class Keeping(Scripted):
    """Saves what it is told to."""

    content: Any = None

    def __init__(self) -> None:
        super().__init__(name="keeping")
        self.parameters = {}

    def save(self) -> Any:
        return type(self).content

    def load(self, saved: Any) -> None:
        self.loaded = saved


@pytest.mark.parametrize(
    "content",
    [
        np.array([0.1, -0.0, 5e-324, np.inf]),
        np.array([[1, 2], [3, 4]], dtype=np.int8),
        np.zeros((0, 3)),
        np.zeros((2, 0, 3), np.float32),
        np.array(2.5),
        np.array([2**64 - 1], np.uint64),
        np.array([True, False]),
        np.array(["Qmean", "Q"]),
        np.float32(0.1),
        "a text with \u201cquotes\u201d and \n lines",
        3,
        0.1 + 0.2,
        None,
        [1, [2.5, "x"], np.arange(3)],
        {"deeper": {"still": np.arange(4)}},
    ],
)
def test_what_agents_save_comes_back(tmp_path: Path, content: Any) -> None:
    Keeping.content = {"content": content}
    storage.write_agent(tmp_path / "a.json", trained(Keeping()))
    read: Any = storage.read_agent(tmp_path / "a.json").agent
    loaded = read.loaded["content"]
    if isinstance(content, np.ndarray):
        assert loaded.dtype == content.dtype
        assert loaded.shape == content.shape
        assert loaded.tobytes() == content.tobytes()
    else:
        np.testing.assert_equal(loaded, content)


@pytest.mark.parametrize("content", [object(), np.array([1j]), {1, 2}, np.array([object()]), b"x"])
def test_what_no_file_can_hold_is_refused(tmp_path: Path, content: Any) -> None:
    Keeping.content = {"content": content}
    with pytest.raises(InvalidInput) as caught:
        storage.write_agent(tmp_path / "a.json", trained(Keeping()))
    message = str(caught.value)
    assert message.startswith("keeping can't be written to a file (")
    assert message.endswith("and what it saves, must be arrays, numbers and strings")
    assert not (tmp_path / "a.json").exists()


def test_agents_that_fail_to_save_or_load(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="learner failed while saving: RuntimeError: nothing to"):
        storage.write_agent(tmp_path / "a.json", trained(BadSaving()))
    storage.write_agent(tmp_path / "a.json", trained(BadLoading()))
    with pytest.raises(AgentError, match="learner failed while loading: KeyError: 'weights'"):
        storage.read_agent(tmp_path / "a.json")


def test_an_agent_that_is_gone(tmp_path: Path) -> None:
    one = trained(Scripted())
    storage.write_agent(tmp_path / "a.json", one)
    data = (tmp_path / "a.json").read_text().replace("own_agents:Scripted", "own_agents:Vanished")
    (tmp_path / "a.json").write_bytes(resealed(data.encode()))
    with pytest.raises(InvalidInput, match=r'a.json: agent "own_agents:Vanished" can\'t be import'):
        storage.read_agent(tmp_path / "a.json")


def test_trained_agents_are_readable_files(tmp_path: Path) -> None:
    storage.write_agent(tmp_path / "a.json", trained())
    content = json.loads((tmp_path / "a.json").read_text())
    assert (content["kind"], content["format"], content["agent"]) == ("agent", 1, "beb")
    assert content["parameters"] == {"beta": 2.5, "bonus": "pair", "ties": "first"}
    assert content["prior"]["num_states"] == 5
    assert (content["discount"], content["horizon"], content["seed"]) == (0.95, 20, 3)
    assert content["machine"]["cores"] >= 1


def test_training_again_is_not_timed_again(tmp_path: Path) -> None:
    one = train_new("random", {}, "GC", 0.95, 20, 0)._replace(training=Training(123.0, 45.0))
    storage.write_agent(tmp_path / "a.json", one)
    read = storage.read_agent(tmp_path / "a.json")
    assert read.training == Training(123.0, 45.0)
    assert read.task == Task(0.95, 20)


def test_deadlines_come_back(tmp_path: Path) -> None:
    made = experiment(deadline=0.1 + 0.2)
    storage.write_experiment(tmp_path / "e", made)
    assert storage.read_experiment(tmp_path / "e").task == made.task
    storage.write_agent(tmp_path / "a", trained(deadline=0.1 + 0.2))
    read = storage.read_agent(tmp_path / "a")
    assert read.task == made.task
    play_trained(read, made, 1, lambda _: None)
    with pytest.raises(InvalidInput, match="with the same discount, horizon and deadline"):
        play_trained(read, experiment(), 1, lambda _: None)


def test_experiments_from_before_there_were_deadlines(tmp_path: Path) -> None:
    class Earlier(Experiment):
        def settings(self) -> dict[str, Any]:
            return {key: value for key, value in super().settings().items() if key != "deadline"}

    storage.write_experiment(tmp_path / "e", Earlier("GC", "GC", 2, horizon=5))
    assert storage.read_experiment(tmp_path / "e").deadline is None
