import random
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brlbench as bb
from brlbench.agents import describe, identity, make_agent
from brlbench.agents.base import Task
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import AgentError, InvalidInput
from brlbench.kernels.loop import environment
from brlbench.mdps.sparse import SparseTable
from brlbench.problems import distribution
from brlbench.protocol import stepping, training
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.protocol.training import Training, check_plays, train, train_new
from brlbench.results.result import Result
from helpers.own_agents import (
    BadLoading,
    BadSaving,
    Dying,
    Failing,
    Leaking,
    Learner,
    Saving,
    Scripted,
    Sleeping,
    Told,
    Uncopyable,
    Unpicklable,
)

pytestmark = pytest.mark.usefixtures("warm_workers")
MILLISECOND = 1_000_000


def build(num_mdps: int = 6, horizon: int = 12, **settings: Any) -> Experiment:
    return Experiment("GC", "GC", num_mdps=num_mdps, horizon=horizon, **settings)


def assert_same(one: Result, other: Result) -> None:
    for field in ("actions", "states", "rewards"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))


def test_an_experiment_must_be_one() -> None:
    wrong: Any = "GC"
    with pytest.raises(InvalidInput, match=r"^experiment = 'GC': must be an Experiment, such as"):
        evaluate(make_agent("random"), wrong)


# What users see of an agent that fails.


@pytest.mark.parametrize(("where", "step"), [("start", 0), ("act", 3), ("observe", 3)])
def test_an_exception_names_the_agent_the_mdp_and_the_step(where: str, step: int) -> None:
    with pytest.raises(AgentError) as caught:
        evaluate(Failing(where), build())
    expected = f"failing failed on MDP 0 at step {step}: RuntimeError: no luck in {where}"
    assert str(caught.value) == expected
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_an_exception_in_another_process_says_as_much() -> None:
    with pytest.raises(AgentError) as caught:
        evaluate(Failing("act"), build(), workers=2)
    assert re.fullmatch(
        r"failing failed on MDP \d at step 3: RuntimeError: no luck in act "
        r"\(.*own_agents\.py, line \d+, in _fail\)",
        str(caught.value),
    )


def test_the_mdp_is_the_one_that_failed() -> None:
    class FailsLater(Scripted):
        def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
            super().observe(state, action, next_state, reward)
            if next_state == 4:
                raise ValueError("the end of the chain")

    experiment = build(num_mdps=20, trajectories_per_mdp=2)
    result = evaluate(Scripted([0]), experiment)
    assert result.states is not None
    mdp, _, step = np.argwhere(result.states[:, :, 1:] == 4)[0]
    with pytest.raises(AgentError) as caught:
        evaluate(FailsLater([0]), experiment)
    assert f"failed on MDP {mdp} at step {step}: ValueError: the end" in str(caught.value)
    assert (mdp, step) != (0, 0)


def test_an_exception_in_training() -> None:
    with pytest.raises(AgentError) as caught:
        evaluate(Failing("train"), build())
    assert str(caught.value) == "failing failed while training: RuntimeError: no luck in train"


@pytest.mark.parametrize(
    "action", [0.0, 1.5, None, "0", True, False, np.bool_(True), np.float64(1), [0], 1j]
)
def test_what_is_no_whole_number_is_refused(action: Any) -> None:
    with pytest.raises(AgentError) as caught:
        evaluate(Failing("return", action), build())
    assert str(caught.value) == (
        f"failing failed on MDP 0 at step 3: act returned {action!r}: "
        "must be a whole number from 0 to 2"
    )


@pytest.mark.parametrize("action", [-1, 3, 10**30, np.int64(-2), np.uint8(200)])
def test_numbers_out_of_range_are_refused(action: Any) -> None:
    with pytest.raises(AgentError) as caught:
        evaluate(Failing("return", action), build())
    assert str(caught.value) == (
        f"failing failed on MDP 0 at step 3: act returned {action!r}: must be from 0 to 2"
    )


@pytest.mark.parametrize("kind", [int, np.int64, np.int8, np.uint64])
def test_whole_numbers_of_any_kind_are_accepted(kind: Any) -> None:
    result = evaluate(Scripted([kind(2), kind(1)]), build())
    assert result.actions is not None
    assert result.actions[0, 0, :4].tolist() == [2, 1, 2, 1]


def test_an_agent_without_a_method() -> None:
    class Half:
        def train(self, *_: Any) -> None: ...

        def start(self, *_: Any) -> None: ...

        def act(self, state: int) -> int:
            return 0

    with pytest.raises(InvalidInput, match="is of class Half, which has no method observe"):
        evaluate(Half(), build())  # type: ignore[arg-type]


