"""The command line: the paper's steps one by one, the demo, and what users see when they err."""

import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
import typer.main

from brlbench import cli, storage
from brlbench.agents import AGENTS, make_agent
from brlbench.agents.parameters import declarations
from brlbench.cli.output import console
from brlbench.problems import PROBLEMS, distribution
from brlbench.protocol.evaluate import evaluate
from helpers.shell import Shell, assert_error, outside

# A user's agent: it tries the actions in turn and then stays with the one that paid best.
OWN_AGENT = '''
import numpy as np


class Trying:
    """Tries every action some times, then takes the best."""

    def __init__(self, tries=2):
        self.tries = tries

    def train(self, prior, task, rng):
        self.num_actions = prior.num_actions
        self.bias = rng.random(prior.num_actions) * 1e-6

    def start(self, state, rng):
        self.times = np.zeros(self.num_actions)
        self.paid = self.bias.copy()

    def act(self, state):
        if self.times.min() < self.tries:
            return int(self.times.argmin())
        return int((self.paid / self.times).argmax())

    def observe(self, state, action, next_state, reward):
        self.times[action] += 1
        self.paid[action] += reward


class Named(Trying):
    """The same with a name, and with a memory on disk."""

    name = "trying"

    def save(self):
        return {"num_actions": self.num_actions, "bias": self.bias}

    def load(self, saved):
        self.num_actions, self.bias = saved["num_actions"], saved["bias"]


class Broken(Trying):
    """Fails at the fifth step."""

    def act(self, state):
        return None if self.times.sum() == 4 else 0
'''


# The paper's steps.


def test_the_steps_of_an_experiment(shell: Shell, tmp_path: Path) -> None:
    assert shell("distribution", "GC", "-o", "gc.toml").code == 0
    assert shell("distribution", "uniform:gc.toml", "-o", "prior.json").code == 0
    done = shell(
        "experiment",
        "--prior",
        "prior.json",
        "--test",
        "gc.toml",
        "--mdps",
        6,
        "--horizon",
        30,
        "--seed",
        5,
        "--trajectories-per-mdp",
        2,
        "-o",
        "gc.parquet",
    )
    assert done.code == 0
    assert "wrote gc.parquet: Experiment(GC from uniform:GC: 6 MDPs" in done.out
    done = shell(
        "train",
        "beb",
        "--set",
        "beta=2.5",
        "-s",
        "bonus=transition",
        "--prior",
        "prior.json",
        "--horizon",
        30,
        "--seed",
        5,
        "-o",
        "beb.json",
    )
    assert done.code == 0
    assert "wrote beb.json: trained in " in done.out
    done = shell(
        "play", "beb.json", "gc.parquet", "-o", "result.parquet", "--keep-paths", "--workers", 1
    )
    assert done.code == 0
    assert done.err == ""
    result = storage.read_result(tmp_path / "result.parquet")
    assert f"{result.mean:.2f} ± {result.ci95:.2f}" in done.out
    experiment = storage.read_experiment(tmp_path / "gc.parquet")
    assert (experiment.seed, experiment.horizon, experiment.trajectories_per_mdp) == (5, 30, 2)
    assert experiment.test.digest == distribution("GC").digest
    assert experiment.prior.digest == distribution("uniform:GC").digest
    expected = evaluate(make_agent("beb", beta=2.5, bonus="transition"), experiment)
    np.testing.assert_array_equal(result.rewards, expected.rewards)
    np.testing.assert_array_equal(result.actions, expected.actions)


def test_accuracy_instead_of_a_horizon(shell: Shell, tmp_path: Path) -> None:
    done = shell(
        "experiment",
        "--prior",
        "GDL",
        "--test",
        "GDL",
        "--mdps",
        2,
        "--accuracy",
        0.01,
        "-o",
        "gdl.parquet",
    )
    assert done.code == 0
    assert "horizon 162" in done.out
    assert storage.read_experiment(tmp_path / "gdl.parquet").horizon == 162


