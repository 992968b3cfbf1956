"""Windows and what was seen in them: their rows, their states, the state of the lens, and estimates that are never
overwritten: a window that is restated keeps what was shown before, and when."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, func, insert, select, update

from workup.errors import RunError
from workup.monitor.scoring import Rows
from workup.monitor.store.tables import BATCHES, ESTIMATES, MODELS, OUTCOMES, PREDICTIONS, WATCHES, WINDOWS
from workup.report import canonical

OPEN, IMMATURE, MATURE, CLOSED, RESTATED = "open", "immature", "mature", "closed", "restated"
STATES = (OPEN, IMMATURE, MATURE, CLOSED, RESTATED)
_P, _O, _W = PREDICTIONS.c, OUTCOMES.c, WINDOWS.c


class Stretch(NamedTuple):
    """A stretch of time with a name; its end is not part of it."""

    name: str
    start: int
    end: int


class Overtaken(RunError):
    """Another worker has done this in the meantime; there is nothing left to do."""

    def __init__(self) -> None:
        super().__init__("another worker was faster; nothing was written.")


class NotFrozen(RunError):
    """The baseline of a line is not frozen yet, so that nothing can be compared with it."""

    def __init__(self) -> None:
        super().__init__("the baseline is not frozen yet: its outcomes are not all known, or it holds too little.")


# ---- rows ------------------------------------------------------------------------------------------------------------


def rows_between(connection: Connection, model: int, version: str, start: int, end: int) -> Rows:
    """The rows of a version in a stretch of time, with the outcomes that are known now."""
    joined = PREDICTIONS.outerjoin(OUTCOMES, (_P.model == _O.model) & (_P.id == _O.id))
    asked = (
        select(
            _P.time,
            _P.patient,
            _P.site,
            _P.risk,
            _O.outcome,
            func.coalesce(_O.acted, _P.acted),
            _O.known,
            _P.groups,
            _P.inputs,
            _P.scores,
        )
        .select_from(joined)
        .where(_P.model == model, _P.time >= start, _P.time < end, _P.version == version)
        .order_by(_P.time, _P.id)
    )
    found = connection.execute(asked).all()
    columns = list(zip(*found, strict=True)) if found else [()] * 10
    risk, outcome, acted, known = (
        np.array([np.nan if value is None else value for value in columns[i]], dtype=np.float64) for i in (3, 4, 5, 6)
    )
    return Rows(
        np.array(columns[0], dtype=np.int64),
        list(columns[1]),
        list(columns[2]),
        risk,
        outcome,
        acted,
        known,
        list(columns[7]),
        list(columns[8]),
        list(columns[9]),
        through=int(connection.execute(select(MODELS.c.batches).where(MODELS.c.id == model)).scalar_one()),
    )


def span(connection: Connection, model: int, version: str) -> tuple[int, int] | None:
    """The times of the first and the last row of a version; None where it has none."""
    # In the order of the index, so that a version is found at its end of it and not by looking at every row.
    asked = select(_P.time).where(_P.model == model, _P.version == version).limit(1)
    first = connection.execute(asked.order_by(_P.time)).scalar()
    last = connection.execute(asked.order_by(_P.time.desc())).scalar()
    return None if first is None or last is None else (int(first), int(last))


def last_received(connection: Connection, model: int) -> int | None:
    """When the last batch of predictions came."""
    asked = select(func.max(BATCHES.c.received)).where(BATCHES.c.model == model, BATCHES.c.kind == "predictions")
    return connection.execute(asked).scalar()


# ---- windows ---------------------------------------------------------------------------------------------------------


def keep_windows(
    connection: Connection, version: int, cadence: str, stretches: Sequence[Stretch], *, as_of: int, label_delay: int
) -> None:
    """Make the windows that are missing, and let those that are not closed grow older."""
    held = {row.start: row for row in connection.execute(select(WINDOWS).where(_chosen(version, cadence)))}
    for one in stretches:
        state = OPEN if one.end > as_of else IMMATURE if one.end + label_delay > as_of else MATURE
        before = held.get(one.start)
        if before is None:
            made = {"version": version, "cadence": cadence, "state": state, **one._asdict()}
            connection.execute(insert(WINDOWS).values(**made))
        elif before.state in (OPEN, IMMATURE) and before.state != state:
            connection.execute(update(WINDOWS).where(_W.id == before.id).values(state=state))


def windows(connection: Connection, version: int, cadence: str | None = None) -> list[dict[str, Any]]:
    """The windows of a version in the order of time."""
    asked = select(WINDOWS).where(_chosen(version, cadence)).order_by(_W.cadence, _W.start)
    return [dict(row) for row in connection.execute(asked).mappings()]


def mark_stale(connection: Connection, model: int, versions: Mapping[str, int]) -> int:
    """Closed windows whose rows or outcomes came after they were made; answers how many there are.

    Only batches that were not looked at before are read, so that this costs what is new and not what is held.
    """
    row = connection.execute(select(MODELS.c.batches, MODELS.c.checked).where(MODELS.c.id == model)).one()
    if row.batches == row.checked:
        return 0
    closed = {
        name: connection.execute(
            select(_W.id, _W.start, _W.end, _W.through).where(_W.version == number, _W.state.in_((CLOSED, RESTATED)))
        ).all()
        for name, number in versions.items()
    }
    ends = [window.end for own in closed.values() for window in own]
    found: list[Any] = []
    if ends:
        since = [_P.model == model, _P.time < max(ends)]
        late = select(_P.version, _P.time, _P.batch).where(*since, _P.batch > row.checked)
        joined = OUTCOMES.join(PREDICTIONS, (_P.model == _O.model) & (_P.id == _O.id))
        later = select(_P.version, _P.time, _O.batch).select_from(joined).where(*since, _O.batch > row.checked)
        found = [*connection.execute(late), *connection.execute(later)]
    stale = set()
    for name, own in closed.items():
        rows = np.array([(time, batch) for version, time, batch in found if version == name], dtype=np.int64)
        for window in own:
            if rows.size and np.any(
                (rows[:, 0] >= window.start) & (rows[:, 0] < window.end) & (rows[:, 1] > window.through)
            ):
                stale.add(window.id)
    for number in sorted(stale):
        connection.execute(update(WINDOWS).where(_W.id == number).values(stale=1))
    connection.execute(update(MODELS).where(MODELS.c.id == model).values(checked=row.batches))
    return len(stale)


def finish_window(connection: Connection, window: Mapping[str, Any], **values: Any) -> None:
    """Write what became of a window, unless another worker has."""
    same = (_W.id == window["id"]) & (_W.state == window["state"]) & (_W.revision == window["revision"])
    # NULL is equal to nothing, and a window that was not checked holds it.
    checked = _W.checked.is_(None) if window["checked"] is None else _W.checked == window["checked"]
    if connection.execute(update(WINDOWS).where(same & checked).values(**values)).rowcount != 1:
        raise Overtaken


def _chosen(version: int, cadence: str | None) -> Any:
    return (_W.version == version) & (_W.cadence == cadence) if cadence is not None else _W.version == version


# ---- what the lens has seen ------------------------------------------------------------------------------------------


def watches(connection: Connection, version: int) -> dict[str, dict[str, Any]]:
    """The states of the lens by the key of their line."""
    asked = select(WATCHES).where(WATCHES.c.version == version)
    return {row["key"]: dict(row) for row in connection.execute(asked).mappings()}


def start_watch(
    connection: Connection, version: int, key: str, *, line: Mapping[str, Any], state: Mapping[str, Any], now: int
) -> None:
    """Freeze a line's baseline, once."""
    held = connection.execute(select(WATCHES.c.id).where(WATCHES.c.version == version, WATCHES.c.key == key)).first()
    if held is not None:
        raise Overtaken
    values = {"line": canonical(dict(line)), "state": json.dumps(state), "windows": 0, "frozen": now}
    connection.execute(insert(WATCHES).values(version=version, key=key, **values))


