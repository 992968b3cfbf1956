"""Which side each row is on: the common answer of every strategy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Floats

DEVELOPMENT, VALIDATION = 0, 1
SIDES = ("development", "validation")
# Why a row is on neither side, by its code from 2 on.
REASONS = {
    2: "undated",
    3: "embargoed",
    4: "straddling",
    5: "no site",
}
UNDATED, EMBARGOED, STRADDLING, NO_SITE = REASONS

Places = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Drawn:
    """A side or a reason for each row; `expected` validation patients of each level where margins are held."""

    side: Places
    weight: Floats | None = None
    expected: Mapping[str, list[Fraction]] | None = None
    expected_total: Fraction | None = None
    collapsed: list[dict[str, Any]] = field(default_factory=list)
    about: Mapping[str, Any] = field(default_factory=dict)
