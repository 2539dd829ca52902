"""A real SLURM cluster of one machine, without systemd: munged, slurmctld and slurmd by hand."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from helpers.processes import wait_for

DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch")
CORES = 4  # more than there may be: the tests sleep more than they compute

SETTINGS = """
[execution.slurm]
partition = "main"
memory = "800MB"
interface = "lo"
check_seconds = 0.5
"""
"""Settings of studies that run on the cluster."""

CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket={folder}/munge/socket
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


@contextmanager
def running_slurm() -> Iterator[Path]:
    """A cluster in a temporary folder, which is given; SLURM's commands find it meanwhile."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="slurm-")))
        folder.chmod(0o755)  # munged has a user of its own
        configuration = folder / "slurm.conf"
        configuration.write_text(
            CONFIGURATION.format(
                host=socket.gethostname().partition(".")[0],
                folder=folder,
                controller_port=_free_port(),
                node_port=_free_port(),
                cores=CORES,
            )
        )
        for name in ("state", "spool"):
            (folder / name).mkdir()
        before = os.environ.get("SLURM_CONF")
        os.environ["SLURM_CONF"] = str(configuration)
        stack.callback(_restore, before)
        _start_munged(folder / "munge", stack)
        _start(["slurmctld", "-D", "-f", str(configuration)], stack)
        _start(["slurmd", "-D", "-f", str(configuration)], stack)
        wait_for(lambda: run("sinfo", "--noheader", "--format=%T") == "idle")
        yield folder
        run("scancel", "--user=root")
        wait_for(lambda: not jobs())


def run(*command: str) -> str:
    """The output of a command; nothing if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def jobs(state: str = "pending,running,completing") -> list[str]:
    """The ids of all jobs in some states."""
    return run("squeue", "--noheader", "--format=%i", f"--states={state}").split()


def _start_munged(folder: Path, stack: ExitStack) -> None:
    folder.mkdir()
    key = folder / "key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    for path in (folder, key):
        shutil.chown(path, "munge", "munge")
    command = ["munged", "--foreground", f"--key-file={key}", f"--socket={folder}/socket"]
    command += [f"--{name}-file={folder}/{name}" for name in ("log", "pid", "seed")]
    _start(command, stack, user="munge")
    wait_for((folder / "socket").exists)


def _start(command: list[str], stack: ExitStack, user: str | None = None) -> None:
    environment = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
    program = shutil.which(command[0], path=environment["PATH"])
    assert program is not None
    process = subprocess.Popen(
        [program, *command[1:]],
        user=user,
        group=user,
        extra_groups=[] if user else None,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    stack.callback(_end, process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _restore(configuration: str | None) -> None:
    os.environ.pop("SLURM_CONF", None)
    if configuration is not None:
        os.environ["SLURM_CONF"] = configuration


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
