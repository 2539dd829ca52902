"""The command line: it parses, calls the library and prints."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..errors import BrlbenchError, InvalidInput

app = typer.Typer(
    help="Measure Bayesian reinforcement-learning agents.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
console = Console()
errors = Console(stderr=True)


def _problem_names(incomplete: str) -> list[str]:
    from ..problems import PROBLEMS

    names = [*PROBLEMS, *(f"uniform:{name}" for name in PROBLEMS)]
    return [name for name in names if name.startswith(incomplete)]


def _agent_names(incomplete: str) -> list[str]:
    from ..agents import AGENTS

    return [name for name in AGENTS if name.startswith(incomplete)]


Prior = Annotated[
    str,
    typer.Option(help="What agents are trained on: a name, a file, or uniform:…",
                 autocompletion=_problem_names),
]  # fmt: skip
Output = Annotated[Path, typer.Option("--output", "-o", help="The file to write.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")]
Seed = Annotated[int, typer.Option(min=0, help="The seed of everything that is random.")]
Discount = Annotated[float, typer.Option(help="The discount factor, between 0 and 1.")]
Horizon = Annotated[int | None, typer.Option(help="Decisions a trajectory; 250 by default.")]
Workers = Annotated[int | None, typer.Option(min=1, help="How many cores to use; all by default.")]


@app.command()
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder for results.")] = Path(
        "demo-results"
    ),
    mdps: Annotated[int, typer.Option(min=2, help="MDPs in each experiment.")] = 500,
    seed: Seed = 0,
    workers: Workers = None,
) -> None:
    """Run a small real study: three problems, right and wrong priors, ten agents.

    Results that are in the folder already are kept and not played again.

    Example: [bold]brlbench demo --mdps 100 --output /tmp/demo[/bold]
    """
    from .demo import run

    run(output, mdps, seed, workers, console)


@app.command()
def problems() -> None:
    """List the distributions over MDPs that come with the package.

    Example: [bold]brlbench problems[/bold]
    """
    from ..problems import PROBLEMS
    from .lists import problem_table

    console.print(problem_table(PROBLEMS))


@app.command()
def agents() -> None:
    """List the agents with their parameters.

    Example: [bold]brlbench agents[/bold]
    """
    from ..agents import AGENTS
    from .lists import agent_table

    console.print(agent_table(AGENTS))


@app.command()
def distribution(
    source: Annotated[
        str | None,
        typer.Argument(
            help="A problem's name, a file, or uniform: or around:20: and one of these.",
            autocompletion=_problem_names,
        ),
    ] = None,
    from_gym: Annotated[
        str | None, typer.Option(help="Instead: the id of a tabular Gymnasium environment.")
    ] = None,
    parameters: Annotated[
        list[str] | None, typer.Option("--set", "-s", help="A parameter, as name=value.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to .toml, .json, .dat or .dat.z.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Show a distribution over MDPs, or write it to a file.

    The suffix chooses the format: .toml and .json are ours, .dat and .dat.z the original library's.

    Examples: [bold]brlbench distribution GC[/bold],
    [bold]brlbench distribution uniform:Grid -o prior.toml[/bold],
    [bold]brlbench distribution --from-gym FrozenLake-v1 --set terminal=absorb -o lake.toml[/bold]
    """
    from ..problems import distribution as find
    from ..problems import write

    if (source is None) == (from_gym is None):
        raise InvalidInput("give one of SOURCE and --from-gym")
    name = source if source is not None else f"gym:{from_gym}"
    found = find(":".join(filter(None, [name, ",".join(parameters or [])])))
    if output is None:
        console.print(found, markup=False, soft_wrap=True)
    else:
        write(found, output, overwrite)
        console.print(f"wrote {output}", markup=False)


