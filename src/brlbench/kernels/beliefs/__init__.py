"""Beliefs over MDPs as states of a search: their costs, and the graph that they form."""
