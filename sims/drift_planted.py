"""Is a change soon seen? Planted in the seventh of twelve windows: all log odds up by one, the AUROC of one group down
by 0.12, the variance of one input doubled."""

from __future__ import annotations

from collections.abc import Sequence

from sims import drift
from sims.repetitions import Cell, Result, Size

NAME = "drift_planted"
QUESTION = "Is a planted change found within 3 windows in over 80 % of years?"
SEED = drift.SEED
SIZE = Size(repetitions=300)
TESTED = drift.TESTED
MADE_BY = [*drift.MADE_BY, "drift_planted.py"]

repeat = drift.repeat


def cells(size: Size) -> list[Cell]:
    """Each change with 125 events expected in every group and window, and with 25, which judges nothing."""
    planted = (drift.CALIBRATION, drift.AUROC, drift.VARIANCE)
    found = [drift.cell(change, change, 125, size, (0.80, 1.0)) for change in planted]
    return found + [drift.cell(f"{change}, 25 events", change, 25, size, None) for change in planted]


def summarise(results: Sequence[Result]) -> list[Result]:
    """The change that was found least often."""
    found = [one["rate"] for one in results if one["band"] is not None and one["rate"] is not None]
    return [{"cell": "planted changes", "metric": "found", "lowest": min(found, default=None), "ok": None}]
