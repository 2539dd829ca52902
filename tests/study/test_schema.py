import sys
from pathlib import Path

import numpy as np
import pytest
from reproduction.published import published_rows

from brlbench.errors import InvalidInput
from brlbench.study.levels import expected_mdps
from brlbench.study.plan import read_study
from brlbench.study.schema import LimitsTable
from helpers.made_studies import write_study

STUDIES = Path(__file__).parents[2] / "studies"

SMALL = """
[defaults]
num_mdps = 3
horizon = 4

[[experiments]]
test = "GC"

[[experiments]]
test = "GC"
prior = "uniform:GC"
num_mdps = 5
accuracy = 0.1

[limits]
memory = "2GB"
decision = "1s"

[[agents]]
algorithm = "epsilon-greedy"
parameters.epsilon = [0.0, 0.5]
limits.trajectory = "2s"

[[agents]]
algorithm = "opps-ds"
parameters.formulas = ["F2", "F4"]
parameters.draws = [50, 500]
experiments = ["GC"]
"""


def test_lists_expand_to_all_combinations(tmp_path: Path) -> None:
    study = read_study(write_study(tmp_path, SMALL))
    assert list(study.experiments) == ["GC", "GC from uniform:GC"]
    assert [(e.num_mdps, e.horizon) for e in study.experiments.values()] == [(3, 4), (5, 149)]
    played = [(job.agent.parameters, job.experiment_name) for job in study.jobs]
    assert played == [
        ({"epsilon": 0.0}, "GC"),
        ({"epsilon": 0.0}, "GC from uniform:GC"),
        ({"epsilon": 0.5}, "GC"),
        ({"epsilon": 0.5}, "GC from uniform:GC"),
        ({"formulas": "F2", "draws": 50}, "GC"),
        ({"formulas": "F2", "draws": 500}, "GC"),
        ({"formulas": "F4", "draws": 500}, "GC"),
    ]
    assert [skipped.label for skipped in study.skipped] == ["opps-ds(formulas=F4, draws=50)"]
    assert "at least 226" in study.skipped[0].reason


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("GC*", ["GC", "GC from uniform:GC"]),
        ("GC from *", ["GC from uniform:GC"]),
        ("*", ["GC", "GC from uniform:GC"]),
        ("GC", ["GC"]),
    ],
)
def test_patterns_stand_for_experiments(tmp_path: Path, pattern: str, names: list[str]) -> None:
    text = SMALL.replace('experiments = ["GC"]', f'experiments = ["{pattern}"]')
    jobs = read_study(write_study(tmp_path, text)).jobs
    played = [job.experiment_name for job in jobs if job.agent.algorithm == "opps-ds"]
    assert played == 3 * names  # three agents


def test_limits_of_an_agent_come_before_those_of_the_study(tmp_path: Path) -> None:
    study = read_study(write_study(tmp_path, SMALL))
    limits = study.jobs[0].agent.limits
    assert (limits.memory, limits.decision, limits.trajectory) == (2_000_000_000, 1.0, 2.0)
    assert limits.of_playing(horizon=250).seconds == 2.0
    assert limits.of_playing(horizon=1).seconds == 1.0
    assert study.jobs[-1].agent.limits.of_playing(horizon=3).seconds == 3.0


@pytest.mark.parametrize(
    ("own", "study", "memories"),
    [
        ({}, {}, (None, None)),
        ({}, {"memory": "4GB"}, (4, 4)),
        ({"training_memory": "8GB"}, {"memory": "4GB"}, (8, 4)),
        ({"memory": "1GB"}, {"training_memory": "8GB", "memory": "4GB"}, (1, 1)),
        ({"memory": "1GB", "playing_memory": "2GB"}, {"playing_memory": "8GB"}, (1, 2)),
    ],
)
def test_memory_for_training_and_playing_apart(
    own: dict[str, str], study: dict[str, str], memories: tuple[int | None, int | None]
) -> None:
    limits = LimitsTable.model_validate(own).over(LimitsTable.model_validate(study))
    found = (limits.of_training.memory, limits.of_playing(horizon=1).memory)
    assert found == tuple(memory and memory * 10**9 for memory in memories)


