"""Commands for the steps of an experiment, one by one, and for what agents are made of."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from ..arguments import counted
from ..errors import InvalidInput
from . import options
from .completion import formula_features, formula_operators, problem_names
from .output import errors, say, verbatim


def distribution(
    source: Annotated[
        str | None,
        Argument(
            help="A problem's name or a file; uniform:, mixed:0.25:, scaled:10: or around:20: may "
            "stand before it.",
            autocompletion=problem_names,
        ),
    ] = None,
    from_gym: Annotated[
        str | None, Option(help="Instead: the id of a tabular Gymnasium environment.")
    ] = None,
    parameters: options.Parameters = None,
    output: Annotated[
        Path | None, Option("--output", "-o", help="Write to .toml, .json, .dat or .dat.zz.")
    ] = None,
    draw: Annotated[
        Path | None, Option(help="Draw states and transitions, to .png, .pdf or .svg.")
    ] = None,
    overwrite: options.Overwrite = False,
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
    prior: options.Prior,
    test: Annotated[str, Option(help="What MDPs are drawn from.", autocompletion=problem_names)],
    output: options.Output,
    mdps: Annotated[int, Option(help="How many MDPs to draw.")] = 500,
    discount: options.Discount = 0.95,
    horizon: options.Horizon = None,
    accuracy: Annotated[
        float | None, Option(help="Instead of a horizon: how much of a return may be cut off.")
    ] = None,
    trajectories_per_mdp: Annotated[
        int, Option(help="How many trajectories to play in each MDP.")
    ] = 1,
    seed: options.Seed = 0,
    episode: options.Episode = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Draw the MDPs of an experiment and write them to a file.

    Example: [bold]brlbench experiment --prior uniform:GC --test GC -o gc.parquet[/bold]
    """
    from ..protocol.experiment import Experiment
    from ..protocol.needs import check_drawing
    from ..storage import write_experiment

    numbers = (mdps, discount, horizon, seed, accuracy, trajectories_per_mdp)
    content = Experiment(prior, test, *numbers, episode=episode)
    check_drawing(content)
    write_experiment(output, content, overwrite)
    say(f"wrote {output}: {content}")


