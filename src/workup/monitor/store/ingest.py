"""Predictions and outcomes into the store: the same batch twice changes nothing, and an id with other content is a
conflict that is named. A batch is stored whole or, where that is asked for, without the rows that cannot be."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, insert, select, update

from workup.errors import InputError
from workup.monitor.columns import Fault, Outcomes, Predictions, refuse_faults
from workup.monitor.store.database import Store
from workup.monitor.store.models import register_version
from workup.monitor.store.tables import BATCHES, CORRECTED, MODELS, OUTCOMES, PREDICTIONS

_CONTENT = ("time", "version", "data_version", "patient", "site", "risk", "acted", "groups", "inputs", "scores")
_ANSWER = ("outcome", "acted", "known")
_TYPES = {"model": "bigint", "batch": "bigint", "time": "bigint", "known": "bigint", "revision": "int"} | {
    "risk": "float8",
    "acted": "smallint",
    "outcome": "smallint",
}


class ConflictError(InputError):
    """Rows whose id is known with other content; `faults` names them."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        listed = ", ".join(f"{fault.row:,}" for fault in faults[:5]) + (", …" if len(faults) > 5 else "")
        super().__init__(
            faults[0].expected,
            got=f"{len(faults):,} that differ (rows {listed})",
            remedy="send what was sent before, or give a new prediction an id of its own; an outcome that was wrong is "
            "sent again as a correction",
        )


@dataclass(frozen=True)
class Ingested:
    """What became of a batch."""

    batch: int  # its number, 0 where nothing was new
    new: int
    known: int
    conflicts: tuple[Fault, ...] = ()
    refused: tuple[Fault, ...] = ()


def ingest_predictions(
    store: Store, model: int, batch: Predictions, *, now: int, atomic: bool = True, who: str = ""
) -> Ingested:
    """Store predictions of a model, by its number."""
    if atomic:
        refuse_faults(batch.faults, where="predictions")
    with store.write() as connection:
        number = _next_batch(connection, model)
        stored = _stored(store, connection, PREDICTIONS, model, batch.id, _CONTENT)
        columns = [getattr(batch, name) for name in _CONTENT]
        fresh: dict[str, tuple[Any, ...]] = {}
        known, conflicts = 0, []
        for row, id, content in zip(batch.rows.tolist(), batch.id, zip(*columns, strict=True), strict=True):
            before = stored.get(id) or fresh.get(id)
            if before is None:
                fresh[id] = content
            elif before == content:
                known += 1
            else:
                conflicts.append(Fault(row, "id", "a prediction keeps its content under its id"))
        if conflicts and atomic:
            raise ConflictError(conflicts)
        rows = [(model, id, number, *content) for id, content in fresh.items()]
        _put(store, connection, PREDICTIONS, ("model", "id", "batch", *_CONTENT), rows)
        for version in sorted({content[1] for content in fresh.values()}):
            register_version(connection, model, version, now=now, who=who)
        found = Ingested(number if rows else 0, len(rows), known, tuple(conflicts), batch.faults)
        _counted(connection, model, "predictions", found, now, who)
        return found


