"""Estimates as rows of a table: value, interval, patients, events, counts, and how it was made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workup.report import Estimate
from workup.reports.wording import count, interval, metric_title, not_told, number

HEADS = ("metric", "value", "interval", "patients", "events", "counts", "how")


def rows(estimates: Iterable[Estimate]) -> Iterator[tuple[str, ...]]:
    """Cells under HEADS."""
    for e in estimates:
        if not_told(e):
            yield (metric_title(e.metric), "–", "–", "–", "", "", _method(e))
            continue
        counted = "" if e.numerator is None else f"{count(e.numerator)}/{count(e.denominator)}"
        events = "" if e.n_events is None else number(e.n_events)
        yield (
            metric_title(e.metric),
            number(e.value),
            interval(e),
            number(e.n_patients),
            events,
            counted,
            _method(e),
        )


def _method(e: Estimate) -> str:
    return e.method if e.status == "ok" else f"{e.status}: {e.reason}"