@pytest.mark.slow  # starts processes
@pytest.mark.parametrize(("agent", "name"), [("Trying", "own:Trying"), ("Named", "trying")])
def test_the_steps_with_a_user_s_own_agent(
    shell: Shell, tmp_path: Path, agent: str, name: str
) -> None:
    """Trained here, it plays in other processes as it plays in one worker."""
    (tmp_path / "own.py").write_text(OWN_AGENT)
    shell(
        "experiment",
        "--prior",
        "GC",
        "--test",
        "GC",
        "--mdps",
        6,
        "--horizon",
        30,
        "-o",
        "gc.parquet",
    )
    train = (
        "train",
        f"own:{agent}",
        "--set",
        "tries=3",
        "--prior",
        "GC",
        "--horizon",
        30,
        "--seed",
        7,
        "-o",
        "own.json",
    )
    play = ("play", "own.json", "gc.parquet", "--keep-paths", "-o")
    assert shell(*train).code == 0
    done = outside(tmp_path, *play, "result.parquet", "--workers", 2)
    assert (done.code, done.err) == (0, "")
    result = storage.read_result(tmp_path / "result.parquet")
    assert (result.algorithm, result.parameters) == (name, {"tries": 3})
    assert result.actions is not None
    assert sorted(result.actions[0, 0, :9].tolist()) == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    sys.modules.pop("own", None)
    assert shell(*play, "alone.parquet", "--workers", 1).code == 0
    alone = storage.read_result(tmp_path / "alone.parquet")
    np.testing.assert_array_equal(result.rewards, alone.rewards)


def test_distributions_in_all_formats(shell: Shell, tmp_path: Path) -> None:
    for suffix in ("toml", "json", "dat", "dat.zz"):
        assert shell("distribution", "Grid", "-o", f"grid.{suffix}").code == 0
        assert distribution(tmp_path / f"grid.{suffix}").digest == distribution("Grid").digest
    done = shell("distribution", "grid.dat.zz")
    assert done.out.startswith("Grid: ")
    assert "25 states, 4 actions, 180 possible transitions; start: " in done.out
    assert "… and 120 more: write them all with --output" in done.out


def test_distributions_with_parameters(shell: Shell, tmp_path: Path) -> None:
    done = shell("distribution", "DeepSea", "--set", "size=3")
    assert "9 states, 2 actions, 30 possible transitions; start: state 0" in done.out
    chosen = ("--set", "terminal=absorb", "--set", "counts=2")
    done = shell("distribution", "--from-gym", "FrozenLake-v1", *chosen, "-o", "lake.toml")
    assert done.code == 0
    expected = distribution("gym:FrozenLake-v1:terminal=absorb,counts=2")
    assert distribution(tmp_path / "lake.toml").digest == expected.digest
    made = shell("experiment", "--prior", "lake.toml", "--test", "around:9:lake.toml", "-o", "a.p")
    assert made.code == 0


def test_a_distribution_as_a_table(shell: Shell, tmp_path: Path) -> None:
    text = """
format = 1
description = "A ring"
num_states = 3
num_actions = 2
start = [0.333, 0.333, 0.333]
counts = [["*", 0, "*", 1], [0, 1, 1, 2.5], [1, 1, 2, 1], [2, 1, 0, 1]]
rewards = [["*", 1, 1, 10.0, 2.0]]
"""
    (tmp_path / "ring.toml").write_text(text)
    done = shell("distribution", "ring.toml")
    assert (done.code, done.err) == (0, "")
    name, size, *table = done.out.splitlines()
    assert name == "ring: A ring"
    assert size.endswith("12 possible transitions; start: any state, all equally likely")
    rows = [line.split() for line in table]
    assert rows[1] == "state action next state count probability reward variance".split()
    assert "0 1 1 2.5 1 10 2".split() in rows
    assert "1 1 0.333333 0 0".split() in rows
    (tmp_path / "ring.toml").write_text(text.replace("[0.333, 0.333, 0.333]", "[0.5, 0.5, 0.0]"))
    assert "start: states 0 (0.5), 1 (0.5)\n" in shell("distribution", "ring.toml").out


