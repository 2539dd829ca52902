"""Sets of formulas of one's own: against brute force, in files, in opps-ds and in studies."""

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import brlbench as bb
from brlbench.agents import describe, identity, make_agent
from brlbench.agents.base import Task
from brlbench.agents.formula import FormulaAgent
from brlbench.agents.opps_ds import OppsDs
from brlbench.errors import BrlbenchError, InvalidInput, Pointless
from brlbench.formulas import FEATURES, Formula, formula_set, make_formulas, parse, sets
from brlbench.formulas.sets import read_formulas
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.protocol.training import Training, load, save, train
from brlbench.storage import read_agent, write_agent
from brlbench.study.plan import read_study
from helpers.fuzzing import damaged, fuzzing, outcome
from helpers.made_studies import write_study
from helpers.plain_formulas import value_of_tokens
from helpers.shell import Shell, assert_error

TASK = Task(0.95, 30)
MINE = ["Qmean", "Qself", "Qmean + 2*Qself", "max(Qmean, Qself, 1)"]


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a new process."""
    monkeypatch.setattr(sets, "_known", {})


def write(path: Path, formulas: list[str] = MINE) -> str:
    path.write_text(json.dumps({"formulas": formulas}))
    return str(path)


def ranks(tokens: tuple[Any, ...], points: Any) -> bytes | None:
    """The ranks that tokens give to points; None unless they are a formula defined on all."""
    try:
        formula = Formula(tokens)
    except InvalidInput:
        return None
    rows = (dict(zip(FEATURES, point, strict=True)) for point in points)
    values = np.array([value_of_tokens(formula, row) for row in rows])
    if not np.isfinite(values).all():
        return None
    return bytes(scipy.stats.rankdata(values, method="dense").astype(np.int16).tobytes())


@pytest.mark.parametrize(
    ("size", "features", "operators", "constants"),
    [
        (3, ["Qmean", "Qself"], ["+", "max", "sqrt"], [1.0, 2.0]),
        (4, ["Qself"], ["-", "avg", "avg3", "abs"], [3.0]),
        (4, ["Qmean", "Qself", "Quniform"], ["min3", "opposite"], []),
        (1, ["Qmean", "Quniform"], ["+"], [0.5]),
        (5, ["Qmean"], ["*", "ln", "/"], [-1.0]),
    ],
)
def test_all_sequences_of_tokens_give_the_same_sets(
    size: int, features: list[str], operators: list[str], constants: list[float]
) -> None:
    """Brute force, with other points, evaluated in plain Python."""
    points = np.random.default_rng(size).uniform(-100, 100, (200, 3)).tolist()
    made = make_formulas(size, features, operators, constants)
    chosen = [ranks(formula.tokens, points) for formula in made.formulas]
    tokens = (*features, *operators, *constants)
    every = {ranks(t, points) for n in range(1, size + 1) for t in product(tokens, repeat=n)}
    assert set(chosen) == every - {None}
    assert len(set(chosen)) == len(chosen)


def test_what_is_chosen_has_one_order() -> None:
    made = make_formulas(2, ["Q0", "Q2", "Qmean"], ["max2", "×", "abs", "+3", "+"], [2, 1.0, 2])  # noqa: RUF001
    assert made.features == ("Qmean", "Quniform")
    assert made.operators == ("abs", "+", "+3", "*", "max")
    assert made.constants == (1.0, 2.0)
    assert make_formulas(4).formulas == formula_set("F4")
    assert bb.make_formulas is make_formulas


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"size": 0}, "size = 0: must be a whole number at least 1 and at most 50"),
        ({"size": True}, "size = True"),
        ({"features": []}, "features: must have at least one of Qmean"),
        ({"features": ["Qmaen"]}, "features: 'Qmaen' is unknown (did you mean 'Qmean'?)"),
        ({"features": ["max"]}, "features: 'max' is unknown"),
        ({"operators": ["log"]}, "operators: 'log' is unknown: must be some of abs, "),
        ({"operators": [3]}, "operators: 3 is unknown"),
        ({"constants": [float("nan")]}, "constants = nan: must be a number"),
        ({"constants": ["1"]}, "constants = '1': must be a number"),
        ({"size": 12}, "size = 12: about 1e+09 formulas would have to be tried"),
    ],
)
def test_sets_that_are_refused(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(complaint)):
        make_formulas(**{"size": 2, **given})


def test_files(tmp_path: Path) -> None:
    made = make_formulas(3, ["Qmean", "Qself"], ["+", "max"], [1])
    made.write(tmp_path / "mine.json")
    content = json.loads((tmp_path / "mine.json").read_text())
    names = list(map(str, made.formulas))
    assert content == {
        "kind": "formulas", "format": 1, "features": ["Qmean", "Qself"],
        "operators": ["+", "max"], "constants": [1.0], "size": 3, "formulas": names,
    }  # fmt: skip
    assert read_formulas(tmp_path / "mine.json") == made.formulas
    with pytest.raises(BrlbenchError, match="exists already"):
        made.write(tmp_path / "mine.json")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "is not a JSON file"),
        ("[]", 'it must have a list of texts called "formulas"'),
        ('{"formulas": []}', "it must have a list of texts"),
        ('{"formulas": [1]}', "it must have a list of texts"),
        ('{"kind": "agent", "formulas": ["Qmean"]}', "is not a file of formulas"),
        ('{"format": 2, "formulas": ["Qmean"]}', "has format 2: must be 1"),
        ('{"formulas": ["Qmean", "w"]}', "formula 'w': at character 1: unknown name 'w'"),
        ('{"formulas": ["Qmean", "Q2"]}', "the formula 'Qmean' is there twice"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, content: str, complaint: str) -> None:
    (tmp_path / "mine.json").write_text(content)
    with pytest.raises(InvalidInput) as caught:
        make_agent("opps-ds", formulas=str(tmp_path / "mine.json"))
    message = str(caught.value)
    assert message.startswith("opps-ds: formulas = ")
    assert complaint in message
    assert str(tmp_path) in message


@fuzzing(40)
@given(st.data())
def test_damaged_files(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("set") / "mine.json"
    path.write_bytes(data.draw(damaged(json.dumps({"formulas": MINE}).encode())))
    outcome(lambda: make_agent("opps-ds", formulas=str(path)))


def test_a_changed_file_is_another_agent(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.json")
    first = make_agent("opps-ds", formulas=path)
    name = describe(first)[1]["formulas"]
    assert re.fullmatch(r"mine\.json#[0-9a-f]{8}", name)
    Path(write(tmp_path / "mine.json")).write_text(json.dumps({"formulas": MINE}, indent=1))
    assert identity(make_agent("opps-ds", formulas=path)) == identity(first)
    write(tmp_path / "mine.json", MINE[:3])
    assert identity(make_agent("opps-ds", formulas=path)) != identity(first)
    # A name with a digest means those formulas, and no others.
    named = str(tmp_path / name)
    assert sets.find_set(named).formulas == tuple(map(parse, MINE))
    sets._known.clear()
    assert sets.find_set(named) == (name, None)
    assert sets.find_set(path).formulas == tuple(map(parse, MINE[:3]))


def test_fewer_draws_than_formulas(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.json", [f"Qmean + {i}*Qself" for i in range(13)])
    with pytest.raises(Pointless, match=r"at least 13, one for each formula of mine\.json#"):
        make_agent("opps-ds", formulas=path, draws=12)


def test_what_is_found_is_played_and_loaded_without_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = Experiment("GC", num_mdps=5, horizon=30, seed=1)
    path = write(tmp_path / "mine.json")
    agent = OppsDs(formulas=path, draws=200, batch=5)
    kept = train(agent, experiment.prior, experiment.task, experiment.seed)
    assert agent.outcome["formulas"].splitlines() == [str(parse(text)) for text in MINE]
    assert agent.outcome["formula"] in MINE
    write_agent(tmp_path / "agent.json", save(kept))
    Path(path).unlink()
    monkeypatch.setattr(sets, "_known", {})
    loaded = load(read_agent(tmp_path / "agent.json"))
    assert describe(loaded.agent) == describe(agent)
    one = evaluate(agent, experiment, training=kept.training)
    other = evaluate(loaded.agent, experiment, training=Training(0, 0))
    np.testing.assert_array_equal(one.actions, other.actions)
    again = make_agent(*describe(agent)[:1], **describe(agent)[1])
    with pytest.raises(InvalidInput, match="its file is not here or has changed since"):
        again.train(distribution("GC"), TASK, np.random.default_rng(0))


def test_constants_and_long_formulas_mean_in_the_search_what_they_mean_in_play(
    tmp_path: Path,
) -> None:
    """The best formula's mean return in the search, against fresh MDPs; others are far worse."""
    texts = ["-2*Qmean - 7", "avg(-1*Qmean, -Qmean, -Qmean)", "sum(Qmean, 3, Qmean, 4)"]
    agent = OppsDs(formulas=write(tmp_path / "mine.json", texts), draws=3000, exploration=100.0)
    agent.train(distribution("GC"), TASK, np.random.default_rng(0))
    assert agent.outcome["formula"] == texts[2]
    experiment = Experiment("GC", num_mdps=2000, horizon=30, seed=4)
    for text, mean, draws in zip(
        texts, agent.outcome["means"], agent.outcome["draws"], strict=True
    ):
        returns = evaluate(FormulaAgent(text), experiment).returns
        error = returns.std(ddof=1) * np.sqrt(1 / 2000 + 1 / draws)
        assert abs(mean - returns.mean()) < 3.5 * error


