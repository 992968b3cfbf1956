"""The programming interface: rows in, and windows, figures and alerts out. All of it needs a token."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection, select
from starlette.concurrency import run_in_threadpool

from workup.monitor.columns import Hidden, checked_outcomes, checked_predictions
from workup.monitor.plan import Plan
from workup.monitor.service.answers import Problem, Stored, faulty, said
from workup.monitor.service.bodies import TYPES, table_of
from workup.monitor.service.callers import Administrator, Feeder, Reader, name_of
from workup.monitor.service.context import Context, Refused, context_of
from workup.monitor.store import windows as kept
from workup.monitor.store.alerts import (
    LONGEST_REASON,
    acknowledge_alert,
    alert_events,
    alerts,
    mute_alert,
    resolve_alert,
)
from workup.monitor.store.audit import audit_lines
from workup.monitor.store.ingest import Ingested, ingest_outcomes, ingest_predictions
from workup.monitor.store.models import last_plan, models, versions
from workup.monitor.store.tables import MODELS, NAME

_LARGEST_NUMBER = 2**63 - 1  # that a database can hold
_REFUSALS = {
    400: "The body cannot be read",
    401: "No valid token",
    403: "The token may not do this",
    404: "No such model or alert",
    409: "An id is known with other content, or the alert is resolved",
    413: "Too large",
    415: "Another content type",
    422: "Something in the request is not as expected; where rows are at fault, which",
    429: "Too many requests",
    503: "The store cannot be used now; try again",
}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": words} for status, words in _REFUSALS.items()
}
_ROWS = {"type": "array", "items": {"type": "object"}}
_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            type: {"schema": _ROWS if type == TYPES[0] else {"type": "string", "format": "binary"}} for type in TYPES
        },
    }
}

router = APIRouter(prefix="/api", responses=_RESPONSES)

Model = Annotated[str, Path(min_length=1, max_length=NAME, description="Name of a model that is registered")]
Alert = Annotated[int, Path(ge=1, le=_LARGEST_NUMBER, description="Number of an alert")]
Partial = Annotated[bool, Query(description="Store the rows that can be, and name the others")]


class Reason(BaseModel):
    """Why someone does it."""

    model_config = ConfigDict(extra="forbid")
    reason: str = Field(min_length=1, max_length=LONGEST_REASON)


class Mute(Reason):
    """Until when, and why."""

    until: datetime = Field(description="When people are told again, in UTC where no zone is named")


# ---- rows in ---------------------------------------------------------------------------------------------------------


@router.post("/models/{model}/predictions", openapi_extra=_BODY)
async def post_predictions(model: Model, request: Request, feeder: Feeder, partial: Partial = False) -> Stored:
    """Take in predictions. What was sent before changes nothing; by default all rows are stored or none."""
    return await _taken_in(request, model, "predictions", name_of(feeder), partial, corrections=False)


@router.post("/models/{model}/outcomes", openapi_extra=_BODY)
async def post_outcomes(
    model: Model,
    request: Request,
    feeder: Feeder,
    partial: Partial = False,
    corrections: Annotated[bool, Query(description="Outcomes that differ from known ones take their place")] = False,
) -> Stored:
    """Take in outcomes, whenever they become known."""
    return await _taken_in(request, model, "outcomes", name_of(feeder), partial, corrections=corrections)


async def _taken_in(request: Request, model: str, what: str, who: str, partial: bool, *, corrections: bool) -> Stored:
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refused(415, "A body that is not packed was expected.")
    content, type = await request.body(), request.headers.get("content-type", "")
    context = context_of(request)
    return await run_in_threadpool(_stored, context, model, what, content, type, who, not partial, corrections)


def _stored(
    context: Context, model: str, what: str, content: bytes, type: str, who: str, atomic: bool, corrections: bool
) -> Stored:
    with context.store.read() as connection:
        number = number_of(connection, model)
        held = last_plan(connection, number)
    if held is None:
        raise Refused(409, "The model has no plan yet.")
    plan = Plan.of(held["content"], where=f"plan {held['number']}")
    if plan.hashed_ids and context.key is None:
        raise Refused(503, "The plan keeps ids as a keyed hash, and the service was started without the key.")
    hidden = Hidden(context.key if plan.hashed_ids else None)
    table, now = table_of(content, type, plan.columns), context.clock()
    if what == "predictions":
        given = checked_predictions(table, plan.columns, version=plan.version, hidden=hidden)
        _usable(given, atomic)
        found = ingest_predictions(context.store, number, given, now=now, atomic=atomic, who=who)
    else:
        told = checked_outcomes(table, plan.columns, hidden=hidden)
        _usable(told, atomic)
        found = ingest_outcomes(context.store, number, told, now=now, atomic=atomic, who=who, corrections=corrections)
    return _answer(found)


def _usable(batch: Any, atomic: bool) -> None:
    if batch.faults and (atomic or not len(batch)):
        raise Refused(422, "Rows that can be used were expected; nothing was stored.", faults=batch.faults)


def _answer(found: Ingested) -> Stored:
    return Stored(
        batch=found.batch,
        new=found.new,
        known=found.known,
        conflicts=len(found.conflicts),
        refused=len({fault.row for fault in found.refused}),
        rows=faulty(sorted((*found.conflicts, *found.refused))),
    )


# ---- what is known ---------------------------------------------------------------------------------------------------


@router.get("/models")
def get_models(request: Request, reader: Reader) -> list[dict[str, Any]]:
    """The models that are watched."""
    with context_of(request).store.read() as connection:
        return [said(one, without=("batches", "checked")) for one in models(connection)]


@router.get("/models/{model}/windows")
def get_windows(model: Model, request: Request, reader: Reader) -> list[dict[str, Any]]:
    """The windows of all versions of a model, in the order of time."""
    with context_of(request).store.read() as connection:
        return [
            {"model_version": version["version"], **said(one, without=("version", "through", "stale"))}
            for version in versions(connection, number_of(connection, model))
            for one in kept.windows(connection, version["id"])
        ]


@router.get("/models/{model}/estimates")
def get_estimates(
    model: Model,
    request: Request,
    reader: Reader,
    kind: Annotated[Literal["integrity", "performance", "fairness", "impact"] | None, Query()] = None,
    window: Annotated[int | None, Query(ge=1, le=_LARGEST_NUMBER, description="Number of one window")] = None,
    every_revision: Annotated[bool, Query(description="With figures that were restated since")] = False,
) -> list[dict[str, Any]]:
    """The figures of all windows, the last of each unless all are asked for."""
    kinds = () if kind is None else (kind,)
    with context_of(request).store.read() as connection:
        return [
            {"model_version": version["version"], **said(one)}
            for version in versions(connection, number_of(connection, model))
            for one in kept.estimates(
                connection, version["id"], kinds=kinds, window=window, every_revision=every_revision
            )
        ]


@router.get("/models/{model}/alerts")
def get_alerts(
    model: Model, request: Request, reader: Reader, unresolved: Annotated[bool, Query()] = False
) -> list[dict[str, Any]]:
    """The alerts of a model, the newest first, with who does what."""
    context = context_of(request)
    with context.store.read() as connection:
        number = number_of(connection, model)
        return [said(one) for one in alerts(connection, now=context.clock(), model=number, unresolved=unresolved)]


# ---- alerts ----------------------------------------------------------------------------------------------------------


@router.get("/alerts/{alert}")
def get_alert(alert: Alert, request: Request, reader: Reader) -> dict[str, Any]:
    """One alert with what became of it."""
    return _alert(context_of(request), alert)


@router.post("/alerts/{alert}/acknowledge")
def post_acknowledge(alert: Alert, request: Request, administrator: Administrator) -> dict[str, Any]:
    """Say that someone has seen it."""
    context = context_of(request)
    unresolved(context, alert)
    acknowledge_alert(context.store, alert, now=context.clock(), who=name_of(administrator))
    return _alert(context, alert)


@router.post("/alerts/{alert}/resolve")
def post_resolve(alert: Alert, given: Reason, request: Request, administrator: Administrator) -> dict[str, Any]:
    """Say that it is over, and why."""
    context = context_of(request)
    unresolved(context, alert)
    resolve_alert(context.store, alert, now=context.clock(), who=name_of(administrator), reason=given.reason)
    return _alert(context, alert)


@router.post("/alerts/{alert}/mute")
def post_mute(alert: Alert, given: Mute, request: Request, administrator: Administrator) -> dict[str, Any]:
    """Tell nobody of it until a moment, for a reason."""
    context = context_of(request)
    unresolved(context, alert)
    moment = given.until if given.until.tzinfo else given.until.replace(tzinfo=UTC)
    until = round(moment.timestamp() * 1_000_000)
    who = name_of(administrator)
    mute_alert(context.store, alert, now=context.clock(), until=until, who=who, reason=given.reason)
    return _alert(context, alert)


@router.get("/audit")
def get_audit(
    request: Request,
    administrator: Administrator,
    last: Annotated[int, Query(ge=1, le=1_000)] = 200,
    before: Annotated[int | None, Query(ge=1, le=_LARGEST_NUMBER, description="Go on from this line")] = None,
) -> list[dict[str, Any]]:
    """The audit log, the newest line first."""
    with context_of(request).store.read() as connection:
        return [said(one) for one in audit_lines(connection, last=last, before=before)]


def number_of(connection: Connection, name: str) -> int:
    """The number of a model by its name."""
    # No database is asked for a name that it could not hold.
    found = (
        None
        if "\0" in name or not name.isprintable()
        else connection.execute(select(MODELS.c.id).where(MODELS.c.name == name)).scalar()
    )
    if found is None:
        raise Refused(404, "The name of a model that is registered was expected.")
    return int(found)


def unresolved(context: Context, alert: int) -> None:
    """Refuse what is done to an alert that is not there, or is over."""
    with context.store.read() as connection:
        found = alerts(connection, now=context.clock(), alert=alert)
    if not found:
        raise Refused(404, "The number of an alert was expected.")
    if found[0]["state"] == "resolved":
        raise Refused(409, "An alert that is not resolved was expected.")


def _alert(context: Context, alert: int) -> dict[str, Any]:
    with context.store.read() as connection:
        found = alerts(connection, now=context.clock(), alert=alert)
        if not found:
            raise Refused(404, "The number of an alert was expected.")
        return {**said(found[0]), "events": [said(one) for one in alert_events(connection, alert)]}
