"""Types of arrays, each under one name for the whole project."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Whole: TypeAlias = npt.NDArray[np.integer[Any]]  # whole numbers of any width: 32 bits where those are enough
Bools: TypeAlias = npt.NDArray[np.bool_]
Times: TypeAlias = npt.NDArray[np.datetime64]
Rows: TypeAlias = npt.NDArray[np.intp]  # positions of rows
