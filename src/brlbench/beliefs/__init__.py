"""Knowledge of an MDP: priors, and the beliefs that learn; one folder per family."""
