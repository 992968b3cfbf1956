"""The pages: sign in, all models with their alerts, one model with its charts, one alert with who does what, the log.

A form counts only with the secret of the session that it was shown in, and never when another site sends it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from typing import Annotated, Any, NamedTuple
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment
from markupsafe import Markup
from sqlalchemy import Connection, func, select

from workup.errors import InputError
from workup.monitor.overview import age, fleet, moment, sections, words
from workup.monitor.service.api import unresolved
from workup.monitor.service.callers import name_of
from workup.monitor.service.context import Context, Refused, address_of, context_of
from workup.monitor.service.sessions import HOURS, Session
from workup.monitor.site import charts_of, parts_of, templates
from workup.monitor.store.alerts import acknowledge_alert, alert_events, alerts, mute_alert, resolve_alert
from workup.monitor.store.audit import audit, audit_lines
from workup.monitor.store.models import last_plan, models
from workup.monitor.store.tables import ESTIMATES, VERSIONS, WINDOWS
from workup.monitor.store.tokens import Token, checked_token, token_in_use
from workup.reports.html import asset, legible, policy
from workup.reports.layout import Section, Table

SIGN_IN = "/sign-in"
_FIELDS = 10  # of a form
_OWN = ("same-origin", "none")  # where a browser says that a request comes from

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
Number = Annotated[int, Path(ge=1, le=2**63 - 1)]


class Person(NamedTuple):
    """Someone who is signed in."""

    token: Token
    session: Session
    cookie: str


def signed_in(request: Request) -> Person:
    """Who asks; whoever is not signed in is sent to do so."""
    context = context_of(request)
    now, cookie = context.clock(), request.cookies.get(_cookie_name(context), "")
    session = context.sessions.of(cookie, now=now)
    if session is not None:
        with context.store.read() as connection:
            token = token_in_use(connection, session.token, now=now)
        if token is not None and token.may("read"):
            if not context.calls.allows(token.id):
                raise Refused(429, "Too many requests; wait a second.")
            return Person(token, session, cookie)
        context.sessions.end(cookie)
    raise Refused(303, SIGN_IN)


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form that a page of ours sent."""
    if request.headers.get("sec-fetch-site", "none") not in _OWN:
        raise Refused(403, "A form of this site was expected.")
    try:
        found = parse_qs((await request.body()).decode(), keep_blank_values=True, max_num_fields=_FIELDS)
    except ValueError:
        raise Refused(400, "A form in UTF-8 was expected.") from None
    return {name: values[-1] for name, values in found.items()}


Signed = Annotated[Person, Depends(signed_in)]
Form = Annotated[dict[str, str], Depends(form_of)]


# ---- signing in and out ----------------------------------------------------------------------------------------------


@router.get(SIGN_IN)
def get_sign_in() -> HTMLResponse:
    """The form."""
    return _page("sign_in.html", "Sign in", said="")


@router.post(SIGN_IN)
def post_sign_in(request: Request, form: Form) -> Any:
    """Begin a session."""
    context = context_of(request)
    now = context.clock()
    with context.store.read() as connection:
        token = checked_token(connection, form.get("token", "").strip(), now=now)
    if token is None or not token.may("read"):
        status = 401 if context.failures.allows(address_of(request)) else 429
        said = "A token that is valid and has the scope 'read' was expected."
        return _page("sign_in.html", "Sign in", status=status, said=said)
    with context.store.write() as connection:
        audit(connection, at=now, who=name_of(token), what="sign in", object=token.id)
    answer = RedirectResponse("/", 303)
    answer.set_cookie(
        _cookie_name(context),
        context.sessions.begin(token.id, now=now),
        max_age=HOURS * 3600,
        secure=context.behind_tls,
        httponly=True,
        samesite="strict",
    )
    return answer


