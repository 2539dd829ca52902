"""Names of the array types that compiled code works on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Singles = NDArray[np.float32]
ShortIntegers = NDArray[np.int32]
Words = NDArray[np.uint64]
Records = np.recarray[Any, Any]
