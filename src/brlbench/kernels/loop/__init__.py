"""The trajectory loop of compiled agents: the environment, the clock and the deadline."""
