import resource
import subprocess
import sys
from pathlib import Path

import pytest

from brlbench import memory
from brlbench.errors import InvalidInput
from brlbench.memory import check_memory, format_bytes


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 bytes"), (999, "999 bytes"), (1000, "1 kB"), (999_600, "1 MB"),
        (3_221_225_472, "3.22 GB"), (10**18 - 1, "1e+03 PB"), (10**4000, "more than 1000 PB"),
    ],
)  # fmt: skip
def test_sizes_in_words(number: int, text: str) -> None:
    assert format_bytes(number) == text


def test_one_thing_may_take_half_of_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_machine_bytes", lambda: 2000)
    check_memory(1000, "it", "shorten it")
    message = "it would need 1 kB of memory, more than half of the 2 kB that this process may use: "
    with pytest.raises(InvalidInput, match=f"{message}shorten it"):
        check_memory(1001, "it", "shorten it")


def test_the_limit_of_the_process_counts() -> None:
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (10**9, 10**9)); "
        "from brlbench.memory import usable_bytes; print(usable_bytes())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) == 10**9
    assert memory.usable_bytes() > 10**9 or resource.getrlimit(resource.RLIMIT_AS)[0] <= 10**9


@pytest.mark.parametrize(
    ("files", "left"),
    [
        ({"memory.max": "max", "memory.current": "7"}, None),
        ({"memory.max": "90", "memory.current": "30", "memory.stat": "a 1\ninactive_file 5"}, 65),
        ({"memory.limit_in_bytes": "50", "memory.usage_in_bytes": "20"}, 30),
        ({}, None),
    ],
)  # fmt: skip
def test_what_control_groups_leave(
    tmp_path: Path, files: dict[str, str], left: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text + "\n")
    monkeypatch.setattr(memory, "_groups", lambda: iter([tmp_path]))
    free = memory.available()
    assert free is not None
    assert free == left if left is not None else free > 10**6


def test_where_the_system_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_lines", lambda path: [])
    assert memory.available() is None
