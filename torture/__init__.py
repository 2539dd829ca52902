"""Tries to break studies: kills, full disks, odd places and fuzzing, again and again."""
