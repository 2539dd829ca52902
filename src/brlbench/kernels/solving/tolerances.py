"""Tolerances of solutions, relative to the largest value."""

SWITCH = 1e-12  # least advantage of a better action; with less, rounding could make policies cycle
SWEEP_TOLERANCE = 1e-9  # error of values computed by sweeps
