"""Entries for boards of results: packed by those who made an agent, checked by those who list it.

Nothing in an entry is believed. Its claims are compared with the frozen sets, with the limits of
returns, with the bound of agents that have to learn, and with agents that are played again.
"""

from .examination import CHECKS, CheckedEntry, check_entry
from .packing import new_entry

__all__ = ["CHECKS", "CheckedEntry", "check_entry", "new_entry"]
