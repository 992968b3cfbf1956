"""What every lens checks of its settings alike: columns and metrics by name, and how many groups a column may make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workup.errors import StudyError, near
from workup.scores import CROSS, Levels
from workup.task import StudyDesign

MOST_LEVELS = 50  # groups of one column; each is estimated with its resamples, and no reader weighs more


def unknown_groups(field: str, names: Iterable[str], design: StudyDesign) -> Iterator[str]:
    """Columns that are no groups of the study."""
    if design.groups is not None:
        for name in dict.fromkeys(names):
            if name not in design.groups:
                yield f".{field}: '{name}' is not one of columns.groups; {near(name, design.groups)}."


def unknown_metrics(field: str, names: Iterable[str], design: StudyDesign) -> Iterator[str]:
    """Metrics that the study does not hold."""
    for name in dict.fromkeys(names):
        if name not in design.metric_names():
            why = f" ({design.absent[name]})" if name in design.absent else ""
            yield f".{field}: '{name}' is not a metric of this study{why}; {near(name, design.metric_names())}."


def too_many(name: str, levels: Levels) -> str:
    """Why a column makes too many groups, or nothing where it does not."""
    if len(levels.names) <= MOST_LEVELS:
        return ""
    return (
        f"'{name}' has {len(levels.names):,} levels; at most {MOST_LEVELS} can be compared. To fix: join levels, or "
        f"cut a number into bands, such as {{column: {name.split(CROSS)[0]}, cuts: [45, 65, 75]}} under columns.groups"
    )


def refuse_too_many(name: str, levels: Levels, *, where: str) -> None:
    """Refuse a column that makes too many groups to be estimated and read."""
    if said := too_many(name, levels):
        raise StudyError(f"{where}: {said}.")


def crowded(field: str, names: Iterable[str], design: StudyDesign) -> Iterator[str]:
    """Columns that make too many groups."""
    for name in dict.fromkeys(names):
        if design.groups is not None and name in design.groups and (said := too_many(name, design.groups[name])):
            yield f".{field}: {said}."
