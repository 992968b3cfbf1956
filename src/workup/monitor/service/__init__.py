"""The service of the monitor: takes in rows, answers with figures and alerts, and shows pages to those who sign in."""

from __future__ import annotations

from workup.errors import MissingExtra

try:
    import fastapi  # noqa: F401
    import prometheus_client  # noqa: F401
    import uvicorn  # noqa: F401
except ImportError:
    raise MissingExtra("fastapi", extra="monitor", purpose="the service of the monitor") from None
