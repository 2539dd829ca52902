"""What compiled code alone can call, made callable for tests."""

from typing import Any

import numpy as np

from brlbench.kernels import choice, counts, families
from brlbench.kernels.counts import Counts
from brlbench.kernels.jit import kernel
from brlbench.kernels.loop import clock, environment
from brlbench.kernels.loop.environment import Environment
from brlbench.kernels.random import rng
from brlbench.kernels.solving import model
from brlbench.kernels.solving.model import Model
from brlbench.kernels.types import Floats, Integers, Words


def new_rng(*words: int) -> Words:
    """A generator in a given state; by default in one whose bits are well mixed."""
    mixed = (0x3C6EF372FE94F82A, 0xDAA66D2C7DDF743F, 0x78DDE6E5FD29F053, 0x1715609D7C746C68)
    return np.array(words or mixed, dtype=np.uint64)


@kernel
def draw_words(state: Words, out: Words) -> None:
    """`next_word`, many times."""
    for i in range(len(out)):
        out[i] = rng.next_word(state)


@kernel
def draw_uniform(state: Words, out: Floats) -> None:
    """`uniform`, many times."""
    for i in range(len(out)):
        out[i] = rng.uniform(state)


@kernel
def draw_below(state: Words, end: int, out: Integers) -> None:
    """`below`, many times."""
    for i in range(len(out)):
        out[i] = rng.below(state, end)


@kernel
def draw_two_below(state: Words, end: int, out: Integers) -> None:
    """`two_below`, many times."""
    for i in range(0, len(out), 2):
        out[i], out[i + 1], words = rng.two_below(rng.load(state), end)
        rng.store(state, words)


@kernel
def keyed_words(keys: Words, rows: Integers, columns: Integers, out: Words) -> None:
    """`keyed_word` of each key, row and column."""
    for i in range(len(out)):
        out[i] = rng.keyed_word(keys[i], rows[i], columns[i])


@kernel
def units(words: Words, out: Floats) -> None:
    """`unit` of each word."""
    for i in range(len(out)):
        out[i] = rng.unit(words[i])


@kernel
def draw_greedy(
    q: Floats, first: int, actions: int, scale: float, state: Words, out: Integers
) -> None:
    """`greedy`, many times."""
    for i in range(len(out)):
        out[i] = choice.greedy(q, first, actions, scale, state)


@kernel
def first_greedy(q: Floats, first: int, actions: int, scale: float) -> int:
    """`first_greedy`."""
    return choice.first_greedy(q, first, actions, scale)


@kernel
def draw_soft_max(
    q: Floats, first: int, actions: int, temperature: float, state: Words, out: Integers
) -> None:
    """`soft_max`, many times."""
    for i in range(len(out)):
        out[i] = choice.soft_max(q, first, actions, temperature, state)


@kernel
def learn_all(solved: Model, transitions: Integers) -> None:
    """`learn` each transition [n, 3]."""
    for i in range(len(transitions)):
        x, u, y = transitions[i, 0], transitions[i, 1], transitions[i, 2]
        model.learn(solved, x, u, y, 0.0)


@kernel
def learn_all_with_bonus(solved: Model, transitions: Integers, bonuses: Floats) -> None:
    """Learn each transition [n, 3] and give its pair another bonus [n], as BEB does."""
    for i in range(len(transitions)):
        x, u, y = transitions[i, 0], transitions[i, 1], transitions[i, 2]
        pair = x * solved.counts.num_actions + u
        number = model.count(solved, pair, y, 0.0)
        solved.bonus[pair] = bonuses[i]
        model.update(solved, x, u, y, number)


@kernel
def reset_model(solved: Model, initial: Model) -> None:
    """`start`."""
    model.start(solved, initial, 0)


@kernel
def count_all(kept: Counts, transitions: Integers) -> None:
    """`add` each transition [n, 3]."""
    for i in range(len(transitions)):
        pair = transitions[i, 0] * kept.num_actions + transitions[i, 1]
        counts.add(kept, pair, transitions[i, 2])


@kernel
def reset_counts(kept: Counts, initial: Counts) -> None:
    """`reset`."""
    counts.reset(kept, initial)


@kernel
def support_sizes(kept: Counts, out: Integers) -> None:
    """`support_size` of each pair."""
    for pair in range(len(out)):
        out[pair] = counts.support_size(kept, pair)


@kernel
def rewards_of(kept: Counts, pair: int, out: Floats) -> None:
    """`reward_of` each next state."""
    for y in range(len(out)):
        out[y] = counts.reward_of(kept, pair, y)


@kernel
def read_clocks(wall: Integers, cpu: Integers) -> None:
    """Read both clocks, many times."""
    for i in range(len(wall)):
        wall[i] = clock.wall_time()
        cpu[i] = clock.cpu_time()


@kernel
def draw_steps(
    env: Environment, key: np.uint64, x: int, u: int, following: Integers, rewards: Floats
) -> None:
    """`step` from one pair, many times."""
    for i in range(len(following)):
        following[i], rewards[i] = environment.step(env, key, x, u)


@kernel
def count_transitions(
    belief: Any,
    kept: Counts,
    entry_reward: Floats,
    transitions: Integers,
    rewards: Floats,
    numbers: Integers,
) -> None:
    """`count_rewarded` each transition [n, 3]; the numbers [n] of rows that changed."""
    for i in range(len(transitions)):
        pair = transitions[i, 0] * kept.num_actions + transitions[i, 1]
        numbers[i] = families.count_rewarded(
            belief, kept, entry_reward, pair, transitions[i, 2], rewards[i]
        )


@kernel
def reset_belief(belief: Any, initial: Any) -> None:
    """`reset`."""
    families.reset(belief, initial)
