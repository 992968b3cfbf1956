"""The HTTP adapter against a real server on the loopback: every way a service can go wrong, and no secret told."""

from __future__ import annotations

import gc
import json
import logging
import pickle
import ssl
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.loopback import Reply, Service, system
from workup.errors import InputError, MissingExtra, SystemFailure
from workup.systems.any.http import Http
from workup.systems.wire import transport as adapter

pytestmark = pytest.mark.usefixtures("waits")

pytest.importorskip("httpx", reason="the http extra is not installed")

TABLE = {"age": np.array([40.0, np.nan, 60.0]), "ward": np.array(["A", None, "B"], dtype=object)}
SECRET = "s3cr3t-of-the-test"
BODY = "the text of a patient"


def risks(*pairs: tuple[Any, Any]) -> Reply:
    return 200, {}, json.dumps({"risks": [{"id": row, "risk": risk} for row, risk in pairs]}).encode()


def good(rows: list[dict[str, Any]]) -> Reply:
    """Age as a percentage; a row without an age is refused."""
    return risks(*((row["id"], None if row["age"] is None else row["age"] / 100) for row in rows))


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service(lambda content: good(content["rows"]), path="/score")
    yield made
    made.close()


def test_rows_go_out_as_json_and_risks_come_back(service: Service) -> None:
    remote = system(service)
    assert remote.predict(TABLE) == [0.4, None, 0.6]
    path, headers, content = service.requests[0]
    assert (path, headers["Content-Type"]) == ("/score", "application/json")
    assert content == {
        "rows": [
            {"id": "1", "age": 40.0, "ward": "A"},
            {"id": "2", "age": None, "ward": None},
            {"id": "3", "age": 60.0, "ward": "B"},
        ]
    }
    assert remote.timings == {"calls": 1, "retries": 0, "waited_seconds": 0.0}
    assert (remote.notes, remote.recorded) == ((), False)


def test_large_tables_are_cut_and_columns_chosen(service: Service) -> None:
    remote = system(service, batch=2, send=["age"])
    assert remote.predict(TABLE) == [0.4, None, 0.6]
    assert [content["rows"] for _, _, content in service.requests] == [
        [{"id": "1", "age": 40.0}, {"id": "2", "age": None}],
        [{"id": "1", "age": 60.0}],
    ]
    with pytest.raises(InputError, match="did you mean 'age'"):
        system(service, send=["aeg"]).predict(TABLE)
    assert remote.predict({"age": np.array([])}) == []


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_passing_faults_are_tried_again_and_counted(service: Service, waits: list[float], status: int) -> None:
    service.replies = [(status, {}, b"busy")] * 2
    remote = system(service)
    assert remote.predict(TABLE) == [0.4, None, 0.6]
    assert (remote.timings["calls"], remote.timings["retries"]) == (3, 2)
    assert remote.timings["waited_seconds"] == sum(waits)
    assert 0.25 <= waits[0] <= 0.5 <= waits[1] <= 1.0  # doubling, with jitter
    first = list(waits)
    service.replies = [(status, {}, b"busy")] * 2
    system(service).predict(TABLE)
    assert waits[2:] == first  # the same draws for the same request


def test_tries_come_to_an_end(service: Service, waits: list[float]) -> None:
    service.replies = [(500, {}, BODY.encode())] * 9
    remote = system(service, retries=8)
    with pytest.raises(SystemFailure, match=r"status 500, in the last of 9 tries.*'retries'") as failed:
        remote.predict(TABLE)
    assert BODY not in str(failed.value)
    assert (remote.timings["calls"], remote.timings["retries"], len(waits)) == (9, 8, 8)
    assert max(waits) <= 60
    service.replies = [(503, {}, b"")]
    with pytest.raises(SystemFailure, match="in the last of 1 try"):
        system(service, retries=0).predict(TABLE)


@pytest.mark.parametrize(
    ("asked", "low", "high"),
    [
        ("7", 7, 7),
        ("0", 0, 0),
        ("86400", 60, 60),
        ("9" * 400, 60, 60),
        ("Fri, 31 Dec 1999 23:59:59 GMT", 0, 0),
        ("Wed, 21 Oct 2099 07:28:00 GMT", 60, 60),
        ("soon", 0.25, 0.5),
        ("-5", 0.25, 0.5),
    ],
)
def test_retry_after_is_honoured_within_bounds(
    service: Service, waits: list[float], asked: str, low: float, high: float
) -> None:
    service.replies = [(429, {"Retry-After": asked}, b"")]
    assert system(service).predict(TABLE)[0] == 0.4
    assert low <= waits[0] <= high


@pytest.mark.parametrize(
    ("status", "remedy"),
    [(400, "log of the service"), (401, "environment variable"), (404, "address"), (413, "'batch'")],
)
def test_refusals_end_at_once(service: Service, waits: list[float], status: int, remedy: str) -> None:
    service.replies = [(status, {"X-Detail": SECRET}, BODY.encode())]
    with pytest.raises(SystemFailure, match=rf"status {status}\. To fix: .*{remedy}") as failed:
        system(service).predict(TABLE)
    assert BODY not in str(failed.value) and SECRET not in str(failed.value)
    assert (len(service.requests), waits) == (1, [])


