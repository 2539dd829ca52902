"""The paper's tables, reproduced: what was published, what we find, and a verdict on every row.

`scripts/reproduce` plays the studies again; `python -m reproduction` makes the pages from the
results in this folder.
"""
