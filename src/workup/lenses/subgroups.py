"""The subgroups lens: every metric on every group, the missing among them, under the same resampled patients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from workup.errors import StudyError, near
from workup.estimate import Draws, Progress, estimate, slices_by
from workup.metric import Metric
from workup.report import LensResult
from workup.scores import Scores
from workup.study import Part


class Settings(Part):
    """Which groupings are looked at."""

    by: tuple[str, ...] = Field((), description="Columns to group by; all of columns.groups when empty")


def subgroups(
    scores: Scores,
    metrics: Sequence[Metric],
    *,
    settings: Mapping[str, Any],
    draws: Draws,
    levels: Sequence[float] = (0.95,),
    progress: Progress | None = None,
) -> LensResult:
    """Value, interval and n per group, the largest group first and none left out."""
    chosen = Settings.checked(settings, where="lenses.subgroups")
    by = chosen.by or tuple(scores.groups)
    for name in by:
        if name not in scores.groups:
            raise StudyError(f"subgroups.by: '{name}' is not one of columns.groups; {near(name, scores.groups)}.")
    found = estimate(
        scores,
        metrics,
        slices_by({name: scores.groups[name] for name in by}),
        draws=draws,
        levels=levels,
        progress=progress,
    )
    notes = ("Values per group are descriptive: no comparison between groups is tested here.",)
    return LensResult("subgroups", settings={"by": list(by)}, estimates=tuple(found), notes=notes)