def test_deadlines_are_kept_apart(tmp_path: Path) -> None:
    text = SMALL.replace('prior = "uniform:GC"\n', 'deadline = "5ms"\n')
    study = read_study(write_study(tmp_path, text))
    assert list(study.experiments) == ["GC", "GC within 5 ms"]
    free, hurried = study.jobs[:2]
    assert (free.experiment.deadline, hurried.experiment.deadline) == (None, 0.005)
    assert hurried.label == "epsilon-greedy(epsilon=0.0) within 5 ms"
    assert free.key != hurried.key


def test_keys_depend_on_all_that_results_depend_on_and_on_nothing_else(tmp_path: Path) -> None:
    def keys(text: str) -> list[tuple[str, str]]:
        study = read_study(write_study(tmp_path, text))
        return [(job.training_key, job.key) for job in study.jobs]

    before = keys(SMALL)
    assert len({key for _, key in before}) == len(before)
    assert keys(SMALL + "\n[execution]\nworkers = 3\n[output]\nkeep_paths = true") == before
    more_mdps = keys(SMALL.replace("num_mdps = 3", "num_mdps = 4"))
    assert [one[0] for one in more_mdps] == [one[0] for one in before]  # trained alike
    assert more_mdps[0][1] != before[0][1]
    for change in (("horizon = 4", "horizon = 5"), ("num_mdps = 3", "num_mdps = 3\nseed = 1")):
        changed = keys(SMALL.replace(*change))
        assert changed[0][0] != before[0][0]
        assert changed[0][1] != before[0][1]


def test_one_training_serves_several_experiments(tmp_path: Path) -> None:
    text = SMALL.replace('prior = "uniform:GC"\nnum_mdps = 5\naccuracy = 0.1', "num_mdps = 7")
    text = text.replace("num_mdps = 7", 'num_mdps = 7\nname = "more of GC"')
    jobs = read_study(write_study(tmp_path, text)).jobs
    assert jobs[0].training_key == jobs[1].training_key
    assert jobs[0].key != jobs[1].key


def test_own_agents_and_distributions_lie_beside_the_study(tmp_path: Path) -> None:
    text = """
[[experiments]]
test = "mine.toml"
[[experiments]]
test = "mine.toml"
prior = "uniform:mine.toml"
[[agents]]
algorithm = "study_agents:Plain"
parameters.luck = [1, 2]
"""
    path = write_study(tmp_path / "elsewhere", text)
    from brlbench.problems import distribution, write

    write(distribution("GDL"), path.parent / "mine.toml")
    study = read_study(path)
    assert len(study.jobs) == 4
    before = study.jobs[0]
    agents = path.parent / "study_agents.py"
    agents.write_text(agents.read_text() + "\n# another version\n")
    after = read_study(path).jobs[0]
    assert after.agent.code != before.agent.code
    assert after.training_key != before.training_key