@router.post("/sign-out")
def post_sign_out(request: Request, person: Signed, form: Form) -> Any:
    """End the session."""
    _checked(person, form)
    context = context_of(request)
    context.sessions.end(person.cookie)
    with context.store.write() as connection:
        audit(connection, at=context.clock(), who=name_of(person.token), what="sign out", object=person.token.id)
    answer = RedirectResponse(SIGN_IN, 303)
    answer.delete_cookie(_cookie_name(context), secure=context.behind_tls, httponly=True, samesite="strict")
    return answer


# ---- what is known ---------------------------------------------------------------------------------------------------


@router.get("/")
def get_fleet(request: Request, person: Signed) -> HTMLResponse:
    """All models, and the alerts that wait for someone."""
    context = context_of(request)
    now = context.clock()
    with context.store.read() as connection:
        listed = models(connection)
        links = {one["id"]: f"/models/{one['id']}" for one in listed}
        shown = [fleet(connection, listed, now=now, links=links), _inbox(connection, now)]
    return _page("frame.html", "Models and alerts", person, parts=parts_of(shown))


@router.get("/models/{number}")
def get_model(number: Number, request: Request, person: Signed) -> HTMLResponse:
    """One model with its control charts."""
    context = context_of(request)
    with context.store.read() as connection:
        found = [one for one in models(connection) if one["id"] == number]
        if not found:
            raise Refused(404, "There is no such model.")
        shown = sections(connection, found[0], now=context.clock())
        drawn = _charts(context, connection, number)
    parts = parts_of(shown)
    return _page("frame.html", shown[0].title, person, parts=[*parts[:2], *drawn, *parts[2:]])


@router.get("/alerts/{number}")
def get_alert(number: Number, request: Request, person: Signed) -> HTMLResponse:
    """One alert: who does what, what became of it, and forms to act on it."""
    context = context_of(request)
    now = context.clock()
    with context.store.read() as connection:
        found = alerts(connection, now=now, alert=number)
        if not found:
            raise Refused(404, "There is no such alert.")
        events = alert_events(connection, number)
    return _page(
        "alert.html",
        f"{words(found[0])} ({found[0]['model']})",
        person,
        number=number,
        state=found[0]["state"],
        facts=[(name, legible(value)) for name, value in _facts(found[0], now).items()],
        charts=f"/models/{found[0]['model_id']}#charts",
        may_act=person.token.may("admin") and found[0]["state"] != "resolved",
        parts=parts_of([_history(events)]),
    )


@router.get("/audit")
def get_audit(request: Request, person: Signed) -> HTMLResponse:
    """Who did what."""
    if not person.token.may("admin"):
        raise Refused(403, "The audit log is for tokens with the scope 'admin'.")
    with context_of(request).store.read() as connection:
        lines = audit_lines(connection)
    rows = tuple((moment(one["at"]), one["who"], one["what"], one["object"], one["detail"]) for one in lines)
    shown = Section("Audit log", (), (Table(("when", "who", "what", "to what", "detail"), rows, "The newest first"),))
    return _page("frame.html", "Audit log", person, parts=parts_of([shown]))


# ---- acting on an alert ----------------------------------------------------------------------------------------------


@router.post("/alerts/{number}/{what}")
def post_alert(number: Number, what: str, request: Request, person: Signed, form: Form) -> Any:
    """Acknowledge, resolve or mute it."""
    _checked(person, form)
    if not person.token.may("admin"):
        raise Refused(403, "A token with the scope 'admin' was expected.")
    context = context_of(request)
    now, who, reason = context.clock(), name_of(person.token), form.get("reason", "")
    if what not in ("acknowledge", "resolve", "mute"):
        raise Refused(404, "There is no such page.")
    unresolved(context, number)
    if what == "acknowledge":
        acknowledge_alert(context.store, number, now=now, who=who)
    elif what == "resolve":
        resolve_alert(context.store, number, now=now, who=who, reason=reason)
    else:
        mute_alert(context.store, number, now=now, until=_day(form.get("until", "")), who=who, reason=reason)
    return RedirectResponse(f"/alerts/{number}", 303)


def refused_page(said: str, status: int) -> HTMLResponse:
    """A refusal as a person reads it."""
    return _page("refused.html", "This was not done", status=status, said=said)


