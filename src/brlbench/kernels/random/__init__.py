"""Random numbers in compiled code, and draws from the laws that agents need."""
