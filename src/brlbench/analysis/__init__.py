"""Statistics, as pure functions: scores, significance, the best within bounds, aggregates."""
