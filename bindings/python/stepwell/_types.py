# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""The types of arguments and results, for type checkers only: importing numpy.typing takes time."""
from __future__ import annotations

from typing import Union

import numpy as np
import numpy.typing as npt

#: What as_float64() accepts.
ArrayLike = npt.ArrayLike
Float64Array = npt.NDArray[np.float64]
#: float32 if a is float32, float64 otherwise.
FloatArray = Union[npt.NDArray[np.float64], npt.NDArray[np.float32]]
Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