def test_other_agents_results_survive() -> None:
    good = make_agent("epsilon-greedy")
    before = evaluate(good, build())
    for bad in (Failing("train"), Failing("act"), Failing("return")):
        with pytest.raises(AgentError):
            evaluate(bad, build())
    assert_same(evaluate(good, build()), before)
    assert_same(evaluate(make_agent("epsilon-greedy"), build()), before)


def test_an_agent_that_cannot_be_copied() -> None:
    for workers in (1, 2):
        with pytest.raises(InvalidInput) as caught:
            evaluate(Uncopyable(), build(), workers)
        assert str(caught.value).startswith("uncopyable can't be copied (")
        assert "\n" not in str(caught.value)


# Results don't depend on how the work is divided.


@pytest.mark.parametrize(
    ("agent", "workers"),
    [
        (Leaking(), 2),
        (Told(name="told"), 2),
        pytest.param(Leaking(), 5, marks=pytest.mark.slow),
        pytest.param(Learner(), 3, marks=pytest.mark.slow),
    ],
)
def test_workers_do_not_matter_for_python_agents(agent: Any, workers: int) -> None:
    experiment = build(trajectories_per_mdp=2)
    alone = evaluate(agent, experiment)
    assert alone.actions is not None
    assert len(np.unique(alone.actions)) == 3
    assert_same(evaluate(agent, experiment, workers), alone)


def test_what_an_agent_keeps_does_not_reach_other_mdps() -> None:
    few, many = evaluate(Leaking(), build(num_mdps=2)), evaluate(Leaking(), build(num_mdps=6))
    np.testing.assert_array_equal(few.rewards, many.rewards[:2])
    agent = Leaking()
    evaluate(agent, build())
    assert agent.seen == 0


def test_agents_that_save_are_not_trained_again() -> None:
    """The agent fails where it is trained in any other process than this one."""
    experiment = build()
    alone = evaluate(Saving(), experiment)
    assert_same(evaluate(Saving(), experiment, workers=2), alone)


@pytest.mark.parametrize("agent", [Learner, Saving])
def test_agents_trained_with_another_seed(agent: type[Learner]) -> None:
    """They stay what they are, however many processes play."""
    experiment = build(seed=1)
    results = []
    for workers in (1, 2):
        trained = agent()
        training = train(trained, experiment.prior, experiment.task, seed=8).training
        results.append(evaluate(trained, experiment, workers, training))
    assert_same(results[1], results[0])
    freshly = evaluate(agent(), experiment)
    assert not np.array_equal(freshly.rewards, results[0].rewards)


def test_an_agent_that_cannot_be_sent_to_processes() -> None:
    evaluate(Unpicklable(), build())
    with pytest.raises(InvalidInput) as caught:
        evaluate(Unpicklable(), build(), workers=2)
    message = str(caught.value)
    assert message.startswith("unpicklable can't be sent to other processes (")
    assert message.endswith("define its class in a module of its own, or use workers=1")


def test_an_agent_that_fails_to_save_or_load() -> None:
    with pytest.raises(AgentError, match="learner failed while saving: RuntimeError: nothing to"):
        evaluate(BadSaving(), build(), workers=2)
    with pytest.raises(AgentError, match="learner failed while loading: KeyError: 'weights'"):
        evaluate(BadLoading(), build(), workers=2)


@pytest.mark.slow  # starts processes
def test_an_agent_that_ends_its_process() -> None:
    with pytest.raises(AgentError, match=r"^dying: its process ended with exit code 3$"):
        evaluate(Dying(name="dying"), build(), workers=2)


SCRIPT = """
import brlbench as bb

class Mine:
    def train(self, prior, task, rng): self.trained = True
    def start(self, state, rng): self.rng = rng
    def act(self, state): return int(self.rng.integers(3)) if self.trained else 5
    def observe(self, *_): pass

def main():
    experiment = bb.Experiment("GC", num_mdps=4, horizon=9)
    alone, both = (bb.evaluate(Mine(), experiment, workers) for workers in (1, 2))
    assert (alone.rewards == both.rewards).all()
    print("equal")
"""


