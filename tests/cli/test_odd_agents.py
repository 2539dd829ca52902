"""Own agents whose names and parameters are not what they should be."""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brlbench.study.plan import code_of
from helpers.made_studies import TINY
from helpers.shell import Shell, assert_error

STUDY = TINY.replace("random", "odd_agents:AGENT")

ODD_AGENTS = r"""
import numpy as np

class Plain:
    def train(self, prior, task, rng):
        pass

    def start(self, state, rng):
        pass

    def act(self, state):
        return 0

    def observe(self, state, action, next_state, reward):
        pass

class NameRaises(Plain):
    @property
    def name(self):
        raise RuntimeError("no name")

class NameMethod(Plain):
    def name(self):
        return "x"

class NameArray(Plain):
    name = np.zeros((3, 3))

class NameSurrogate(Plain):
    name = "a\ud800b"

class NameEmpty(Plain):
    name = " "

class ParametersRaise(Plain):
    @property
    def parameters(self):
        raise RuntimeError("no parameters")

class ParametersMethod(Plain):
    def parameters(self):
        return {}

class ParametersArray(Plain):
    parameters = np.zeros((3, 3))

class ParametersSurrogate(Plain):
    parameters = {"x": ["\ud800"]}

class ParametersNumbered(Plain):
    parameters = {1: 2}

class ParametersHuge(Plain):
    parameters = {"x": 10**5000}

class ParametersCircular(Plain):
    parameters = {}
    parameters["x"] = parameters

class Unspeakable:
    def __repr__(self):
        raise RuntimeError("no words")

class ParametersUnspeakable(Plain):
    parameters = {"x": Unspeakable()}

class Exits(Plain):
    def __init__(self):
        raise SystemExit(3)

class RaisesUnspeakable(Plain):
    def __init__(self):
        class Error(Exception):
            def __str__(self):
                raise RuntimeError
        raise Error

class Coloured(Plain):
    name = "[red]λ[/]\x1b[31m"
"""


@pytest.fixture
def odd_agents(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "odd_agents.py").write_text(ODD_AGENTS)
    sys.modules.pop("odd_agents", None)
    yield tmp_path
    sys.modules.pop("odd_agents", None)


@pytest.mark.parametrize(
    ("agent", "part"),
    [
        ("NameRaises", "the name of odd_agents:NameRaises can't be read: RuntimeError: no name"),
        ("NameMethod", "the name of odd_agents:NameMethod is <bound method"),
        ("NameArray", "the name of odd_agents:NameArray is array([[0., 0"),
        ("NameSurrogate", r"the name of odd_agents:NameSurrogate is 'a\ud800b': must be a text"),
        ("NameEmpty", "the name of odd_agents:NameEmpty is ' ': must be a text"),
        ("ParametersRaise", "can't be read: RuntimeError: no parameters"),
        ("ParametersMethod", "can't be read: TypeError: 'method' object is not iterable"),
        ("ParametersArray", "the parameters of odd_agents:ParametersArray can't be read"),
        ("ParametersSurrogate", r"are {'x': ['\ud800']}: must be a table of values by name"),
        ("ParametersNumbered", "are {1: 2}: must be a table of values by name"),
        ("ParametersHuge", "can't be read: ValueError: Exceeds the limit"),
        ("ParametersCircular", "can't be read: ValueError: Circular reference"),
        ("ParametersUnspeakable", "can't be read: RuntimeError: no words"),
        ("Exits", 'agent "odd_agents:Exits" refuses its parameters: 3'),
        ("RaisesUnspeakable", "refuses its parameters: its message can't be read"),
    ],
)
def test_agents_that_cannot_be_described(
    shell: Shell, odd_agents: Path, agent: str, part: str
) -> None:
    train = ("train", f"odd_agents:{agent}", "--prior", "GC", "--horizon", 5, "-o", "a")
    assert_error(shell(*train), f'agent "odd_agents:{agent}"', part)
    study = STUDY.replace("AGENT", agent)
    (odd_agents / "study.toml").write_text(study)
    assert_error(shell("run", "study.toml"), 'study.toml: agents[1]: agent "odd_agents:', part)


def test_functions_and_classes_that_are_no_agents(shell: Shell, tmp_path: Path) -> None:
    for name, kind in (("print", "NoneType"), ("dict", "dict")):
        study = STUDY.replace("odd_agents:AGENT", f"builtins:{name}")
        (tmp_path / "study.toml").write_text(study)
        refused = f'agents[1]: agent "builtins:{name}": the agent is of class {kind}'
        assert_error(shell("run", tmp_path / "study.toml"), refused, "has no method train")


def test_classes_that_are_not_written_in_python_have_no_source() -> None:
    lock: Any = threading.Lock()
    assert code_of(lock) == ""


def test_modules_that_exit(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "exiting.py").write_text("raise SystemExit(5)")
    train = ("train", "exiting:Agent", "--prior", "GC", "-o", "a")
    assert_error(shell(*train), 'agent "exiting:Agent" can\'t be imported (5)')


def test_colours_in_names_are_printed_as_codes(shell: Shell, odd_agents: Path) -> None:
    made = ("--prior", "GC", "--horizon", 5, "-o")
    assert shell("train", "odd_agents:Coloured", *made, "agent.json").code == 0
    assert shell("experiment", "--test", "GC", "--mdps", 2, *made, "gc.parquet").code == 0
    play = ("play", "agent.json", "gc.parquet", "-o", "result.parquet", "--workers", 1)
    for arguments in (play, ("compare", "result.parquet")):
        done = shell(*arguments)
        assert done.code == 0
        assert r"[red]λ[/]\x1b[31m" in done.out
        assert "\x1b" not in done.out
