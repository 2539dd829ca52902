"""Compiled code only: everything here works on plain arrays and NamedTuples of arrays.

Nothing in this folder imports from the rest of the package, so that a digest of these files alone
says whether compiled code kept on disk is still the right one (see `jit`).

Notation: x state, u action, y next state, pair = x * num_actions + u; S states, A actions, P pairs.
"""
