"""Studies: many agents in several experiments, described in one file and run in one folder."""