@app.command()
def experiment(
    prior: Prior,
    test: Annotated[
        str, typer.Option(help="What the MDPs are drawn from.", autocompletion=_problem_names)
    ],
    output: Output,
    mdps: Annotated[int, typer.Option(help="How many MDPs to draw.")] = 500,
    discount: Discount = 0.95,
    horizon: Horizon = None,
    accuracy: Annotated[
        float | None, typer.Option(help="Instead of a horizon: what may be cut off of a return.")
    ] = None,
    per_mdp: Annotated[int, typer.Option(help="Trajectories in each MDP.")] = 1,
    seed: Seed = 0,
    overwrite: Overwrite = False,
) -> None:
    """Draw the MDPs of an experiment and write them to a file.

    Example: [bold]brlbench experiment --prior uniform:GC --test GC -o gc.parquet[/bold]
    """
    from ..protocol.experiment import Experiment
    from ..storage import write_experiment

    made = Experiment(prior, test, mdps, discount, horizon, seed, accuracy, per_mdp)
    write_experiment(output, made, overwrite)
    console.print(f"wrote {output}: {made}", markup=False)


@app.command()
def train(
    agent: Annotated[
        str, typer.Argument(help="An agent's name, or module:Class.", autocompletion=_agent_names)
    ],
    prior: Prior,
    output: Output,
    parameters: Annotated[
        list[str] | None, typer.Option("--set", "-s", help="A parameter, as name=value.")
    ] = None,
    discount: Discount = 0.95,
    horizon: Horizon = None,
    seed: Seed = 0,
    overwrite: Overwrite = False,
) -> None:
    """Train an agent on a prior and write it to a file.

    Example: [bold]brlbench train beb --set beta=2.5 --prior GC -o beb.json[/bold]
    """
    from ..arguments import format_seconds, parse_parameters
    from ..files import check_free
    from ..protocol.evaluate import train_new
    from ..storage import write_agent
    from .tables import training_progress

    check_free(output, overwrite)
    given = parse_parameters(parameters or [])
    with training_progress(console) as progress:
        trained = train_new(agent, given, prior, discount, horizon, seed, progress)
    write_agent(output, trained, overwrite)
    console.print(
        f"wrote {output}: trained in {format_seconds(trained.training.seconds)}", markup=False
    )


@app.command()
def play(
    agent: Annotated[Path, typer.Argument(help="A trained agent, from brlbench train.")],
    experiment: Annotated[Path, typer.Argument(help="An experiment, from brlbench experiment.")],
    output: Output,
    trajectories: Annotated[
        bool, typer.Option("--trajectories", help="Keep states and actions too.")
    ] = False,
    workers: Workers = None,
    overwrite: Overwrite = False,
) -> None:
    """Let a trained agent play an experiment and write the result to a file.

    Example: [bold]brlbench play beb.json gc.parquet -o result.parquet[/bold]
    """
    from ..files import check_free
    from ..protocol.evaluate import play_trained
    from ..report.summary import summarise
    from .. import storage
    from .tables import progress, score_table

    check_free(output, overwrite)
    trained, made = storage.read_agent(agent), storage.read_experiment(experiment)
    with progress(console, made.num_trajectories) as advance:
        result = play_trained(trained, made, workers, advance)
    storage.write_result(output, result, trajectories, overwrite)
    console.print(score_table(summarise([result])))


