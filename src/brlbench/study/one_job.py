"""Play one trained agent in one experiment, like a study of one job that can be resumed.

Beside the output, a folder keeps the parts until the result is complete. After any interruption,
the same call resumes.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ..agents import AGENTS, make_agent
from ..errors import AgentError, ExecutorError, StoreError
from ..executors.base import Executor
from ..files import atomic_write, check_free, parse_json, read_bytes
from ..protocol import needs
from ..protocol.experiment import Experiment
from ..protocol.training import SavedAgent, check_plays, load
from ..results.sealed import reading
from ..schemas import parse_table
from ..storage import read_experiment
from ..storage.agents import unpack_agent
from ..values import Text
from .failures import read_failure
from .folder import Folder
from .plan import Job, PlannedAgent, code_of
from .run import StudyRun
from .schema import LimitsTable
from .tally import Progress

PART_SECONDS = 5.0  # of playing, which are lost if the process is killed
SUFFIX = ".unfinished"  # of the folder beside the output


class Claim(NamedTuple):
    """The content of `play.json`: which play the folder belongs to."""

    play: Text  # a digest of what is played
    wrote: Text | None = None  # the digest of the result that is, or is about to be, the output


class OneJob:
    """The play of a trained agent in an experiment, from their files to the file of the result.

    If `overwrite`, it replaces files, also those of another play that was not finished.
    """

    def __init__(
        self,
        agent: Path,
        experiment: Path,
        output: Path,
        keep_paths: bool = False,
        overwrite: bool = False,
    ) -> None:
        self._output, self._overwrite = output, overwrite
        self._folder = Folder(output.with_name(output.name + SUFFIX))
        if not os.path.exists(self._folder.path):  # unlike the method of Path, takes any name
            check_free(output, overwrite)
        self._agent = read_bytes(agent)
        saved, self.experiment = unpack_agent(self._agent, str(agent)), read_experiment(experiment)
        needs.check(self.experiment, keep_paths)
        self._job = _job(saved, self.experiment, keep_paths)
        parts = (self._job.key, self._job.agent.code, keep_paths)  # all that the result depends on
        self._claim = Claim(hashlib.sha256(self._agent + repr(parts).encode()).hexdigest())

    def play(self, executor: Executor, show: Callable[[Progress], None]) -> bool:
        """Play what is missing and write the result; False if it was stopped before."""
        self._open()
        try:
            if not self._is_written() and not self._play(executor, show):
                return False
            self._remove_folder()
        finally:
            self._folder.close()
        return True

    def _open(self) -> None:
        """Lock the folder, and see whether it was left by the same play."""
        self._folder.open()
        try:
            if self._stored().play != self._claim.play:
                if not self._overwrite:
                    raise StoreError(
                        f"{self._folder.path} holds parts of another play: remove it, choose "
                        "another output, or replace both with --overwrite"
                    )
                shutil.rmtree(self._folder.path)
                self._folder.close()
                self._folder.open()
            if not self._claim_path.exists():
                self._begin()
        except BaseException:
            self._folder.close()
            raise

    def _begin(self) -> None:
        try:
            check_free(self._output, self._overwrite)
        except StoreError:  # the last play was killed when it had removed all but the folder
            self._remove_folder()
            raise
        self._write_claim(self._claim)

    def _is_written(self) -> bool:
        """True if the output is there: the process was killed while it tidied up."""
        wrote = self._stored().wrote
        return wrote is not None and self._output.exists() and wrote == _digest(self._output)

    def _play(self, executor: Executor, show: Callable[[Progress], None]) -> bool:
        folder, job = self._folder, self._job
        check_free(self._output, self._overwrite)
        folder.set_aside_damaged()  # to be played again
        folder.failure(job).unlink(missing_ok=True)
        folder.write_agent(job, self._agent)
        if not StudyRun([job], folder, executor, PART_SECONDS, show)():
            return False
        self._check_failure()
        self._write_claim(self._claim._replace(wrote=_digest(folder.result(job))))
        check_free(self._output, self._overwrite)
        os.replace(folder.result(job), self._output)
        return True

    def _check_failure(self) -> None:
        path = self._folder.failure(self._job)
        if not path.exists():
            return
        failure = read_failure(path)
        if failure.is_interruption:
            raise ExecutorError(f"{failure.reason}: the same command resumes it")
        self._remove_folder()
        raise AgentError(failure.reason)

    def _remove_folder(self) -> None:
        """Remove the folder; its claim last, for a process that is killed meanwhile."""
        for path in self._folder.path.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
        shutil.rmtree(self._folder.path)

    @property
    def _claim_path(self) -> Path:
        return self._folder.path / "play.json"

    def _stored(self) -> Claim:
        """The claim in the folder, or else this play's claim."""
        if not self._claim_path.exists():
            return self._claim
        with reading(self._claim_path):
            return parse_table(Claim, parse_json(read_bytes(self._claim_path)))

    def _write_claim(self, claim: Claim) -> None:
        data = json.dumps(claim._asdict()).encode()
        atomic_write(self._claim_path, data, overwrite=True)


def _job(saved: SavedAgent, experiment: Experiment, keep_paths: bool) -> Job:
    check_plays(saved, experiment)
    if saved.saved is not None:  # or it would have to be retrained
        load(saved)
    agent = make_agent(saved.agent, **saved.parameters)
    code = None if saved.agent in AGENTS else code_of(agent)
    planned = PlannedAgent(saved.agent, saved.parameters, agent, LimitsTable(), code)
    return Job(planned, experiment, experiment.name, keep_paths)


def _digest(path: Path) -> str:
    return hashlib.sha256(read_bytes(path)).hexdigest()
