"""Commands for the steps of an experiment, one by one: distribution, experiment, train, play."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import InvalidInput
from .completion import agent_names, problem_names
from .options import Output, Overwrite, Parameters, Seed, Workers
from .output import console, say

Prior = Annotated[
    str,
    typer.Option(
        help="What agents are trained on: a name, a file, or uniform:…",
        autocompletion=problem_names,
    ),
]
Discount = Annotated[float, typer.Option(help="The discount factor, between 0 and 1.")]
Horizon = Annotated[int | None, typer.Option(help="Decisions per trajectory; 250 by default.")]


def distribution(
    source: Annotated[
        str | None,
        typer.Argument(
            help="A problem's name or a file; uniform:, mixed:0.25:, scaled:10: or around:20: may "
            "stand before it.",
            autocompletion=problem_names,
        ),
    ] = None,
    from_gym: Annotated[
        str | None, typer.Option(help="Instead: the id of a tabular Gymnasium environment.")
    ] = None,
    parameters: Parameters = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to .toml, .json, .dat or .dat.zz.")
    ] = None,
    draw: Annotated[
        Path | None, typer.Option(help="Draw states and transitions, to .png, .pdf or .svg.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Show a distribution over MDPs as a table, write it to a file, or draw it.

    The suffix chooses the format: .toml and .json are ours, .dat and .dat.zz (compressed) the
    original library's.

    Examples: [bold]brlbench distribution GC[/bold],
    [bold]brlbench distribution GC --draw gc.png[/bold],
    [bold]brlbench distribution uniform:Grid -o prior.toml[/bold],
    [bold]brlbench distribution --from-gym FrozenLake-v1 --set terminal=absorb -o lake.toml[/bold]
    """
    from ..problems import distribution as find
    from ..problems import write
    from .distributions import draw_distribution, print_distribution

    problem = find(_source(source, from_gym, parameters))
    if output is None and draw is None:
        print_distribution(problem)
    if output is not None:
        write(problem, output, overwrite)
        say(f"wrote {output}")
    if draw is not None:
        draw_distribution(problem, draw, overwrite)
        say(f"drew {draw}")


def _source(source: str | None, from_gym: str | None, parameters: list[str] | None) -> str:
    """The source in the form that `problems.distribution` takes."""
    if (source is None) == (from_gym is None):
        raise InvalidInput("give one of SOURCE and --from-gym")
    name = source if source is not None else f"gym:{from_gym}"
    return ":".join(filter(None, [name, ",".join(parameters or [])]))


def experiment(
    prior: Prior,
    test: Annotated[
        str, typer.Option(help="What MDPs are drawn from.", autocompletion=problem_names)
    ],
    output: Output,
    mdps: Annotated[int, typer.Option(help="How many MDPs to draw.")] = 500,
    discount: Discount = 0.95,
    horizon: Horizon = None,
    accuracy: Annotated[
        float | None,
        typer.Option(help="Instead of a horizon: how much of a return may be cut off."),
    ] = None,
    trajectories_per_mdp: Annotated[
        int, typer.Option(help="How many trajectories to play in each MDP.")
    ] = 1,
    seed: Seed = 0,
    overwrite: Overwrite = False,
) -> None:
    """Draw the MDPs of an experiment and write them to a file.

    Example: [bold]brlbench experiment --prior uniform:GC --test GC -o gc.parquet[/bold]
    """
    from ..protocol.experiment import Experiment
    from ..storage import write_experiment

    drawn = Experiment(prior, test, mdps, discount, horizon, seed, accuracy, trajectories_per_mdp)
    write_experiment(output, drawn, overwrite)
    say(f"wrote {output}: {drawn}")


def train(
    agent: Annotated[
        str, typer.Argument(help="An agent's name, or module:Class.", autocompletion=agent_names)
    ],
    prior: Prior,
    output: Output,
    parameters: Parameters = None,
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
    from ..protocol.training import save, train_new
    from ..storage import write_agent
    from .bars import training_bar

    check_free(output, overwrite)
    values = parse_parameters(parameters or [])
    with training_bar() as show:
        trained = train_new(agent, values, prior, discount, horizon, seed, show)
    write_agent(output, save(trained), overwrite)
    say(f"wrote {output}: trained in {format_seconds(trained.training.seconds)}")


def play(
    agent: Annotated[Path, typer.Argument(help="A trained agent, from brlbench train.")],
    experiment: Annotated[Path, typer.Argument(help="An experiment, from brlbench experiment.")],
    output: Output,
    keep_paths: Annotated[
        bool, typer.Option("--keep-paths", help="Keep states and actions too.")
    ] = False,
    workers: Workers = None,
    overwrite: Overwrite = False,
) -> None:
    """Let a trained agent play an experiment and write the result to a file.

    The same command resumes a play that was stopped or killed at any moment. Until the result is
    written, OUTPUT.unfinished holds what has been played.

    Example: [bold]brlbench play beb.json gc.parquet -o result.parquet[/bold]
    """
    from ..analysis.bayes_bound.known import known_bound
    from ..executors.local import Local
    from ..results.summary import summarise
    from ..storage import read_result
    from ..study.one_job import OneJob
    from ..study.run import find_expected_luck
    from .bars import luck_bar, playing_bar
    from .tables import score_table

    job = OneJob(agent, experiment, output, keep_paths, overwrite)
    find_expected_luck([job.experiment], luck_bar)
    with Local(workers) as executor, playing_bar(job.experiment.num_trajectories) as show:
        is_finished = job.play(executor, show)
    if not is_finished:
        say("stopped; the same command resumes it")
        raise typer.Exit(1)
    result = read_result(output, decisions=False)
    bound = known_bound(result.settings)
    console.print(score_table(job.experiment.name, [summarise(result)], bound and bound.upper))
