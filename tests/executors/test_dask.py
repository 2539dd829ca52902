import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import as_completed, wait
from pathlib import Path
from urllib.parse import urlsplit

import psutil  # type: ignore[import-untyped]
import pytest

from brlbench.errors import ExecutorError, InvalidInput
from brlbench.executors import dask
from brlbench.executors.base import Call, Died, Done, Failed, Limits
from brlbench.executors.dask import Dask
from helpers.processes import (
    PATIENCE,
    Gate,
    address_of,
    descendants_of,
    environment,
    wait_for,
    wait_for_the_end_of,
)

pytestmark = pytest.mark.dask


@pytest.fixture
def executor(dask_executor: Dask) -> Dask:
    return dask_executor


def worker_pids(executor: Dask) -> list[int]:
    pids = executor.client.run(os.getpid)
    return list(pids.values())


def test_dask_workers_perform_all_units(executor: Dask) -> None:
    futures = {executor.submit(Call("helpers.work:square", number)): number for number in range(50)}
    for future in as_completed(futures):
        assert future.result() == Done(futures[future] ** 2)
    assert executor.num_workers == 2


def test_a_cluster_of_this_machine_listens_to_nobody_else(executor: Dask) -> None:
    info = executor.client.scheduler_info()
    workers = info["workers"]
    assert len(workers) == 2
    addresses = [info["address"], *workers, *(each["nanny"] for each in workers.values())]
    assert {urlsplit(address).hostname for address in addresses} == {"127.0.0.1"}
    listening = [
        connection.laddr.ip
        for pid in worker_pids(executor)
        for connection in psutil.Process(pid).net_connections()
        if connection.status == psutil.CONN_LISTEN
    ]
    assert {*listening} == {"127.0.0.1"}


def test_failures_and_limits_on_dask_are_as_elsewhere(executor: Dask) -> None:
    units = {
        executor.submit(Call("helpers.work:hang", None, Limits(seconds=0.3))): Failed(
            "took more than 0.3 s"
        ),
        executor.submit(Call("helpers.work:end_process", 7)): Failed(
            "its process ended with exit code 7"
        ),
        executor.submit(Call("helpers.work:end_by_signal", "SIGTERM")): Died(
            "its process was ended by SIGTERM, from outside"
        ),
    }
    for future, expected in units.items():
        assert future.result() == expected
    raised = executor.submit(Call("helpers.work:reject", "x")).result()
    assert isinstance(raised, Failed)
    assert raised.reason.startswith("x: must be something else (")
    assert raised.traceback[-1].endswith("InvalidInput: x: must be something else")
    unsendable = executor.submit(Call("helpers.work:square", {0})).result()
    assert isinstance(unsendable, Failed)
    assert unsendable.reason.startswith("its argument can't be sent to a process: ")


def test_dask_forgets_results_that_have_arrived(executor: Dask) -> None:
    futures = [executor.submit(Call("helpers.work:large", 1_000_000)) for _ in range(20)]
    wait(futures)
    client = executor.client
    wait_for(lambda: not client.futures)
    wait_for(lambda: not client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)))


def test_a_dask_worker_killed_half_way_does_not_change_results(
    executor: Dask, tmp_path: Path
) -> None:
    pids, gate = worker_pids(executor), Gate(tmp_path)
    units = [(str(tmp_path), number) for number in range(10)]
    futures = [executor.submit(Call("helpers.work:gated_square", unit)) for unit in units]
    gate.wait_for_units(2)
    os.kill(pids[0], signal.SIGKILL)
    gate.open()
    assert [future.result() for future in futures] == [Done(n**2) for n in range(10)]
    wait_for(lambda: len(set(worker_pids(executor)) - {pids[0]}) == 2)


def test_an_interrupt_is_not_for_the_workers(executor: Dask, tmp_path: Path) -> None:
    pids, gate = worker_pids(executor), Gate(tmp_path)
    units = [(str(tmp_path), number) for number in range(4)]
    futures = [executor.submit(Call("helpers.work:gated_square", unit)) for unit in units]
    gate.wait_for_units(2)
    for pid in pids:
        os.kill(pid, signal.SIGINT)
    gate.open()
    assert [future.result() for future in futures] == [Done(n**2) for n in range(4)]
    assert worker_pids(executor) == pids


def test_an_interrupt_waits_until_a_cluster_has_started() -> None:
    steps = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored
    try:
        with pytest.raises(KeyboardInterrupt), dask.uninterrupted():
            signal.raise_signal(signal.SIGINT)
            steps.append("started")
    finally:
        signal.signal(signal.SIGINT, before)
    assert steps == ["started"]


@pytest.mark.slow
def test_dask_workers_that_are_ended_are_no_failure(executor: Dask) -> None:
    bad = executor.submit(Call("helpers.work:end_worker", None))
    assert bad.result(PATIENCE) == Died("its Dask worker was ended 4 times")
    assert executor.submit(Call("helpers.work:square", 3)).result() == Done(9)


