"""What results mean, as pure functions: scores, significance, times, the best within bounds."""
