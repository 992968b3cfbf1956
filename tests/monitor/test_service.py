"""The programming interface on both databases: rows in four forms, who may do what, and what is sent to break it."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy

from tests.monitor.test_store import counted
from tests.support.monitor_service import NOW, Service
from tests.support.monitored import small_year
from workup.monitor.service import bodies, limits
from workup.monitor.store import tables
from workup.monitor.store.database import Store, open_store
from workup.monitor.store.tokens import revoke_token

PREDICTIONS = "/api/models/readmission/predictions"
OUTCOMES = "/api/models/readmission/outcomes"
_HTML, _SQL = "<script>alert(1)</script>", "'; DROP TABLE predictions; --"


@pytest.fixture
def service(store: Store) -> Service:
    return Service(store)


@pytest.fixture
def embedded(tmp_path: Any) -> Iterator[Service]:
    """On SQLite alone, for what does not touch the database's own ways."""
    opened = open_store(str(tmp_path / "monitor.db"))
    yield Service(opened)
    opened.close()


def rows(count: int = 3, **changed: Any) -> list[dict[str, Any]]:
    return [
        {"id": f"p{i}", "time": f"2025-01-0{1 + i}T08:00:00Z", "risk": 0.1 + 0.1 * i, "sex": "F", **changed}
        for i in range(count)
    ]


def in_form(kind: str, given: list[dict[str, Any]]) -> bytes:
    if kind == bodies.JSON:
        return json.dumps(given).encode()
    if kind == bodies.LINES:
        return "\n".join(map(json.dumps, given)).encode()
    if kind == bodies.CSV:
        return "\n".join([",".join(given[0]), *(",".join(map(str, row.values())) for row in given)]).encode()
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(given), file)
    return file.getvalue()


def sent(service: Service, address: str, body: Any, *, kind: str = bodies.JSON, header: Any = None) -> Any:
    content = body if isinstance(body, bytes) else in_form(kind, body)
    header = service.header("ingest") if header is None else header
    return service.client.post(address, content=content, headers={"Content-Type": kind, **header})


# ---- rows ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", bodies.TYPES)
def test_rows_are_taken_in_in_every_form_once(embedded: Service, kind: str) -> None:
    first = sent(embedded, PREDICTIONS, rows(), kind=kind)
    assert (first.status_code, first.json()["new"], first.json()["batch"]) == (200, 3, 1)
    again = sent(embedded, PREDICTIONS, rows(), kind=bodies.JSON)
    assert (again.json()["new"], again.json()["known"]) == (0, 3)
    told = sent(embedded, OUTCOMES, [{"id": f"p{i}", "readmitted": i % 2} for i in range(3)], kind=kind)
    assert told.json()["new"] == 3


def test_all_rows_are_stored_or_none_unless_a_part_is_asked_for(service: Service) -> None:
    given = [*rows(), {"id": "p9", "time": "2025-01-09", "risk": 7, "sex": "F"}]
    whole = sent(service, PREDICTIONS, given)
    assert whole.status_code == 422
    assert [(one["row"], one["column"]) for one in whole.json()["rows"]] == [(4, "risk")]
    assert counted(service.store, tables.PREDICTIONS) == 0
    some = sent(service, f"{PREDICTIONS}?partial=true", given).json()
    assert (some["new"], some["refused"], some["rows"][0]["row"]) == (3, 1, 4)
    changed = sent(service, PREDICTIONS, rows(risk=0.9))
    assert (changed.status_code, len(changed.json()["rows"])) == (409, 3)
    known = sent(service, f"{PREDICTIONS}?partial=true", rows(risk=0.9)).json()
    assert (known["conflicts"], known["new"]) == (3, 0)


def test_an_outcome_is_corrected_only_where_that_is_said(service: Service) -> None:
    sent(service, PREDICTIONS, rows())
    sent(service, OUTCOMES, [{"id": "p0", "readmitted": 0}])
    assert sent(service, OUTCOMES, [{"id": "p0", "readmitted": 1}]).status_code == 409
    assert sent(service, f"{OUTCOMES}?corrections=true", [{"id": "p0", "readmitted": 1}]).json()["new"] == 1


