"""Pure functions on arrays: scores, their intervals, and tests of significance."""
