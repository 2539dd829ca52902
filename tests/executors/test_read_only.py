"""Folders that a process, and all that it starts, can't change: as root and as another user."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.processes import can_mount, environment

pytestmark = pytest.mark.slow  # starts processes

# Tries to change `kept`, and says which attempts did not fail.
PROGRAM = """
import ctypes, os, subprocess, sys
from brlbench.executors.read_only import make_read_only

folder, user = sys.argv[1], int(sys.argv[2])
parent = os.getppid()
if user != os.getuid():
    os.setgid(user)
    os.setuid(user)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # as a process of that user would be: /proc is its own
os.chdir(folder)
make_read_only(folder)
before = os.getuid(), os.getgid()
open(os.path.join(folder, "..", f"written by {user}"), "w").close()
open(os.path.join(folder, "kept")).close()
there, bind = os.path.join(folder, "kept"), "-o remount,bind,rw"
attempts = {
    "append": lambda: open(there, "a"),
    "append by a path relative to where it was": lambda: open("kept", "a"),
    "make": lambda: open(os.path.join(folder, "new"), "x"),
    "remove": lambda: os.remove(there),
    "replace": lambda: os.replace(f"../written by {user}", there),
    "rename": lambda: os.rename(folder, folder + "2"),
    "set modes": lambda: os.chmod(there, 0o777),
    "the parent's eyes": lambda: open(f"/proc/{parent}/root{there}", "a"),
    "the parent's memory": lambda: open(f"/proc/{parent}/mem", "r+b"),
}
commands = {
    "umount": f"umount -l '{folder}'",
    "remount": f"mount {bind} '{folder}'",
    "enter the parent's space": f"nsenter -t {parent} -m -U touch '{there}'",
}
commands |= {
    f"{name} in a new space": f"unshare --user --map-root-user --mount {command}"
    for name, command in commands.items()
}
attempts |= {
    name: lambda command=command: subprocess.run(
        command, shell=True, check=True, capture_output=True
    )
    for name, command in commands.items()
}
done = []
for name, attempt in attempts.items():
    try:
        attempt()
        done.append(name)
    except (OSError, subprocess.CalledProcessError):
        pass
print(len(attempts), done, before == (user, user))
"""
ATTEMPTS = 15


def run(folder: Path, user: int) -> str:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder), str(user)],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
    ).stdout


@pytest.mark.skipif(not can_mount(), reason="this system allows no mounts")
@pytest.mark.parametrize("user", sorted({os.getuid(), 12345 if os.getuid() == 0 else os.getuid()}))
def test_nothing_in_the_folder_can_be_changed(user: int, tmp_path: Path) -> None:
    folder = tmp_path / "two words"
    folder.mkdir()
    (folder / "kept").write_text("as it was")
    if user != os.getuid():
        for path in (tmp_path, folder, folder / "kept"):
            os.chown(path, user, user)
        for above in tmp_path.parents[:3]:
            above.chmod(0o755)
    assert run(folder, user) == f"{ATTEMPTS} [] True\n"
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"kept": "as it was"}


def test_a_folder_that_is_not_there_changes_nothing(tmp_path: Path) -> None:
    program = (
        "import os, sys; from brlbench.executors.read_only import make_read_only;"
        "make_read_only(sys.argv[1]); print(os.listdir(), open('/proc/self/uid_map').read())"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "nothing")]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert said.stdout == f"[] {Path('/proc/self/uid_map').read_text()}\n"
