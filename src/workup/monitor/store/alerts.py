"""Alerts and what becomes of them: opened and resolved by the worker, acknowledged, muted and resolved by people.

An alert is open, acknowledged or resolved; one that is muted stays what it is and is not told of until the mute ends.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Connection, insert, select, update

from workup.errors import InputError
from workup.monitor.store.audit import WORKER, audit
from workup.monitor.store.database import Store
from workup.monitor.store.tables import ALERT_EVENTS, ALERTS, MODELS, VERSIONS
from workup.report import canonical

LONGEST_REASON = 1_000


def keep_alert(
    connection: Connection, key: Mapping[str, Any], values: Mapping[str, Any], plan: Mapping[str, Any], *, now: int
) -> None:
    """One alert as the lens holds it after a window, opened where it is new. Called again with the same it does
    nothing; what a person decided is not touched.

    `key` holds version, watch, cause and relapse; `plan` who owns it and what was agreed to do.
    """
    chosen = [ALERTS.c[name] == value for name, value in key.items()]
    found = connection.execute(select(ALERTS).where(*chosen).with_for_update()).mappings().first()
    held = None if found is None else dict(found)
    seen = {name: values[name] for name in ("effect", "severity", "message", "last_window", "quiet")}
    if held is None:
        what = {name: values[name] for name in ("kind", "metric", "slice", "opened_window")}
        made = insert(ALERTS).values(**key, **what, **seen, **plan, state="open", opened=now)
        number = int(connection.execute(made).inserted_primary_key[0])  # type: ignore[index]
        _event(connection, number, "opened", now, WORKER, window=values["opened_window"])
        audit(
            connection, at=now, who=WORKER, what="open alert", object=str(number), detail={"metric": values["metric"]}
        )
        held = {"id": number, "state": "open", "severity": values["severity"]}
    elif held["state"] == "resolved":
        return
    else:
        connection.execute(update(ALERTS).where(ALERTS.c.id == held["id"]).values(**seen))
        if held["severity"] != values["severity"] == "high":
            _event(connection, held["id"], "worse", now, WORKER, window=values["last_window"])
    if values["state"] == "resolved":
        reason = f"{values['quiet']} quiet windows"
        _resolve(connection, int(held["id"]), now=now, who=WORKER, reason=reason, window=values["resolved_window"])


def acknowledge_alert(store: Store, alert: int, *, now: int, who: str) -> None:
    """Someone has seen it. One that was acknowledged stays so."""
    with store.write() as connection:
        held = _unresolved(connection, alert)
        if held["state"] == "acknowledged":
            return
        values = {"state": "acknowledged", "acknowledged": now, "acknowledged_by": who}
        connection.execute(update(ALERTS).where(ALERTS.c.id == alert).values(**values))
        _event(connection, alert, "acknowledged", now, who)
        audit(connection, at=now, who=who, what="acknowledge alert", object=str(alert))


def resolve_alert(store: Store, alert: int, *, now: int, who: str, reason: str) -> None:
    """Someone says that it is over, and why. If the same is found again, that is a new alert."""
    with store.write() as connection:
        _unresolved(connection, alert)
        _resolve(connection, alert, now=now, who=who, reason=_reason(reason))


def mute_alert(store: Store, alert: int, *, now: int, until: int, who: str, reason: str) -> None:
    """Nobody is told of it until a moment, for a reason."""
    if until <= now:
        raise InputError("a mute must end in the future", got="an end that has passed")
    with store.write() as connection:
        _unresolved(connection, alert)
        values = {"muted_until": until, "muted_by": who, "mute_reason": _reason(reason)}
        connection.execute(update(ALERTS).where(ALERTS.c.id == alert).values(**values))
        detail = {"until": until, "reason": values["mute_reason"]}
        _event(connection, alert, "muted", now, who, detail=detail)
        audit(connection, at=now, who=who, what="mute alert", object=str(alert), detail=detail)


def end_mutes(store: Store, *, now: int) -> int:
    """Alerts whose mute has ended are told of again."""
    with store.write() as connection:
        over = ALERTS.c.muted_until.is_not(None) & (ALERTS.c.muted_until <= now) & (ALERTS.c.state != "resolved")
        ended = connection.execute(select(ALERTS.c.id).where(over).with_for_update()).scalars().all()
        for alert in ended:
            connection.execute(update(ALERTS).where(ALERTS.c.id == alert).values(muted_until=None))
            _event(connection, alert, "unmuted", now, WORKER)
            audit(connection, at=now, who=WORKER, what="mute ended", object=str(alert))
        return len(ended)


def retire_alerts(connection: Connection, version: int, watches: Collection[str], *, now: int) -> None:
    """Resolve alerts of lines that are no longer in the plan: nothing would ever say that they are over."""
    chosen = (ALERTS.c.version == version) & (ALERTS.c.state != "resolved") & ALERTS.c.watch.not_in(watches)
    for alert in connection.execute(select(ALERTS.c.id).where(chosen).with_for_update()).scalars().all():
        _resolve(connection, alert, now=now, who=WORKER, reason="no longer in the plan")


def alerts(
    connection: Connection,
    *,
    now: int,
    model: int | None = None,
    version: int | None = None,
    unresolved: bool = False,
    alert: int | None = None,
) -> list[dict[str, Any]]:
    """Alerts, the newest first, each with its model, its version, `shown` (its state, or muted) and its events."""
    joined = ALERTS.join(VERSIONS, ALERTS.c.version == VERSIONS.c.id).join(MODELS, VERSIONS.c.model == MODELS.c.id)
    asked = select(
        ALERTS, VERSIONS.c.version.label("version_name"), MODELS.c.name.label("model"), MODELS.c.id.label("model_id")
    ).select_from(joined)
    for column, wanted in ((MODELS.c.id, model), (ALERTS.c.version, version), (ALERTS.c.id, alert)):
        if wanted is not None:
            asked = asked.where(column == wanted)
    if unresolved:
        asked = asked.where(ALERTS.c.state != "resolved")
    found = []
    for row in connection.execute(asked.order_by(ALERTS.c.opened.desc(), ALERTS.c.id.desc())).mappings():
        muted = row["state"] != "resolved" and row["muted_until"] is not None and row["muted_until"] > now
        found.append({**row, "slice": json.loads(row["slice"]), "shown": "muted" if muted else row["state"]})
    return found


def alert_events(connection: Connection, alert: int) -> list[dict[str, Any]]:
    """What became of an alert, in order."""
    asked = select(ALERT_EVENTS).where(ALERT_EVENTS.c.alert == alert).order_by(ALERT_EVENTS.c.id)
    return [{**row, "detail": json.loads(row["detail"])} for row in connection.execute(asked).mappings()]


def resolved_by_people(connection: Connection, version: int, watch: str) -> set[tuple[str, int]]:
    """Causes, with their count of relapses, that a person declared to be over."""
    asked = select(ALERTS.c.cause, ALERTS.c.relapse).where(
        ALERTS.c.version == version,
        ALERTS.c.watch == watch,
        ALERTS.c.state == "resolved",
        ALERTS.c.resolved_by != WORKER,
    )
    return {(row.cause, row.relapse) for row in connection.execute(asked)}


def _unresolved(connection: Connection, alert: int) -> dict[str, Any]:
    held = connection.execute(select(ALERTS).where(ALERTS.c.id == alert).with_for_update()).mappings().first()
    if held is None:
        raise InputError("the number of an alert was expected", got="one that no alert has")
    if held["state"] == "resolved":
        raise InputError("an alert that is not resolved was expected", got="one that is")
    return dict(held)


def _resolve(connection: Connection, alert: int, *, now: int, who: str, reason: str, window: str = "") -> None:
    values = {"state": "resolved", "resolved": now, "resolved_by": who, "resolved_reason": reason, "muted_until": None}
    connection.execute(update(ALERTS).where(ALERTS.c.id == alert).values(**values))
    _event(connection, alert, "resolved", now, who, window=window, detail={"reason": reason})
    audit(connection, at=now, who=who, what="resolve alert", object=str(alert), detail={"reason": reason})


def _reason(text: str) -> str:
    said = text.strip()
    if not 1 <= len(said) <= LONGEST_REASON or "\0" in said:
        raise InputError(f"a reason of 1 to {LONGEST_REASON:,} characters was expected", got=f"{len(said)} characters")
    return said


def _event(
    connection: Connection,
    alert: int,
    what: str,
    now: int,
    who: str,
    *,
    window: str = "",
    detail: Mapping[str, Any] = {},
) -> None:
    connection.execute(
        insert(ALERT_EVENTS).values(
            alert=alert, what=what, at=now, who=who, window=window, detail=canonical(dict(detail))
        )
    )
