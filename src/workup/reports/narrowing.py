"""The record seen at one setting alone: rows of other settings are left out, and so are the keys that name it.

What is left in a slice is then a group, a site or a window, which the shared pages can read whatever the task."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from workup.report import LensResult, Report

Keys = Mapping[str, Any]


@dataclass(frozen=True)
class Narrowing:
    """How a task narrows its record.

    `sees` says whether a slice belongs to the setting; `keys` are those that name it; `unlisted` are tables of single
    cases, which the shared pages do not show.
    """

    sees: Callable[[Keys], bool]
    keys: Collection[str]
    unlisted: Collection[str] = ()

    def of(self, report: Report) -> Report:
        """The record at that setting. Figures that only compare with published ones are left out."""
        return replace(report, results={name: self._result(one) for name, one in report.results.items()})

    def _result(self, result: LensResult) -> LensResult:
        estimates = tuple(
            replace(e, slice=self._without(e.slice))
            for e in result.estimates
            if not e.metric.endswith("_published") and self.sees(e.slice)
        )
        # An alert that is not looked at is worse than one too many, so all of them stay.
        alerts = tuple(
            {**row, "slice": self._without(row["slice"])} if self.sees(row["slice"]) else row for row in result.alerts
        )
        tables = {
            name: list(self._rows(table)) if isinstance(table, (list, tuple)) else table
            for name, table in result.tables.items()
            if name not in self.unlisted
        }
        return replace(
            result,
            estimates=estimates,
            comparisons=tuple(self._rows(result.comparisons)),
            tables=tables,
            pooled=tuple(self._rows(result.pooled)),
            alerts=alerts,
            charts_state=tuple(self._rows(result.charts_state)),
        )

    def _rows(self, rows: Any) -> Iterator[Any]:
        for row in rows:
            place = next(
                (key for key in ("slice", "at") if isinstance(row, Mapping) and isinstance(row.get(key), Mapping)), ""
            )
            if not place:
                yield row
            elif self.sees(row[place]):
                yield {**row, place: self._without(row[place])}

    def _without(self, keys: Keys) -> dict[str, Any]:
        return {key: value for key, value in keys.items() if key not in self.keys}
