"""Run a study from its file: decide where it runs, get its folder ready, and start it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..arguments import num_workers
from ..executors.base import Executor
from ..executors.dask import Dask
from ..executors.local import Local
from ..executors.slurm import Slurm
from ..progress import Bar
from ..schemas import parse_written
from .folder import Folder
from .plan import Study, read_study
from .run import StudyRun, survey
from .schema import ExecutionTable, read_toml
from .status import Status, read_status
from .stopping import Stopping


def run(
    study: str | Path,
    results: str | Path | None = None,
    *,
    workers: int | None = None,
    executor: str | None = None,
    scheduler: str | None = None,
    profile: str | Path | None = None,
    retry_failed: bool = False,
    race: bool = False,
    halving: bool = False,
    progress: bool | None = None,
) -> Status:
    """Run what is missing of a study, and return what is done and what failed.

    Results that are already in the folder are not made again: the same call resumes a run that was
    stopped or killed at any moment. Interrupting it stops cleanly.

    Args:
        study: a study file (TOML).
        results: the folder for results; by default ./STUDY-results.
        workers: how many processes to use; by default one per core.
        executor: local, dask or slurm; by default the study's.
        scheduler: the address of a Dask scheduler; a new one by default.
        profile: a TOML file with the keys of a study's execution table.
        retry_failed: whether to try jobs again that failed before.
        race: stop agents early that are surely not the best of their class.
        halving: let only the best agents of expensive algorithms play all MDPs.
        progress: show a bar with the time left; by default in notebooks and terminals.
    """
    options = {"executor": executor, "workers": workers, "scheduler": scheduler}
    profile = None if profile is None else Path(profile)
    rules = rules_of(race, halving)
    planned, execution = prepare(Path(study), options, profile, rules)
    folder_path = default_folder(planned.path) if results is None else Path(results)
    with opened(planned, folder_path, retry_failed) as (folder, _):
        if survey(folder, planned.jobs).missing:
            name = planned.table.title or planned.path.name
            with (
                make_executor(execution) as workplace,
                Bar(name, len(planned.jobs), "job", progress) as bar,
            ):
                bar.begin("getting ready")
                run = StudyRun(
                    planned.jobs,
                    folder,
                    workplace,
                    execution.part,
                    lambda now: bar.show(now.done + now.failed, now.seconds_left),
                    planned.table.rule,
                )
                run()
    return read_status(folder_path)


def rules_of(race: bool, halving: bool) -> list[str]:
    """The tables of a study that options add."""
    return [name for name, wanted in (("racing", race), ("halving", halving)) if wanted]


def default_folder(study: Path) -> Path:
    """The folder for a study's results, if none is named."""
    return Path(f"{study.stem}-results")


def prepare(
    path: Path,
    options: Mapping[str, Any],
    profile: Path | None = None,
    rules: Sequence[str] = (),
    **defaults: Any,
) -> tuple[Study, ExecutionTable]:
    """Read a study with other defaults and rules, and decide where it runs.

    Options of the caller override the profile, which overrides the study.
    """
    study = read_study(path, rules, **defaults)
    chosen = study.table.execution.model_dump(exclude_unset=True)
    source = str(study.path)
    if profile is not None:
        source = str(profile)
        chosen |= read_toml(profile)
    chosen |= {name: value for name, value in options.items() if value is not None}
    if "scheduler" in chosen:
        chosen.setdefault("executor", "dask")
    execution = parse_written(ExecutionTable, chosen, source)
    if execution.executor != "slurm" and execution.scheduler is None:
        num_workers(execution.workers)  # fail before the folder is made
    return study, execution


@contextmanager
def opened(
    study: Study, results: Path, retry_failed: bool = False
) -> Iterator[tuple[Folder, list[str]]]:
    """A study's folder, ready for a run, and messages on files that were set aside."""
    folder = Folder(results)
    folder.open()
    try:
        messages = folder.set_aside_damaged() + folder.set_aside_outdated(study)
        if retry_failed:
            for job in survey(folder, study.jobs).failed:
                folder.failure(job).unlink()
        folder.tidy(study.jobs)
        Stopping(folder, study.jobs, study.table.rule).forget_outdated()
        folder.write_plan(study)
        yield folder, messages
    finally:
        folder.close()


def make_executor(execution: ExecutionTable) -> Executor:
    """The executor that a study's execution table, or its profile, names."""
    if execution.executor == "dask":
        return Dask(execution.scheduler, execution.workers)
    if execution.executor == "slurm":
        return Slurm(execution.slurm, execution.workers)
    return Local(execution.workers)
