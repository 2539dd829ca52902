"""Studies: many agents in several experiments, described in one file and run in one folder."""

from .file import Study, read_study

__all__ = ["Study", "read_study"]
