"""The distribution files of the original C++ library, BBRL.

Ten lines of header with the description and the name, then numbers separated by white space: the
number of states, the number of actions, the start state (-1: any, with equal probabilities), the
counts (by action, then state, then next state), the type of reward (0: constant, 1: Gaussian), the
mean rewards in the same order, and 0, or 1 and the variances. The compressed form is the same text
through zlib.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...beliefs.base import Family
from ...beliefs.flat import FlatDirichlet
from ...beliefs.flat.single import SingleMDP
from ...errors import InvalidInput, StoreError, short
from ...mdps.sparse import Floats, SparseTable

_HEADER = (
    "Serializable\n0\nIMDPDistribution\n2\n{}\n{}\nMDPDistribution\n0\nDirMultiDistribution\n{}"
)
_EXPECTED = _HEADER.split("\n")
_ANY_START = -1


def parse(text: str, source: str) -> FlatDirichlet:
    """Read a distribution; `source` names the text in errors."""
    lines = text.replace("\r\n", "\n").split("\n")
    header, words = lines[: len(_EXPECTED)], " ".join(lines[len(_EXPECTED) :]).split()
    for i, expected in enumerate(_EXPECTED):
        if i >= len(header):
            raise StoreError(f"{source} is damaged: it ends in the header, after line {i}")
        if expected != "{}" and header[i].strip() != expected:
            raise StoreError(
                f"{source} is damaged: line {i + 1} is {short(header[i])}, must be {expected!r}"
            )
    description, name = header[4], header[5]
    table = parse_numbers(words, header[-1].strip(), source)
    try:
        return FlatDirichlet(
            table.weights, table.means, table.start_states(), table.variances, name, description
        )
    except InvalidInput as error:
        raise InvalidInput(f"{source}: {error}") from None


class Numbers(NamedTuple):
    """The numbers of a distribution, or of one MDP."""

    start: float  # a state, or -1
    weights: Floats  # [S, A, S]; counts, or an MDP's probabilities
    means: Floats  # [S, A, S]; of rewards
    variances: Floats | None  # [S, A, S]; None for constant rewards

    def start_states(self) -> Floats | float:
        """The probabilities of start states, or the only one."""
        if self.start == _ANY_START:
            return np.full(len(self.weights), 1 / len(self.weights))
        return int(self.start) if self.start.is_integer() else self.start


def parse_numbers(words: Sequence[str | bytes], announced: str, source: str) -> Numbers:
    """Read the numbers after a header, which announces how many there are."""
    if announced != str(len(words)):
        raise StoreError(
            f"{source} is damaged: it announces {short(announced)} numbers and has {len(words)}"
        )
    try:
        numbers = np.array(words, dtype=np.float64)
    except ValueError as error:
        raise StoreError(f"{source} is damaged: {error}") from None
    sizes = numbers[:2].tolist()
    if len(numbers) < 3 or not all(size >= 1 and size.is_integer() for size in sizes):
        raise StoreError(f"{source} is damaged: it has no numbers of states and actions")
    num_states, num_actions = (int(size) for size in sizes)
    size = num_states * num_actions * num_states
    gaussian = len(numbers) == 5 + 3 * size
    if not gaussian and len(numbers) != 5 + 2 * size:
        raise StoreError(
            f"{source} is damaged: {len(numbers)} numbers don't fit {short(num_states)} states and "
            f"{short(num_actions)} actions"
        )
    if not numbers[3 + size] == numbers[4 + 2 * size] == gaussian:
        raise StoreError(
            f"{source} is damaged: the type of reward is {numbers[3 + size]:g}, must be "
            f"{gaussian:d} for a file {'with' if gaussian else 'without'} variances"
        )
    weights, means, variances = (
        part[:size].reshape(num_actions, num_states, num_states).swapaxes(0, 1)
        for part in (numbers[3:], numbers[4 + size :], numbers[-size:])
    )
    return Numbers(numbers[2].item(), weights, means, variances if gaussian else None)


def format_text(distribution: Family) -> str:
    """Print a distribution, with as many digits as its numbers need."""
    if isinstance(distribution, SingleMDP) or not isinstance(distribution, FlatDirichlet):
        what = "a single MDP" if isinstance(distribution, SingleMDP) else "all priors"
        raise InvalidInput(
            f"the original library's format can't hold {what}: write .toml or .json instead"
        )
    for name in (distribution.name, distribution.description):
        if "\n" in name or "\r" in name:
            raise InvalidInput(f"the name {name!r} has a line break: remove it, or write .toml")
    rewards = distribution.rewards
    gaussian = len(rewards.variance.values) > 0
    parts = [
        f"{distribution.num_states}\n{distribution.num_actions}\n{_start(distribution.start)}",
        *_rows(distribution.counts),
        f"{gaussian:d}",
        *_rows(rewards.mean),
        f"{gaussian:d}",
        *(_rows(rewards.variance) if gaussian else []),
    ]
    numbers = "\n".join(parts)
    header = _HEADER.format(distribution.description, distribution.name, len(numbers.split()))
    return f"{header}\n{numbers}\n"


def start_state(start: Floats) -> int | None:
    """The only state that a start distribution [S] allows; None if there are several."""
    return int(start.argmax()) if start.max() == 1 and np.count_nonzero(start) == 1 else None


def _start(start: Floats) -> int:
    state = start_state(start)
    if state is not None:
        return state
    if (start == 1 / len(start)).all():
        return _ANY_START
    raise InvalidInput(
        "the start must be one state, or all states with equal probabilities, in the original "
        "library's format: write .toml or .json instead"
    )


def _rows(table: SparseTable) -> list[str]:
    rows = table.to_dense().swapaxes(0, 1).reshape(-1, table.num_states).tolist()
    return ["\t".join(repr(number).removesuffix(".0") for number in row) for row in rows]
