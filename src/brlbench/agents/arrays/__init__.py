"""Makes the arrays that compiled agents work on, from a prior."""
