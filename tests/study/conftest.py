"""Fixtures of the tests of studies."""

import pytest

from helpers.inline import in_this_process


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Studies on this machine run in the test's process, unless it starts another."""
    in_this_process(monkeypatch)
