"""Studies of episodes: a small one over planted stays, and wards whose models are wrong in a way that is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from workup.report import Report
from workup.study import Study
from workup.validate import validate

ROLES: dict[str, Any] = {
    "target": ["sepsis"],
    "start": ["admit"],
    "end": ["discharge"],
    "death": ["death"],
    "lost": ["transfer"],
    "intervention": ["antibiotics"],
}
BASE = np.datetime64("2024-01-01", "us")


def content(**changes: Any) -> dict[str, Any]:
    """A study of planted stays, as plain data."""
    said: dict[str, Any] = {
        "name": "ward",
        "task": "episodes",
        "corpus": {"generate": {"kind": "episodes", "count": 300, "seed": 3}},
        "columns": {"site": "site", "groups": ["sex", "ward"]},
        "events": ROLES,
        "episodes": {"horizon": "24h", "gap": "1h", "refractory": "8h"},
        "thresholds": [0.05, 0.1],
        "bootstrap": {"replicates": 100},
    }
    return {**said, **changes}


def validated(**changes: Any) -> Report:
    """The report of such a study."""
    return validate(Study.of(content(**changes)))


# A risk for each hour of a stay, from the hours until the event (NaN in stays without one) and a generator.
Model = Callable[[Any, np.random.Generator], Any]


def ward(model: Model, *, patients: int = 240, seed: int = 5) -> tuple[dict[str, Any], dict[str, Any]]:
    """Hourly scores of stays of two or three days, a third of which have the event after a day, and their events."""
    rng = np.random.default_rng(seed)
    predictions: dict[str, list[Any]] = {name: [] for name in ("patient", "encounter", "time", "risk")}
    events: dict[str, list[Any]] = {name: [] for name in ("patient", "encounter", "type", "time")}
    for patient in range(patients):
        start = BASE + np.timedelta64(int(rng.integers(0, 24 * 90)), "h")
        length = int(rng.integers(48, 72))
        onset = int(rng.integers(24, 44)) if patient % 3 == 0 else None
        hours = np.arange(length)
        until = np.full(length, np.nan) if onset is None else onset + 0.5 - hours
        risks = np.asarray(model(until, rng), dtype=np.float64)
        scored = np.isfinite(risks)
        predictions["patient"] += [f"p{patient}"] * int(scored.sum())
        predictions["encounter"] += [f"s{patient}"] * int(scored.sum())
        predictions["time"] += [start + np.timedelta64(int(hour), "h") for hour in hours[scored]]
        predictions["risk"] += risks[scored].tolist()
        happened: Mapping[str, float | None] = {
            "admit": 0,
            "sepsis": None if onset is None else onset + 0.5,
            "discharge": length,
        }
        for kind, hour in happened.items():
            if hour is not None:
                events["patient"].append(f"p{patient}")
                events["encounter"].append(f"s{patient}")
                events["type"].append(kind)
                events["time"].append(start + np.timedelta64(round(hour * 60), "m"))
    return _columns(predictions), _columns(events)


def _columns(rows: Mapping[str, list[Any]]) -> dict[str, Any]:
    return {
        name: np.array(column, dtype="datetime64[us]")
        if name == "time"
        else np.array(column, dtype=float if name == "risk" else object)
        for name, column in rows.items()
    }


def judged(model: Model, *, gates: list[str], **settings: Any) -> Report:
    """What a study with gates says of a model on such a ward."""
    said = {
        "name": "gates",
        "task": "episodes",
        "events": {"target": ["sepsis"], "start": ["admit"], "end": ["discharge"]},
        "episodes": {"horizon": "12h", "gap": "1h", "refractory": "8h", **settings},
        "thresholds": [0.5],
        "gates": gates,
        "bootstrap": {"replicates": 200},
    }
    return validate(Study.of(said), table=ward(model))