@pytest.mark.parametrize(
    ("suffix", "begin"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_a_distribution_is_drawn(shell: Shell, tmp_path: Path, suffix: str, begin: bytes) -> None:
    done = shell("distribution", "uniform:GC", "--draw", f"gc.{suffix}")
    assert (done.code, done.out) == (0, f"drew gc.{suffix}\n")
    assert (tmp_path / f"gc.{suffix}").read_bytes().startswith(begin)


def test_names_in_brackets_are_printed_as_they_are(shell: Shell) -> None:
    """They are not taken for instructions about colours."""
    for name in ("[bold].toml", "[/x].toml"):
        done = shell("distribution", "GC", "-o", f"folder{name}".replace("/", ""))
        assert done.code == 0
        assert f"wrote folder{name}".replace("/", "") in done.out


def test_lists_of_problems_and_agents(shell: Shell) -> None:
    done = shell("problems")
    assert (done.code, done.err) == (0, "")
    assert all(name in done.out for name in PROBLEMS)


def test_the_list_of_agents_has_a_line_for_each(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = shell("agents")
    assert (done.code, done.err) == (0, "")
    *lines, empty, hint = done.out.splitlines()
    assert [line.split()[0] for line in lines] == list(AGENTS)
    assert max(map(len, lines)) <= 80
    assert not any(line.endswith("…") and line[-2] != " " for line in lines)  # no word is cut
    assert (empty, hint.split()[:3]) == ("", ["brlbench", "agents", "NAME"])


def test_one_agent_with_its_parameters(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for name, agent in AGENTS.items():
        done = shell("agents", name)
        assert (done.code, done.err) == (0, "")
        assert agent.reference in done.out
        assert all(f" {parameter} " in done.out for parameter in declarations(agent))
    assert_error(shell("agents", "bmcp"), "unknown agent \"bmcp\" (did you mean 'bamcp'?)")


# Errors.


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("distribution", "GCD"), ("unknown distribution 'GCD' (did you mean 'GC'?)",)),
        (("experiment", "--prior", "CG", "--test", "GC", "-o", "a"), ("(did you mean 'GC'?)",)),
        (("distribution", "no.toml"), ("no.toml can't be read: No such file or directory",)),
        (("distribution", "damaged.json"), ("damaged.json: not valid JSON",)),
        (("distribution", "GC", "-o", "gc.txt"), ("gc.txt",)),
        (("distribution", "GC", "--draw", "a.gif"), ("must end in .png, .pdf, .svg",)),
        (("distribution", "GC", "--draw", "exists.png"), ("exists.png exists already",)),
        (
            ("distribution", "Dense:states=50", "--draw", "a.png"),
            ("2500 possible moves between states: at most 1500",),
        ),
        (("distribution",), ("give one of SOURCE and --from-gym",)),
        (("distribution", "GC", "--from-gym", "Taxi"), ("give one of SOURCE and --from-gym",)),
        (("distribution", "DeepSea", "--set", "size=0"), ("DeepSea: size = 0: must be a whole",)),
        (("distribution", "Maze", "-o", "maze.dat"), ("maze.dat: the original library's",)),
        (("distribution", "GC", "-o", "no/gc.toml"), ("no/gc.toml can't be written: No such",)),
        (("distribution", "GC", "-o", "exists.toml"), ("exists.toml exists already",)),
        (
            ("experiment", "--prior", "GC", "--test", "Grid", "-o", "a"),
            ("the prior has 5 states and 3 actions, the test distribution 25 and 4",),
        ),
        (
            ("experiment", "--prior", "GC", "--test", "GC", "--mdps", "0", "-o", "a"),
            ("num_mdps = 0: must be a whole number at least 1",),
        ),
        (
            ("experiment", "--prior", "GC", "--test", "GC", "--discount", "nan", "-o", "a"),
            ("discount = nan: must be a number between 0 and 1",),
        ),
        (
            tuple("experiment --prior GC --test GC --horizon 9 --accuracy 0.1 -o a".split()),
            ("horizon = 9 and accuracy = 0.1: give one of them, not both",),
        ),
        (
            ("experiment", "--prior", "GC", "--test", "GC", "-o", "exists.toml"),
            ("exists.toml exists already: choose another name, or replace it with --overwrite",),
        ),
        (("train", "bebe", "--prior", "GC", "-o", "a"), ("agent \"bebe\" (did you mean 'beb'?)",)),
        (
            ("train", "beb", "--prior", "GC", "--set", "beta=-1", "-o", "a"),
            ("beb: beta = -1: must be a number at least 0",),
        ),
        (
            ("train", "beb", "--prior", "GC", "--set", "beta=nan", "-o", "a"),
            ("beb: beta = nan: must be a number at least 0",),
        ),
        (
            ("train", "beb", "--prior", "GC", "--set", "beta=1" + 400 * "0", "-o", "a"),
            ("must be a number at least 0",),
        ),
        (
            ("train", "beb", "--prior", "GC", "--set", "beta=1" + 5000 * "0", "-o", "a"),
            ("must be a number at least 0",),
        ),
        (
            ("train", "beb", "--prior", "GC", "--set", "bata=1", "-o", "a"),
            ("beb: unknown parameter 'bata' (did you mean 'beta'?): its parameters are beta",),
        ),
        (("train", "beb", "--prior", "GC", "--set", "beta", "-o", "a"), ("must be name=value",)),
        (("train", "random", "--prior", "GC", "-o", "exists.toml"), ("exists.toml exists alr",)),
        (("train", "random", "--prior", "GC", "-o", "no/a"), ("no/a can't be written: No such",)),
        (
            ("train", "own:Missing", "--prior", "GC", "-o", "a"),
            ('agent "own:Missing" can\'t be imported', "no attribute 'Missing'"),
        ),
        (
            ("train", "nowhere:Agent", "--prior", "GC", "-o", "a"),
            ('agent "nowhere:Agent" can\'t be imported', "No module named 'nowhere'"),
        ),
        (("train", ":Agent", "--prior", "GC", "-o", "a"), ('agent ":Agent" can\'t be imported',)),
        (
            ("train", "unreadable:Agent", "--prior", "GC", "-o", "a"),
            ('agent "unreadable:Agent" can\'t be imported', "invalid syntax"),
        ),
        (
            ("train", "raising:Agent", "--prior", "GC", "-o", "a"),
            ('agent "raising:Agent" can\'t be imported', "no licence"),
        ),
        (
            ("train", "raising_late:Agent", "--prior", "GC", "-o", "a"),
            ('agent "raising_late:Agent" refuses its parameters', "bad luck"),
        ),
        (
            ("train", "own:Trying", "--prior", "GC", "--set", "trials=3", "-o", "a"),
            ("own:Trying: unknown parameter 'trials' (did you mean 'tries'?)",),
        ),
        (("play", "no.json", "gc.parquet", "-o", "a"), ("no.json can't be read: No such file",)),
        (("play", "agent.json", "no.parquet", "-o", "a"), ("no.parquet can't be read: No such",)),
        (
            ("play", "gc.parquet", "gc.parquet", "-o", "a"),
            ("gc.parquet is damaged, or not a trained agent: train it again",),
        ),
        (
            ("play", "agent.json", "agent.json", "-o", "a"),
            ("agent.json is damaged, or not a file of brlbench: make it again",),
        ),
        (("play", "damaged.json", "gc.parquet", "-o", "a"), ("damaged.json is damaged, or not",)),
        (("play", ".", "gc.parquet", "-o", "a"), (". can't be read: Is a directory",)),
        (
            ("play", "agent.json", "gc.parquet", "-o", "exists.toml"),
            ("exists.toml exists already: choose another name, or replace it with --overwrite",),
        ),
        (
            ("play", "agent.json", "grid.parquet", "-o", "a"),
            ("the agent was trained on another prior (GC) than the experiment's (Grid)",),
        ),
        (
            ("play", "agent.json", "short.parquet", "-o", "a"),
            ("train it with the same discount, horizon, deadline and episode",),
        ),
        (
            ("play", "broken.json", "short.parquet", "--workers", "1", "-o", "a"),
            ("own:Broken failed on MDP 0 at step 4: act returned None: must be a whole number",),
        ),
        (("problems", "GCC"), ("unknown distribution 'GCC' (did you mean 'GC'?)",)),
        (("check", "own:Tryin"), ('agent or distribution "own:Tryin": own has no Tryin (did',)),
        (
            ("check", "own:Trying", "--set", "trials=3"),
            ("own:Trying: unknown parameter 'trials' (did you mean 'tries'?)",),
        ),
        (
            ("compare", "exists.png", "--online", "5", "microseconds"),
            ("'microseconds' stands alone: write a time without a space, as in 5us",),
        ),
        (("demo", "--output", "exists.toml"), ("exists.toml can't be used as a folder: Not a",)),
    ],
)
def test_errors(
    shell: Shell, tmp_path: Path, arguments: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    (tmp_path / "exists.toml").write_text("precious")
    (tmp_path / "exists.png").write_text("precious")
    (tmp_path / "damaged.json").write_text("{")
    (tmp_path / "own.py").write_text(OWN_AGENT)
    (tmp_path / "unreadable.py").write_text("def def")
    (tmp_path / "raising.py").write_text("raise RuntimeError('no licence')")
    (tmp_path / "raising_late.py").write_text(
        "class Agent:\n    def __init__(self):\n        raise ValueError('bad luck')\n"
    )
    if arguments[0] == "play":
        for name, horizon in (("GC", 250), ("Grid", 250), ("GC", 9)):
            output = "short.parquet" if horizon == 9 else f"{name.lower()}.parquet"
            shell(
                "experiment",
                "--prior",
                name,
                "--test",
                name,
                "--mdps",
                2,
                "--horizon",
                horizon,
                "-o",
                output,
            )
        shell("train", "random", "--prior", "GC", "-o", "agent.json")
        shell("train", "own:Broken", "--prior", "GC", "--horizon", 9, "-o", "broken.json")
    for module in ("own", "unreadable", "raising", "raising_late"):
        sys.modules.pop(module, None)
    assert_error(shell(*arguments), *parts)
    assert (tmp_path / "exists.toml").read_text() == "precious"
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("experiment", "--prior", "GC", "-o", "a"),
        ("experiment", "--prior", "GC", "--test", "GC", "--mdps", "many", "-o", "a"),
        ("train", "beb"),
        ("demo", "--mdps", "1"),
        ("demo", "--seed", "-1"),
        ("play", "a", "b", "-o", "c", "--workers", "0"),
        ("dance",),
        ("problems", "--colour"),
        ("experiment", "--prior", "GC", "--test", "GC", "--per-mdp", "2", "-o", "a"),
        ("play", "a", "b", "-o", "c", "--trajectories"),
    ],
)
def test_wrong_usage(shell: Shell, arguments: tuple[str, ...]) -> None:
    done = shell(*arguments)
    assert done.code == 2
    assert "Usage: " in done.err
    assert "Traceback" not in done.err


