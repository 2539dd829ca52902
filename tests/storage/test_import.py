"""Experiments and results of the original library; `helpers.original_files` says how it was met."""

import hashlib
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brlbench.agents import make_agent
from brlbench.agents.labels import label_of
from brlbench.errors import BrlbenchError, InvalidInput, StoreError
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.report.answers import ANYTHING, answer_all
from brlbench.report.compare import compare
from brlbench.report.loading import load
from brlbench.report.page import write_page
from brlbench.results.compact import write_summaries
from brlbench.storage import read_experiment, read_result, write_result
from brlbench.storage.original import import_files, read_agent_file
from helpers.original_files import (
    DISCOUNT,
    HORIZON,
    NUM_MDPS,
    PER_MDP,
    agent_text,
    block,
    drawn_run,
    run_text,
)

GREEDY = agent_text("EGreedyAgent", 2, 0.1, 0, name="e-Greedy (e = 0.1, GC)")


def save(path: Path, text: str, compressed: bool = False) -> Path:
    path.write_bytes(zlib.compress(text.encode()) if compressed else text.encode())
    return path


def imported(
    tmp_path: Path, text: str, *agents: str, prior: str = "GC", mdps_only: bool = False
) -> Any:
    files = [save(tmp_path / "run.dat", text)]
    files += [save(tmp_path / f"agent{i}.dat", each) for i, each in enumerate(agents)]
    known = distribution(prior)
    [(_, made)] = import_files(files, known, known, tmp_path / "out.parquet", mdps_only, True)
    return made


@pytest.mark.parametrize("compressed", [False, True])
def test_an_experiment_has_the_same_mdps_and_can_be_played(
    tmp_path: Path, compressed: bool
) -> None:
    run = drawn_run()
    path = save(tmp_path / "a.dat.zz", run_text(run), compressed)
    gc = distribution("GC")
    import_files([path], distribution("uniform:GC"), gc, tmp_path / "out")
    made = read_experiment(tmp_path / "out")
    assert (made.num_mdps, made.horizon, made.discount) == (NUM_MDPS, HORIZON, DISCOUNT)
    assert (made.trajectories_per_mdp, made.name) == (PER_MDP, "GC from uniform:GC")
    for i, mdp in enumerate(run.mdps):
        # Files have 15 digits.
        np.testing.assert_allclose(made.mdp(i).transitions.to_dense(), mdp.weights, rtol=1e-14)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert made.origin == f"BBRL: GC test (a.dat.zz, sha256 {digest})"
    assert evaluate(make_agent("random"), made).returns.shape == (NUM_MDPS,)


@pytest.mark.parametrize("saves", [False, True])
def test_a_result_has_the_rewards_and_times_as_they_were(tmp_path: Path, saves: bool) -> None:
    run = drawn_run(played=True, saves=saves)
    record = run.record
    assert record is not None
    imported(tmp_path, run_text(run), GREEDY)
    made = read_result(tmp_path / "out.parquet")
    assert (made.rewards == record.rewards).all()
    by_hand = sum(DISCOUNT**t * record.rewards[:, :, t] for t in range(HORIZON))
    np.testing.assert_allclose(made.returns, np.mean(by_hand, axis=1), rtol=1e-14)
    decisions = NUM_MDPS * PER_MDP * HORIZON
    assert made.online_seconds == pytest.approx(
        {"mean": record.seconds / decisions, "total": record.seconds / (NUM_MDPS * PER_MDP)}
    )
    assert made.offline_seconds == 0.25
    assert made.label == "BBRL:epsilon-greedy(epsilon=0.1)"
    if saves:
        assert np.array_equal(made.states, record.states)  # type: ignore[arg-type]
        assert np.array_equal(made.actions, record.actions)  # type: ignore[arg-type]
    else:
        assert made.states is None


def test_what_is_not_known_is_not_invented(tmp_path: Path) -> None:
    made = imported(tmp_path, run_text(drawn_run(played=True)), GREEDY)
    assert "cpu_nanoseconds" not in made.columns
    assert not made.can_be_adjusted
    assert "cpu_nanoseconds" not in made.to_polars().columns
    for attribute, name in [
        ("decision_seconds", "nanoseconds"),
        ("cpu_nanoseconds", "cpu_nanoseconds"),
        ("offline_cpu_seconds", "offline_cpu_seconds"),
    ]:
        with pytest.raises(InvalidInput, match=f"has no {name}: it was imported from the original"):
            getattr(made, attribute)


