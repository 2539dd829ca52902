"""Make the arrays that compiled agents work on, from a prior."""
