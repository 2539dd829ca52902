"""Completion in the shell, as bash and zsh ask for it."""

from pathlib import Path

import pytest

from brlbench.problems import PROBLEMS
from helpers.shell import Shell


def in_bash(shell: Shell, *words: str) -> list[str]:
    """What bash is offered for the last of the words, into which it divided the command line."""
    shell.monkeypatch.setenv("_BRLBENCH_COMPLETE", "complete_bash")
    shell.monkeypatch.setenv("COMP_WORDS", "\n".join(("brlbench", *words)))
    shell.monkeypatch.setenv("COMP_CWORD", str(len(words)))
    shell.monkeypatch.setenv("_BRLBENCH_HIDDEN", "")
    return shell().out.split("\n")[:-1]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("agents eps", ["epsilon-greedy"]),
        ("distribution GC", ["GC", "GC-appendix"]),
        ("distribution uniform :", list(PROBLEMS)),
        ("experiment --prior uniform : GD", ["GDL"]),
        ("experiment --prior = uniform : GD", ["GDL"]),
        ("experiment --prior mixed : 0.25 : GD", ["GDL"]),
        ("distribution scaled : 10 : uniform : Gr", ["Grid", "Grid5", "Grid10"]),
        ("experiment --prior uniform : GC --test De", ["DeepSea", "Dense"]),
        ("run study.toml --executor s", ["slurm"]),
        ("compare results --format j", ["json"]),
        ("compare results --feature p", ["processor", "p95"]),
        ("report results --format h", ["html"]),
        ("compare nowhere --experiment G", [""]),
        ("distr", ["distribution"]),
        ("formulas --features Qm", ["Qmean"]),
        ("formulas --features Qmean,Q", ["Qmean,Qself", "Qmean,Quniform"]),
        ("formulas --operators +,ma", ["+,max"]),
    ],
)
def test_in_bash(shell: Shell, words: str, offered: list[str]) -> None:
    assert in_bash(shell, *words.split(" ")) == offered


def test_experiments_of_results(shell: Shell) -> None:
    results = str(Path(__file__).parents[2] / "reproduction/results.parquet")
    compare = ("compare", results, "--experiment")
    assert in_bash(shell, *compare, "GD") == ["GDL", r"GDL\ from\ uniform:GDL"]
    assert in_bash(shell, *compare, r"GDL\ fr") == [r"GDL\ from\ uniform:GDL"]
    assert in_bash(shell, *compare, r"GDL\ from\ uniform", ":") == ["GDL"]


def test_other_shells_keep_words_whole(shell: Shell) -> None:
    shell.monkeypatch.setenv("_BRLBENCH_COMPLETE", "complete_zsh")
    shell.monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "brlbench experiment --prior uniform:GD")
    assert "GDL" in shell().out
