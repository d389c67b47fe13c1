"""The array types of annotations."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Arrays = dict[str, Array]
"""Named arrays: what a saved state holds."""
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.uint8]
Labels = npt.NDArray[np.int8]
"""Labels, true or predicted: 0, 1, or -1 where not known."""
