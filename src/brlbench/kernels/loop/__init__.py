"""The trajectory loop of compiled agents, with the environment, the clock and the deadline."""
