"""Entries for boards of results: packed by those who made an agent, checked by those who list it.

Nothing in an entry is believed. What it says is compared with the frozen sets, with what rewards
allow, with what no agent can pass, and with agents that are played again.
"""

from .examination import CHECKS, CheckedEntry, check_entry
from .packing import new_entry

__all__ = ["CHECKS", "CheckedEntry", "check_entry", "new_entry"]