@app.command()
def run(
    study: Annotated[Path, typer.Argument(help="A study file (TOML); see studies/quick.toml.")],
    results: Annotated[
        Path | None,
        typer.Option("--results", "-r", help="The folder for results; ./STUDY-results."),
    ] = None,
    dry: Annotated[
        bool, typer.Option("--dry-run", help="List the work and estimate its time.")
    ] = False,
    probes: Annotated[
        bool, typer.Option(help="With --dry-run: estimate the time from short probes.")
    ] = True,
    workers: Workers = None,
    executor: Annotated[
        str | None, typer.Option(help="local, dask or slurm; as in the study by default.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="The address of a Dask scheduler; a local one by default.")
    ] = None,
    profile: Annotated[
        Path | None, typer.Option(help="A TOML file with the keys of a study's execution table.")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try agents again that failed before.")
    ] = False,
    detach: Annotated[
        bool, typer.Option("--detach", help="Run in the background; see brlbench status.")
    ] = False,
) -> None:
    """Run a study: many agents in several experiments, described in one file.

    What is in the folder already is not done again, so that the same command resumes a run that
    was stopped, or killed, at any moment. Ctrl-C stops cleanly, a second one at once.

    Examples: [bold]brlbench run studies/quick.toml --results quick[/bold],
    [bold]brlbench run studies/paper-accurate.toml --dry-run[/bold],
    [bold]brlbench run study.toml --executor slurm --profile cluster.toml --detach[/bold]
    """
    from . import studies as command

    folder = results or Path(f"{study.stem}-results")
    options = {"executor": executor, "workers": workers, "scheduler": scheduler}
    if dry:
        command.dry_run(study, folder, options, profile, probes, console)
    elif detach:
        arguments = [argument for argument in sys.argv[1:] if argument != "--detach"]
        command.detach(study, folder, arguments, console)
    elif not command.run(study, folder, options, profile, retry_failed, console):
        raise typer.Exit(1)


@app.command()
def status(
    results: Annotated[Path, typer.Argument(help="A folder with a study, from brlbench run.")],
) -> None:
    """Say what is done, running, failed and left of a study.

    Example: [bold]brlbench status quick[/bold]
    """
    from ..study.status import read_status
    from .studies import print_status

    print_status(read_status(results), console)


Results = Annotated[
    list[Path], typer.Argument(help="Folders with results, from run, play or demo, or files.")
]
Feature = Annotated[
    str,
    typer.Option(help="What online time is: mean, median, p95, max, total, or module:function."),
]
Level = Annotated[float, typer.Option(help="How sure a test must be, between 0 and 1.")]
Honest = Annotated[
    bool, typer.Option("--honest", help="Choose agents on one half of the MDPs, test on the other.")
]


@app.command()
def compare(
    results: Results,
    offline: Annotated[str | None, typer.Option(help="A bound on training, e.g. 1m.")] = None,
    online: Annotated[str | None, typer.Option(help="A bound on decisions, e.g. 5ms.")] = None,
    feature: Feature = "mean",
    level: Level = 0.95,
    honest: Honest = False,
    experiment: Annotated[str | None, typer.Option(help="Only this experiment.")] = None,
    format: Annotated[str, typer.Option(help="table, csv or json.")] = "table",
) -> None:
    """Say which agents are best within bounds on offline and online time.

    Bounds are like 300us, 5ms, 1.5s, 1m, 2h, or a number of seconds.

    Example: [bold]brlbench compare results --offline 1m --online 5ms[/bold]
    """
    from ..report.build import compare, load_for
    from ..report.tables import Question

    question = Question.parse(offline, online, feature, level, honest)
    compare(load_for(results, question), question, experiment, format, console, errors)


@app.command()
def report(
    results: Results,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The folder to write; RESULTS/report.")
    ] = None,
    format: Annotated[
        list[str] | None,
        typer.Option(help="all, figures, latex, html, csv, json or parquet; may be repeated."),
    ] = None,
    feature: Feature = "mean",
    level: Level = 0.95,
    honest: Honest = False,
    overwrite: Overwrite = False,
) -> None:
    """Make figures, tables, a LaTeX report with its PDF, an interactive page and exports.

    Reports read results only; they never play anything. The PDF needs latexmk.

    Examples: [bold]brlbench report results --format html --format csv[/bold],
    [bold]brlbench report mine reproduction/results.parquet[/bold]
    """
    from ..report.build import build, load_for, print_report, usual_folder
    from ..report.tables import Question

    question = Question.parse(None, None, feature, level, honest)
    data = load_for(results, question)
    folder = output or usual_folder(results[0])
    made = build(data, folder, format or ["all"], question, overwrite)
    print_report(made, console, errors)


@app.command()
def compact(results: Results, output: Output, overwrite: Overwrite = False) -> None:
    """Gather what reports need of results in one small file.

    Reports read it like results, also beside others.

    Examples: [bold]brlbench compact results --output small.parquet[/bold],
    [bold]brlbench report mine small.parquet[/bold]
    """
    from ..files import check_free
    from ..report import compact
    from ..report.loading import load

    check_free(output, overwrite)
    data = load(*results)
    compact.write(output, data.experiments, overwrite)
    number = sum(len(experiment.entries) for experiment in data.experiments)
    console.print(f"wrote {output}: {number} results", markup=False)


def main() -> None:
    """Run the command line; errors are one sentence, without a traceback."""
    try:
        app()
    except BrlbenchError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
