"""Names of agents: what they show, and where they break."""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import brlbench as bb
from brlbench.agents import AGENTS, default_parameters, describe, identity
from brlbench.agents.labels import label_of
from brlbench.report.line_breaks import break_name, least_width
from brlbench.report.loading import load
from brlbench.storage import read_result, write_result

LONG = "bamcp(simulations=2500, depth=15, exploration=3.0, rollout_epsilon=0.5)"


class Own:
    """An agent that always takes action 0."""

    def __init__(self, beta: float = 1.0, words: Any = ("a", "b"), needed: int = 3) -> None:
        self.beta, self.words, self.needed = beta, words, needed

    def train(self, prior: Any, task: Any, rng: Any) -> None: ...
    def start(self, state: int, rng: Any) -> None: ...
    def observe(self, state: int, action: int, next_state: int, reward: float) -> None: ...

    def act(self, state: int) -> int:
        return 0


@dataclass
class Fields(Own):
    """The same, as a dataclass."""

    beta: float = 1.0
    words: list[str] = field(default_factory=list)
    needed: int = 3


@pytest.mark.parametrize("name", AGENTS)
def test_defaults_are_not_shown(name: str) -> None:
    assert label_of(*describe(bb.make_agent(name))) == name
    assert default_parameters(name) == describe(bb.make_agent(name))[1]


def test_parameters_added_later_leave_agents_what_they_were() -> None:
    """Streams and jobs are keyed by this text: with another one, results would change."""
    old = 'vdbe {"delta": null, "initial_epsilon": 1.0, "sigma": 1.0}'
    assert identity(bb.make_agent("vdbe")) == identity(bb.make_agent("vdbe", scope="state")) == old
    assert label_of(*describe(bb.make_agent("vdbe", scope="all"))) == "vdbe(scope=all)"
    old = '{"evaluations": 100, "mdps_per_evaluation": 50, "ranges": null, "strategy": "soft-max"}'
    assert identity(bb.make_agent("opps-cs", strategy="soft-max")) == f"opps-cs {old}"
    assert label_of(*describe(bb.make_agent("opps-cs", k=3))) == "opps-cs(k=3)"


def test_what_differs_from_a_default_is_shown() -> None:
    agent = bb.make_agent("bamcp", simulations=100, depth=15, reuse_tree=True)
    assert label_of(*describe(agent)) == "bamcp(simulations=100, reuse_tree=True)"
    full = label_of(*describe(agent), defaults={})
    assert full.startswith("bamcp(simulations=100, depth=15, exploration=3.0, ")


@pytest.mark.parametrize(
    ("agent", "shown"),
    [
        (Own(), ""),
        (Own(beta=1), ""),
        (Own(beta=5.0, words=["a", "b"]), "(beta=5.0)"),
        (Own(words=["b"]), "(words=['b'])"),
        (Fields(), "(words=[])"),
        (Fields(beta=2.0, words=["x"]), "(beta=2.0, words=['x'])"),
    ],
)
def test_own_agents_keep_their_defaults_in_files(agent: Own, shown: str, tmp_path: Path) -> None:
    experiment = bb.Experiment("GC", num_mdps=2, horizon=2)
    result = bb.evaluate(agent, experiment, progress=False)
    name = f"test_labels:{type(agent).__name__}"
    assert result.label.endswith(name + shown)
    assert f"{name}{shown} on GC" in repr(result)
    write_result(tmp_path / "result.parquet", result)
    again = read_result(tmp_path / "result.parquet")
    assert again.label == result.label
    assert again.parameters.keys() == {"beta", "words", "needed"}


def test_agents_whose_defaults_changed_are_told_apart() -> None:
    """Both have the label `Own` by themselves: the class changed between the runs."""
    experiment = bb.Experiment("GC", num_mdps=2, horizon=2)
    one = bb.evaluate(Own(), experiment, progress=False)
    other = replace(
        one, parameters=one.parameters | {"beta": 2.0}, defaults={**one.parameters, "beta": 2.0}
    )
    assert one.label == other.label
    [found] = load(one, other).experiments
    labels = [summary.label for summary in found.summaries]
    assert [re.search(r"beta=(\d)", label)[1] for label in labels] == ["1", "2"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("name", "width", "lines"),
    [
        ("psrl", 10, ["psrl"]),
        (LONG, 30, ["bamcp(simulations=2500,", "depth=15, exploration=3.0,",
                    "rollout_epsilon=0.5)"]),
        ("formula(formula=Qmean/Quniform)", 24, ["formula(", "formula=Qmean/Quniform)"]),
        ("formula(formula=max(Quniform, abs(Qmean)))", 30,
         ["formula(formula=max(Quniform,", "abs(Qmean)))"]),
        ("my_agents.bayes:Thompson(every=10)", 20, ["my_agents.bayes:", "Thompson(every=10)"]),
        ("two words, three", 9, ["two", "words,", "three"]),
        ("uninterrupted", 5, ["unint", "errup", "ted"]),
    ],
)  # fmt: skip
def test_names_break_at_commas_first(name: str, width: int, lines: list[str]) -> None:
    assert break_name(name, width) == lines


def test_the_least_width_breaks_no_word() -> None:
    assert least_width(LONG) == len("rollout_epsilon=")
    for line in break_name(LONG, least_width(LONG)):
        assert re.fullmatch(r"[\w.]+[(=,)]+|.*[,)=]", line), line
