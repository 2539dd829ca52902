"""Disks that are full, or have no room for more files, at random moments of a study.

This is a program of its own, `python -m torture.disks`: only a process in its own name space may
make a small disk without being root.
"""

import json
import resource
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from helpers.processes import OWN_SPACE, can_mount

from .ground import Broken, Ground

_MOUNT = "mount"
_SMALLEST, _LARGEST = 16, 400  # KiB
_FEWEST_FILES, _MOST_FILES = 5, 200


def attack(ground: Ground) -> None:
    """Run a study on a disk that is too small, and resume it with ever more room."""
    seed = int(ground.rng.integers(2**31))
    command = [sys.executable, "-m", "torture.disks", str(ground.folder), str(seed)]
    if can_mount():
        command = [*OWN_SPACE, *command, _MOUNT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Broken(done.stderr.strip())
    ground.counts.update(json.loads(done.stdout))


class _Disk:
    """A small disk, or where that can't be made, a limit on the size of files."""

    def __init__(self, folder: Path, rng: np.random.Generator, is_mounted: bool) -> None:
        self.folder, self.is_mounted = folder, is_mounted
        self.kilobytes = int(rng.integers(_SMALLEST, _LARGEST))
        # Either may run out first.
        self.files = int(rng.integers(_FEWEST_FILES, _MOST_FILES))
        folder.mkdir(exist_ok=True)
        self._change("")

    def grow(self) -> None:
        self.kilobytes, self.files = 2 * self.kilobytes, 2 * self.files
        self._change("remount,")

    def _change(self, how: str) -> None:
        if self.is_mounted:
            options = f"{how}size={self.kilobytes}k,nr_inodes={self.files}"
            subprocess.run(
                ["mount", "-t", "tmpfs", "-o", options, "tmpfs", self.folder], check=True
            )

    def limit(self) -> None:
        """Called in a process before it runs a study."""
        if not self.is_mounted:
            _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (128 * self.kilobytes, most))


def _fill(ground: Ground, is_mounted: bool) -> None:
    disk = _Disk(ground.folder / "disk", ground.rng, is_mounted)
    out = disk.folder / "out"
    while ground.run("run", ground.study, "-r", out, preexec_fn=disk.limit):
        ground.check_some(out)
        if list(out.rglob("*.tmp")):
            raise Broken(f"{out} has temporary files after a run that found no space")
        ground.counts["runs that found no space"] += 1
        ground.counts["runs resumed"] += 1
        disk.grow()
    ground.check_processes()
    ground.check_all(out)
    ground.counts["small disks"] += 1


def main() -> None:
    """Attack the ground in a folder that another process has prepared."""
    folder, seed, *options = sys.argv[1:]
    ground = Ground(Path(folder), int(seed), Counter())
    try:
        _fill(ground, _MOUNT in options)
    except Broken as error:
        kept = Path(folder) / "disk-evidence"
        shutil.copytree(Path(folder) / "disk", kept, dirs_exist_ok=True)
        sys.exit(f"{error} (a copy of the disk is in {kept})")
    print(json.dumps(ground.counts))


if __name__ == "__main__":
    main()