def test_redirects_are_not_followed(service: Service) -> None:
    service.replies = [(307, {"Location": service.url}, b"")]
    with pytest.raises(SystemFailure, match=r"redirect \(307\), which is not followed"):
        system(service).predict(TABLE)
    assert len(service.requests) == 1


def test_a_slow_service_times_out_and_is_tried_again(service: Service) -> None:
    service.replies = [lambda handler: time.sleep(0.6)]
    remote = system(service, timeout=0.2)
    assert remote.predict(TABLE) == [0.4, None, 0.6]
    assert remote.timings["retries"] == 1
    service.replies = [lambda handler: time.sleep(0.6)] * 2
    with pytest.raises(SystemFailure, match=r"no answer within 0\.2 s, in the last of 2 tries"):
        system(service, timeout=0.2, retries=1).predict(TABLE)


def test_a_service_that_trickles_times_out_too(service: Service) -> None:
    def trickle(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        for _ in range(20):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)

    service.replies = [trickle]
    with pytest.raises(SystemFailure, match=r"no whole answer within 0\.3 s"):
        system(service, timeout=0.3, retries=0).predict(TABLE)


def test_a_lost_connection_is_tried_again(service: Service) -> None:
    def hang_up(handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        handler.connection.close()

    def cut_off(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"risks": [')
        handler.close_connection = True

    service.replies = [hang_up, cut_off]
    remote = system(service)
    assert remote.predict(TABLE) == [0.4, None, 0.6]
    assert remote.timings["retries"] == 2
    service.close()
    with pytest.raises(SystemFailure, match=r"connection failed \(ConnectError\), in the last of 3 tries"):
        system(service, retries=2).predict(TABLE)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ((200, {}, BODY.encode()), "must be JSON such as"),
        ((200, {}, b'{"risks": [{"id": "1", "risk": NaN}]}'), "must be JSON such as"),
        ((200, {}, b"[" * 60_000), "must be JSON such as"),
        ((200, {}, b"\xff\xfe"), "must be JSON such as"),
        ((200, {}, b"[0.1, 0.2, 0.3]"), "got a list"),
        ((200, {}, b'{"answers": []}'), "got no list 'risks'"),
        ((200, {"Content-Encoding": "gzip"}, b"not compressed"), "broke the rules of HTTP"),
        (risks(("1", 0.1), ("3", 0.2), ("2", 0.3)), "entry 2 of 'risks': answers row 3 where row 2 was due"),
        (risks(("1", 0.1), ("1", 0.2), ("3", 0.3)), "entry 2 of 'risks': answers row 1 a second time"),
        (risks(("1", 0.1), ("2", 0.2)), "one risk for each of the 3 rows sent; got 2"),
        (risks(("1", 0.1), ("2", 0.2), ("3", 0.3), ("4", 0.4)), "one risk for each of the 3 rows sent; got 4"),
        (risks(("1", 0.1), (BODY, 0.2), ("3", 0.3)), "entry 2 of 'risks': has an 'id' that was not sent"),
        (risks(("1", 0.1), ("٢", 0.2), ("3", 0.3)), "entry 2 of 'risks': has an 'id' that was not sent"),
        (risks(("1", 0.1), (2, 0.2), ("3", 0.3)), "'id' must be the text that was sent; got a number"),
        (risks(("1", 0.1), ("2", BODY), ("3", 0.3)), "entry 2 of 'risks': 'risk' must be a number"),
        (risks(("1", 12)), "entry 1 of 'risks': 'risk' must lie from 0 to 1"),
        (risks(("1", True)), "got true or false"),
        ((200, {}, b" " * 200_000), "longer than 68608 bytes"),
    ],
)
def test_answers_out_of_form_end_at_once(service: Service, waits: list[float], reply: Reply, message: str) -> None:
    service.replies = [reply]
    with pytest.raises(SystemFailure, match=message) as failed:
        system(service).predict(TABLE)
    assert BODY not in str(failed.value)
    assert (len(service.requests), waits) == (1, [])


def test_secrets_come_from_the_environment_and_go_nowhere_else(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    headers = {"Authorization": "Bearer env:RISK_TOKEN", "X-Api-Key": "env:RISK_TOKEN", "Accept-Language": "de"}
    remote = system(service, headers=headers, retries=0)
    with pytest.raises(InputError, match=r"variable RISK_TOKEN must hold.*got nothing"):
        remote.predict(TABLE)
    monkeypatch.setenv("RISK_TOKEN", SECRET)
    caplog.set_level(logging.DEBUG)
    service.replies = [(200, {"X-Echo": SECRET}, b"{}")]
    with pytest.raises(SystemFailure, match="no list 'risks'") as failed:
        remote.predict(TABLE)
    remote.predict(TABLE)
    sent = service.requests[0][1]
    assert (sent["Authorization"], sent["X-Api-Key"], sent["Accept-Language"]) == (f"Bearer {SECRET}", SECRET, "de")
    gc.collect()
    told = [repr(remote), repr(vars(remote)), remote.version, str(failed.value), caplog.text, str(remote.timings)]
    assert not [text for text in told if SECRET in text]
    assert SECRET.encode() not in pickle.dumps(remote)
    assert failed.value.__cause__ is None and failed.value.__context__ is None
    monkeypatch.setenv("RISK_TOKEN", f"{SECRET}\r\nX-More: 1")
    with pytest.raises(InputError, match="line breaks") as refused:
        remote.predict(TABLE)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": SECRET},
        {"authorization": f"Bearer {SECRET}"},
        {"X-API-Key": SECRET},
        {"Cookie": SECRET},
        {"X-Auth-Token": SECRET},
        {"X-Custom": f"Bearer {SECRET}"},
        {"Authorization": f"Bearer env:RISK_TOKEN {SECRET}"},
    ],
)
def test_a_secret_written_out_is_refused(headers: dict[str, str]) -> None:
    with pytest.raises(InputError, match=r"carries a secret.*env:VARIABLE") as refused:
        Http(name="remote", url="https://risk.example/score", headers=headers)
    assert SECRET not in str(refused.value)


