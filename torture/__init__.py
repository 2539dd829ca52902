"""Tries to break studies, again and again: one file per kind of attack."""
