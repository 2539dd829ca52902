"""Beliefs over MDPs as states of a search: what they cost, and the graph that they form."""
