"""The protocol: draw experiments, train agents, let them play, and make results."""
