"""A record whose lenses looked at rows of several kinds, taken apart again: what each lens found on one kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workup.report import LensResult, Report

ROWS_OF, KINDS = "rows_of", "kinds"  # as the pipeline writes them


def kinds_of(report: Report, lens: str) -> list[str]:
    """The kinds of rows that a lens looked at; none where it looked at all rows together."""
    result = report.results.get(lens)
    return [] if result is None else list(result.settings.get(KINDS) or ())


def of_kind(result: LensResult, kind: str) -> LensResult:
    """What a lens found on one kind of rows."""
    names = (result.settings.get(KINDS) or {}).get(kind, ())

    def own(rows: Any) -> tuple[Any, ...]:
        return tuple(_plain(row) for row in rows if row.get(ROWS_OF, kind) == kind)

    shared = {
        name: value[kind] if isinstance(value, Mapping) and name in ("alpha", "chance") and kind in value else value
        for name, value in result.settings.items()
        if name != KINDS
    }
    return replace(
        result,
        settings=shared,
        estimates=tuple(e for e in result.estimates if e.metric in names),
        comparisons=own(result.comparisons),
        tables={name: _of_kind(table, kind) for name, table in result.tables.items()},
        charts={name: _of_kind(table, kind) for name, table in result.charts.items()},
        pooled=own(result.pooled),
        alerts=own(result.alerts),
        charts_state=own(result.charts_state),
    )


def report_of(report: Report, kind: str, lenses: tuple[str, ...]) -> Report:
    """The record with these lenses as they looked at one kind; those that did not are left out."""
    kept = {
        lens: of_kind(result, kind) if lens in lenses else result
        for lens, result in report.results.items()
        if lens not in lenses or kind in (result.settings.get(KINDS) or {})
    }
    return replace(report, results=kept)


def _of_kind(table: Any, kind: str) -> Any:
    if isinstance(table, (list, tuple)):
        return [_plain(row) if isinstance(row, Mapping) else row for row in table if _is_of(row, kind)]
    return table[kind] if isinstance(table, Mapping) and kind in table else table


def _is_of(row: Any, kind: str) -> bool:
    return not isinstance(row, Mapping) or row.get(ROWS_OF, kind) == kind


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != ROWS_OF}
