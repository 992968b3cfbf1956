"""Small tables of predictions and events, written in hours, and what `evaluate` makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from workup.task import Table
from workup.tasks.risk.episodes.evaluation import Evaluated, evaluate
from workup.tasks.risk.episodes.settings import EpisodeColumnsPart, EpisodesPart, EventsPart
from workup.tasks.risk.episodes.tables import read_events, read_predictions

BASE = np.datetime64("2024-01-01", "us")
HOUR = 3_600_000_000
ROLES = {
    "target": ["target"],
    "start": ["start"],
    "end": ["end"],
    "death": ["death"],
    "lost": ["lost"],
    "intervention": ["intervention"],
}
_DURATIONS = ("horizon", "gap", "present", "rest", "refractory", "act_within", "stale")


def moment(hours: float | None) -> np.datetime64:
    """Hours after the beginning of 2024, NaT for None."""
    return np.datetime64("NaT", "us") if hours is None else BASE + np.timedelta64(round(hours * HOUR), "us")


def hours_of(microseconds: Any) -> Any:
    """Back to hours after the beginning of 2024."""
    return (np.asarray(microseconds, dtype=np.int64) - BASE.astype(np.int64)) / HOUR


def cells(values: Sequence[Any]) -> Any:
    """A column of text or of anything else."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def settings(given: Mapping[str, Any]) -> EpisodesPart:
    """Settings whose durations are written as bare hours."""
    written = dict(given)
    for name in _DURATIONS:
        if name in written and not isinstance(written[name], str):
            written[name] = _duration(written[name])
    for name in ("landmarks", "lead_hours"):
        if name in written:
            written[name] = [_duration(hours) for hours in written[name]]
    if "as_of" in written:
        written["as_of"] = str(moment(written["as_of"]))
    return EpisodesPart.checked(written, where="the test")


def _duration(hours: Any) -> Any:
    return hours if isinstance(hours, str) else f"{hours:.6f}h"


def predictions(rows: Mapping[str, Any]) -> Table:
    """A table of predictions from columns of hours, ids and risks."""
    columns = {name: cells(values) for name, values in rows.items() if name not in ("time", "risk", "weight")}
    numbers = {name: np.array(rows[name], dtype=np.float64) for name in ("risk", "weight") if name in rows}
    return {**columns, **numbers, "time": np.array([moment(hours) for hours in rows["time"]])}


def events(rows: Mapping[str, Any]) -> Table:
    """A table of events from columns of hours, ids and types."""
    columns = {name: cells(values) for name, values in rows.items() if name != "time"}
    return {**columns, "time": np.array([moment(hours) for hours in rows["time"]])}


def evaluated(
    of_predictions: Mapping[str, Any],
    of_events: Mapping[str, Any],
    given: Mapping[str, Any],
    thresholds: Sequence[float] = (0.5,),
    *,
    roles: Mapping[str, Sequence[str]] | None = None,
    **columns: Any,
) -> Evaluated:
    """What becomes of tables in hours; columns that play no part of their own are groups."""
    own = {"patient", "encounter", "time", "risk", "version", "site", "weight"}
    named = {"groups": [name for name in of_predictions if name not in own], **columns}
    part = settings(given)
    return evaluate(
        read_predictions(predictions(of_predictions), EpisodeColumnsPart.checked(named, where="the test"), part),
        read_events(events(of_events), EventsPart.checked(dict(roles or ROLES), where="the test"), part),
        part,
        thresholds,
    )


def by_rows(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """Columns from rows."""
    found = list(rows)
    return {name: [row[place] for row in found] for place, name in enumerate(names)}


def stay(
    encounter: str,
    scores: Iterable[tuple[float, float]],
    happened: Iterable[tuple[str, float | None]],
    patient: str = "p",
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """The rows of one stay: (hour, risk) and (type, hour)."""
    return (
        [(patient, encounter, hour, risk) for hour, risk in scores],
        [(patient, encounter, kind, hour) for kind, hour in happened],
    )


def of_stays(
    *stays: tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]],
) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """The two tables of several stays."""
    return (
        by_rows(("patient", "encounter", "time", "risk"), (row for scores, _ in stays for row in scores)),
        by_rows(("patient", "encounter", "type", "time"), (row for _, happened in stays for row in happened)),
    )