def test_files_in_a_study_are_found_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    write(folder / "mine.json")
    text = """
[[experiments]]
test = "GC"
num_mdps = 2
[[agents]]
algorithm = "opps-ds"
parameters.formulas = ["F2", "mine.json"]
[[agents]]
algorithm = "random-mix"
parameters.base = "opps-ds"
parameters.formulas = "mine.json"
"""
    monkeypatch.chdir(tmp_path)
    study = read_study(write_study(folder, text))
    digest = describe(study.jobs[1].agent.agent)[1]["formulas"].partition("#")[2]
    assert [job.label for job in study.jobs] == [
        "opps-ds", f"opps-ds(formulas=mine.json#{digest})",
        f"random-mix(base=opps-ds, formulas=mine.json#{digest})",
    ]  # fmt: skip
    # Workers get the full path, and the digest that the file must have.
    shipped = [job.agent.parameters["formulas"] for job in study.jobs]
    assert shipped == ["F2", *[f"{folder.resolve()}/mine.json#{digest}"] * 2]
    keys = [job.key for job in study.jobs]
    write(folder / "mine.json", MINE[:2])
    changed = [job.key for job in read_study(folder / "study.toml").jobs]
    assert changed[0] == keys[0]
    assert not set(changed[1:]) & set(keys)
    (folder / "mine.json").write_text("{}")
    with pytest.raises(InvalidInput, match=r"agents\[1\]: opps-ds: formulas = 'mine.json': must"):
        read_study(folder / "study.toml")


def test_the_command(shell: Shell, tmp_path: Path) -> None:
    done = shell("formulas", "--size", 2, "--features", "Qmean,Q1", "--operators", "-,abs")
    assert done.code == 0
    assert done.out.split("\n")[:-1] == ["Qmean", "Qself", "abs(Qmean)", "abs(Qself)"]
    assert "4 formulas of at most 2 tokens" in done.err
    path = tmp_path / "mine.json"
    options = ("--features", "Qmean,Qself", "--operators", "+,max", "--constants", "1, 2.5")
    done = shell("formulas", "--size", 3, *options, "--output", path)
    assert done.out == f"wrote {path}: 9 formulas of at most 3 tokens\n"
    assert read_formulas(path) == make_formulas(3, FEATURES[:2], ["+", "max"], [1, 2.5]).formulas
    assert_error(shell("formulas", "-o", path), f"{path} exists already")
    assert_error(shell("formulas", "--constants", "x"), "constants = 'x': must be numbers with")
    assert_error(shell("formulas", "--features", ""), "features: must have at least one of")
