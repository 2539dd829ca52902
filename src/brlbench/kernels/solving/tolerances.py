"""How exactly MDPs are solved, as parts of the largest value."""

SWITCH = 1e-12  # an action must be better by this, or rounding could make policies cycle
SWEEP_TOLERANCE = 1e-9  # of values that are found by sweeps
