"""Whether the service runs, whether its store can be used, and what the store holds as metrics for Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector
from sqlalchemy import Connection, func, select

from workup.monitor.overview import words
from workup.monitor.service.answers import Problem
from workup.monitor.service.callers import Reader
from workup.monitor.service.context import Refused, context_of
from workup.monitor.store.alerts import alerts
from workup.monitor.store.database import StoreUnavailable, revision_of
from workup.monitor.store.models import models, versions
from workup.monitor.store.tables import BATCHES, LEASES
from workup.monitor.store.windows import STATES, estimates, last_received, windows
from workup.monitor.watching import ALL

router = APIRouter()
_SHOWN = ("open", "acknowledged", "muted")
_SECOND = 1_000_000  # microseconds
_REFUSALS: dict[int | str, dict[str, Any]] = {status: {"model": Problem} for status in (401, 403, 429, 503)}


@router.get("/healthz", response_class=PlainTextResponse)
def healthz() -> str:
    """The service runs."""
    return "ok\n"


@router.get("/readyz", response_class=PlainTextResponse, responses={503: {"model": Problem}})
def readyz(request: Request) -> str:
    """The store can be used."""
    try:
        made = revision_of(context_of(request).store)
    except StoreUnavailable:
        raise Refused(503, "The store cannot be used now.") from None
    if made is None:
        raise Refused(503, "The store has no tables.")
    return "ok\n"


@router.get("/metrics", response_class=PlainTextResponse, responses=_REFUSALS)
def metrics(request: Request, reader: Reader) -> PlainTextResponse:
    """Alerts, windows, rows and the last figures, read from the store now."""
    context = context_of(request)
    with context.store.read() as connection:
        found = list(_families(connection, context.clock()))
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Found(found))
    return PlainTextResponse(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


class _Found(Collector):
    """Families that were read already, as the library wants them."""

    def __init__(self, found: list[Metric]) -> None:
        self._found = found

    def collect(self) -> Iterable[Metric]:
        return self._found


def _families(connection: Connection, now: int) -> Iterator[Metric]:
    raised = GaugeMetricFamily("workup_monitor_alerts", "Alerts that are not resolved", labels=["model", "state"])
    oldest = GaugeMetricFamily(
        "workup_monitor_oldest_open_alert_seconds", "Age of the oldest open alert, 0 where none is", labels=["model"]
    )
    received = GaugeMetricFamily(
        "workup_monitor_last_predictions_timestamp_seconds", "When predictions came last", labels=["model"]
    )
    held = GaugeMetricFamily("workup_monitor_windows", "Windows by state", labels=["model", "version", "state"])
    names = ["model", "version", "kind", "metric", "slice", "chart"]
    last = GaugeMetricFamily("workup_monitor_estimate", "Figure of the last window that has it", labels=names)
    signal = GaugeMetricFamily("workup_monitor_signal", "Whether its chart signals in that window", labels=names)
    for model in models(connection):
        name = model["name"]
        own = alerts(connection, now=now, model=model["id"], unresolved=True)
        counts = Counter(one["shown"] for one in own)
        for state in _SHOWN:
            raised.add_metric([name, state], counts[state])
        waiting = [one["opened"] for one in own if one["shown"] == "open"]
        oldest.add_metric([name], max(0, now - min(waiting)) / _SECOND if waiting else 0)
        when = last_received(connection, model["id"])
        if when is not None:
            received.add_metric([name], when / _SECOND)
        for version in versions(connection, model["id"]):
            states = Counter(one["state"] for one in windows(connection, version["id"]))
            for state in STATES:
                held.add_metric([name, version["version"], state], states[state])
            shown = {
                (one["kind"], one["metric"], words(one), one["chart"]): one
                for one in estimates(connection, version["id"])
                if one["part"] == ALL and one["value"] is not None
            }
            for key, one in shown.items():
                last.add_metric([name, version["version"], *key], one["value"])
                signal.add_metric([name, version["version"], *key], one["signal"] or 0)
    yield from (raised, oldest, received, held, last, signal, _rows(connection))
    lease = GaugeMetricFamily("workup_monitor_worker_lease_seconds", "Seconds that a worker's lease still lasts")
    until = connection.execute(select(func.max(LEASES.c.until))).scalar()
    lease.add_metric([], 0 if until is None else (until - now) / _SECOND)
    yield lease


def _rows(connection: Connection) -> Metric:
    rows = CounterMetricFamily("workup_monitor_rows", "Rows by what became of them", labels=["model", "kind", "fate"])
    by_number = {model["id"]: model["name"] for model in models(connection)}
    fates = ("new", "known", "conflicts", "refused")
    sums = [func.sum(BATCHES.c[fate]) for fate in fates]
    asked = select(BATCHES.c.model, BATCHES.c.kind, *sums).group_by(BATCHES.c.model, BATCHES.c.kind)
    for model, kind, *counts in connection.execute(asked.order_by(BATCHES.c.model, BATCHES.c.kind)):
        for fate, count in zip(fates, counts, strict=True):
            rows.add_metric([by_number[model], kind, fate], int(count))
    return rows
