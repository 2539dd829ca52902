"""Files of the original library, damaged: what is imported of them can be used, or is refused."""

import tempfile
import zlib
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brlbench.errors import BrlbenchError, InvalidInput, StoreError
from brlbench.problems import distribution
from brlbench.protocol.experiment import Experiment
from brlbench.report.loading import load
from brlbench.storage.original import import_files
from helpers.fuzzing import ODD_NUMBERS, ODD_TEXTS, damaged, fuzzing, outcome
from helpers.original_files import agent_text, block, drawn_run, run_text

BEB = agent_text("BEBAgent", 5, 2.5)
MIX = agent_text("EAgent", 2, 0.2, 1, "BEBAgent", block(BEB))
FORMULA = agent_text("FormulaAgent", 3, "X0", 1, "QMean", 1, 1, "QMean", block("a\n"))
SEARCH = agent_text("OPPSDSAgent", 6, 1, "FormulaAgent", block(FORMULA), 50, 660.0, 0, 0.95, 4)


@cache
def originals() -> dict[str, str]:
    return {
        "experiment": run_text(drawn_run()),
        "result": run_text(drawn_run(played=True)),
        "paths": run_text(drawn_run(played=True, saves=True)),
        **{"beb": BEB, "mix": MIX, "formula": FORMULA, "search": SEARCH},
    }


def used(content: bytes, kind: str) -> Any:
    """Import a file beside a sound result or agent, and load what was made."""
    is_agent = kind not in ("experiment", "result", "paths")
    other = originals()["result"] if is_agent else BEB
    gc = distribution("GC")
    with tempfile.TemporaryDirectory() as folder:
        path, beside, out = (Path(folder, name) for name in ("a.dat", "b.dat", "c.parquet"))
        path.write_bytes(content)
        beside.write_text(other)
        made = outcome(lambda: import_files([path, beside], gc, gc, out))
        if isinstance(made, BrlbenchError):
            assert isinstance(made, StoreError | InvalidInput)
            return made
        for target, each in made:
            if isinstance(each, Experiment):
                each.mdp(0).solve(each.discount)
            else:
                outcome(partial(load, target, learning=True))
        return made


@pytest.mark.parametrize("kind", originals())
@fuzzing(15)
@given(data=st.data())
def test_damaged_bytes(kind: str, data: st.DataObject) -> None:
    text = originals()[kind].encode()
    content = data.draw(damaged(zlib.compress(text) if data.draw(st.booleans()) else text))
    used(content, kind)


@pytest.mark.parametrize("kind", originals())
@fuzzing(25)
@given(data=st.data())
def test_other_lines(kind: str, data: st.DataObject) -> None:
    lines = originals()[kind].split("\n")
    odd = st.sampled_from([str(number) for number in ODD_NUMBERS if number != 10**400])
    for _ in range(data.draw(st.integers(1, 3))):
        # Most lines of a run are numbers of MDPs; the others are at its start and at its end.
        at = data.draw(st.integers(-40, 60)) % len(lines)
        way = data.draw(st.sampled_from(["odd", "text", "remove", "repeat"]))
        if way == "remove":
            del lines[at]
        elif way == "repeat":
            lines.insert(at, lines[at])
        else:
            lines[at] = data.draw(odd if way == "odd" else st.sampled_from(ODD_TEXTS))
        if not lines:
            break
    used("\n".join(lines).encode(errors="replace"), kind)


@fuzzing(20)
@given(content=st.binary(max_size=200))
def test_random_bytes(content: bytes) -> None:
    assert isinstance(used(content, "result"), BrlbenchError)
