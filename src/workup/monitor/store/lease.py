"""The lease: one row that says which worker works. A worker that dies is followed by another when its lease runs out.

It saves work and decides nothing: what a worker writes is kept single by keys and by the states that it read.
"""

from __future__ import annotations

from sqlalchemy import delete, select, text, update

from workup.monitor.store.database import Store
from workup.monitor.store.tables import LEASES


def take_lease(store: Store, holder: str, *, now: int, until: int, name: str = "worker") -> bool:
    """Take or renew the lease; false while another holds it."""
    with store.write() as connection:
        chosen = (LEASES.c.name == name) & ((LEASES.c.holder == holder) | (LEASES.c.until <= now))
        if connection.execute(update(LEASES).where(chosen).values(holder=holder, until=until)).rowcount:
            return True
        made = text("INSERT INTO leases (name, holder, until) VALUES (:name, :holder, :until) ON CONFLICT DO NOTHING")
        return bool(connection.execute(made, {"name": name, "holder": holder, "until": until}).rowcount)


def give_lease(store: Store, holder: str, *, name: str = "worker") -> None:
    """Give the lease back."""
    with store.write() as connection:
        connection.execute(delete(LEASES).where((LEASES.c.name == name) & (LEASES.c.holder == holder)))


def lease_holder(store: Store, *, now: int, name: str = "worker") -> str:
    """Who holds the lease; empty where nobody does."""
    with store.read() as connection:
        asked = select(LEASES.c.holder).where((LEASES.c.name == name) & (LEASES.c.until > now))
        return connection.execute(asked).scalar() or ""
