"""Commands that read results: compare, report, compact."""

from pathlib import Path
from typing import Annotated

import typer

from .completion import answer_formats, experiment_names, feature_names, report_formats
from .options import Output, Overwrite
from .output import errors, print_notes, say

Results = Annotated[
    list[Path], typer.Argument(help="Folders or files with results, from run, play or demo.")
]
Feature = Annotated[
    str,
    typer.Option(
        help="The time: mean, median, p95, max or total of decisions, max_with_training, or "
        "module:function.",
        autocompletion=feature_names,
    ),
]
Level = Annotated[float, typer.Option(help="How sure a test must be, between 0 and 1.")]
Honest = Annotated[
    bool, typer.Option("--honest", help="Choose agents on one half of the MDPs, test on the other.")
]


def compare(
    results: Results,
    offline: Annotated[str | None, typer.Option(help="A bound on training, e.g. 1m.")] = None,
    online: Annotated[str | None, typer.Option(help="A bound on decisions, e.g. 5ms.")] = None,
    feature: Feature = "mean",
    level: Level = 0.95,
    honest: Honest = False,
    experiment: Annotated[
        str | None, typer.Option(help="Only this experiment.", autocompletion=experiment_names)
    ] = None,
    format: Annotated[
        str, typer.Option(help="table, csv or json.", autocompletion=answer_formats)
    ] = "table",
) -> None:
    """Say which agents are best within bounds on offline and online time.

    Bounds are like 300us, 5ms, 1.5s, 1m, 2h, or a number of seconds.

    Example: [bold]brlbench compare results --offline 1m --online 5ms[/bold]
    """
    from ..report.answers import Question, answer_all, notes_on
    from ..report.loading import load
    from .answers import check_format, print_answers

    check_format(format)
    question = Question.parse(offline, online, feature, level, honest)
    data = load(*results, feature=feature)
    answers = answer_all(data, question, experiment)
    print_answers(data, answers, format)
    print_notes(notes_on(data, answers))


def report(
    results: Results,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A folder; by default RESULTS/report.")
    ] = None,
    format: Annotated[
        list[str] | None,
        typer.Option(
            help="all, figures, latex, html, csv, json or parquet; repeatable.",
            autocompletion=report_formats,
        ),
    ] = None,
    feature: Feature = "mean",
    level: Level = 0.95,
    honest: Honest = False,
    overwrite: Overwrite = False,
) -> None:
    """Make figures, tables, a LaTeX report with its PDF, an interactive page and exports.

    Reports only read results; they never play anything. The PDF needs latexmk.

    Examples: [bold]brlbench report results --format html --format csv[/bold],
    [bold]brlbench report mine reproduction/results.parquet[/bold]
    """
    from ..report.answers import Question
    from ..report.build import build, default_folder, shows_learning
    from ..report.loading import load
    from .answers import print_built
    from .bars import files_bar

    question = Question.parse(None, None, feature, level, honest)
    folder, formats = output or default_folder(results[0]), format or ["all"]
    learning = shows_learning(formats)
    with files_bar(errors) as show:
        data = load(*results, feature=feature, learning=learning)
        built = build(data, folder, formats, question, overwrite, show)
    print_built(built)
    print_notes(built.notes)


def compact(results: Results, output: Output, overwrite: Overwrite = False) -> None:
    """Gather the summaries of results in one small file.

    Reports read it like the results themselves, alone or together with others.

    Examples: [bold]brlbench compact results --output small.parquet[/bold],
    [bold]brlbench report mine small.parquet[/bold]
    """
    from ..files import check_free
    from ..report.loading import load
    from ..storage.compact import write_summaries

    check_free(output, overwrite)
    experiments = load(*results).experiments
    write_summaries(output, [(each.header, each.summaries) for each in experiments], overwrite)
    say(f"wrote {output}: {sum(len(each.summaries) for each in experiments)} results")