def ingest_outcomes(
    store: Store,
    model: int,
    batch: Outcomes,
    *,
    now: int,
    atomic: bool = True,
    corrections: bool = False,
    who: str = "",
) -> Ingested:
    """Store outcomes, before or after their predictions. An outcome that differs from the one that is known is a
    conflict, unless the batch is one of `corrections`: then the earlier one is kept beside it."""
    if atomic:
        refuse_faults(batch.faults, where="outcomes")
    with store.write() as connection:
        number = _next_batch(connection, model)
        stored = _stored(store, connection, OUTCOMES, model, batch.id, (*_ANSWER, "revision", "batch"))
        changed: dict[str, tuple[Any, ...]] = {}
        corrected: dict[tuple[str, int], tuple[Any, ...]] = {}
        known, conflicts = 0, []
        answers = zip(batch.outcome, batch.acted, batch.known, strict=True)
        for row, id, answer in zip(batch.rows.tolist(), batch.id, answers, strict=True):
            before = changed.get(id) or stored.get(id)
            if before is None:
                changed[id] = (*answer, 0, number)
                continue
            now_known = tuple(old if new is None else new for old, new in zip(before, answer[:2], strict=False))
            first_known = before[2] if before[2] is not None else answer[2]
            if now_known == before[:2]:
                known += 1
            elif all(old is None or old == new for old, new in zip(before, now_known, strict=False)):
                changed[id] = (*now_known, first_known, before[3], number)
            elif corrections:
                corrected[id, before[3]] = before
                changed[id] = (*now_known, answer[2], before[3] + 1, number)
            else:
                conflicts.append(Fault(row, "id", "an outcome stays as it was told, unless it is corrected"))
        if conflicts and atomic:
            raise ConflictError(conflicts)
        rows = [(model, id, *content) for id, content in changed.items()]
        names = (*_ANSWER, "revision", "batch")
        _put(store, connection, OUTCOMES, ("model", "id", *names), rows, replace=names)
        past = [(model, id, *content) for (id, _), content in corrected.items()]
        _put(store, connection, CORRECTED, ("model", "id", *names), past)
        found = Ingested(number if rows else 0, len(rows), known, tuple(conflicts), batch.faults)
        _counted(connection, model, "outcomes", found, now, who)
        return found


def _next_batch(connection: Connection, model: int) -> int:
    """The number of the next batch of a model, whose row is held until the batch is committed."""
    held = connection.execute(select(MODELS.c.batches).where(MODELS.c.id == model).with_for_update()).scalar()
    if held is None:
        raise InputError("a model that is registered was expected", remedy="register it with  workup monitor init")
    return int(held) + 1


def _counted(connection: Connection, model: int, kind: str, found: Ingested, now: int, who: str) -> None:
    """Tell of the batch; one that changed nothing leaves no trace."""
    if not found.batch:
        return
    counts = {"new": found.new, "known": found.known, "conflicts": len(found.conflicts), "refused": len(found.refused)}
    connection.execute(update(MODELS).where(MODELS.c.id == model).values(batches=found.batch))
    connection.execute(
        insert(BATCHES).values(model=model, number=found.batch, kind=kind, received=now, who=who, **counts)
    )


def _stored(
    store: Store, connection: Connection, table: Table, model: int, ids: Sequence[str], names: Sequence[str]
) -> Mapping[str, tuple[Any, ...]]:
    """What is held of these ids, by id."""
    columns = ", ".join(f'"{name}"' for name in ("id", *names))
    if store.is_postgresql:
        asked: tuple[Any, ...] = (model, list(ids))
        chosen = "model = %s AND id = ANY(%s::text[])"
    else:
        asked = (model, json.dumps(list(ids)))
        chosen = "model = ? AND id IN (SELECT value FROM json_each(?))"
    found = connection.exec_driver_sql(f"SELECT {columns} FROM {table.name} WHERE {chosen}", asked)
    return {row[0]: tuple(row[1:]) for row in found}


def _put(
    store: Store,
    connection: Connection,
    table: Table,
    names: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
    *,
    replace: Iterable[str] = (),
) -> None:
    """Add rows in one statement; those whose key is there take the new values of `replace`."""
    if not rows:
        return
    columns = ", ".join(f'"{name}"' for name in names)
    new = ", ".join(f'"{name}" = excluded."{name}"' for name in replace)
    instead = f" ON CONFLICT (model, id) DO UPDATE SET {new}" if new else ""
    if store.is_postgresql:  # one array for each column: a statement for each row would be ten times slower
        arrays = ", ".join(f"%s::{_TYPES.get(name, 'text')}[]" for name in names)
        statement = f"INSERT INTO {table.name} ({columns}) SELECT * FROM unnest({arrays}){instead}"
        connection.exec_driver_sql(statement, tuple(list(column) for column in zip(*rows, strict=True)))
    else:
        places = ", ".join("?" * len(names))
        connection.exec_driver_sql(f"INSERT INTO {table.name} ({columns}) VALUES ({places}){instead}", list(rows))
