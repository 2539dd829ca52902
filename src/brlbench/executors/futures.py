"""Wait for futures without missing interrupts."""

from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

POLL_SECONDS = 0.2  # a wait without a timeout can miss an interrupt


def completed(futures: Iterable[Future[Any]]) -> Iterator[Future[Any]]:
    """The futures, in the order in which they complete."""
    pending = set(futures)
    while pending:
        done, pending = wait(pending, POLL_SECONDS, FIRST_COMPLETED)
        yield from done
