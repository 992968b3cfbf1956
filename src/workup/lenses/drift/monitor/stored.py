"""A monitor as plain JSON and back: what is frozen, what was seen, and no row of either. Judges nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from workup.errors import InputError, StudyError, near
from workup.lenses.drift.alerts import Alert, Alerts
from workup.lenses.drift.charts import Family
from workup.lenses.drift.inputs import InputReference
from workup.lenses.drift.monitor.state import Watching
from workup.lenses.drift.risk_adjusted_chart import RiskAdjusted
from workup.lenses.drift.series import Point, Series
from workup.lenses.drift.settings import Settings
from workup.metric import Metric
from workup.report import canonical
from workup.stats.reference import BinnedReference
from workup.stats.streaming_moments import Grid

FORM = 1
_POINT = tuple(one.name for one in fields(Point))
_ALERT = tuple(one.name for one in fields(Alert))


class Fields(NamedTuple):
    """What a monitor consists of, in the order of its fields."""

    settings: Settings
    metrics: tuple[Metric, ...]
    by: tuple[str, ...]
    watching: Watching
    inputs: InputReference
    adjusted: RiskAdjusted | None
    adjusted_states: tuple[Mapping[str, Any], ...]
    input_rows: tuple[Mapping[str, Any], ...]
    windows: tuple[Mapping[str, Any], ...]
    unseen: Mapping[str, Mapping[str, int]]
    acted: bool


def stored(monitor: Fields) -> dict[str, Any]:
    """Everything needed to go on."""
    watching, family = monitor.watching, monitor.watching.family
    found = {
        "form": FORM,
        "settings": monitor.settings.model_dump(mode="json"),
        "by": monitor.by,
        "metrics": [_metric_key(metric) for metric in monitor.metrics],
        "series": [{"metric": _metric_key(s.metric), "key": s.key, "gap": s.gap} for s in family.series],
        "baseline": _points(family.baseline),
        "phase_one": [_points(row) for row in family.phase_one],
        "spared": _points(family.spared),
        "charts": family.charts,
        "windows_a_year": family.windows_a_year,
        "chance": family.chance,
        "limits": watching.limits,
        "names": watching.names,
        "points": [_points(row) for row in watching.points],
        "held_back": watching.held_back,
        "alerts": [[getattr(alert, name) for name in _ALERT] for alert in watching.alerts.held.values()],
        "inputs": _inputs(monitor.inputs),
        "input_rows": monitor.input_rows,
        "windows": monitor.windows,
        "unseen": monitor.unseen,
        "acted": monitor.acted,
        "adjusted": None if monitor.adjusted is None else vars(monitor.adjusted),
        "adjusted_states": monitor.adjusted_states,
    }
    plain: dict[str, Any] = _plain(found)
    return plain


def restored(data: Mapping[str, Any], metrics: Sequence[Metric]) -> Fields:
    """The fields of a monitor from what was stored."""
    if not isinstance(data, Mapping) or data.get("form") != FORM:
        raise InputError(
            "a stored monitor was expected",
            got="data of another form" if isinstance(data, Mapping) else type(data).__name__,
            remedy="give what Monitor.stored() answered, or start the monitor anew from its baseline",
        )
    try:
        return _restored(_numbers(data), metrics)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InputError(
            "a whole stored monitor was expected",
            got=f"data that do not fit together ({type(error).__name__})",
            remedy="restore it from a copy, or start the monitor anew from its baseline",
        ) from None


def _restored(data: Mapping[str, Any], metrics: Sequence[Metric]) -> Fields:
    settings = Settings.checked(data["settings"], where="stored monitor")
    found = {canonical(key): _metric(key, metrics) for key in data["metrics"]}
    family = Family(
        tuple(Series(found[canonical(one["metric"])], one["key"], one["gap"]) for one in data["series"]),
        _as_points(data["baseline"]),
        tuple(_as_points(row) for row in data["phase_one"]),
        tuple(data["charts"]),
        int(data["windows_a_year"]),
        data["chance"],
        settings.fast_start,
        _as_points(data["spared"]),
    )
    points = tuple(_as_points(row) for row in data["points"])
    alerts = [Alert(**dict(zip(_ALERT, row, strict=True))) for row in data["alerts"]]
    watching = Watching(
        family,
        data["limits"],
        settings.least,
        {name: part.concern for name, part in settings.limits.items()},
        None if settings.gap is None else settings.gap.concern,
        tuple(data["names"]),
        points,
        family.departures(points),
        tuple(data["held_back"]),
        Alerts(settings.quiet, {canonical([one.type, one.metric, one.slice]): one for one in alerts}),
    )
    adjusted = data["adjusted"]
    return Fields(
        settings,
        tuple(found.values()),
        tuple(data["by"]),
        watching,
        _as_inputs(data["inputs"], settings),
        None if adjusted is None else RiskAdjusted(**{**adjusted, "line": tuple(adjusted["line"])}),
        tuple(data["adjusted_states"]),
        tuple(data["input_rows"]),
        tuple(data["windows"]),
        data["unseen"],
        data["acted"],
    )


def _metric_key(metric: Metric) -> dict[str, Any]:
    return {"name": metric.name, "at": dict(metric.at)}


def _metric(key: Mapping[str, Any], metrics: Sequence[Metric]) -> Metric:
    for metric in metrics:
        if canonical(_metric_key(metric)) == canonical(key):
            return metric
    at = "".join(f" at {name} {value}" for name, value in key["at"].items())
    names = [metric.name for metric in metrics]
    raise StudyError(
        f"the stored monitor follows '{key['name']}'{at}, which is not among the metrics given; "
        f"{near(key['name'], names)}."
    )


def _points(points: Sequence[Point]) -> list[list[Any]]:
    return [[getattr(point, name) for name in _POINT] for point in points]


def _as_points(rows: Sequence[Sequence[Any]]) -> tuple[Point, ...]:
    return tuple(Point(**dict(zip(_POINT, row, strict=True))) for row in rows)


# ---- references of inputs --------------------------------------------------------------------------------------------


def _inputs(inputs: InputReference) -> dict[str, Any]:
    return {
        "inputs": inputs.inputs,
        "rows": inputs.rows,
        "missing": inputs.missing,
        "numbers": {name: _reference(name, kept) for name, kept in inputs.numbers.items()},
        "levels": inputs.levels,
        "seed": inputs.seed,
    }


def _as_inputs(data: Mapping[str, Any], settings: Settings) -> InputReference:
    return InputReference(
        tuple(data["inputs"]),
        int(data["rows"]),
        data["missing"],
        {name: _as_reference(kept) for name, kept in data["numbers"].items()},
        data["levels"],
        settings.inputs,
        int(data["seed"]),
    )


def _reference(name: str, kept: Any) -> dict[str, Any]:
    """All that a binned reference holds beside its grid, whose edges say everything."""
    if not isinstance(kept, BinnedReference):
        raise InputError(
            "inputs of a monitor that is stored must be kept binned",
            where=f"input '{name}'",
            got="a baseline that is kept whole",
            remedy="start the monitor with keep='binned'",
        )
    return {
        "edges": kept.grid.edges,
        "single": kept.grid.single,
        **{part: value for part, value in vars(kept).items() if part != "grid"},
    }


def _as_reference(data: Mapping[str, Any]) -> BinnedReference:
    """Built past its maker, which wants the sample: the counts are all that is left of it."""
    kind = np.float32 if data["single"] else np.float64
    edges = np.array(data["edges"], dtype=kind)
    found = BinnedReference.__new__(BinnedReference)
    held = {part: value for part, value in data.items() if part not in ("edges", "single")}
    arrays = {part: np.array(value, dtype=np.int64) for part, value in held.items() if isinstance(value, list)}
    vars(found).update({**held, **arrays, "grid": Grid(edges, typical=edges)})
    return found


# ---- numbers ---------------------------------------------------------------------------------------------------------

_ODD = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def _plain(value: Any) -> Any:
    """JSON with nothing lost: floats at full length, those that JSON lacks as {"float": "nan"}."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    return value


def _numbers(value: Any) -> Any:
    """The same read back."""
    if isinstance(value, Mapping):
        if value.keys() == {"float"} and value["float"] in _ODD:
            return _ODD[value["float"]]
        return {key: _numbers(item) for key, item in value.items()}
    return [_numbers(item) for item in value] if isinstance(value, list) else value
