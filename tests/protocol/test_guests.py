"""Agents of users that change what they can: other agents and the caller notice nothing."""

import decimal
import enum
import gc
import io
import locale
import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brlbench.agents import make_agent
from brlbench.agents.random import Random
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import AgentError, InvalidInput
from brlbench.kernels.loop.environment import Environment
from brlbench.kernels.loop.trajectory import Record
from brlbench.problems import distribution
from brlbench.protocol import playing
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.protocol.training import load_into, save, train
from brlbench.results.result import Result
from helpers.own_agents import Failing, Learner, Scripted, Told
from helpers.processes import PATIENCE
from helpers.vandals import CompiledVandal, SavingVandal, ToldVandal, Vandal

pytestmark = pytest.mark.usefixtures("warm_workers")


def build(prior: str | FlatDirichlet = "GC", num_mdps: int = 4, horizon: int = 8) -> Experiment:
    return Experiment(prior, prior, num_mdps, horizon=horizon, trajectories_per_mdp=2)


def assert_same(one: Result, other: Result) -> None:
    for field in ("actions", "states", "rewards", "parameters", "settings", "experiment_hash"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))


# What agents are given.


def others() -> list[Any]:
    return [make_agent("epsilon-greedy"), make_agent("optimal"), Learner(), Told(name="told")]


@pytest.mark.parametrize(
    ("vandal", "workers"),
    [
        (Vandal(), 1),
        (ToldVandal(), 1),
        (CompiledVandal(), 1),
        (CompiledVandal(), 2),
        pytest.param(ToldVandal(), 2, marks=pytest.mark.slow),
    ],
)
def test_an_agent_that_ruins_what_it_is_given(vandal: Any, workers: int) -> None:
    expected = [evaluate(agent, build()) for agent in others()]
    prior = distribution("GC")
    experiment, untouched = build(prior), build()
    evaluate(vandal, experiment, workers)
    trained = train(vandal, prior, experiment.task, 0)
    evaluate(vandal, experiment, workers, trained.training)
    for agent, alone in zip(others(), expected, strict=True):
        assert_same(evaluate(agent, experiment, workers), alone)
    assert experiment.hash == build(prior).hash == untouched.hash
    np.testing.assert_array_equal(experiment.noise_words, untouched.noise_words)
    assert build(prior.named("GC")).prior.content() == untouched.prior.content()


def test_an_agent_that_ruins_what_it_saved_and_loaded() -> None:
    experiment, agent = build(), SavingVandal()
    saved = save(train(agent, experiment.prior, experiment.task, 0)).saved
    agent.saved["table"][:] = 0
    agent.saved["script"].clear()
    assert saved is not None
    load_into(SavingVandal(), saved)
    assert saved["table"].tolist() == [0, 1, 2, 3]
    assert saved["script"] == [0, 1]


# What agents change in the process.


def other_locale() -> None:
    now = locale.setlocale(locale.LC_ALL)
    locale.setlocale(locale.LC_ALL, "C" if now != "C" else "C.UTF-8")


def lose_environment() -> None:
    os.environ = dict(os.environ)  # type: ignore[assignment]  # noqa: B003
    os.environ["LANGUAGE"] = "tlh"


def handle(*_: Any) -> None:
    """A signal handler."""


CHANGES: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "folder": (lambda: os.chdir("/"), os.getcwd),
    "environment": (
        lambda: (os.environ.pop("PATH", None), os.environ.update(LANGUAGE="tlh")),
        lambda: (dict(os.environ), os.environ["PATH"], os.environ.get("LANGUAGE")),
    ),
    "another environment": (lose_environment, lambda: (os.environ, type(os.environ))),
    "path": (lambda: sys.path.insert(0, "/nowhere"), sys.path.copy),
    "another path": (lambda: setattr(sys, "path", []), lambda: (sys.path, id(sys.path))),
    "output": (
        lambda: setattr(sys, "stdout", io.StringIO()),
        lambda: (sys.stdin, sys.stdout, sys.stderr),
    ),
    "interrupt": (
        lambda: signal.signal(signal.SIGINT, handle),
        lambda: signal.getsignal(signal.SIGINT),
    ),
    "signal": (
        lambda: signal.signal(signal.SIGUSR1, handle),
        lambda: signal.getsignal(signal.SIGUSR1),
    ),
    "alarm": (lambda: signal.alarm(10_000), lambda: signal.getitimer(signal.ITIMER_REAL)),
    "mask": (
        lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2]),
        lambda: signal.pthread_sigmask(signal.SIG_BLOCK, []),
    ),
    "numerical errors": (lambda: np.seterr(all="raise"), np.geterr),
    "numerical errors' handler": (lambda: np.seterrcall(handle), np.geterrcall),
    "printing": (lambda: np.set_printoptions(precision=2), np.get_printoptions),
    "warnings": (lambda: warnings.simplefilter("ignore"), lambda: list(warnings.filters)),
    "shown warnings": (
        lambda: setattr(warnings, "showwarning", handle),
        lambda: warnings.showwarning,
    ),
    "random": (lambda: random.seed(1), random.getstate),
    "random of NumPy": (
        lambda: np.random.seed(1),  # noqa: NPY002
        lambda: [str(part) for part in np.random.get_state()],  # noqa: NPY002
    ),
    "decimals": (
        lambda: setattr(decimal.getcontext(), "prec", 3),
        lambda: decimal.getcontext().prec,
    ),
    "locale": (other_locale, lambda: locale.setlocale(locale.LC_ALL)),
    "recursion": (lambda: sys.setrecursionlimit(77_777), sys.getrecursionlimit),
    "switching": (lambda: sys.setswitchinterval(1.0), sys.getswitchinterval),
    "garbage": (gc.disable, gc.isenabled),
    "time zone": (
        lambda: os.environ.update(TZ="UTC+5") or time.tzset(),  # type: ignore[func-returns-value]
        lambda: time.timezone,
    ),
}