def test_ids_are_hashed_where_the_plan_says_so_and_refused_without_the_key(embedded: Service) -> None:
    from tests.support.monitored import small_plan

    embedded.monitored.replan(small_plan(hashed_ids=True))
    assert sent(embedded, PREDICTIONS, rows()).status_code == 503
    embedded.context.key = b"0" * 32
    assert sent(embedded, PREDICTIONS, rows()).json()["new"] == 3
    with embedded.store.read() as connection:
        assert not set(connection.execute(sqlalchemy.select(tables.PREDICTIONS.c.id)).scalars()) & {"p0", "p1", "p2"}


# ---- what is known ---------------------------------------------------------------------------------------------------


def test_windows_figures_alerts_and_metrics_of_a_year(embedded: Service) -> None:
    embedded.monitored.take_in(small_year())
    embedded.monitored.step()
    header = embedded.header("read")
    got = {
        what: embedded.client.get(f"/api/models/readmission/{what}", headers=header).json()
        for what in ("windows", "estimates", "alerts")
    }
    assert [one["name"] for one in got["windows"] if one["state"] == "closed"] == [f"2025-0{i}" for i in range(1, 7)]
    assert {"performance", "integrity"} <= {one["kind"] for one in got["estimates"]}
    [alert] = [one for one in got["alerts"] if one["slice"] == {"sex": "F"} and one["kind"] == "performance"]
    assert alert["owner"] == "Ward lead for readmissions"
    assert alert["opened"].startswith("2025-08-05T")
    performance = embedded.client.get("/api/models/readmission/estimates?kind=performance", headers=header).json()
    assert {one["kind"] for one in performance} == {"performance"}
    text = embedded.client.get("/metrics", headers=header).text
    assert f'workup_monitor_alerts{{model="readmission",state="open"}} {len(got["alerts"])}.0' in text
    assert 'workup_monitor_windows{model="readmission",state="closed",version="1"} 6.0' in text
    assert 'workup_monitor_rows_total{fate="new",kind="predictions",model="readmission"} 9600.0' in text


def test_an_alert_is_acknowledged_muted_and_resolved_and_the_log_shows_who(service: Service) -> None:
    alert, header = service.alert(), service.header("admin")

    def post(what: str, body: Any = None) -> Any:
        return service.client.post(f"/api/alerts/{alert}/{what}", json=body, headers=header)

    assert post("acknowledge").json()["state"] == "acknowledged"
    for body in ({}, {"reason": "known"}, {"until": "2026-01-01"}, {"reason": "", "until": "2026-01-01T00:00:00Z"}):
        assert post("mute", body).status_code == 422
    assert post("mute", {"reason": "past", "until": "2025-01-01T00:00:00Z"}).status_code == 422
    assert post("mute", {"reason": "a known outage", "until": "2025-09-01T00:00:00Z"}).json()["shown"] == "muted"
    assert post("resolve").status_code == 422
    done = post("resolve", {"reason": "recalibrated"}).json()
    assert [one["what"] for one in done["events"]] == ["opened", "acknowledged", "muted", "resolved"]
    assert post("acknowledge").status_code == 409
    lines = service.client.get("/api/audit", headers=header).json()
    assert [one["what"] for one in lines[:3]] == ["resolve alert", "mute alert", "acknowledge alert"]
    assert lines[0]["who"].startswith("someone ")
    assert service.client.post("/api/alerts/99/acknowledge", headers=header).status_code == 404


# ---- who may do what -------------------------------------------------------------------------------------------------


def test_a_token_does_what_its_scope_says_and_no_more(embedded: Service) -> None:
    alert = embedded.alert()
    asked = {
        "ingest": lambda header: sent(embedded, PREDICTIONS, rows(), header=header),
        "read": lambda header: embedded.client.get("/api/models", headers=header),
        "admin": lambda header: embedded.client.post(f"/api/alerts/{alert}/acknowledge", headers=header),
    }
    for scope in asked:
        header = embedded.header(scope)
        for wanted, ask in asked.items():
            assert ask(header).status_code == (200 if scope in (wanted, "admin") else 403), (scope, wanted)


