"""The command that bounds what any agent can reach."""

from pathlib import Path
from typing import Annotated

import typer

from .completion import problem_names
from .options import Overwrite, Seed
from .output import say
from .protocol import Discount


def bound(
    source: Annotated[
        str,
        typer.Argument(
            help="What MDPs are drawn from: a name, a file, or uniform:…",
            autocompletion=problem_names,
        ),
    ],
    seconds: Annotated[
        float | None, typer.Option(help="How long to search; 60 unless the search is limited.")
    ] = None,
    discount: Discount = 0.95,
    depth: Annotated[int | None, typer.Option(help="Look at most so many decisions ahead.")] = None,
    beliefs: Annotated[int | None, typer.Option(help="Beliefs to look at; reproducible.")] = None,
    horizon: Annotated[int | None, typer.Option(help="For negative rewards: decisions.")] = None,
    seed: Seed = 0,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A file NAME.bound.json, best beside results."),
    ] = None,
    overwrite: Overwrite = False,
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
            seed=seed,
            on_growth=show,
        )
    say(f"{source}: no agent's expected return is above {limit.upper:.4g} (one-sided 95% limit)")
    say(
        f"estimate {limit.estimate:.4g} ± {limit.standard_error:.2g} (standard error), from "
        f"{limit.beliefs:,} beliefs up to {limit.depth} decisions ahead"
    )
    say(f"an agent that knows the MDP expects {limit.clairvoyant:.4g}")
    if output is not None:
        write_bound(output, prior, discount, limit, horizon, overwrite)
        say(f"wrote {output}")