class Meddling(Scripted):
    """Changes something in the process, and fails if it is told to."""

    def __init__(self, what: str, where: str, fails: bool) -> None:
        super().__init__(name="meddling")
        self.what, self.where, self.fails = what, where, fails

    def train(self, *given: Any) -> None:
        self.meddle("train")

    def act(self, state: int) -> int:
        self.meddle("act")
        return 0

    def meddle(self, where: str) -> None:
        if where == self.where:
            CHANGES[self.what][0]()
            if self.fails:
                raise RuntimeError("no more")


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("where", ["train", "act"])
@pytest.mark.parametrize("what", CHANGES)
def test_what_an_agent_changes_is_set_back(what: str, where: str, fails: bool) -> None:
    look = CHANGES[what][1]
    before = look()
    try:
        evaluate(Meddling(what, where, fails), build())
    except AgentError as error:
        assert "no more" in str(error)
    assert look() == before


def test_an_agent_that_removes_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    class Removing(Scripted):
        def start(self, state: int, rng: np.random.Generator) -> None:
            (tmp_path / "here").rmdir() if (tmp_path / "here").exists() else None

    random.seed(5)
    before = random.getstate()
    evaluate(Removing(), build())
    evaluate(Removing(), build())  # where there is no current folder
    assert random.getstate() == before


class Careless(Scripted):
    """Uses the global generators instead of its own."""

    def train(self, *given: Any) -> None:
        self.shift = random.randrange(3)

    def act(self, state: int) -> int:
        drawn = random.randrange(3) + np.random.randint(3)  # noqa: NPY002
        return int(drawn + self.shift) % 3


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_global_generators_are_seeded_for_each_trajectory(workers: int) -> None:
    expected = evaluate(Careless(), build(num_mdps=20))
    random.seed(7)
    np.random.seed(7)  # noqa: NPY002
    few = evaluate(Careless(), build(num_mdps=5), workers)
    assert expected.actions is not None
    np.testing.assert_array_equal(few.actions, expected.actions[:5])
    assert len(np.unique(expected.actions.reshape(40, -1), axis=0)) == 40


def test_agents_in_threads_leave_the_process_as_it_was(tmp_path: Path) -> None:
    """The second one begins while the first has changed something, and ends after it."""
    changed, seen, over = threading.Event(), threading.Event(), threading.Event()

    class First(Scripted):
        def train(self, *given: Any) -> None:
            os.chdir(tmp_path)
            changed.set()
            assert seen.wait(PATIENCE)

    class Second(Scripted):
        def train(self, *given: Any) -> None:
            seen.set()
            assert over.wait(PATIENCE)

    experiment, before = build(), os.getcwd()
    second = threading.Thread(
        target=lambda: (changed.wait(PATIENCE), evaluate(Second(), experiment))
    )
    second.start()
    train(First(), experiment.prior, experiment.task, 0)
    over.set()
    second.join()
    assert os.getcwd() == before


# What agents raise and return.


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Exiting(Exception):
    def __str__(self) -> str:
        sys.exit(3)


class Own(BaseException):
    """Not an Exception."""


def recursion() -> Any:
    return recursion()