def test_a_token_that_is_wrong_expired_or_revoked_is_worth_nothing(embedded: Service) -> None:
    expired = embedded.header("admin", expires=NOW + 1)
    revoked = embedded.token("admin")
    assert sent(embedded, PREDICTIONS, rows(), header=expired).status_code == 200
    embedded.now += 2
    revoke_token(embedded.store, revoked.split("_")[1], now=embedded.now, who="test")
    wrong = revoked[:-1] + ("A" if revoked[-1] != "A" else "B")
    for header in (
        {},
        expired,
        *({"Authorization": said} for said in (f"Bearer {revoked}", f"Bearer {wrong}", "Bearer ", f"Basic {revoked}")),
        {"Authorization": b"Bearer \xff\xfe"},
        {"Authorization": f"Bearer wkm_{'0' * 16}_{_SQL}"},
        {"Authorization": "Bearer " + "x" * 5000},
    ):
        got = sent(embedded, PREDICTIONS, rows(2, risk=0.9), header=header)
        assert (got.status_code, got.headers["www-authenticate"]) == (401, "Bearer")
    assert counted(embedded.store, tables.BATCHES) == 1


def test_too_many_requests_are_refused_for_a_while(embedded: Service) -> None:
    embedded.context.failures = limits.Rate(burst=3, a_second=0.0)
    assert [embedded.client.get("/api/models").status_code for _ in range(5)] == [401, 401, 401, 429, 429]
    embedded.context.calls = limits.Rate(burst=2, a_second=0.0)
    header = embedded.header("read")
    got = [embedded.client.get("/api/models", headers=header) for _ in range(3)]
    assert [one.status_code for one in got] == [200, 200, 429]
    assert "retry-after" in got[-1].headers


# ---- what is sent to break it ----------------------------------------------------------------------------------------

_DEEP = b'[{"id":' + b"[" * 100_000 + b"]" * 100_000 + b"}]"
_HOSTILE: dict[str, tuple[str, bytes]] = {
    "no json": (bodies.JSON, b"{"),
    "not a list": (bodies.JSON, b'{"id": 1}'),
    "not objects": (bodies.JSON, b"[1, null]"),
    "empty": (bodies.JSON, b""),
    "no rows": (bodies.JSON, b"[]"),
    "NaN": (bodies.JSON, b'[{"id": "a", "time": "2025-01-01", "risk": NaN, "sex": "F"}]'),
    "infinite": (bodies.JSON, b'[{"id": "a", "time": "2025-01-01", "risk": 1e999, "sex": "F"}]'),
    "digits": (bodies.JSON, b'[{"id": ' + b"9" * 6000 + b', "time": "2025-01-01", "risk": 0.1, "sex": "F"}]'),
    "deep": (bodies.JSON, _DEEP),
    "deep line": (bodies.LINES, _DEEP[1:-1]),
    "bad utf-8": (bodies.JSON, b'[{"id": "\xff", "time": "2025-01-01", "risk": 0.1, "sex": "F"}]'),
    "bad utf-8 csv": (bodies.CSV, b"id,time,risk,sex\n\xff\xff,2025-01-01,0.1,F\n"),
    "surrogate": (bodies.JSON, b'[{"id": "\\ud800", "time": "2025-01-01", "risk": 0.1, "sex": "F"}]'),
    "surrogate name": (bodies.JSON, b'[{"i\\ud800d": "a"}]'),
    "NUL": (bodies.JSON, b'[{"id": "a\\u0000b", "time": "2025-01-01", "risk": 0.1, "sex": "F"}]'),
    "long id": (bodies.JSON, json.dumps(rows(1, id="x" * 10_000)).encode()),
    "types": (bodies.JSON, json.dumps(rows(1, id={"$ne": 1})).encode()),
    "a truth": (bodies.JSON, json.dumps(rows(1, risk=True)).encode()),
    "text for risk": (bodies.JSON, json.dumps(rows(1, risk=_SQL)).encode()),
    "html for time": (bodies.JSON, json.dumps(rows(1, time=_HTML)).encode()),
    "year 0": (bodies.JSON, json.dumps(rows(1, time="0001-01-01")).encode()),
    "no parquet": (bodies.PARQUET, b"PAR1" + b"\0" * 100 + b"PAR1"),
    "csv of one line": (bodies.CSV, b"id,time,risk,sex\n"),
    "csv of bytes": (bodies.CSV, bytes(range(256)) * 20),
    "another type": ("text/html", _HTML.encode()),
    "no type": ("", b"[]"),
}


