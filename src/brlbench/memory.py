"""Limits on memory: a size is checked before anything of that size is made.

Users and files name sizes: states, MDPs, rows, bytes after decompression. Each becomes a number of
bytes first. One thing may take half of the memory of this process, because its copies, and what
is there already, take the rest.
"""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from .errors import InvalidInput

SHARE = 0.5  # of the usable memory, for one thing
_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")
_LIMITS = (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes"))


def check_memory(needed: int, what: str, remedy: str) -> None:
    """Raise if something would need more memory than one thing may use."""
    usable = usable_bytes()
    if needed > SHARE * usable:
        raise InvalidInput(
            f"{what} would need {format_bytes(needed)} of memory, more than half of the "
            f"{format_bytes(usable)} that this process may use: {remedy}"
        )


def usable_bytes() -> int:
    """The memory of the machine, or of the container or the process if it may use less."""
    own, _ = resource.getrlimit(resource.RLIMIT_AS)
    return _machine_bytes() if own == resource.RLIM_INFINITY else min(own, _machine_bytes())


@cache
def _machine_bytes() -> int:
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([machine, *(limit for limit, _ in _limits())])


def check_available(needed: int, what: str, remedy: str) -> None:
    """Raise if something needs more memory than is available."""
    free = available()
    if free is not None and needed > free:
        raise InvalidInput(f"{what}, and {format_bytes(free)} are available: {remedy}")


@contextmanager
def bounded() -> Iterator[None]:
    """Refuse allocations of more than is available, where the system can do that.

    Without a bound, Linux grants them, and kills the process once it uses them.
    """
    free, used = available(), process_bytes("VmData")
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if free is not None and used is not None:
        limits = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_DATA, (min([used + free, *limits]), hard))
    try:
        yield
    except MemoryError as error:
        raise InvalidInput(
            f"it needs more memory than is available ({error}): use a shorter horizon, a smaller "
            "problem or other parameters"
        ) from error
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def available() -> int | None:
    """Bytes of memory that this process can still use; None where the system does not tell."""
    free = _status("/proc/meminfo", "MemAvailable")
    left = [limit - usage for limit, usage in _limits()]
    return None if free is None else max(0, min([free, *left]))


def process_bytes(name: str, pid: int | None = None, file: str = "status") -> int | None:
    """A size of a process, by default this one, such as VmHWM, its peak; None if unknown."""
    return _status(f"/proc/{pid or 'self'}/{file}", name)


def _groups() -> Iterator[Path]:
    """The folders of the control groups that limit this process's memory."""
    for line in _lines("/proc/self/cgroup"):
        _, controllers, place = line.split(":", 2)
        root = {"": "/sys/fs/cgroup", "memory": "/sys/fs/cgroup/memory"}.get(controllers)
        if root is not None:
            group = Path(os.path.normpath(root + place))
            yield from (folder for folder in (group, *group.parents) if folder.is_relative_to(root))


def _limits() -> Iterator[tuple[int, int]]:
    """The limits of control groups, and their usage without cached files, in bytes."""
    for folder in _groups():
        for names in _LIMITS:
            try:
                limit, usage = (int((folder / name).read_text()) for name in names)
            except (OSError, ValueError):  # absent, or "max"
                continue
            numbers = dict(line.split() for line in _lines(folder / "memory.stat"))
            yield limit, usage - int(numbers.get("inactive_file", 0))
            break


def _status(path: str, name: str) -> int | None:
    """A number of kilobytes from a file of /proc, in bytes."""
    for line in _lines(path):
        if line.startswith(name + ":"):
            return 1024 * int(line.split()[1])
    return None


def _lines(path: str | Path) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def format_bytes(number: int) -> str:
    """A number of bytes in a suitable unit, rounded."""
    if number >= 10**18:  # a whole number can have thousands of digits
        return "more than 1000 PB"
    size = float(number)
    for unit in _UNITS:
        if size < 999.5 or unit == _UNITS[-1]:
            break
        size /= 1000
    return f"{size:.3g} {unit}"