def test_settings_are_checked(tmp_path: Path) -> None:
    url = "https://risk.example/score"
    cases: list[tuple[dict[str, Any], str]] = [
        ({"url": "risk.example/score"}, "address of http or https"),
        ({"url": "file:///etc/hosts"}, "address of http or https"),
        ({"url": "https://risk.example:port/"}, "address of http or https"),
        ({"url": f"https://me:{SECRET}@risk.example/"}, "user name or password"),
        ({"url": f"https://risk.example/?api_key={SECRET}"}, "must not hold a secret"),
        ({"headers": {"Bad name": "x"}}, "names and texts"),
        ({"headers": {"X-Kind": "a\nb"}}, "one line of ASCII"),
        ({"timeout": 0}, "'timeout'"),
        ({"retries": -1}, "'retries'"),
        ({"rate": 0}, "'rate'"),
        ({"batch": 0}, "'batch'"),
        ({"ca_file": "absent.pem", "base": tmp_path}, "'ca_file' must be"),
    ]
    for settings, message in cases:
        with pytest.raises(InputError, match=message) as refused:
            Http(**{"name": "remote", "url": url, **settings})
        assert SECRET not in str(refused.value)
    assert Http(name="remote", url="http://risk.example/").notes == (
        "rows or texts went to the system unencrypted (http)",
    )


def test_the_version_follows_address_and_columns_only() -> None:
    url = "https://risk.example/score"
    plain = Http(name="a", url=url)
    assert plain.version == Http(name="b", url=url, headers={"X-Key": "env:K"}, timeout=1).version
    assert (
        len({plain.version, Http(name="a", url=url + "2").version, Http(name="a", url=url, send=["age"]).version}) == 3
    )


def test_the_rate_is_kept(service: Service, waits: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(
        adapter, "_pause", lambda stopped, seconds: (waits.append(seconds), now.__setitem__(0, now[0] + seconds))
    )
    monkeypatch.setattr(adapter, "_now", lambda: now[0])
    remote = system(service, rate=4.0, batch=1)
    remote.predict(TABLE)
    assert waits == pytest.approx([0.25, 0.25])
    now[0] += 10
    remote.predict({name: column[:1] for name, column in TABLE.items()})
    assert len(waits) == 2


def test_proxies_of_the_environment_are_ignored(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    assert system(service, retries=0).predict(TABLE) == [0.4, None, 0.6]


def test_the_certificate_is_checked_against_the_given_authority(tmp_path: Path, waits: list[float]) -> None:
    trustme = pytest.importorskip("trustme", reason="trustme is not installed")
    authority, stranger = trustme.CA(), trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    stranger.cert_pem.write_to_path(str(tmp_path / "other.pem"))
    for host, trusted in (("127.0.0.1", True), ("elsewhere.example", False)):
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(host).configure_cert(tls)
        service = Service(lambda content: good(content["rows"]), path="/score", tls=tls)
        try:
            if trusted:
                assert system(service, base=tmp_path, ca_file="ca.pem").predict(TABLE) == [0.4, None, 0.6]
            for ca_file in ("", "other.pem", *(() if trusted else ("ca.pem",))):
                with pytest.raises(SystemFailure, match=r"certificate is not from an authority.*'ca_file'"):
                    system(service, base=tmp_path, ca_file=ca_file).predict(TABLE)
        finally:
            service.close()
    assert waits == []  # a wrong certificate does not mend itself


def test_a_copy_in_another_process_answers_alike(service: Service) -> None:
    remote = system(service)
    assert pickle.loads(pickle.dumps(remote)).predict(TABLE) == remote.predict(TABLE)


def test_without_httpx_the_extra_is_named(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingExtra, match=r"\[http\]"):
        system(service)
