"""The service of the monitor on a store in which a plan is in force, with a client that has tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.testclient import TestClient

from tests.support.monitored import Monitored, small_plan, us
from workup.monitor.service.app import application
from workup.monitor.service.context import Context
from workup.monitor.store import alerts, models, tokens
from workup.monitor.store.database import Store

NOW = us("2025-08-05")


class Service:
    """A service at a moment that the test sets, and its callers."""

    def __init__(self, store: Store, **changed: Any) -> None:
        self.store = store
        self.monitored = Monitored(store, small_plan(**changed))
        self.now = NOW
        self.context = Context(store, clock=lambda: self.now)
        self.app = application(self.context)
        self.client = TestClient(self.app, raise_server_exceptions=True, base_url="http://127.0.0.1:8750")

    def token(self, *scopes: str, expires: int | None = None) -> str:
        return tokens.create_token(self.store, "someone", scopes, now=self.now, expires=expires, who="test")

    def header(self, *scopes: str, expires: int | None = None) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token(*scopes, expires=expires)}"}

    def alert(self, **changed: Any) -> int:
        """An alert, opened as the worker does it."""
        values: Mapping[str, Any] = {
            "state": "open",
            "kind": "performance",
            "metric": "auroc",
            "slice": '{"sex":"F"}',
            "opened_window": "2025-05",
            "last_window": "2025-05",
            "effect": -0.2,
            "severity": "high",
            "message": "AUROC fell",
            "quiet": 0,
            "resolved_window": "",
        } | changed
        who = {name: changed.get(name, f"the {name}") for name in ("owner", "action", "escalation")}
        with self.store.write() as connection:
            version = models.register_version(connection, self.monitored.model, "1", now=self.now, who="test")
            key = {"version": version, "watch": "w", "cause": str(values["metric"]), "relapse": 0}
            kept = {name: value for name, value in values.items() if name not in who}
            alerts.keep_alert(connection, key, kept, who | {"plan": 1}, now=self.now)
        with self.store.read() as connection:
            return int(alerts.alerts(connection, now=self.now)[0]["id"])