RAISED: dict[str, tuple[Any, str]] = {
    "exit": (SystemExit(3), "SystemExit: 3"),
    "interrupt": (KeyboardInterrupt(), "KeyboardInterrupt"),
    "generator": (GeneratorExit(), "GeneratorExit"),
    "iteration": (StopIteration(), "StopIteration"),
    "memory": (MemoryError(), "MemoryError"),
    "own": (Own("mine"), "Own: mine"),
    "unprintable": (Unprintable(), "Unprintable: its message can't be read"),
    "exiting": (Exiting(), "Exiting: its message can't be read"),
    "surrogates": (ValueError("a\ud800b"), r"ValueError: a\ud800b"),
    "long, ours": (InvalidInput("x" * 2000), f"{'x' * 1000}… (2,000 characters)"),
    "long": (ValueError("x" * 10_000_000), f"ValueError: {'x' * 1000}… (10,000,000 characters)"),
}


class Raising(Failing):
    """Raises one of the above."""

    def _fail(self, here: str) -> None:
        if here == self.where:
            raise RAISED[self.what][0]


@pytest.mark.parametrize("where", ["train", "start", "act", "observe"])
@pytest.mark.parametrize("what", RAISED)
def test_whatever_an_agent_raises_is_its_error(what: str, where: str) -> None:
    with pytest.raises(AgentError) as caught:
        evaluate(Raising(where, what), build())
    place = "while training" if where == "train" else "on MDP 0 at step "
    assert str(caught.value).startswith(f"failing failed {place}")
    assert str(caught.value).endswith(RAISED[what][1])


@pytest.mark.slow
@pytest.mark.parametrize("what", ["exit", "own", "unprintable"])
def test_in_other_processes_too(what: str) -> None:
    with pytest.raises(AgentError) as caught:
        evaluate(Raising("act", what), build(), workers=2)
    assert f"at step 3: {RAISED[what][1]} (" in str(caught.value)


def test_an_agent_that_recurses_for_ever() -> None:
    class Recursing(Scripted):
        def act(self, state: int) -> int:
            return int(recursion())

    with pytest.raises(AgentError, match="at step 0: RecursionError: maximum recursion depth"):
        evaluate(Recursing(), build())


@pytest.mark.parametrize("where", ["train", "act"])
def test_an_interrupt_of_the_caller_is_no_fault_of_the_agent(where: str) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    class Interrupted(Failing):
        def _fail(self, here: str) -> None:
            if here == self.where:
                signal.raise_signal(signal.SIGINT)

    try:
        with pytest.raises(KeyboardInterrupt):
            evaluate(Interrupted(where), build())
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_agent_that_fails_where_it_is_copied() -> None:
    class Uncopied(Scripted):
        def __deepcopy__(self, memo: Any) -> Any:
            sys.exit(3)

    with pytest.raises(InvalidInput, match=r"can't be copied \(SystemExit: 3\): every MDP"):
        evaluate(Uncopied(), build())


class Nameless:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


class Broken(Nameless):
    def __index__(self) -> int:
        raise ValueError("broken")


class Liar(int):
    """Compares as it likes."""

    def __lt__(self, other: Any) -> bool:
        return True

    __ge__ = __le__ = __gt__ = __lt__


NONSENSE: dict[str, tuple[Any, str]] = {
    "no words": (Nameless(), "act returned <Nameless instance at 0x"),
    "broken": (Broken(), "ValueError: broken"),
    "liar": (Liar(99), "act returned 99: must be from 0 to 2"),
    "huge": (10**5000, "act returned a number of thousands of digits: must be from 0 to 2"),
    "long": (
        ["x"] * 10**6,
        "act returned ['x', 'x', 'x', 'x', 'x', 'x', ...]: must be",
    ),
    "array": (np.zeros(3, np.int64), "act returned array([0, 0, 0]): must be a whole number"),
    "nan": (np.nan, "act returned nan: must be a whole number"),
    "surrogate": ("\ud800", r"act returned '\ud800': must be a whole number"),
}


@pytest.mark.parametrize("what", NONSENSE)
def test_nonsense_is_refused_in_a_few_words(what: str) -> None:
    action, message = NONSENSE[what]
    with pytest.raises(AgentError) as caught:
        evaluate(Failing("return", action), build())
    assert message in str(caught.value)
    assert len(str(caught.value)) < 700
    str(caught.value).encode()


class Move(enum.IntEnum):
    LEFT = 0
    RIGHT = 2


@pytest.mark.parametrize("action", [Move.RIGHT, Liar(2), np.array(2)])
def test_whatever_stands_for_a_whole_number_is_accepted(action: Any) -> None:
    assert_same(
        evaluate(Failing("return", action), build()), evaluate(Failing("return", 2), build())
    )


class Astray(Random):
    """Compiled; takes an action more than there are, in GC."""

    def prepare(self, prior: Any, *given: Any) -> Any:
        arrays = super().prepare(prior, *given)
        return arrays._replace(num_actions=4) if prior.num_states == 5 else arrays


def test_actions_of_a_compiled_agent_are_checked() -> None:
    # One decision each: later ones would begin in a state that does not exist.
    with pytest.raises(AgentError, match=r"random failed on MDP \d+ at step 0: act returned 3: m"):
        evaluate(Astray(), build(num_mdps=20, horizon=1))