def test_problems_with_parameters_and_of_gymnasium(tmp_path: Path) -> None:
    text = """
[[experiments]]
test = "DeepSea:size=4"
[[experiments]]
test = "around:20:Chain"
prior = "Chain"
[[experiments]]
test = "gym:FrozenLake-v1"
prior = "uniform:gym:FrozenLake-v1"
[[agents]]
algorithm = "random"
"""
    study = read_study(write_study(tmp_path, text))
    assert [job.experiment_name for job in study.jobs] == [
        "DeepSea:size=4",
        "around:20:Chain from Chain",
        "gym:FrozenLake-v1 from uniform:gym:FrozenLake-v1",
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("num_mdps = 3", "num_mpds = 3", "defaults has an unknown key 'num_mpds' (did you mean "),
        ("[limits]", "[limit]", "the file has an unknown key 'limit' (did you mean 'limits'?)"),
        ("num_mdps = 3", "trajectories = 3", "defaults has an unknown key 'trajectories' (did"),
        (
            "parameters.epsilon",
            "epsilom",
            "agents[1] has an unknown key 'epsilom': must be one of algorithm, parameters, limits, "
            "experiments, until; a parameter of the agent is written as parameters.epsilom = …",
        ),
        ("[limits]", "[output]\nkeep = true\n[limits]", "output has an unknown key 'keep'"),
        ('memory = "2GB"', 'memory = "2"', "limits.memory = '2': must be a size like"),
        ('decision = "1s"', 'decision = "soon"', "limits.decision = 'soon': must be a duration"),
        ('decision = "1s"', "decision = 0", "limits.decision = 0: must be a duration above 0"),
        ('test = "GC"', 'test = "GD"', "experiments[1]: "),
        ('test = "GC"', "test = 3", "experiments[1].test = 3: must be a text"),
        (
            "num_mdps = 3",
            "num_mdps = 0",
            "defaults.num_mdps = 0: must be a whole number",
        ),
        ("num_mdps = 3", "num_mdps = 2.5", "defaults.num_mdps = 2.5: must be a whole number"),
        ('"epsilon-greedy"', '"epsilon-gredy"', "agents[1]: unknown agent"),
        ('algorithm = "epsilon-greedy"', "", "agents[1].algorithm is missing"),
        ("parameters.epsilon", "parameters.epsilo", "did you mean 'epsilon'"),
        ("[0.0, 0.5]", "[0.0, 1.5]", "agents[1]: epsilon-greedy: epsilon = 1.5: must be"),
        (
            'experiments = ["GC"]',
            'experiments = ["GC from uniform"]',
            "did you mean 'GC from uniform:GC'",
        ),
        (
            'experiments = ["GC"]',
            'experiments = ["GDL*"]',
            "agents[2].experiments has 'GDL*': must be one of GC, GC from uniform:GC",
        ),
        ('prior = "uniform:GC"', "", "has the name 'GC' of an earlier one"),
        ("[defaults]", "[defaults", "is not a TOML file"),
        ('"epsilon-greedy"', '"no_such_module:Agent"', "can't be imported"),
        ("[0.0, 0.5]", "[]", "agents[1].parameters.epsilon = []: give it at least one value"),
        ('experiments = ["GC"]', "experiments = []", "agents[2].experiments = []: give it at"),
        ("[limits]", "[[limits]]", "limits must be a table with values, as in [limits]"),
        ('memory = "2GB"', 'memory = "0GB"', "limits.memory = '0GB': must be a size like"),
        ('memory = "2GB"', 'memory = "2..GB"', "limits.memory = '2..GB': must be a size like"),
        (
            'prior = "uniform:GC"\nnum_mdps = 5\naccuracy = 0.1',
            'name = "again"',
            "experiments[2] has the settings of 'GC': change or remove one of them",
        ),
    ],
)
def test_errors_name_file_key_value_and_remedy(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in SMALL
    path = write_study(tmp_path, SMALL.replace(old, new, 1))
    with pytest.raises(InvalidInput) as error:
        read_study(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value).replace("(at", "(")


def test_single_brackets_for_lists(tmp_path: Path) -> None:
    path = write_study(tmp_path, '[experiments]\ntest = "GC"\n[agents]\nalgorithm = "random"\n')
    with pytest.raises(InvalidInput, match=r"experiments must be written as \[\[experiments\]\]"):
        read_study(path)


@pytest.mark.parametrize("own", ["name = 'X'", "parameters = {}"])
def test_agents_that_look_alike_are_refused(tmp_path: Path, own: str) -> None:
    text = """
[[experiments]]
test = "GC"
[[agents]]
algorithm = "alike:One"
parameters.k = [1, 2]
"""
    path = write_study(tmp_path, text)
    sys.modules.pop("alike", None)
    code = f"class One:\n    {own}\n    def __init__(self, k):\n        self.k = k\n"
    if own.startswith("name"):
        code += "        self.parameters = None\n"
    (tmp_path / "alike.py").write_text(code)
    with pytest.raises(InvalidInput, match=r"with {'k': 1} and alike:One with {'k': 2} are"):
        read_study(path)


def test_a_study_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="can't be read"):
        read_study(tmp_path / "none.toml")


