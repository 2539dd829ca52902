"""Random numbers in compiled code, and the distributions that agents draw from."""
