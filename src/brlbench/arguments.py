"""Arguments that users write: workers, durations, `name=value`, `module:name`, extras."""

import importlib
import inspect
import math
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from .errors import InvalidInput, did_you_mean, said
from .values import COUNT, check

DURATION_UNITS = {
    **{"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "": 1.0, "s": 1.0},
    **{"m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0},
    **{"nanosecond": 1e-9, "microsecond": 1e-6, "millisecond": 1e-3, "second": 1.0, "sec": 1.0},
    **{"minute": 60.0, "hour": 3600.0, "day": 86400.0},
}
_BYTE_UNITS = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "ki": 2**10, "mi": 2**20, "gi": 2**30}
WORKERS_PER_CORE = 32  # at most; more would only fill the memory
_SHOWN_UNITS = ((3600, "h"), (60, "min"), (1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def num_workers(workers: int | None, most: int | None = None) -> int:
    """A number of workers, at most 32 per core of this machine; None means one per core."""
    if workers is None:
        return num_cores()
    if check(workers, "workers", COUNT) > (most or WORKERS_PER_CORE * num_cores()):
        here = f"{WORKERS_PER_CORE * num_cores()}, {WORKERS_PER_CORE} per core of this machine"
        raise InvalidInput(f"workers = {workers}: must be at most {most or here}")
    return int(workers)


def num_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parse_seconds(text: str, name: str = "duration") -> float:
    """Seconds from a text like 300us, 5 ms, 1.5s, 1m, 2h or 0.25."""
    match = re.fullmatch(
        r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(\D*?)\s*", text, re.IGNORECASE
    )
    unit = _unit(match[2]) if match else None
    seconds = float(match[1]) * unit if match and unit else math.inf
    if not 0 <= seconds < math.inf:
        raise InvalidInput(
            f"{name} = {text!r}: must be a duration like 300us, 5ms, 1.5s, 1m or 2h, "
            "or a number of seconds"
        )
    return seconds


def _unit(text: str) -> float | None:
    """The seconds of a unit such as ms or milliseconds; None if there is no such unit."""
    unit = text.lower()
    return DURATION_UNITS.get(unit, DURATION_UNITS.get(unit.removesuffix("s")))


def is_unit(word: str) -> bool:
    """Whether a word is a unit of time."""
    return word != "" and _unit(word) is not None


def parse_bytes(value: Any) -> int:
    """Bytes of a text like 500MB or 4 GiB; 0 for all else."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+?)b?\s*", str(value), re.IGNORECASE)
    return int(float(match[1]) * _BYTE_UNITS.get(match[2].lower(), 0.0)) if match else 0


def format_seconds(seconds: float, digits: int = 3) -> str:
    """A time in a suitable unit, with at most this many significant digits."""
    for size, unit in _SHOWN_UNITS:
        if seconds >= 0.9995 * size:  # 999.5 ms and more round to 1 s
            return f"{float(f'{seconds / size:.{digits}g}'):g} {unit}"
    return "0 s"


def parse_parameters(assignments: Iterable[str]) -> dict[str, Any]:
    """Parameters from texts like `epsilon=0.1`."""
    parameters: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise InvalidInput(f"{assignment!r} is not a parameter: must be name=value")
        parameters[name.strip().replace("-", "_")] = _parse_value(text.strip())
    return parameters


def _parse_value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text


def check_names(parameters: Iterable[str], known: Collection[str], what: str) -> None:
    """Raise if something has no parameter of one of these names."""
    for name in parameters:
        if name not in known:
            has = f"its parameters are {', '.join(known)}" if known else "it has no parameters"
            hint = did_you_mean(name, known)
            raise InvalidInput(f"{what}: unknown parameter {name!r}{hint}: {has}")


def check_accepts(make: Callable[..., Any], parameters: Mapping[str, Any], what: str) -> None:
    """Raise if a user's class or function takes no parameter of one of these names."""
    try:
        known = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):  # it is not written in Python
        return
    if not any(each.kind is each.VAR_KEYWORD for each in known):
        check_names(parameters, [each.name for each in known if each.kind in _NAMED], what)


_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_guest_folders: set[str] = set()


def add_guest_folder(folder: Path) -> None:
    """Import modules from a folder too, since a user has named a module that may be there."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
        _guest_folders.add(str(folder))


def import_folders(of_guests: bool) -> list[str]:
    """The import path's folders that `add_guest_folder` has added, or all others."""
    folders = [folder or str(Path.cwd()) for folder in sys.path]
    return [folder for folder in folders if (folder in _guest_folders) == of_guests]


def import_guest(path: str, what: str) -> Any:
    """Import `"module:name"` of a user; the module may be in the current folder."""
    add_guest_folder(Path.cwd())
    return import_named(path, what)


def import_named(path: str, what: str) -> Any:
    """Import `"module:name"`. Messages call it `what`, such as "agent"."""
    module, _, name = path.partition(":")
    try:
        found = importlib.import_module(module)
        if not hasattr(found, name) and (hint := did_you_mean(name, vars(found))):
            raise InvalidInput(f'{what} "{path}": {module} has no {name}{hint}')
        return getattr(found, name)
    except InvalidInput:
        raise
    except (Exception, SystemExit) as error:  # a user's module can raise anything
        raise InvalidInput(
            f'{what} "{path}" can\'t be imported ({said(error)}): its module must be in the '
            "current folder or the study's, or installed"
        ) from error


def require(extra: str, *modules: str) -> None:
    """Raise unless the modules of one of the package's extras can be imported."""
    for module in modules:
        require_module(module, f"'brlbench[{extra}]'")


def require_module(module: str, package: str | None = None) -> Any:
    """Import a module, or raise; `package` is what pip installs, if it has another name."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise InvalidInput(f"{module} is not installed: pip install {package or module}") from None


def counted(number: float, noun: str, form: str = "") -> str:
    """A number and its noun, in the plural unless the number is one: 1 job, 2 jobs."""
    if number != 1:
        noun = re.sub(r"(?<=[^aeo])y$", "ie", re.sub(r"is$", "e", noun)) + "s"
    return f"{number:{form}} {noun}"
