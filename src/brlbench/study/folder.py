"""The folder of a study: one process writes it, and every file is complete or absent.

study.toml      the study as it was last run
plan.json       its jobs, for `status`
now.json        running jobs
experiments/    the MDPs of every experiment
agents/         trained agents, by what their training depends on
parts/          parts of results that are not complete yet
results/        results; NAME.RULE.parquet has fewer MDPs, NAME.halving.json says why it has none
decisions/      decisions of races and of halving
failures/       why a job has no result
"""

import fcntl
import json
import os
import re
import shutil
import socket
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from ..arguments import num_cores
from ..errors import StoreError
from ..files import atomic_write, read_bytes, read_stored, remove_leftovers
from ..protocol.playing import Part
from ..results.files import pack_result, read_part, read_result
from ..results.result import Result, Stopped, join
from ..results.sealed import is_intact
from ..results.summary import HALVED
from ..storage import write_experiment
from .failures import Failure, is_failure, read_failure
from .plan import Job, Study
from .tally import Progress, Tally


class Folder:
    """The folder of a study: paths, reading and writing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: IO[str] | None = None

    def open(self) -> None:
        """Prepare the folder, and lock other runs out."""
        try:
            for name in ("experiments", "agents", "parts", "results", "failures"):
                (self.path / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{self.path} can't be used as a folder: {error.strerror}") from None
        self._lock = _locked(self.path / ".lock")
        own = ("experiments", "agents", "decisions", "failures", "parts/*", "results/*")
        for place in (self.path, *(folder for name in own for folder in self.path.glob(name))):
            if place.is_dir():
                remove_leftovers(place)  # of a run that was killed while writing

    def close(self) -> None:
        """Release the folder."""
        with suppress(OSError):
            (self.path / "now.json").unlink()
        if self._lock is not None:
            self._lock.close()

    # Paths.

    def result(self, job: Job) -> Path:
        """The result of a job."""
        name = f"{_slug(job.agent.algorithm)}-{_versioned(job)}.parquet"
        return self.path / "results" / _slug(job.experiment.name) / name

    def stopped(self, job: Job, rule: str) -> Path:
        """The result of a job that a rule has stopped early; its parts stay."""
        path = self.result(job)
        return path.with_name(f"{path.stem}.{rule}.parquet")

    def left_out(self, job: Job) -> Path:
        """The file that says why a job was stopped before it played."""
        return self.stopped(job, HALVED).with_suffix(".json")

    def _stopped(self, job: Job) -> list[Path]:
        left_out = [self.left_out(job)] if HALVED in job.rules else []
        return [*(self.stopped(job, rule) for rule in job.rules), *left_out]

    def decisions(self, job: Job) -> Path:
        """The file with the decisions of a race or of halving in a job's experiment."""
        name = f"{_slug(job.experiment_name)}-{job.experiment.hash[:16]}.json"
        return self.path / "decisions" / name

    def agent(self, job: Job) -> Path:
        """The trained agent of a job."""
        return self.path / "agents" / f"{_slug(job.agent.algorithm)}-{job.training_key}.json"

    def failure(self, job: Job) -> Path:
        """The file that says why a job failed."""
        return self.path / "failures" / f"{_slug(job.agent.algorithm)}-{_versioned(job)}.json"

    def _parts(self, job: Job) -> Path:
        # Parts with and without states and actions don't make one result.
        return self.path / "parts" / (_versioned(job) + ("-paths" if job.keep_paths else ""))

    def _part_files(self, job: Job) -> list[Path]:
        return sorted(self._parts(job).glob("*.parquet"), key=part_of)

    # Reading.

    def set_aside_damaged(self) -> list[str]:
        """Rename damaged files; return messages."""
        tables = [self.path / name for name in ("results", "parts", "experiments")]
        paths = [path for folder in tables for path in folder.rglob("*.parquet")]
        paths += (self.path / "agents").rglob("*.json")
        with ThreadPoolExecutor(num_cores()) as threads:
            intact = list(threads.map(lambda path: is_intact(read_stored(path)), paths))
        damaged = sorted(path for path, is_whole in zip(paths, intact, strict=True) if not is_whole)
        damaged += [
            path for path in (self.path / "failures").glob("*.json") if not is_failure(path)
        ]
        return [_set_aside(path, "damaged", "is damaged") for path in damaged]

    def set_aside_outdated(self, study: Study) -> list[str]:
        """Rename results and failures of other versions of users' agents; return messages."""
        current = {
            path
            for job in study.jobs
            if job.agent.code is not None
            for path in (self.failure(job), self.result(job), *self._stopped(job))
        }
        keys = {_without_version(path) for path in current}
        return [
            _set_aside(path, "outdated", "is from another version of the agent's code")
            for folder in {path.parent for path in current}
            for path in sorted(folder.glob("*-*"))
            if _without_version(path) in keys and path not in current
        ]

    def tidy(self, jobs: Iterable[Job]) -> None:
        """Remove what a run that was killed after writing a result has left of complete jobs."""
        for job in jobs:
            if self.result(job).exists():
                for stopped in self._stopped(job):
                    stopped.unlink(missing_ok=True)
                self.drop_parts(job)

    def results(self, job: Job) -> list[Path]:
        """The result of a job, also if it was stopped by a rule that it still has."""
        paths = (self.result(job), *self._stopped(job))
        return [path for path in paths if path.suffix != ".json" and path.exists()][:1]

    def is_done(self, job: Job) -> bool:
        """Whether nothing of a job is left to play."""
        return any(path.exists() for path in (self.result(job), *self._stopped(job)))

    def so_far(self, job: Job) -> Result | None:
        """The result of the MDPs that a job has played; None if there are none."""
        if self.result(job).exists():
            return read_result(self.result(job), decisions=False)
        parts = self.leading_parts(job)
        if sum(len(part.columns["mdp"]) for part in parts) < job.experiment.trajectories_per_mdp:
            return None
        return join(parts, Stopped("look", "not finished"))

    def gaps(self, job: Job, end: int | None = None) -> list[Part]:
        """The trajectories of a job without a file, up to an end."""
        at, gaps = 0, []
        total = job.experiment.num_trajectories if end is None else end
        for first, after in map(part_of, self._part_files(job)):
            if at < min(first, total):
                gaps.append(Part(at, min(first, total)))
            at = max(at, after)
        return [*gaps, Part(at, total)] if at < total else gaps

    def leading_parts(self, job: Job) -> list[Result]:
        """The parts of a job from its first trajectory up to the first gap."""
        at, parts = 0, []
        for path in self._part_files(job):
            part = part_of(path)
            if part.first == at:
                parts.append(read_part(path))
                at = part.end
        return parts

    def tally(self, job: Job) -> Tally:
        """The score and the seconds of a job's parts on file."""
        tally = Tally(job.experiment)
        for path in self._part_files(job):
            part = read_part(path)
            tally.add(part_of(path), part.columns["return"], part.measured["playing_seconds"])
        return tally

    # Writing.

    def write_plan(self, study: Study) -> None:
        """Write down a study, its experiments and its jobs."""
        changes = "".join(f"# run with {key} = {value}\n" for key, value in study.changes.items())
        self._write("study.toml", changes.encode() + read_bytes(study.path))
        for name, experiment in study.experiments.items():
            path = self.path / "experiments" / f"{_slug(name)}-{experiment.hash[:16]}.parquet"
            if not path.exists():
                write_experiment(path, experiment)
        content = {
            "title": study.table.title,
            "jobs": [
                {
                    "agent": job.label,
                    "experiment": job.experiment_name,
                    "trajectories": job.experiment.num_trajectories,
                    "result": str(self.result(job).relative_to(self.path)),
                    "failure": str(self.failure(job).relative_to(self.path)),
                    "parts": str(self._parts(job).relative_to(self.path)),
                    "stopped": [str(each.relative_to(self.path)) for each in self._stopped(job)],
                }
                for job in study.jobs
            ],
            "skipped": study.skipped,
        }
        self._write("plan.json", json.dumps(content, indent=1).encode())

    def write_now(self, progress: Progress) -> None:
        """Write down the progress of the run; losing this file loses nothing."""
        self._write("now.json", json.dumps(progress._asdict()).encode())

    def write_agent(self, job: Job, data: bytes) -> None:
        """Write a trained agent."""
        atomic_write(self.agent(job), data, overwrite=True)

    def write_part(self, job: Job, part: Part, data: bytes) -> None:
        """Write a part of a result."""
        self._parts(job).mkdir(exist_ok=True)
        atomic_write(self._parts(job) / f"{part.first:06d}-{part.end:06d}.parquet", data)

    def write_result(self, job: Job, data: bytes) -> None:
        """Write a complete result and remove its parts."""
        path = self.result(job)
        path.parent.mkdir(exist_ok=True)
        atomic_write(path, data)
        self.forget_stopped(job)
        self.drop_parts(job)

    def write_decisions(self, job: Job, content: dict[str, Any]) -> None:
        """Write down the decisions of a race or of halving in a job's experiment."""
        self.decisions(job).parent.mkdir(exist_ok=True)
        atomic_write(self.decisions(job), json.dumps(content).encode(), overwrite=True)

    def forget_stopped(self, job: Job) -> None:
        """Remove results of a job that was stopped early."""
        path = self.result(job)
        self.left_out(job).unlink(missing_ok=True)
        for stopped in path.parent.glob(f"{path.stem}.*.parquet"):
            stopped.unlink()

    def join_parts(self, job: Job, stopped: Stopped | None = None) -> None:
        """Join the parts of a job to its result: all, or those it has if it is stopped."""
        parts = self.leading_parts(job)
        if stopped is not None and not parts:
            self.left_out(job).parent.mkdir(exist_ok=True)
            atomic_write(self.left_out(job), json.dumps(stopped).encode(), overwrite=True)
            return
        result = join(parts, stopped)
        data = pack_result(result, result.states is not None)
        if stopped is None:
            self.write_result(job, data)
        else:
            path = self.stopped(job, stopped.rule)
            path.parent.mkdir(exist_ok=True)
            atomic_write(path, data, overwrite=True)

    def drop_parts(self, job: Job) -> None:
        """Remove the parts of a job."""
        shutil.rmtree(self._parts(job), ignore_errors=True)

    def write_failure(
        self,
        job: Job,
        reason: str,
        is_interruption: bool = False,
        traceback: Sequence[str] = (),
    ) -> None:
        """Write down why a job failed or was interrupted."""
        names, limits = (job.label, job.experiment_name), str(job.agent.limits)
        failure = Failure(*names, reason, limits, is_interruption, traceback)
        content = json.dumps(asdict(failure), indent=1).encode()
        atomic_write(self.failure(job), content, overwrite=True)

    def has_failed(self, job: Job) -> bool:
        """True if a job failed under its current limits."""
        path = self.failure(job)
        if not path.exists():
            return False
        failure = read_failure(path)
        return not failure.is_interruption and failure.limits == str(job.agent.limits)

    def _write(self, name: str, data: bytes) -> None:
        atomic_write(self.path / name, data, overwrite=True)