def test_errors_in_a_process_of_its_own(tmp_path: Path) -> None:
    done = outside(tmp_path, "distribution", "GCD")
    assert_error(done, "unknown distribution 'GCD' (did you mean 'GC'?)")
    assert done.out == ""


def test_files_are_replaced_if_told_to(shell: Shell, tmp_path: Path) -> None:
    for name in ("gc.toml", "gc.parquet", "random.json", "result.parquet"):
        (tmp_path / name).write_text("worthless")
    assert shell("distribution", "GC", "-o", "gc.toml", "--overwrite").code == 0
    for step in (
        ("experiment", "--prior", "GC", "--test", "GC", "--mdps", 2, "-o", "gc.parquet"),
        ("train", "random", "--prior", "GC", "-o", "random.json"),
        ("play", "random.json", "gc.parquet", "-o", "result.parquet"),
    ):
        assert_error(shell(*step), "exists already")
        assert shell(*step, "--overwrite").code == 0
    result = storage.read_result(tmp_path / "result.parquet")
    assert result.algorithm == "random"
    assert result.actions is None  # kept on demand only


# Help.


def commands() -> list[str]:
    return sorted(typer.main.get_command(cli.app).commands)  # type: ignore[attr-defined]


def test_help_lists_all_commands(shell: Shell) -> None:
    done = shell("--help")
    assert done.code == 0
    assert all(command in done.out for command in commands())
    names = (
        "demo problems agents run status compare report compact distribution experiment train play"
    )
    places = [done.out.index(f"│ {name} ") for name in names.split()]
    assert places == sorted(places)
    assert shell().out.strip() == done.out.strip()


@pytest.mark.parametrize("command", commands())
def test_help_has_an_example(shell: Shell, command: str) -> None:
    done = shell(command, "--help")
    assert done.code == 0
    assert "Example" in done.out
    assert f"brlbench {command}" in done.out.partition("Example")[2]


@pytest.mark.parametrize("command", [None, *commands()])
def test_help_shows_flags_without_a_type(shell: Shell, command: str | None) -> None:
    done = shell(*filter(None, [command]), "--help")
    assert "--help" in done.out
    assert "bool" not in done.out.lower()


def test_version(shell: Shell) -> None:
    done = shell("--version")
    assert (done.code, done.out) == (0, f"brlbench {version('brlbench')}\n")


def test_colons_are_not_taken_for_emoji(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    console.print("uniform:ring: 40 MDPs")
    assert capsys.readouterr().out == "uniform:ring: 40 MDPs\n"