def test_the_papers_studies_are_complete() -> None:
    accurate, inaccurate = (
        read_study(STUDIES / f"paper-{case}.toml") for case in ("accurate", "inaccurate")
    )
    # Section 5.1 of the paper, the agent that knows the MDP, and F6 with 7,500 draws.
    sizes = {"random": 1, "optimal": 1, "epsilon-greedy": 11, "soft-max": 10, "beb": 10,
             "opps-ds": 5 * 8 - 8 + 1, "sboss": 7 * 11, "bamcp": 7 * 3,
             "bfs3": 6 * 4 * 3}  # fmt: skip
    for study in (accurate, inaccurate):
        names = [agent.algorithm for agent in study.agents]
        assert {name: names.count(name) for name in names} == sizes
        assert len(study.jobs) == 3 * sum(sizes.values())
        assert len(study.skipped) == 8
        opps = [agent.parameters for agent in study.agents if agent.algorithm == "opps-ds"]
        assert all(parameters["exploration"] == 660 for parameters in opps)
        assert [each["draws"] for each in opps if each["formulas"] == "F6"] == [
            10_000, 100_000, 1_000_000, 7500
        ]  # fmt: skip
        for experiment in study.experiments.values():
            assert (experiment.num_mdps, experiment.horizon) == (500, 250)
        # Of bfs3, a ninth of all plays is left, and a third of bamcp's.
        expected = expected_mdps(study.jobs, study.table.rule)
        for name, share in {"bfs3": 0.107, "bamcp": 0.347}.items():
            numbers = [n for job, n in expected.items() if job.agent.algorithm == name]
            assert np.mean(numbers) / 500 == pytest.approx(share, abs=0.001)
        assert {job.agent.algorithm for job in expected} == {"bfs3", "bamcp"}
    assert list(accurate.experiments) == ["GC", "GDL", "Grid"]
    assert all("uniform" in name for name in inaccurate.experiments)


def test_the_study_of_networks_is_complete() -> None:
    """The original library's grid, which lets the rate fall, in three experiments."""
    jobs = [job for job in read_study(STUDIES / "ann.toml").jobs if job.agent.algorithm == "ann"]
    original = [job.agent.parameters for job in jobs if "decay" in job.agent.parameters]
    assert len(original) == 3 * 6 * 4 * 4 * 4
    for name, values in {
        "hidden": {"10", "25", "50", "10-10", "25-25", "10-10-10"},
        "rate": {1e-2, 1e-4, 1e-6, 1e-8},
        "patience": {5, 10, 25, 50},
        "mdps": {500, 1000, 2500, 5000},
        "decay": {"root"},
    }.items():
        assert {parameters[name] for parameters in original} == values


def test_the_quick_study_can_be_read() -> None:
    assert len({job.agent.algorithm for job in read_study(STUDIES / "quick.toml").jobs}) > 10


def test_the_reproduction_has_every_row_of_the_papers_tables() -> None:
    study = read_study(STUDIES / "reproduction-results.toml")
    played = {
        (job.label, job.experiment.prior.name, job.experiment.test.name) for job in study.jobs
    }
    rows = list(published_rows())
    assert len(rows) == 48
    for row in rows:
        assert (row.label, row.prior, row.test) in played


def test_so_many_mdps_that_drawing_takes_minutes_are_refused_at_once(tmp_path: Path) -> None:
    text = '[defaults]\nnum_mdps = 12345678\n[[experiments]]\ntest = "GC"\n'
    text += '[[agents]]\nalgorithm = "random"\n'
    said = "num_mdps = 12345678: drawing its MDPs would take about .* use at most 4,587,155, and"
    with pytest.raises(InvalidInput, match=rf"experiments\[1\]: {said} more trajectories"):
        read_study(write_study(tmp_path, text))


def test_agents_that_can_not_play_under_a_prior_are_skipped_there(tmp_path: Path) -> None:
    (tmp_path / "two_goals.py").write_text(
        "import numpy as np\nimport brlbench as bb\n\n\n"
        "class TwoGoals:\n"
        "    num_states, num_actions = 1, 2\n\n"
        "    def sample(self, rng):\n"
        "        goal = np.eye(2)[rng.integers(2)][None, :, None]\n"
        "        return bb.MDP(np.ones((1, 2, 1)), goal, 0, np.ones((1, 2, 1)))\n"
    )
    study = read_study(
        write_study(
            tmp_path,
            'title = "t"\n[defaults]\nnum_mdps = 2\nhorizon = 3\n'
            '[[experiments]]\ntest = "GC"\n[[experiments]]\ntest = "two_goals:TwoGoals"\n'
            '[[agents]]\nalgorithm = "bfs3"\n[[agents]]\nalgorithm = "psrl"\n',
        )
    )
    played = [(job.agent.algorithm, job.experiment.test.num_states) for job in study.jobs]
    assert played == [("bfs3", 5), ("psrl", 5), ("psrl", 1)]
    [skipped] = study.skipped
    assert skipped.label == "bfs3"
    assert "TwoGoals: bfs3 needs all that can follow an action" in skipped.reason
