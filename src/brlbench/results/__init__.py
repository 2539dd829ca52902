"""Results: what is measured (`schema`), the result of a job, its files, and summaries of it."""
