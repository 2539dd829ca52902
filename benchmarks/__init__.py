"""How fast it is: `scripts/bench`. One file a topic; `compare.py` compares two runs."""
