"""What tests share: reference solutions, made studies and results, agents, processes."""
