import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brlbench import storage
from brlbench.agents import make_agent
from brlbench.agents.base import Task
from brlbench.errors import AgentError, InvalidInput, StoreError
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.training import Training, check_plays, load, save, train_new
from helpers.own_agents import BadLoading, BadSaving, Learner, Saving, Scripted
from helpers.stored import experiment, resealed, trained


def test_trained_agents_come_back(tmp_path: Path) -> None:
    one = trained()
    storage.write_agent(tmp_path / "a.json", save(one))
    read = load(storage.read_agent(tmp_path / "a.json"))
    assert read.agent == one.agent
    assert read.prior.digest == one.prior.digest
    assert read[2:] == one[2:]
    results = [evaluate(t.agent, experiment(), training=t.training) for t in (one, read)]
    np.testing.assert_array_equal(results[0].rewards, results[1].rewards)
    assert results[0].offline_seconds == results[1].offline_seconds


@pytest.mark.parametrize("kind", [Learner, Saving])
def test_agents_of_users_come_back(tmp_path: Path, kind: type[Learner]) -> None:
    """With a name of their own, saving or trained again: the training's seed is kept."""
    one = trained(kind())
    storage.write_agent(tmp_path / "a.json", save(one))
    read = load(storage.read_agent(tmp_path / "a.json"))
    assert type(read.agent) is kind
    np.testing.assert_array_equal(read.agent.table, one.agent.table)  # type: ignore[attr-defined]
    assert (
        json.loads((tmp_path / "a.json").read_text())["agent"]
        == f"helpers.own_agents:{kind.__name__}"
    )


def test_parameters_of_users_agents_come_back(tmp_path: Path) -> None:
    agent = make_agent("helpers.own_agents:Scripted", script=[2, 0, 1], name="steps")
    with pytest.raises(InvalidInput, match="unknown parameter 'length': its"):
        make_agent("helpers.own_agents:Scripted", length=3)
    one = trained(agent)
    one.agent.parameters = {"script": (2, 0, np.int64(1)), "name": "steps"}  # type: ignore[attr-defined]
    storage.write_agent(tmp_path / "a.json", save(one))
    read: Any = load(storage.read_agent(tmp_path / "a.json")).agent
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
    storage.write_agent(tmp_path / "a.json", save(trained(Keeping())))
    read: Any = load(storage.read_agent(tmp_path / "a.json")).agent
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
        storage.write_agent(tmp_path / "a.json", save(trained(Keeping())))
    message = str(caught.value)
    assert message.startswith("test_agents:Keeping can't be written to a file (")
    assert message.endswith("and what it saves must be arrays, numbers and strings")
    assert not (tmp_path / "a.json").exists()


def test_agents_that_fail_to_save_or_load(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="learner failed while saving: RuntimeError: nothing to"):
        storage.write_agent(tmp_path / "a.json", save(trained(BadSaving())))
    storage.write_agent(tmp_path / "a.json", save(trained(BadLoading())))
    with pytest.raises(AgentError, match="learner failed while loading: KeyError: 'weights'"):
        load(storage.read_agent(tmp_path / "a.json"))


def test_an_agent_that_is_gone(tmp_path: Path) -> None:
    one = trained(Scripted())
    storage.write_agent(tmp_path / "a.json", save(one))
    data = (
        (tmp_path / "a.json")
        .read_text()
        .replace("helpers.own_agents:Scripted", "helpers.own_agents:Vanished")
    )
    (tmp_path / "a.json").write_bytes(resealed(data.encode()))
    with pytest.raises(
        InvalidInput, match=r'a.json: agent "helpers.own_agents:Vanished" can\'t be'
    ):
        load(storage.read_agent(tmp_path / "a.json"))


def test_trained_agents_are_readable_files(tmp_path: Path) -> None:
    storage.write_agent(tmp_path / "a.json", save(trained()))
    content = json.loads((tmp_path / "a.json").read_text())
    assert (content["kind"], content["format"], content["agent"]) == ("agent", 1, "beb")
    assert content["parameters"] == {"beta": 2.5, "bonus": "pair", "ties": "first"}
    assert content["prior"]["num_states"] == 5
    assert (content["discount"], content["horizon"], content["seed"]) == (0.95, 20, 3)
    assert content["machine"]["cores"] >= 1


def test_training_again_is_not_timed_again(tmp_path: Path) -> None:
    one = train_new("random", {}, "GC", 0.95, 20, 0)._replace(training=Training(123.0, 45.0))
    storage.write_agent(tmp_path / "a.json", save(one))
    read = load(storage.read_agent(tmp_path / "a.json"))
    assert read.training == Training(123.0, 45.0)
    assert read.task == Task(0.95, 20)


def test_deadlines_come_back(tmp_path: Path) -> None:
    made = experiment(deadline=0.1 + 0.2)
    storage.write_experiment(tmp_path / "e", made)
    assert storage.read_experiment(tmp_path / "e").task == made.task
    storage.write_agent(tmp_path / "a", save(trained(deadline=0.1 + 0.2)))
    read = load(storage.read_agent(tmp_path / "a"))
    assert read.task == made.task
    check_plays(read, made)
    with pytest.raises(InvalidInput, match="with the same discount, horizon, deadline and episode"):
        check_plays(read, experiment())


@pytest.mark.parametrize("name", ["beb", "opps-ds"])
def test_episodes_come_back(tmp_path: Path, name: str) -> None:
    made, agent = experiment(episode=5, discount=1.0), make_agent(name)
    quick: Any = agent.small()  # type: ignore[attr-defined]
    storage.write_agent(tmp_path / "a", save(trained(quick, episode=5, discount=1.0)))
    read = load(storage.read_agent(tmp_path / "a"))
    assert read.task == made.task
    one, other = (evaluate(each, made, training=read.training) for each in (quick, read.agent))
    assert one.returns.tolist() == other.returns.tolist()
    with pytest.raises(InvalidInput, match="the same discount, horizon, deadline and episode"):
        check_plays(read, experiment())


def test_an_agent_that_was_saved_for_another_task_is_refused(tmp_path: Path) -> None:
    """Its arrays would be too small, and compiled code does not check."""
    storage.write_agent(tmp_path / "a.json", save(trained(make_agent("opps-ds", draws=20))))
    content = json.loads((tmp_path / "a.json").read_bytes())
    text = json.dumps({**content, "horizon": content["horizon"] + 1}).encode()
    (tmp_path / "b.json").write_bytes(resealed(text))
    with pytest.raises(StoreError, match=r"b\.json is damaged: it was saved for another prior or"):
        load(storage.read_agent(tmp_path / "b.json"))
