"""Functions that build the arrays of compiled agents from a prior."""
