"""A store with a plan and rows of a simulated year, for tests of what the monitor makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from workup.monitor.columns import checked_outcomes, checked_predictions
from workup.monitor.plan import Plan
from workup.monitor.simulated_year import Year, plan_of, simulated_year
from workup.monitor.store import alerts, ingest, models
from workup.monitor.store import windows as kept
from workup.monitor.store.database import Store
from workup.monitor.worker import Done, Worker

LATEST = "2025-08-05"  # when six months are closed
LINES = [{"metric": "auroc", "limit": 0.05}, {"metric": "auroc", "by": "sex", "limit": 0.08}]


def us(day: str) -> int:
    """A moment as the store holds it."""
    return int(np.datetime64(day, "us").astype(np.int64))


def small_plan(**changed: Any) -> Plan:
    """The plan of the simulated year with two lines and no inputs, and what a test changes."""
    plan = plan_of()
    plan["columns"]["inputs"] = []
    return Plan.of(plan | {"watch": LINES} | changed)


@cache
def small_year(seed: int = 1, **changed: Any) -> Year:
    """A year of few rows and a large change; tests share it and change nothing in it."""
    return simulated_year(seed, **({"rows_a_month": 400, "auroc": -0.25, "drift_month": 3} | changed))


def part(table: Mapping[str, Any], rows: Any) -> dict[str, Any]:
    """Some rows of a table."""
    return {name: column[rows] for name, column in table.items()}


class Monitored:
    """A store in which a plan is in force, at a moment that the test sets."""

    def __init__(self, store: Store, plan: Plan) -> None:
        self.store, self.plan, self.now = store, plan, us(LATEST)
        self.model = models.register_model(store, plan.model, task=plan.task, now=self.now, who="test")
        self.replan(plan)
        self.worker = Worker(store, clock=lambda: self.now, holder="test")

    def replan(self, plan: Plan) -> None:
        self.plan = plan
        models.keep_plan(self.store, self.model, content=plan.record(), sha256=plan.sha256, now=self.now, who="test")

    def predict(self, table: Mapping[str, Any]) -> None:
        batch = checked_predictions(table, self.plan.columns, version=self.plan.version)
        ingest.ingest_predictions(self.store, self.model, batch, now=self.now)

    def answer(self, table: Mapping[str, Any], *, corrections: bool = False) -> None:
        batch = checked_outcomes(table, self.plan.columns)
        ingest.ingest_outcomes(self.store, self.model, batch, now=self.now, corrections=corrections)

    def take_in(self, year: Year) -> None:
        self.predict(year.predictions)
        self.answer(year.outcomes)

    def step(self, as_of: str | None = None) -> Done:
        if as_of is not None:
            self.now = us(as_of)
        done = self.worker.step(as_of=self.now)
        return done

    @property
    def version(self) -> int:
        with self.store.read() as connection:
            return int(models.versions(connection, self.model)[-1]["id"])

    def alerts(self, *kinds: str) -> list[dict[str, Any]]:
        with self.store.read() as connection:
            found = alerts.alerts(connection, now=self.now, model=self.model)
        return [one for one in found if not kinds or one["kind"] in kinds]

    def windows(self) -> list[dict[str, Any]]:
        with self.store.read() as connection:
            return kept.windows(connection, self.version)

    def estimates(self, *kinds: str, every_revision: bool = False) -> list[dict[str, Any]]:
        with self.store.read() as connection:
            return kept.estimates(connection, self.version, kinds=kinds, every_revision=every_revision)


def story(found: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """Alerts without their numbers and times, in an order of their own."""
    names = (
        "kind",
        "metric",
        "state",
        "severity",
        "effect",
        "opened_window",
        "last_window",
        "quiet",
        "relapse",
        "cause",
    )
    return sorted(tuple(one[name] for name in names) for one in found)