def train(
    agent: options.AgentName,
    prior: options.Prior,
    output: options.Output,
    parameters: options.Parameters = None,
    discount: options.Discount = 0.95,
    horizon: options.Horizon = None,
    seed: options.Seed = 0,
    episode: options.Episode = None,
    overwrite: options.Overwrite = False,
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
        trained = train_new(agent, values, prior, discount, horizon, seed, show, episode)
    write_agent(output, save(trained), overwrite)
    say(f"wrote {output}: trained in {format_seconds(trained.training.seconds)}")


def play(
    agent: Annotated[Path, Argument(help="A trained agent, from brlbench train.")],
    experiment: Annotated[Path, Argument(help="An experiment, from brlbench experiment.")],
    output: options.Output,
    keep_paths: Annotated[
        bool, Option("--keep-paths", help="Keep states and actions too.")
    ] = False,
    workers: options.Workers = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Let a trained agent play an experiment and write the result to a file.

    The same command resumes a play that was stopped or killed at any moment. Until the result is
    written, OUTPUT.unfinished holds what has been played.

    Example: [bold]brlbench play beb.json gc.parquet -o result.parquet[/bold]
    """
    from ..executors.local import Local
    from ..report.loading import load
    from ..storage import read_result
    from ..study.one_job import OneJob
    from ..study.run import find_expected_luck
    from .bars import luck_bar, playing_bar
    from .tables import print_tables

    job = OneJob(agent, experiment, output, keep_paths, overwrite)
    find_expected_luck([job.experiment], luck_bar)
    with Local(workers) as executor, playing_bar(job.experiment.num_trajectories) as show:
        is_finished = job.play(executor, show)
    if not is_finished:
        say("stopped; the same command resumes it")
        raise typer.Exit(1)
    print_tables(load(read_result(output, decisions=False)))


def bound(
    source: Annotated[
        str,
        Argument(
            help="What MDPs are drawn from: a name, a file, or uniform:…",
            autocompletion=problem_names,
        ),
    ],
    seconds: Annotated[
        float | None, Option(help="How long to search; 60 unless the search is limited.")
    ] = None,
    discount: options.Discount = 0.95,
    depth: Annotated[int | None, Option(help="Look at most so many decisions ahead.")] = None,
    beliefs: Annotated[int | None, Option(help="Beliefs to look at; reproducible.")] = None,
    horizon: Annotated[
        int | None, Option(help="For negative rewards and episodes: decisions per trajectory.")
    ] = None,
    episode: options.Episode = None,
    seed: options.Seed = 0,
    output: Annotated[
        Path | None, Option("--output", "-o", help="A file NAME.bound.json, best beside results.")
    ] = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Bound the mean return that any agent can reach: an upper limit of the Bayes-optimal value.

    The longer the search, the lower the bound. Reports show a bound that is written below the
    folder of their results.

    Examples: [bold]brlbench bound GC --seconds 60[/bold],
    [bold]brlbench bound mine.toml --output results/mine.bound.json[/bold]
    """
    from ..analysis.bayes_bound import bayes_optimal_bound
    from ..analysis.bayes_bound.known import check_bound_file, write_bound
    from ..problems import distribution
    from .bars import search_bar

    prior = distribution(source)
    if output is not None:
        check_bound_file(output, prior, horizon, overwrite)
    with search_bar(seconds, beliefs, depth) as show:
        limit = bayes_optimal_bound(
            prior,
            discount,
            seconds,
            depth=depth,
            beliefs=beliefs,
            horizon=horizon,
            episode=episode,
            seed=seed,
            on_growth=show,
        )
    say(
        f"{source}: no agent that has to learn has an expected return above {limit.upper:.4g} "
        "(one-sided 95% limit)"
    )
    source_of = (
        f"{counted(limit.beliefs, 'belief', ',')} up to {counted(limit.depth, 'decision')} ahead"
        if limit.depth
        else "agents that know the MDP alone: no search is made of unknown Gaussian rewards"
    )
    say(
        f"estimate {limit.estimate:.4g} ± {limit.standard_error:.2g} (standard error), from "
        f"{source_of}"
    )
    say(f"an agent that knows the MDP expects {limit.clairvoyant:.4g}")
    if output is not None:
        write_bound(output, prior, discount, limit, horizon, overwrite, episode)
        say(f"wrote {output}")


def formulas(
    size: Annotated[
        int, Option(help="Most tokens of a formula: features, constants and operators.")
    ] = 3,
    features: Annotated[
        str,
        Option(
            help="Some of Qmean, Qself and Quniform, with commas.", autocompletion=formula_features
        ),
    ] = "Qmean,Qself,Quniform",
    operators: Annotated[
        str,
        Option(
            help="Some of abs, opposite, sqrt, ln, inverse, +, -, *, min, max, / (the default) "
            "and avg, with commas; max3 takes three values.",
            autocompletion=formula_operators,
        ),
    ] = "abs,opposite,sqrt,ln,inverse,+,-,*,min,max,/",
    constants: Annotated[str, Option(help="Numbers, with commas.")] = "",
    output: Annotated[
        Path | None, Option("--output", "-o", help="Write a JSON file for opps-ds.")
    ] = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Make all formulas of some features, operators and constants, for opps-ds to search.

    Of formulas that rank all actions alike, only the shortest is kept. Without a file to write, the
    formulas are printed.

    Examples: [bold]brlbench formulas --size 2[/bold],
    [bold]brlbench formulas --features Qmean,Qself --operators +,max --constants 1,2 --size 4
    -o mine.json[/bold],
    [bold]brlbench train opps-ds --set formulas=mine.json --prior GC -o agent.json[/bold]
    """
    from ..files import check_free
    from ..formulas import make_formulas

    if output is not None:
        check_free(output, overwrite)
    formula_set = make_formulas(size, _parts(features), _parts(operators), _numbers(constants))
    number = len(formula_set.formulas)
    summary = f"{number:,} formula{'s' * (number != 1)} of at most {size} tokens"
    if output is not None:
        formula_set.write(output, overwrite)
        say(f"wrote {output}: {summary}")
        return
    for formula in formula_set.formulas:
        say(formula)
    errors.print(verbatim(summary))


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in _parts(text)]
    except ValueError:
        raise InvalidInput(f"constants = {text!r}: must be numbers with commas, as 1,2.5") from None


def import_(
    files: Annotated[
        list[Path], Argument(help="Experiments, results and agents of the original library, BBRL.")
    ],
    prior: options.Prior,
    output: Annotated[
        Path, Option("--output", "-o", help="The file to write; a folder for several.")
    ],
    test: Annotated[
        str | None,
        Option(
            help="What MDPs were drawn from; by default the prior.", autocompletion=problem_names
        ),
    ] = None,
    mdps_only: Annotated[
        bool, Option("--mdps-only", help="Import results as experiments, to play them again.")
    ] = False,
    overwrite: options.Overwrite = False,
) -> None:
    """Import experiments and results of the original C++ library, .dat or .dat.zz.

    An experiment becomes one that brlbench play takes, with the same MDPs. A result becomes one
    that compare and report read, with the same rewards. Its agent's file must be given too: the
    only one, or the one whose name ends the result's. Files don't name distributions, so say what
    the agents were trained on, and what the MDPs were drawn from.

    Examples: [bold]brlbench import GC500-exp.dat.zz --prior GC -o gc.parquet[/bold],
    [bold]brlbench import GC500-GC-EGreedy-0.1.dat.zz GC-EGreedy-0.1.dat.zz --prior GC -o
    greedy.parquet[/bold],
    [bold]brlbench import results/Grid*.zz agents/Grid*.zz --prior Grid-distrib.dat -o
    imported[/bold]
    """
    from ..beliefs.flat import FlatDirichlet
    from ..problems import distribution
    from ..storage.original import import_files

    trained_on = distribution(prior)
    tested_on = trained_on if test is None else distribution(test)
    for each in (trained_on, tested_on):
        if not isinstance(each, FlatDirichlet):
            raise InvalidInput(f"{each.name}: the original library had flat Dirichlet priors only")
    for path, content in import_files(files, trained_on, tested_on, output, mdps_only, overwrite):
        say(f"wrote {path}: {content}")