@pytest.mark.slow
def test_stopping_ends_units_on_dask_early_and_killing_at_once(
    executor: Dask, tmp_path: Path
) -> None:
    stopping, hanging, interrupting = (tmp_path / name for name in "abc")
    address = address_of(executor)
    with Dask(address) as stopped, Dask(address) as other:
        futures = [
            stopped.submit(Call("helpers.work:report_until_stopped", str(stopping)))
            for _ in range(5)
        ]
        wait_for(stopping.exists)
        stopped.stop()
        assert not any(future.cancel() for future in futures)
        outcomes = [future.result(PATIENCE) for future in futures]
        assert all(isinstance(outcome, Done | Died) for outcome in outcomes)
        assert sum(isinstance(outcome, Died) for outcome in outcomes) >= 2
        assert isinstance(stopped.submit(Call("helpers.work:square", 3)).result(), Died)

        futures = [other.submit(Call("helpers.work:hang_at", str(hanging))) for _ in range(3)]
        wait_for(hanging.exists)
        other.kill()
        assert all(isinstance(future.result(PATIENCE), Died) for future in futures)
    # Other runs on the same cluster go on, and an exception leaves no unit running.
    wait_for(lambda: len(worker_pids(executor)) == 2)
    with pytest.raises(KeyboardInterrupt), Dask(address) as interrupted:
        assert interrupted.num_workers == 2
        interrupted.submit(Call("helpers.work:hang_at", str(interrupting)))
        wait_for(interrupting.exists)
        raise KeyboardInterrupt
    assert executor.submit(Call("helpers.work:square", 3)).result(PATIENCE) == Done(9)


@pytest.mark.slow
def test_own_modules_are_found_on_dask_workers(
    executor: Dask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_units.py").write_text("def double(number, notify): return 2 * number\n")
    monkeypatch.syspath_prepend(tmp_path)
    with Dask(address_of(executor)) as own:
        assert own.submit(Call("my_units:double", 4)).result() == Done(8)


# The following need clusters that end.


@pytest.mark.slow
def test_a_worker_that_dask_has_given_up_is_replaced() -> None:
    from dask import config

    given_up_at_once = {"distributed.deploy.lost-worker-timeout": "1ms"}
    with config.set(given_up_at_once), Dask(workers=1) as executor:
        (pid,) = worker_pids(executor)
        os.kill(pid, signal.SIGKILL)
        wait_for_the_end_of([pid])
        assert executor.submit(Call("helpers.work:square", 3)).result(PATIENCE) == Done(9)


@pytest.mark.slow
def test_units_raise_when_the_scheduler_goes() -> None:
    cluster = dask.local_cluster(0)  # without workers, so the unit waits
    with Dask(cluster.scheduler_address) as executor:
        future = executor.submit(Call("helpers.work:square", 3))
        executor.client._timeout = 0.1  # seconds for which it looks for its scheduler
        cluster.close()
        with pytest.raises(ExecutorError, match=r"^the Dask scheduler is gone: "):
            future.result(PATIENCE)


MAIN = """
import sys
from brlbench.executors.base import Call
from brlbench.executors.dask import Dask
if __name__ == "__main__":
    with Dask(workers=2) as executor:
        for number in range(4):
            executor.submit(Call("helpers.work:hang_at", f"{sys.argv[1]}/{number}"))
"""


@pytest.mark.slow
def test_nothing_outlives_a_main_process_that_is_killed(tmp_path: Path) -> None:
    script, units = tmp_path / "main.py", tmp_path / "units"
    script.write_text(MAIN)
    units.mkdir()
    command = [sys.executable, str(script), str(units)]
    with subprocess.Popen(command, env=environment()) as main:
        wait_for(lambda: len(list(units.iterdir())) == 2)
        started = descendants_of(main.pid)
        assert len(started) >= 4
        main.kill()
    wait_for_the_end_of(started)


# What users see when it can't be used.


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask, "_CONNECT_SECONDS", 0.5)
    expected = r"^scheduler = 'tcp://127.0.0.1:1': no Dask scheduler could be reached there within"
    with pytest.raises(InvalidInput, match=expected), Dask("tcp://127.0.0.1:1"):
        pass


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    expected = r"^distributed is not installed: pip install 'brlbench\[cluster\]'$"
    with pytest.raises(InvalidInput, match=expected):
        Dask()


def test_clusters_are_imported_only_when_they_are_used() -> None:
    code = "import sys, brlbench.executors; assert not {'dask', 'distributed'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


ENCRYPTED = """
from distributed import Client
from brlbench.executors.base import Call
from brlbench.executors.dask import Dask
from brlbench.executors.slurm import _cluster
from brlbench.executors.slurm_options import SlurmOptions

if __name__ == "__main__":
    with Dask(workers=1) as executor:
        address = executor.client.scheduler.address
        print(executor.submit(Call("helpers.work:square", 4)).result().value)
    with _cluster(SlurmOptions(partition="main", memory="1GB", interface="lo")) as cluster:
        print(address[:6], cluster.scheduler_address[:6], "--tls-key" in cluster.job_script())
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes the certificate")
def test_clusters_are_encrypted_as_dask_is_configured(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=me -keyout".split()
    subprocess.run([*command, key, "-out", certificate], check=True, capture_output=True)
    settings = {"REQUIRE_ENCRYPTION": "true", "TLS__CA_FILE": str(certificate)}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        settings |= {f"TLS__{role}__CERT": str(certificate), f"TLS__{role}__KEY": str(key)}
    variables = {f"DASK_DISTRIBUTED__COMM__{name}": value for name, value in settings.items()}
    (tmp_path / "program.py").write_text(ENCRYPTED)
    done = subprocess.run(
        [sys.executable, tmp_path / "program.py"],
        env=environment(**variables),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "16\ntls:// tls:// True\n", done.stderr