@pytest.mark.slow  # starts processes
@pytest.mark.parametrize("guard", ['if __name__ == "__main__":\n    main()', "main()"])
def test_an_agent_that_a_script_defines(tmp_path: Path, guard: str) -> None:
    (tmp_path / "script.py").write_text(f"{SCRIPT}\n{guard}\n")
    command = [sys.executable, str(tmp_path / "script.py")]
    run = subprocess.run(command, capture_output=True, text=True)
    if guard == "main()":
        last = len((tmp_path / "script.py").read_text().splitlines())
        assert f"script.py, line {last}: worker processes import this script" in run.stderr
        assert run.stderr.count("Traceback") == 1  # no worker has started it again
    else:
        assert run.stdout == "equal\n", run.stderr


@pytest.mark.parametrize("workers", [0, -1, 1.5, "2", True, np.nan])
def test_refused_workers(workers: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        evaluate(Scripted(), build(), workers)
    assert str(caught.value) == f"workers = {workers!r}: must be a whole number at least 1"


def test_the_use_of_global_random_numbers_is_noted() -> None:
    for use in (random.random, np.random.random):

        class Ignorant(Scripted):
            def start(self, state: int, rng: np.random.Generator, use: Any = use) -> None:
                use()

        result = evaluate(Ignorant(name="ignorant"), build())
        assert result.measured["global_numbers"] == 1
        [note] = [each for each in bb.compare(result).notes if "numpy.random" in each]
        assert note.endswith("that train and start are given: ignorant")
    assert "global_numbers" not in evaluate(Scripted(), build()).measured


def test_all_cores_may_be_used() -> None:
    agent = make_agent("random")
    assert_same(evaluate(agent, build(), workers=None), evaluate(agent, build()))


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("num_mdps", [1, 7, 100])
def test_progress_adds_up(workers: int, num_mdps: int) -> None:
    done: list[int] = []
    experiment = build(num_mdps=num_mdps, trajectories_per_mdp=3)
    evaluate(make_agent("random"), experiment, workers, on_played=done.append)
    assert sum(done) == 3 * num_mdps
    assert min(done) > 0
    if num_mdps == 100:
        assert len(done) >= 4 * workers


# Times.


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Nanoseconds of a clock that only the test moves."""
    now = [0]
    monkeypatch.setattr(stepping, "perf_counter_ns", lambda: now[0])
    monkeypatch.setattr(training, "perf_counter", lambda: now[0] * 1e-9)
    return now


class Timed(Scripted):
    """Moves a clock in each of its methods."""

    def __init__(self, clock: list[int]) -> None:
        super().__init__(name="timed")
        self.clock = clock

    def __deepcopy__(self, memo: Any) -> "Timed":
        return Timed(self.clock)

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        self.clock[0] += 7_000_000_000

    def start(self, state: int, rng: np.random.Generator) -> None:
        self.clock[0] += 100

    def act(self, state: int) -> int:
        self.clock[0] += 20
        return 0

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        self.clock[0] += 3


def test_times_are_those_of_the_agent(clock: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without those of the environment; training is apart."""

    def slow(*arguments: Any) -> Any:
        clock[0] += 5000
        return step_once(*arguments)

    step_once = environment.step_once
    monkeypatch.setattr(environment, "step_once", slow)
    result = evaluate(Timed(clock), build(num_mdps=2, horizon=5))
    np.testing.assert_array_equal(result.nanoseconds, [[[123, 23, 23, 23, 23]]] * 2)
    assert result.decision_seconds == pytest.approx(result.nanoseconds[:, 0] * 1e-9)
    assert result.offline_seconds == pytest.approx(7)


def test_compiled_decision_times_exclude_the_environment() -> None:
    """In an MDP whose step takes long, for an agent that decides at once."""
    states = 20_000
    following = np.concatenate([np.arange(states), np.zeros(states - 1, np.int64)])
    start = np.concatenate([np.zeros(states, np.int64), np.arange(1, states)])
    counts = SparseTable.from_entries(
        states, 1, start, np.zeros(len(start), np.int64), following, np.ones(len(start)), "counts"
    )
    rewards = SparseTable.from_entries(states, 1, [0], [0], [1], [1.0], "rewards")
    prior = FlatDirichlet(counts, rewards)
    result = evaluate(make_agent("random"), Experiment(prior, prior, num_mdps=3, horizon=200))
    whole = 1e9 * result.measured["playing_seconds"] / 3  # per trajectory
    assert (result.nanoseconds > 0).all()
    assert 200 * np.median(result.nanoseconds) < whole / 5
    assert np.median(result.cpu_nanoseconds) < whole / 5


def test_sleeping_takes_no_processor_time() -> None:
    result = evaluate(Sleeping(start=0.02, act=0.003, observe=0.002), build(num_mdps=2, horizon=5))
    times = result.nanoseconds[:, 0]
    assert (times[:, 0] >= 25 * MILLISECOND).all()
    assert (times[:, 1:] >= 5 * MILLISECOND).all()
    assert (result.cpu_nanoseconds < times.sum(axis=1, keepdims=True)).all()

    class Slow(Scripted):
        def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
            time.sleep(0.05)

    result = evaluate(Slow(name="slow"), build())
    assert result.offline_seconds >= 0.05
    assert 0 <= result.offline_cpu_seconds < result.offline_seconds


# Training.


def test_training_depends_on_prior_task_seed_and_agent_only() -> None:
    def table(prior: str = "GC", seed: int = 0, task: Task | None = None, who: str = "a") -> Any:
        agent = Learner()
        agent.name = who
        train(agent, distribution(prior), task or Task(0.95, 250), seed)
        return agent.table.tolist()

    variants = [
        table(),
        table(prior="uniform:GC"),
        table(seed=1),
        table(task=Task(0.9, 250)),
        table(task=Task(0.95, 10)),
        table(who="b"),
    ]
    assert len({tuple(variant) for variant in variants}) == len(variants)
    assert table() == variants[0]


def test_a_trained_agent_plays_what_it_was_trained_for() -> None:
    trained = train_new("beb", {"beta": 2.0}, "GC", 0.95, 12, 0)
    done: list[int] = []
    check_plays(trained, build())
    result = evaluate(trained.agent, build(), 1, trained.training, done.append)
    assert_same(result, evaluate(make_agent("beb", beta=2.0), build()))
    assert result.offline_seconds == trained.training.seconds
    assert sum(done) == 6


@pytest.mark.parametrize(
    ("experiment", "message"),
    [
        (
            Experiment("uniform:GC", "GC", 2, horizon=12),
            "the agent was trained on another prior (GC) than the experiment's (uniform:GC): "
            "train it on that one",
        ),
        (
            Experiment("GC", "GC", 2, horizon=13),
            "the agent was trained for "
            "Task(discount=0.95, horizon=12, deadline=None), "
            "the experiment has "
            "Task(discount=0.95, horizon=13, deadline=None): "
            "train it with the same discount, horizon, deadline and episode",
        ),
        (
            Experiment("GC", "GC", 2, horizon=12, discount=0.9),
            "the agent was trained for "
            "Task(discount=0.95, horizon=12, deadline=None), "
            "the experiment has "
            "Task(discount=0.9, horizon=12, deadline=None): "
            "train it with the same discount, horizon, deadline and episode",
        ),
    ],
)
def test_it_plays_nothing_else(experiment: Experiment, message: str) -> None:
    trained = train_new("random", {}, "GC", 0.95, 12, 0)
    with pytest.raises(InvalidInput) as caught:
        check_plays(trained, experiment)
    assert str(caught.value) == message


def test_what_training_took_is_kept() -> None:
    agent, experiment = make_agent("random"), build()
    train(agent, experiment.prior, experiment.task, 0)
    result = evaluate(agent, experiment, training=Training(12.5, 3.5))
    assert (result.offline_seconds, result.offline_cpu_seconds) == (12.5, 3.5)


def test_identity_tells_parameters_apart() -> None:
    agents = [
        make_agent("beb"),
        make_agent("beb", beta=2),
        make_agent("beb", bonus="transition"),
        make_agent("epsilon-greedy"),
        Scripted([0]),
        Scripted([1]),
    ]
    assert len({identity(agent) for agent in agents}) == len(agents)
    assert identity(make_agent("beb", beta=2)) == identity(make_agent("beb", beta=2.0))
    assert describe(Learner()) == ("learner", {})


def test_agents_have_streams_of_their_own() -> None:
    """The same agent by another name, or with another seed, draws other numbers."""
    experiment = build(horizon=30)
    first = evaluate(make_agent("random"), experiment)
    renamed = make_agent("random")
    renamed.name = "other"  # type: ignore[attr-defined]
    other_seed = evaluate(make_agent("random"), build(horizon=30, seed=1))
    for other in (evaluate(renamed, experiment), other_seed):
        assert not np.array_equal(first.rewards, other.rewards)


def test_the_result_says_what_was_played() -> None:
    experiment = build(trajectories_per_mdp=2, seed=4)
    result = evaluate(make_agent("beb", beta=2), experiment)
    assert (result.algorithm, result.parameters["beta"]) == ("beb", 2.0)
    assert result.settings == experiment.settings()
    assert result.experiment_hash == experiment.hash
    assert result.machine["versions"]["brlbench"]
    assert result.rewards.shape == (6, 2, 12)
