"""The frozen sets beyond the paper's, and the results of the built-in agents on them."""