def test_provenance(tmp_path: Path) -> None:
    made = imported(tmp_path, run_text(drawn_run(played=True)), GREEDY)
    machine = read_result(tmp_path / "out.parquet").machine
    assert machine == made.machine
    for key, name in (("", "run.dat"), ("agent_", "agent0.dat")):
        digest = hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
        assert (machine[f"{key}file"], machine[f"{key}sha256"]) == (name, digest)
    assert machine["agent_name"] == "e-Greedy (e = 0.1, GC)"


def test_a_result_belongs_to_the_experiment_of_its_mdps(tmp_path: Path) -> None:
    text = run_text(drawn_run(played=True))
    result = imported(tmp_path, text, GREEDY)
    alone = imported(tmp_path, text, mdps_only=True)
    unplayed = imported(tmp_path, run_text(drawn_run()))
    assert isinstance(alone, Experiment)
    assert result.experiment_hash == alone.hash == unplayed.hash
    assert imported(tmp_path, run_text(drawn_run(seed=1))).hash != alone.hash


VARIABLE = "QSelf\n" + block("a\nvariable\n")
BEB = agent_text("BEBAgent", 5, 2.5)
FORMULA = agent_text("FormulaAgent", 3, "X1 OPP", 0, 3, 0, 1, VARIABLE, 0)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        (agent_text("RandomAgent", 0), "BBRL:random"),
        (agent_text("OptimalAgent", 1, 0.95), "optimal(library=BBRL)"),
        (agent_text("SoftMaxAgent", 2, 0.5, 0), "BBRL:soft-max(tau=0.5)"),
        (
            agent_text("VDBEEGreedyAgent", 4, 0.33, 1.0, 0.5, 0),
            "BBRL:vdbe(sigma=0.33, delta=1, initial_epsilon=0.5)",
        ),
        (agent_text("BAMCPAgent", 6, 250, 15), "BBRL:bamcp(simulations=250, depth=15)"),
        (agent_text("BFS3Agent", 8, 1, 2, 15), "BBRL:bfs3(simulations=1, branching=2, depth=15)"),
        (agent_text("SBOSSAgent", 6, 0.001, 7.0), "BBRL:sboss(epsilon=0.001, delta=7)"),
        (BEB, "BBRL:beb(beta=2.5)"),
        (FORMULA, "BBRL:formula(formula=QSelf OPP)"),
        (
            agent_text("EAgent", 2, 0.2, 1, "BEBAgent", block(BEB)),
            "BBRL:random-mix(epsilon=0.2, base=beb(beta=2.5))",
        ),
        (
            agent_text("OPPSDSAgent", 6, 1, "FormulaAgent", block(FORMULA), 50, 660.0, 0, 0.95, 4),
            "BBRL:opps-ds(draws=50, exploration=660, chosen=QSelf OPP, file=GC-x)",
        ),
        (
            agent_text(
                *("OPPSCSAgent", 9, 1, "EGreedyAgent", block(GREEDY), 3, 4, 1, 5, 0.5),
                *("EGreedyAgentFactory", block("a\nfactory\n"), 0.95, 4),
            ),
            "BBRL:opps-cs(strategy=EGreedyAgentFactory, evaluations=3, K=4, k=1, greatest_depth=5, "
            "delta=0.5, chosen=epsilon-greedy(epsilon=0.1))",
        ),
        (
            agent_text(
                *("SLAgent", 6, 1, 1, VARIABLE, 1, "OptimalAgent"),
                block(agent_text("OptimalAgent", 1, 0.95)),
                *(500, 0.95, 4, "model.dat", "ANNAgent", 7, 2, 10, 5, 1e-5, 0, 1000, 25, 0),
                name="ANN (10-5, 0.01, 25, 500)",
            ),
            "BBRL:ann(hidden=10-5, rate=0.01, falling=False, patience=25, mdps=500, "
            "teacher=optimal(library=BBRL))",
        ),
    ],
)
def test_agents(tmp_path: Path, text: str, label: str) -> None:
    agent = read_agent_file(save(tmp_path / "GC-x.dat.zz", text, compressed=True))
    assert label_of(agent.algorithm, agent.parameters) == label
    assert agent.seconds == 0.25


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An imported result, one of the reference, and one of an agent that played the same MDPs."""
    run = run_text(drawn_run(played=True))
    made = tmp_path / "results"
    made.mkdir()
    for name, agent in (("greedy", GREEDY), ("optimal", agent_text("OptimalAgent", 1, 0.95))):
        imported(tmp_path, run, agent)
        (tmp_path / "out.parquet").rename(made / f"{name}.parquet")
    experiment = imported(tmp_path, run, mdps_only=True)
    write_result(made / "own.parquet", evaluate(make_agent("psrl"), experiment))
    return made


def test_imported_results_stand_beside_others(folder: Path) -> None:
    found = compare(folder)
    assert {row.summary.label for row in found.rows} == {"psrl", "BBRL:epsilon-greedy(epsilon=0.1)"}
    assert not any(row.summary.is_own for row in found.rows)
    assert any("2 of 3 results were imported from the original library" in n for n in found.notes)
    data = load(folder, learning=True)
    assert all(each.learning is not None for each in data.experiments[0].summaries)
    write_page(data, folder / "page.html")


def test_times_of_single_decisions_are_missed_where_they_are_asked_for(folder: Path) -> None:
    found = compare(folder, feature="p95")
    assert [row.summary.label for row in found.rows] == ["psrl"]
    [note] = [note for note in found.notes if "greedy.parquet" in note]
    assert "has no single decisions, from which p95 could be computed: use another time" in note
    assert len(compare(folder, feature="total").rows) == 2


def test_compact_files_keep_imported_results(folder: Path, tmp_path: Path) -> None:
    experiments = load(folder, as_stored=True).experiments
    small = tmp_path / "small.parquet"
    write_summaries(small, [(each.header, each.summaries) for each in experiments])
    [before], [after] = answer_all(load(folder), ANYTHING), answer_all(load(small), ANYTHING)
    assert [row.summary.label for row in after.rows] == [row.summary.label for row in before.rows]
    for one, other in zip(before.experiment.summaries, after.experiment.summaries, strict=True):
        assert (one.seconds, one.machine) == (other.seconds, other.machine)
        assert one.is_timed == other.is_timed == (one.algorithm == "psrl")


def test_several_results_find_their_agents_by_name(tmp_path: Path) -> None:
    text = run_text(drawn_run(played=True))
    results = [save(tmp_path / f"GC3-GC-{name}.dat", text) for name in ("Beb-2", "Egreedy-2")]
    agents = [
        save(tmp_path / "GC-Egreedy-2.dat.zz", GREEDY, compressed=True),
        save(tmp_path / "GC-Beb-2.dat", BEB),
    ]
    gc = distribution("GC")
    written = import_files([*results, *agents], gc, gc, tmp_path / "out")
    assert [path.name for path, _ in written] == [
        "GC3-GC-Beb-2.parquet",
        "GC3-GC-Egreedy-2.parquet",
    ]
    assert [read_result(path).algorithm for path, _ in written] == [
        "BBRL:beb",
        "BBRL:epsilon-greedy",
    ]
    stranger = save(tmp_path / "other.dat", text)
    with pytest.raises(InvalidInput, match="no agent's file has a name that other ends in: rename"):
        import_files([stranger, *agents], gc, gc, tmp_path / "x")


def test_files_that_do_not_go_together(tmp_path: Path) -> None:
    gc = distribution("GC")
    result = save(tmp_path / "a.dat", run_text(drawn_run(played=True)))
    agent = save(tmp_path / "b.dat", GREEDY)
    (tmp_path / "sub").mkdir()
    twin = save(tmp_path / "sub" / "a.dat.zz", run_text(drawn_run(played=True)))
    for files, message in [
        ([result], r"a\.dat does not say who played it: give the agent's file too"),
        ([agent], "there is no experiment or result among the files: give at least one"),
        ([result, twin, agent], r"2 of the files would become a\.parquet: import them one by one"),
    ]:
        with pytest.raises(InvalidInput, match=message):
            import_files(files, gc, gc, tmp_path / "out")
    import_files([result, agent], gc, gc, tmp_path / "file")
    with pytest.raises(StoreError, match="file exists already: choose another name"):
        import_files([result, agent], gc, gc, tmp_path / "file")


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ("GDL", "MDP 0 has 5 states and 3 actions, GDL 9 and 2: give the distribution that it was"),
        ("GC-appendix", None),
        ("Dense:states=5,actions=3", r"MDP 0 has other rewards than Dense:.*: give the distrib"),
        ("around:2:Chain", "MDP 0 has 5 states and 3 actions, .* 5 and 2: give the distribution"),
    ],
)
def test_another_distribution(tmp_path: Path, prior: str, message: str | None) -> None:
    text = run_text(drawn_run())
    if message is None:  # it allows more transitions than GC does
        assert imported(tmp_path, text, prior=prior).test.name == prior
        return
    with pytest.raises(InvalidInput, match=message):
        imported(tmp_path, text, prior=prior)


def test_mdps_that_the_distribution_excludes(tmp_path: Path) -> None:
    run = drawn_run()
    weights = run.mdps[1].weights.copy()
    weights[2, 0] = [0, 1, 0, 0, 0]
    moved = [run.mdps[0], run.mdps[1]._replace(weights=weights), run.mdps[2]]
    message = "MDP 1 can go from state 2 with action 0 to state 1, which GC excludes: give"
    with pytest.raises(InvalidInput, match=message):
        imported(tmp_path, run_text(run._replace(mdps=moved)))
    other_start = [mdp._replace(start=-1.0) for mdp in run.mdps]
    with pytest.raises(InvalidInput, match="MDP 0 has other start than GC: give"):
        imported(tmp_path, run_text(run._replace(mdps=other_start)))


PLAYED = drawn_run(played=True)
SAVED = run_text(drawn_run(played=True, saves=True))


def _unfinished() -> str:
    text = run_text(PLAYED)
    assert PLAYED.record is not None
    last = "".join(f"{reward:.15g}\n" for reward in PLAYED.record.rewards[-1, -1])
    start, _, end = text.rpartition(f"{HORIZON}\n{last}")
    return f"{start}0\n{end}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "run.dat is damaged, or not a file of the original library: must be an experiment"),
        ("Serializable", "run.dat is damaged, or not a file of the original library: must be an"),
        ("Serializable\n0\nFormulaVector\n1\n", "run.dat is damaged, or not a file of the orig"),
        (run_text(PLAYED)[:-8], "run.dat is damaged: it ends at line 174, before the horizon"),
        (run_text(PLAYED) + "1\n", "run.dat is damaged: something follows where it should end"),
        (_unfinished(), "run.dat is unfinished, 5 of 6 trajectories were played: let the origin"),
        (
            run_text(PLAYED).replace("IExperiment\n11", "IExperiment\n12"),
            "run.dat is damaged: it announces 12 values, must be 11 for its MDPs and trajectories",
        ),
        (
            run_text(PLAYED).replace("GC test\n3", "GC test\n0"),
            "run.dat is damaged: line 6 is '0', must be the number of MDPs, a whole number ≥ 1",
        ),
        (
            run_text(PLAYED).replace("\n2\n480\n", "\n2\nnan\n"),
            "is 'nan', must be the time elapsed, in milliseconds, a finite number ≥ 0",
        ),
        (
            run_text(PLAYED).replace("Experiment\n3\n0.95\n4", "Experiment\n3\n0.95\n5"),
            "run.dat is damaged: it must have 6 trajectories of 5 decisions",
        ),
        (run_text(PLAYED).replace("IMDP\n1", "IMDP\n2", 1), "is 2, must be 1, the number of val"),
        (run_text(PLAYED).replace("MDP\n155", "MDP\n154", 1), "it announces '154' numbers and has"),
        (run_text(PLAYED).replace("0\t10", "0\tten", 1), "is not the length of MDP 0"),
        (
            SAVED.replace("SimulationRecord\n18", "SimulationRecord\n19"),
            "which does not fit the 19",
        ),
        (
            SAVED.replace("\n0.95\n4\n0\t", "\n0.95\n4\n9\t", 1),
            "have states or actions that no MDP",
        ),
    ],
)
def test_damaged_runs(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(StoreError, match=re.escape(message)):
        imported(tmp_path, text, GREEDY)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: agent_text("NewAgent", 0), "line 9 is 'NewAgent', must be an agent: RandomAgent,"),
        (lambda: GREEDY[:-6], "is damaged: line 11 is '', must be epsilon, a finite number ≥ 0"),
        (lambda: _nested(2000), "is damaged: its agents are nested too deeply"),
    ],
)
def test_damaged_agents(tmp_path: Path, make: Callable[[], str], message: str) -> None:
    with pytest.raises(StoreError, match=message):
        read_agent_file(save(tmp_path / "a.dat", make()))


def _nested(levels: int) -> str:
    text = BEB
    for _ in range(levels):
        text = agent_text("EAgent", 2, 0.2, 1, "EAgent", block(text))
    return text


def test_a_discount_of_one_and_a_distribution_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BrlbenchError, match=r"run\.dat: discount = 1"):
        imported(tmp_path, run_text(drawn_run(discount=1.0)))
    with pytest.raises(InvalidInput, match=r"run\.dat is a distribution, which needs no import"):
        imported(tmp_path, "Serializable\n0\nIMDPDistribution\n2\n")
