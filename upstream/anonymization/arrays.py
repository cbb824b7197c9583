"""Types of arrays that anonymization computes with."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.integer[Any]]
"""Whole numbers of any width that stand for values."""
Ints = NDArray[Any]
"""Whole numbers or truth values, as numpy returns them."""
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Text = str | None
"""A published value; None is a missing one."""
