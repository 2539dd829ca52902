"""Python imports this first: the clock that says what time it is jumps by years, to and fro."""

import random
import time

_jumps = random.Random()
_now, _now_ns = time.time, time.time_ns
_YEARS = 10 * 365 * 86_400

time.time = lambda: _now() + _jumps.randint(-_YEARS, _YEARS)
time.time_ns = lambda: _now_ns() + 10**9 * _jumps.randint(-_YEARS, _YEARS)