def test_a_hostile_body_is_refused_and_nothing_is_stored(service: Service) -> None:
    header = service.header("ingest")
    service.context.calls = limits.Rate(burst=1e9, a_second=1.0)
    for name, (kind, body) in _HOSTILE.items():
        for address in (PREDICTIONS, f"{PREDICTIONS}?partial=true", OUTCOMES):
            got = sent(service, address, body, kind=kind, header=header)
            assert 400 <= got.status_code < 500, (name, address, got.text)
            assert _HTML not in got.json()["error"]
    for table in (tables.PREDICTIONS, tables.OUTCOMES, tables.BATCHES):
        assert counted(service.store, table) == 0


def test_a_body_that_is_too_large_is_refused_as_it_comes(embedded: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    header = embedded.header("admin")
    line = json.dumps(rows(1)[0]).encode() + b"\n"
    many = (line * 1000 for _ in range(1 + limits.LARGEST_ROWS // (len(line) * 1000)))
    got = embedded.client.post(PREDICTIONS, content=many, headers={"Content-Type": bodies.LINES, **header})
    assert got.status_code == 413
    long = {"reason": "x" * limits.LARGEST}
    assert embedded.client.post("/api/alerts/1/resolve", json=long, headers=header).status_code == 413
    monkeypatch.setattr(bodies, "MOST_ROWS", 2)
    for kind in bodies.TYPES:
        assert sent(embedded, PREDICTIONS, rows(), kind=kind).status_code == 413
    packed = {**header, "Content-Encoding": "gzip", "Content-Type": bodies.JSON}
    assert embedded.client.post(PREDICTIONS, content=b"\x1f\x8b", headers=packed).status_code == 415
    assert counted(embedded.store, tables.PREDICTIONS) == 0


def test_hostile_paths_and_words_find_nothing_and_change_nothing(service: Service) -> None:
    header, alert = service.header("admin"), service.alert()
    before = counted(service.store, tables.AUDIT)
    for name in ("..%2F..%2Fetc%2Fpasswd", "%00", "%ff", "a%0Ab", "'%20OR%201=1--", "%3Cscript%3E", "x" * 300):
        assert 400 <= service.client.get(f"/api/models/{name}/windows", headers=header).status_code < 500, name
    for number in ("0", "-1", "1e9", str(2**63), "9" * 4000, "1%20OR%201=1", "%00"):
        assert 400 <= service.client.post(f"/api/alerts/{number}/acknowledge", headers=header).status_code < 500
    resolve = f"/api/alerts/{alert}/resolve"
    for body in (
        b'{"reason": "\\ud800"}',
        b'{"reason": "\\u0000"}',
        b'{"reason": NaN}',
        b'{"reason": 1}',
        b"\xff",
        _DEEP[7:],
    ):
        got = service.client.post(resolve, content=body, headers={"Content-Type": bodies.JSON, **header})
        assert 400 <= got.status_code < 500, body[:40]
    extra = {"reason": "x", _HTML: 1}
    assert service.client.post(resolve, json=extra, headers=header).status_code == 422
    assert counted(service.store, tables.AUDIT) == before


def test_answers_carry_headers_that_keep_a_browser_out_of_trouble(embedded: Service) -> None:
    for address in ("/healthz", "/api/models", "/no/such/place"):
        headers = embedded.client.get(address).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"
        assert "default-src 'none'" in headers["content-security-policy"]


def test_health_is_open_to_all_and_readiness_follows_the_store(
    embedded: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workup.monitor.service import health
    from workup.monitor.store.database import StoreUnavailable

    assert embedded.client.get("/healthz").text == "ok\n"
    assert embedded.client.get("/readyz").status_code == 200
    assert embedded.client.get("/metrics").status_code == 401

    def gone(store: Store) -> None:
        raise StoreUnavailable("sqlite", "OperationalError")

    monkeypatch.setattr(health, "revision_of", gone)
    assert embedded.client.get("/readyz").status_code == 503
    monkeypatch.setattr(Store, "read", gone)
    got = embedded.client.get("/api/models", headers={"Authorization": "Bearer x"})
    assert (got.status_code, got.headers["retry-after"]) == (503, "5")


def test_the_log_holds_no_secret_and_no_row_and_a_failure_tells_its_place_alone(
    embedded: Service, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workup.monitor.service import api

    token = embedded.token("ingest")

    def broken(*given: Any, **named: Any) -> None:
        raise KeyError("patient Smith")

    with caplog.at_level("INFO"):
        sent(embedded, PREDICTIONS, rows(1, id="smith-1"), header={"Authorization": f"Bearer {token}"})
        monkeypatch.setattr(api, "table_of", broken)
        got = sent(embedded, PREDICTIONS, rows(1, id="smith-2"), header={"Authorization": f"Bearer {token}"})
    assert got.status_code == 500
    assert "mith" not in got.text
    text = caplog.text
    assert "/api/models/{model}/predictions 200" in text
    assert "KeyError" in text
    assert "mith" not in text
    assert token not in text
    assert token.split("_")[2] not in text


def test_generated_requests_never_make_it_fail(embedded: Service) -> None:
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed (extra 'test')")
    from hypothesis import HealthCheck, Phase, given, settings

    embedded.context.calls = limits.Rate(burst=1e9, a_second=1.0)
    embedded.alert()
    header = embedded.header("admin")
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", embedded.app)
    answered: dict[int, int] = {}
    for result in schema.get_all_operations():
        operation = result.ok()

        @given(case=operation.as_strategy())
        @settings(
            max_examples=15,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def never_fails(case: Any) -> None:
            got = case.call(headers=header)
            answered[got.status_code] = answered.get(got.status_code, 0) + 1
            assert got.status_code < 500, got.text

        never_fails()
    assert answered.get(200, 0) > 20


# ---- where it listens ------------------------------------------------------------------------------------------------


def test_it_listens_beyond_this_machine_only_with_tls_and_tokens(embedded: Service) -> None:
    from workup.errors import InputError
    from workup.monitor.service.serving import check_place

    check_place(embedded.context, "127.0.0.1")
    embedded.token("admin", expires=NOW)  # one that has expired lets nobody in
    with pytest.raises(InputError, match="TLS"):
        check_place(embedded.context, "0.0.0.0")
    embedded.context.behind_tls = True
    with pytest.raises(InputError, match="none that is valid"):
        check_place(embedded.context, "::")
    embedded.token("read")
    check_place(embedded.context, "0.0.0.0")


def test_the_command_serves_until_it_is_stopped(tmp_path: Any) -> None:
    import signal
    import socket
    import subprocess
    import sys
    import time
    import urllib.request

    open_store(str(tmp_path / "monitor.db")).close()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "workup.cli", "monitor", "serve", "--port", str(port)]
    running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        until = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as got:
                    assert got.read() == b"ok\n"
                    assert "server" not in {name.lower() for name in got.headers}
                    break
            except OSError:
                assert running.poll() is None, running.stderr.read() if running.stderr else ""
                assert time.monotonic() < until
                time.sleep(0.1)
    finally:
        running.send_signal(signal.SIGTERM)
        _, told = running.communicate(timeout=30)
    assert f"http://127.0.0.1:{port}/" in told
    assert "GET /readyz 200" in told