def test_what_a_compiled_agent_raises_is_its_error() -> None:
    class Raising(Random):
        def prepare(self, *given: Any) -> Any:
            raise SystemExit(3)

    with pytest.raises(AgentError, match="random failed while it was compiled: SystemExit: 3"):
        evaluate(Raising(), build())
    agent, experiment = make_agent("beb"), build("uniform:GC", horizon=50)
    training = train(agent, experiment.prior, build("uniform:GC", horizon=1).task, 0).training
    with pytest.raises(AgentError, match=r"beb failed in MDPs 0 to 0: IndexError: more decis"):
        evaluate(agent, experiment, training=training)


# What agents can reach, and work that nobody sees.


class Forging(Scripted):
    """Writes into the record, or into the environment, which the collector of garbage finds."""

    def __init__(self, name: str, value: float) -> None:
        super().__init__()
        self.target, self.value = name, value

    def act(self, state: int) -> int:
        for each in gc.get_objects():
            if isinstance(each, Record | Environment) and hasattr(each, self.target):
                getattr(each, self.target)[:] = self.value
        return int(super().act(state))


@pytest.mark.parametrize("target", ["rewards", "reward", "states"])
def test_a_record_that_its_actions_do_not_lead_to_is_refused(target: str) -> None:
    with pytest.raises(AgentError, match="on MDP 0: its actions don't lead to the states and"):
        evaluate(Forging(target, 3), build())


def test_the_record_of_a_compiled_agent_is_traced_too(monkeypatch: pytest.MonkeyPatch) -> None:
    class Own(Random):
        pass

    genuine = playing.play_compiled

    def forged(*arguments: Any) -> Record:
        record = genuine(*arguments)
        record.rewards[-1, 0] += 1
        return record

    monkeypatch.setattr(playing, "play_compiled", forged)
    with pytest.raises(AgentError, match="on MDP 0: its actions don't lead to the states and"):
        evaluate(Own(), build(num_mdps=1))
    evaluate(Random(), build(num_mdps=1))  # one of the package is believed


def busy(milliseconds: int, clock: Callable[[], float] = time.process_time) -> None:
    end = clock() + milliseconds / 1000
    while clock() < end:
        pass


class BusyIndex:
    def __index__(self) -> int:
        busy(5)
        return 1


class BusyCopy(Scripted):
    def __deepcopy__(self, memo: Any) -> "BusyCopy":
        busy(5)
        return BusyCopy()


class BusyThread(Scripted):
    """Another thread works, which may go on while the environment steps."""

    def start(self, state: int, rng: np.random.Generator) -> None:
        super().start(state, rng)
        thread = threading.Thread(target=busy, args=(5,))
        thread.start()
        thread.join()


class BusyChild(Scripted):
    """A process works, and goes on between trajectories."""

    def start(self, state: int, rng: np.random.Generator) -> None:
        super().start(state, rng)
        work = "import time\nwhile time.process_time() < 0.02: pass"
        subprocess.run([sys.executable, "-S", "-c", work], check=True)


class BusyBetween(Scripted):
    """Another thread works from the end of a trajectory on."""

    threads = 1

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        super().observe(state, action, next_state, reward)
        if self.steps == 8:
            threading.Thread(target=busy, args=(5, time.thread_time)).start()

    def start(self, state: int, rng: np.random.Generator) -> None:
        super().start(state, rng)
        while threading.active_count() > self.threads:
            time.sleep(0.001)


def test_work_between_trajectories_is_timed() -> None:
    agent = BusyBetween()
    agent.threads = threading.active_count()
    result = evaluate(agent, build(num_mdps=5))
    times = result.cpu_nanoseconds
    assert times.sum() > (times.size - 1) * 4_900_000  # the work after the last one may be lost


@pytest.mark.parametrize(
    "agent", [Failing("return", BusyIndex()), BusyCopy(), BusyThread(), BusyChild()]
)
def test_work_in_an_action_a_copy_or_a_thread_is_timed(agent: Any) -> None:
    result = evaluate(agent, build(num_mdps=5))
    assert (result.nanoseconds.max(axis=2) > 4_900_000).all()
    assert (result.cpu_nanoseconds > 3_000_000).all()


def test_clocks_that_an_agent_replaces_time_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    class Backwards(Scripted):
        def act(self, state: int) -> int:
            for name in ("perf_counter", "perf_counter_ns", "thread_time_ns", "process_time_ns"):
                monkeypatch.setattr(time, name, lambda: -(10**9))
            return int(super().act(state))

    result = evaluate(Backwards(), build())
    assert (result.nanoseconds > 0).all()
    assert 0 < result.measured["playing_seconds"] < 1000
