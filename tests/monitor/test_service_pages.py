"""Signing in to the pages: cookies, forms of other sites, tokens that end, and strings that would be markup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.monitor.test_store import counted
from tests.support.monitor_service import Service
from workup.monitor.store import tables
from workup.monitor.store.database import open_store
from workup.monitor.store.tokens import revoke_token

_HTML = "<img src=x onerror=alert(1)>"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    opened = open_store(str(tmp_path / "monitor.db"))
    made = Service(opened)
    made.client.follow_redirects = False
    yield made
    opened.close()


def sign_in(service: Service, *scopes: str) -> str:
    token = service.token(*scopes)
    got = service.client.post("/sign-in", data={"token": token})
    assert (got.status_code, got.headers["location"]) == (303, "/")
    assert token not in str(got.headers)
    return token


def csrf(service: Service) -> str:
    [found, *_] = re.findall('name="csrf" value="([^"]+)"', service.client.get("/").text)
    return str(found)


def test_nobody_sees_a_page_who_is_not_signed_in(service: Service) -> None:
    for address in ("/", "/models/1", "/alerts/1", "/audit"):
        got = service.client.get(address)
        assert (got.status_code, got.headers["location"]) == (303, "/sign-in")
    assert service.client.post("/alerts/1/acknowledge").headers["location"] == "/sign-in"
    for token in ("", "x", service.token("ingest"), "\ud7ff" * 300):
        assert service.client.post("/sign-in", data={"token": token}).status_code == 401


def test_a_cookie_is_for_this_site_alone_and_worth_nothing_after_signing_out(service: Service) -> None:
    service.context.behind_tls = False
    token = service.token("read")
    set_cookie = service.client.post("/sign-in", data={"token": token}).headers["set-cookie"]
    assert all(said in set_cookie for said in ("HttpOnly", "SameSite=strict", "Path=/"))
    held = dict(service.client.cookies)
    assert service.client.post("/sign-out", data={"csrf": csrf(service)}).status_code == 303
    replayed = {"Cookie": "; ".join(f"{name}={value}" for name, value in held.items())}
    assert service.client.get("/", headers=replayed).headers["location"] == "/sign-in"
    service.context.behind_tls = True
    secure = service.client.post("/sign-in", data={"token": token}).headers["set-cookie"]
    assert secure.startswith("__Host-")
    assert "Secure" in secure


def test_a_session_ends_with_its_token_and_after_a_working_day(service: Service) -> None:
    token = sign_in(service, "admin")
    assert service.client.get("/").status_code == 200
    revoke_token(service.store, token.split("_")[1], now=service.now, who="test")
    assert service.client.get("/").status_code == 303
    sign_in(service, "admin")
    service.now += 8 * 3_600_000_000
    assert service.client.get("/").status_code == 303


def test_a_form_without_its_secret_or_from_another_site_changes_nothing(service: Service) -> None:
    alert = service.alert()
    sign_in(service, "admin")
    own, before = csrf(service), counted(service.store, tables.AUDIT)
    place = f"/alerts/{alert}/resolve"
    for fields in ({}, {"csrf": ""}, {"csrf": "x" * 43}, {"csrf": "\ud7ff"}):
        assert service.client.post(place, data={"reason": "over", **fields}).status_code == 403
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    fields = {"reason": "over", "csrf": own}
    assert service.client.post(place, data=fields, headers=elsewhere).status_code == 403
    assert service.client.post("/sign-in", data={"token": "x"}, headers=elsewhere).status_code == 403
    for wrong in ({"csrf": own}, {"csrf": own, "reason": " "}, {"csrf": own, "reason": "\0"}):
        assert service.client.post(place, data=wrong).status_code == 422
    mute = f"/alerts/{alert}/mute"
    for until in ("", "soon", "2020-01-01", _HTML):
        assert service.client.post(mute, data={**fields, "until": until}).status_code == 422
    assert service.client.post(f"/alerts/{alert}/delete", data=fields).status_code == 404
    assert service.client.post(place, content=b"csrf=%ff&\xff").status_code == 400
    assert service.client.post("/alerts/99/resolve", data=fields).status_code == 404
    assert counted(service.store, tables.AUDIT) == before
    assert service.client.post(mute, data={**fields, "until": "2025-12-01"}).status_code == 303
    assert service.client.post(place, data=fields).status_code == 303
    assert service.client.post(place, data=fields).status_code == 409


def test_who_may_read_sees_alerts_and_may_not_act(service: Service) -> None:
    alert = service.alert()
    sign_in(service, "read")
    assert "Acknowledge" not in service.client.get(f"/alerts/{alert}").text
    got = service.client.post(f"/alerts/{alert}/acknowledge", data={"csrf": csrf(service)})
    assert got.status_code == 403
    shown = service.client.get("/audit", headers={"Accept": "text/html"})
    assert (shown.status_code, shown.headers["content-type"]) == (403, "text/html; charset=utf-8")


def test_stored_strings_are_words_and_no_markup(service: Service) -> None:
    changed: dict[str, Any] = {"message": _HTML, "owner": _HTML, "action": _HTML, "metric": f"auroc{_HTML}"}
    alert = service.alert(**changed)
    sign_in(service, "admin")
    service.client.post(f"/alerts/{alert}/resolve", data={"reason": _HTML, "csrf": csrf(service)})
    for address in ("/", "/models/1", f"/alerts/{alert}", "/audit"):
        got = service.client.get(address)
        assert got.status_code == 200
        assert "<img" not in got.text
        rules = got.headers["content-security-policy"]
        assert "script-src 'none'" in rules
        assert "frame-ancestors 'none'" in rules
