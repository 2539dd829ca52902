"""Waiting for work so that an interrupt is noticed."""

from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

LOOK_SECONDS = 0.2  # some libraries let a wait without an end go on after an interrupt


def completed(futures: Iterable[Future[Any]]) -> Iterator[Future[Any]]:
    """Futures, as they are done."""
    pending = set(futures)
    while pending:
        done, pending = wait(pending, LOOK_SECONDS, FIRST_COMPLETED)
        yield from done
