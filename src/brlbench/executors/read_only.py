"""Makes a folder read-only for this process and all that it starts, where the system allows it.

On Linux the process gets a mount name space, in which the folder is mounted read-only. That takes
a user name space, which needs no rights, and holds for root too: a second one takes away the right
to undo it. Users and groups stay what they are.
"""

import ctypes
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

# From Linux's sched.h, mount.h and fcntl.h.
_NEW_MOUNTS, _NEW_USERS = 0x20000, 0x10000000
_BIND_ALL = 0x1000 | 0x4000
_MOUNT_SETATTR, _ALL_BELOW, _HERE, _READ_ONLY = 442, 0x8000, -100, 1


def can_make_read_only(folder: Path) -> bool:
    """Whether the system lets processes make a folder read-only: one of them tries."""
    code = "import sys; from brlbench.executors.read_only import make_read_only; "
    code += f"sys.exit(not make_read_only({str(folder.absolute())!r}))"
    return subprocess.run([sys.executable, "-P", "-c", code], check=False).returncode == 0


def make_read_only(folder: str) -> bool:
    """Make a folder read-only; returns False where the system can't, or has no such folder.

    The process must not have started threads.
    """
    if sys.platform != "linux":
        return False
    if not (attempt := os.fork()):  # half of it could not be undone
        with suppress(BaseException):
            _make_read_only(folder)
            os._exit(0)
        os._exit(1)
    if os.waitpid(attempt, 0)[1] == 0:
        with suppress(OSError):
            _make_read_only(folder)
            return True
    return False


def _make_read_only(folder: str) -> None:
    place = os.fsencode(folder)
    attributes = (ctypes.c_uint64 * 4)(_READ_ONLY)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    _unshare(_NEW_USERS | _NEW_MOUNTS)
    _call("mount", place, place, None, ctypes.c_ulong(_BIND_ALL), None)
    _call("syscall", _MOUNT_SETATTR, _HERE, place, _ALL_BELOW, attributes, size)
    _unshare(_NEW_USERS)
    with suppress(OSError):
        os.chdir(os.getcwd())  # or a path relative to the folder would pass by the mount


def _unshare(kinds: int) -> None:
    """Enter new name spaces with the same users and groups."""
    process, (waiting, entered) = os.getpid(), os.pipe()
    if not (mapper := os.fork()):  # only from outside can root map all users
        with suppress(BaseException):
            os.close(entered)
            if os.read(waiting, 1):
                _map(process, "uid_map", os.geteuid())
                _map(process, "gid_map", os.getegid())
                os._exit(0)
        os._exit(1)
    try:
        _call("unshare", kinds)
        os.write(entered, b"x")
    finally:
        os.close(entered)
        os.close(waiting)
        failed = os.waitpid(mapper, 0)[1]
    if failed:
        raise OSError("users can't be mapped")


def _map(process: int, name: str, own: int) -> None:
    """Map all users or groups that there are to themselves, or if that is forbidden, the own."""
    folder = Path(f"/proc/{process}")
    ranges = [line.split() for line in Path("/proc/self", name).read_text().splitlines()]
    try:
        (folder / name).write_text("".join(f"{first} {first} {n}\n" for first, _, n in ranges))
    except PermissionError:
        (folder / "setgroups").write_text("deny")
        (folder / name).write_text(f"{own} {own} 1\n")


def _call(name: str, *arguments: object) -> None:
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments):
        raise OSError(ctypes.get_errno(), f"{name} failed")