def _set_aside(path: Path, suffix: str, reason: str) -> str:
    """Rename a file, so that the run replaces it; return the message."""
    aside = path.rename(f"{path}.{suffix}")
    return f"{path} {reason}: set aside as {aside.name}"


def _locked(path: Path) -> IO[str]:
    """Hold a lock that ends with the process, however it ends."""
    try:
        file = path.open("a+")
    except OSError as error:
        raise StoreError(f"{path} can't be written: {error.strerror}") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.seek(0)
        owner = file.read().strip() or "another process"
        file.close()
        raise StoreError(
            f"{path.parent} is in use by {owner}: wait until it ends, or choose another folder"
        ) from None
    file.truncate(0)
    file.write(f"process {os.getpid()} on {socket.gethostname()}")
    file.flush()
    return file


def owner_of(folder: Path) -> str | None:
    """The process that runs a study in a folder; None if there is none."""
    try:
        with (folder / ".lock").open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return file.read().strip()
    except OSError:
        pass
    return None


def part_of(path: Path) -> Part:
    """The part that a file holds, from the file's name."""
    match = re.fullmatch(r"(\d{1,18})-(\d{1,18})", path.stem, re.ASCII)
    if not match:
        raise StoreError(
            f"{path.parent} has {path.name!r}, which is no part of a result: remove it"
        )
    return Part(int(match[1]), int(match[2]))


def _versioned(job: Job) -> str:
    """The key of a job, followed by the digest of the code of a user's own agent."""
    return job.key if job.agent.code is None else f"{job.key}-{job.agent.code}"


def _without_version(path: Path) -> tuple[Path, str, str]:
    """Key that the files of all versions of a user's agent share, for one job."""
    return path.parent, path.stem.rpartition("-")[0], path.suffix


def _slug(text: str) -> str:
    """A text as a part of a file's name."""
    short = re.sub(r"[^\w.+-]+", "_", text).encode()[:80].decode(errors="ignore")
    return short.strip("_.") or "unnamed"
