"""The horizons of a record, in order and in words, and the record as it is seen at one of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from workup.report import LensResult, Report
from workup.reports.narrowing import Narrowing

CURVES = "horizons"  # the table with the curves of every horizon
_DAYS = {"min": 1 / 1440, "h": 1 / 24, "d": 1.0}
_NOUNS = {"min": "minute", "h": "hour", "d": "day"}
_YEAR, _ABOUT = 365.25, 0.003  # days, and how near a whole number of years a horizon must be to be called so
_WRITTEN = re.compile(r"([\d.]+)(min|h|d)")


def days(horizon: str) -> float:
    """How long a horizon is.

    >>> days("36h"), days("365d")
    (1.5, 365.0)
    """
    found = _WRITTEN.fullmatch(horizon)
    return float("nan") if found is None else float(found[1]) * _DAYS[found[2]]


def short(horizon: str) -> str:
    """A horizon as one says it; whole years are called so.

    >>> short("1095d"), short("90d"), short("1h"), short("1826.25d")
    ('3 years', '90 days', '1 hour', '5 years')
    """
    years = round(days(horizon) / _YEAR) if _WRITTEN.fullmatch(horizon) else 0
    if years >= 1 and abs(days(horizon) / (years * _YEAR) - 1) < _ABOUT:
        return f"{years} year{'' if years == 1 else 's'}"
    return _exactly(horizon)


def words(horizon: str) -> str:
    """The same with the horizon as the study has it, where that is said otherwise.

    >>> words("1095d"), words("90d")
    ('3 years (1095 days)', '90 days')
    """
    said = short(horizon)
    return said if said == _exactly(horizon) else f"{said} ({_exactly(horizon)})"


def _exactly(horizon: str) -> str:
    found = _WRITTEN.fullmatch(horizon)
    return horizon if found is None else f"{found[1]} {_NOUNS[found[2]]}" + ("" if float(found[1]) == 1 else "s")


def horizons(report: Report) -> list[str]:
    """All horizons of the record, the nearest first."""
    named = {str(e.slice["horizon"]) for e in report.estimates() if "horizon" in e.slice}
    return sorted(named, key=days)


def primary(report: Report) -> str:
    """The horizon that pages and gates take where they name none; else the last."""
    held = horizons(report)
    named = str(report.primary.get("horizon", ""))
    return named if named in held or not held else held[-1]


def at(report: Report, horizon: str) -> Report:
    """The record at one horizon: slices no longer name it, and tables kept by horizon are its own."""

    def sees(keys: Mapping[str, Any]) -> bool:
        return bool(keys.get("horizon", horizon) == horizon)

    seen = Narrowing(sees, ("horizon",)).of(report)
    results = {name: _own_tables(result, horizon) for name, result in seen.results.items()}
    rest = {key: value for key, value in report.primary.items() if key != "horizon"}
    return replace(seen, results=results, primary=rest)


def _own_tables(result: LensResult, horizon: str) -> LensResult:
    """The curves of the horizon, and who is behind them, stand where those of a study without time would."""
    own: Mapping[str, Any] = next((row for row in result.tables.get(CURVES, ()) if row["horizon"] == horizon), {})
    rest = {name: table for name, table in result.tables.items() if name not in (CURVES, "summary")}
    about = next((row for row in rows_at(result.tables.get("followup", ()), horizon) if not row["slice"]), None)
    if about is not None and own.get("observed") is not None:
        counts = {"events": round(about["events"]), "rows": about["n_rows"], "patients": about["n_patients"]}
        rest["summary"] = {**counts, "observed": own["observed"], "predicted": own["predicted"]}
    return replace(result, tables={**rest, **own})


def rows_at(rows: Sequence[Mapping[str, Any]], horizon: str) -> list[Mapping[str, Any]]:
    """Rows of a table that names the horizon of each."""
    return [row for row in rows if row.get("horizon") == horizon]
