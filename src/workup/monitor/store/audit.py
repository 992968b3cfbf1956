"""The audit log: who did what to what, and when. It is added to and never changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, insert, select

from workup.monitor.store.tables import AUDIT
from workup.report import canonical

WORKER = "worker"  # who did it, where no person did


def audit(connection: Connection, *, at: int, who: str, what: str, object: str, detail: Mapping[str, Any] = {}) -> None:
    """Add a line, in the transaction that does what it tells of."""
    connection.execute(insert(AUDIT).values(at=at, who=who, what=what, object=object, detail=canonical(dict(detail))))


def audit_lines(connection: Connection, *, last: int = 200, before: int | None = None) -> list[dict[str, Any]]:
    """The last lines, the newest first; `before` goes on from the number of an older one."""
    asked = select(AUDIT).order_by(AUDIT.c.id.desc()).limit(last)
    if before is not None:
        asked = asked.where(AUDIT.c.id < before)
    return [dict(row) for row in connection.execute(asked).mappings()]
