"""One finite MDP, distributions over MDPs, and their exact solutions."""
