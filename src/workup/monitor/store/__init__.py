"""The store of the monitor: tables, transactions, and plain functions that the command line and the service share."""

from __future__ import annotations

from workup.errors import MissingExtra

try:
    import alembic  # noqa: F401
    import sqlalchemy  # noqa: F401
except ImportError:
    raise MissingExtra("sqlalchemy", extra="monitor", purpose="the store of the monitor") from None