def _checked(person: Person, form: Mapping[str, str]) -> None:
    if not person.session.sent(form.get("csrf", "")):
        raise Refused(403, "A form of this session was expected; open the page again.")


def _day(text: str) -> int:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise InputError("a day such as 2025-06-30 was expected", where="until", got="another form") from None
    return round(found.replace(tzinfo=found.tzinfo or UTC).timestamp()) * 1_000_000


def _cookie_name(context: Context) -> str:
    # A browser takes a cookie of this name from this host alone, and over TLS alone.
    return "__Host-workup" if context.behind_tls else "workup_monitor"


def _inbox(connection: Connection, now: int) -> Section:
    waiting = alerts(connection, now=now, unresolved=True)
    heads = ("alert", "model", "state", "severity", "age", "time to acknowledge", "owner", "agreed action")
    rows = tuple(
        (
            words(one),
            str(one["model"]),
            str(one["shown"]),
            str(one["severity"]),
            age(one["opened"], now),
            "–" if one["acknowledged"] is None else age(one["opened"], one["acknowledged"]),
            str(one["owner"]),
            str(one["action"]),
        )
        for one in waiting
    )
    if not rows:
        return Section("Alerts", ("None waits for anyone.",))
    links = tuple(f"/alerts/{one['id']}" for one in waiting)
    return Section("Alerts", (), (Table(heads, rows, "Alerts that are not resolved", links=links),))


def _facts(alert: Mapping[str, Any], now: int) -> dict[str, str]:
    muted = f", until {moment(alert['muted_until'])}: {alert['mute_reason']}" if alert["shown"] == "muted" else ""
    over = f", {moment(alert['resolved'])}: {alert['resolved_reason']}" if alert["state"] == "resolved" else ""
    return {
        "State": f"{alert['shown']}{muted}{over}",
        "Owner": str(alert["owner"]),
        "Agreed action": str(alert["action"]),
        "Escalation": str(alert["escalation"]),
        "What was seen": str(alert["message"]),
        "Severity": str(alert["severity"]),
        "Opened": f"in window {alert['opened_window']}, {age(alert['opened'], now)} ago, by plan {alert['plan']}",
    }


def _history(events: list[dict[str, Any]]) -> Section:
    rows = tuple(
        (moment(one["at"]), str(one["what"]), str(one["who"]), str(one["detail"].get("reason", ""))) for one in events
    )
    return Section("What became of it", (), (Table(("when", "what", "who", "reason"), rows, "In order"),))


def _charts(context: Context, connection: Connection, model: int) -> list[Any]:
    """The charts of a model as drawn; drawn again only when a window was closed or restated, or the plan is another."""
    held = last_plan(connection, model)
    joined = ESTIMATES.join(WINDOWS, ESTIMATES.c.window == WINDOWS.c.id).join(
        VERSIONS, WINDOWS.c.version == VERSIONS.c.id
    )
    newest = select(func.max(ESTIMATES.c.id)).select_from(joined).where(VERSIONS.c.model == model)
    state = (held and held["number"], connection.execute(newest).scalar())
    if model not in context.drawn or context.drawn[model][0] != state:
        context.drawn[model] = (state, parts_of([], charts=charts_of(connection, model)))
    return context.drawn[model][1]


@cache
def _templates() -> Environment:
    return templates()


@cache
def _style() -> str:
    own = resources.files("workup.monitor") / "static/service.css"
    return asset("static/report.css") + own.read_text(encoding="utf-8")


def _page(template: str, title: str, person: Person | None = None, *, status: int = 200, **values: Any) -> HTMLResponse:
    text = (
        _templates()
        .get_template(template)
        .render(
            title=legible(title), style=Markup(_style()), csrf="" if person is None else person.session.csrf, **values
        )
    )
    rules = policy(_style(), "").replace("form-action 'none'", "form-action 'self'; frame-ancestors 'none'")
    return HTMLResponse(text, status, headers={"Content-Security-Policy": rules})