def advance_watch(connection: Connection, watch: Mapping[str, Any], state: Mapping[str, Any], *, windows: int) -> None:
    """The state after so many windows, unless another worker has advanced it."""
    same = (WATCHES.c.id == watch["id"]) & (WATCHES.c.windows == watch["windows"])
    values = {"state": json.dumps(state), "windows": windows}
    if connection.execute(update(WATCHES).where(same).values(**values)).rowcount != 1:
        raise Overtaken


# ---- estimates -------------------------------------------------------------------------------------------------------


def keep_estimates(
    connection: Connection, window: int, rows: Iterable[Mapping[str, Any]], *, revision: int, now: int
) -> None:
    """Add what is shown of a window from now on; what was shown before stays."""
    made = [{**row, "window": window, "revision": revision, "shown": now} for row in rows]
    if made:
        connection.execute(insert(ESTIMATES), made)


def estimates(
    connection: Connection,
    version: int,
    *,
    kinds: Sequence[str] = (),
    window: int | None = None,
    every_revision: bool = False,
) -> list[dict[str, Any]]:
    """Estimates with the name of their window in the order of time: the last of each, or all that were ever shown."""
    joined = ESTIMATES.join(WINDOWS, ESTIMATES.c.window == _W.id)
    asked = select(ESTIMATES, _W.name.label("window_name"), _W.cadence, _W.start, _W.state.label("window_state"))
    asked = asked.select_from(joined).where(_W.version == version)
    if kinds:
        asked = asked.where(ESTIMATES.c.kind.in_(kinds))
    if window is not None:
        asked = asked.where(_W.id == window)
    rows = connection.execute(asked.order_by(_W.start, ESTIMATES.c.id)).mappings()
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        names = ("window", "watch", "kind", "metric", "slice", "part", "chart")
        key = tuple(row[name] for name in names) + ((row["revision"],) if every_revision else ())
        if key not in found or row["revision"] >= found[key]["revision"]:
            found[key] = {**row, "slice": json.loads(row["slice"])}
    return list(found.values())
