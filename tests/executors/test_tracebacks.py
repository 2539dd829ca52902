"""The place in an agent's code where a unit failed."""

import json
from pathlib import Path
from types import ModuleType

import pytest

from brlbench.errors import AgentError, InvalidInput
from brlbench.executors.tracebacks import reason_and_place, traceback_lines
from brlbench.problems import distribution

CODE = """
import json

class Unspeakable(Exception):
    def __str__(self):
        raise KeyboardInterrupt

def parse():
    return json.loads("{")

def fail():
    raise Unspeakable
"""


def own_code(folder: Path) -> ModuleType:
    path, module = folder / "own.py", ModuleType("own")
    path.write_text(CODE)
    exec(compile(CODE, str(path), "exec"), module.__dict__)
    return module


def test_the_place_is_that_in_the_agent_s_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not that in a library that it calls, nor that in this package."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AgentError) as failed:
        try:
            own_code(tmp_path).parse()
        except json.JSONDecodeError as error:
            raise AgentError("own:Agent failed at step 3") from error
    told = "own:Agent failed at step 3 (own.py, line 9, in parse)"
    assert reason_and_place(failed.value) == told
    lines = traceback_lines(failed.value)
    assert lines[0] == "Traceback (most recent call last):"
    assert any("own.py" in line and "line 9" in line for line in lines)
    assert lines[-1] == "brlbench.errors.AgentError: own:Agent failed at step 3"


def test_a_library_s_place_if_there_is_no_other() -> None:
    with pytest.raises(InvalidInput) as refused:
        distribution("no such thing")
    place = reason_and_place(refused.value.with_traceback(refused.tb.tb_next))
    assert place == str(refused.value)  # all of it is in this package
    with pytest.raises(json.JSONDecodeError) as failed:
        json.loads("{")
    place = reason_and_place(failed.value.with_traceback(failed.tb.tb_next))
    assert "decoder.py, line " in place


def test_an_error_that_can_t_be_told(tmp_path: Path) -> None:
    own = own_code(tmp_path)
    with pytest.raises(own.Unspeakable) as failed:
        own.fail()
    assert "own.py, line 12, in fail" in reason_and_place(failed.value)
    assert any("line 12" in line for line in traceback_lines(failed.value))
