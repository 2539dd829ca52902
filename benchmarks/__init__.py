"""How fast it is: `scripts/bench`. One file per topic; `compare.py` compares two runs."""
