"""Google's content:inspect, against a stand-in on the loopback that speaks its form and fails in all its ways."""

from __future__ import annotations

import json
import logging
import pickle
import re
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.loopback import Reply, Service, cut_off, hang_up, stall
from workup.documents.document import Span
from workup.documents.mappings import LabelMapping
from workup.errors import InputError, MissingExtra, StudyError, SystemFailure
from workup.systems.spans.google_dlp import GoogleDlp
from workup.systems.spans.google_findings import SCORES, cause_of, findings_in
from workup.task import SpanSystem

pytestmark = pytest.mark.usefixtures("waits")

pytest.importorskip("httpx", reason="the http extra is not installed")

TOKEN = "ya29.t0ken-of-the-test"
TEXTS = ["Rose Berg, seen 3 May", "", "Zoë 😀 Rose", "nobody"]
FOUND = [[Span(0, 4, "PERSON_NAME", score=0.7)], [], [Span(6, 10, "PERSON_NAME", score=0.7)], []]


def place(start: int, end: int) -> dict[str, str]:
    """As protocol buffers are written in JSON: 64-bit numbers as texts, and a 0 left out."""
    return {key: str(value) for key, value in (("start", start), ("end", end)) if value}


def finding(text: str, start: int, end: int, *, name: str = "PERSON_NAME") -> dict[str, Any]:
    before, inside = len(text[:start].encode()), len(text[start:end].encode())
    return {
        "infoType": {"name": name, "sensitivityScore": {"score": "SENSITIVITY_MODERATE"}},
        "likelihood": "LIKELY",
        "location": {"byteRange": place(before, before + inside), "codepointRange": place(start, end)},
        "createTime": "2024-05-03T08:30:00.000Z",
        "findingId": "2024-05-03T08:30:00.000000Z0",
    }


def inspected(content: Any) -> Reply:
    """Every Rose of the text, in the order of a service that promises none."""
    text = content["item"]["value"]
    found = [finding(text, match.start(), match.end()) for match in re.finditer("Rose", text)][::-1]
    return 200, {}, json.dumps({"result": {"findings": found} if found else {}}).encode()


def refusal(code: int, status: str, *, reason: str = "", **headers: str) -> Reply:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}] if reason else []
    error = {"code": code, "message": "about Smith", "status": status, "details": details}
    return code, headers, json.dumps({"error": error}).encode()


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setenv("GOOGLE_DLP_TOKEN", TOKEN)
    made = Service(inspected)
    yield made
    made.close()


def system(service: Service | str, **settings: Any) -> GoogleDlp:
    endpoint = service if isinstance(service, str) else service.origin
    return GoogleDlp(**{"name": "dlp", "project": "ward-7", "endpoint": endpoint, "rate": None, **settings})


def test_the_request_is_that_of_the_rest_form(service: Service) -> None:
    dlp = system(service, location="europe-west3", info_types=["PERSON_NAME", "DATE"], min_likelihood="UNLIKELY")
    assert dlp.detect(TEXTS[:1]) == FOUND[:1]
    path, headers, content = service.requests[0]
    assert path == "/v2/projects/ward-7/locations/europe-west3/content:inspect"
    assert headers["Authorization"] == f"Bearer {TOKEN}"
    assert content == {
        "item": {"value": TEXTS[0]},
        "inspectConfig": {
            "infoTypes": [{"name": "PERSON_NAME"}, {"name": "DATE"}],
            "minLikelihood": "UNLIKELY",
            "includeQuote": False,
        },
    }
    assert isinstance(dlp, SpanSystem)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_each_text_is_a_request_of_its_own_and_an_empty_one_is_none(service: Service, concurrency: int) -> None:
    dlp = system(service, concurrency=concurrency)
    assert dlp.detect(TEXTS) == FOUND
    assert sorted(content["item"]["value"] for _, _, content in service.requests) == sorted(filter(None, TEXTS))
    assert dlp.detect([]) == []
    assert pickle.loads(pickle.dumps(dlp)).detect(TEXTS) == FOUND


def test_findings_are_sorted_and_all_kept(service: Service) -> None:
    text = "Rose and Rose"
    both = [finding(text, 9, 13), finding(text, 0, 4, name="FIRST_NAME"), finding(text, 0, 4), finding(text, 9, 13)]
    service.replies = [(200, {}, json.dumps({"result": {"findings": both}}).encode())]
    found = system(service).detect([text])[0] or []
    assert [(span.start, span.label) for span in found] == [
        (0, "FIRST_NAME"),
        (0, "PERSON_NAME"),
        (9, "PERSON_NAME"),
        (9, "PERSON_NAME"),
    ]


def test_the_default_asks_for_what_the_mapping_knows_but_nothing_clinical(service: Service) -> None:
    dlp = system(service)
    dlp.detect(["x"])
    asked = [entry["name"] for entry in service.requests[0][2]["inspectConfig"]["infoTypes"]]
    known = LabelMapping.load("google_dlp")
    assert asked == sorted(asked) == list(dlp.emits or ())
    assert {"PERSON_NAME", "US_SOCIAL_SECURITY_NUMBER", "MEDICAL_RECORD_NUMBER"} <= set(asked)
    assert not [name for name in asked if (found := known.of(name)) is None or found.branch == "CLIN"]
    assert "MEDICAL_TERM" in known.labels and "MEDICAL_TERM" not in asked
    assert (dlp.mapping, known.of("US_MEDICARE_BENEFICIARY_ID_NUMBER").name) == ("google_dlp", "health_plan_id")  # type: ignore[union-attr]


def test_a_template_has_types_of_its_own(service: Service) -> None:
    template = "projects/ward-7/locations/global/inspectTemplates/notes"
    dlp = system(service, inspect_template=template)
    dlp.detect(["x"])
    content = service.requests[0][2]
    assert content["inspectTemplateName"] == template and "infoTypes" not in content["inspectConfig"]
    assert dlp.emits is None


@pytest.mark.parametrize(("likelihood", "score"), [*SCORES.items(), ("LIKELIHOOD_UNSPECIFIED", 0.5), ("SURE", None)])
def test_likelihoods_become_ranks(likelihood: str, score: float | None) -> None:
    record = finding("Rose", 0, 4) | {"likelihood": likelihood}
    assert findings_in(json.dumps({"result": {"findings": [record]}}).encode(), "Rose")[0][0].score == score
    del record["likelihood"]
    assert findings_in(json.dumps({"result": {"findings": [record]}}).encode(), "Rose")[0][0].score == 0.5
    assert sorted(SCORES, key=SCORES.__getitem__) == ["VERY_UNLIKELY", "UNLIKELY", "POSSIBLE", "LIKELY", "VERY_LIKELY"]


def test_bytes_serve_where_code_points_are_not_given(service: Service) -> None:
    record = finding(TEXTS[2], 6, 10)
    del record["location"]["codepointRange"]
    service.replies = [(200, {}, json.dumps({"result": {"findings": [record]}}).encode())]
    assert system(service).detect([TEXTS[2]]) == [FOUND[2]]


# ---- long texts ------------------------------------------------------------------------------------------------------


def many(roses: int) -> tuple[str, list[tuple[int, int]]]:
    text = "".join(f'Zoë 😀 "note" {number}\nRose{" " if number % 3 else ""}' for number in range(roses))
    return text, [(match.start(), match.end()) for match in re.finditer("Rose", text)]


def test_a_long_text_goes_in_pieces_with_exact_offsets(service: Service) -> None:
    text, places = many(1000)
    dlp = system(service, info_types=["PERSON_NAME"], max_bytes=2000)
    found = dlp.detect([text, "Rose"])
    assert [(span.start, span.end) for span in found[0] or []] == places
    assert [text[span.start : span.end] for span in found[0] or []] == ["Rose"] * 1000
    assert found[1] == [Span(0, 4, "PERSON_NAME", score=0.7)]
    sizes = [int(headers["Content-Length"]) for _, headers, _ in service.requests]
    assert len(sizes) > 10 and max(sizes) <= 2000
    assert dlp.estimate([text, "Rose"])["calls"] == len(sizes) == dlp.timings["calls"]


def _first_piece(dlp: GoogleDlp, service: Service) -> str:
    dlp.detect(["x" * 5000])
    return max((content["item"]["value"] for _, _, content in service.requests), key=len)


def test_a_mention_right_on_a_cut_is_found_once(service: Service) -> None:
    dlp = system(service, info_types=["PERSON_NAME"], max_bytes=1200)
    first = int(re.search(r"x+", _first_piece(dlp, service)).end())  # type: ignore[union-attr]
    places = range(first - 40, first + 10)
    found = dlp.detect(["x" * before + "Rose" + "y" * 2000 for before in places])
    assert [[(span.start, span.end) for span in spans or []] for spans in found] == [[(b, b + 4)] for b in places]
    cut = [content["item"]["value"] for _, _, content in service.requests]
    assert any(re.fullmatch(r"x+R(o|os)?", value) for value in cut)  # some piece ends inside the name


def test_truncated_findings_are_asked_for_again_in_smaller_pieces(service: Service) -> None:
    text, places = many(300)

    def few_at_a_time(content: Any) -> Reply:
        status, headers, body = inspected(content)
        result = json.loads(body)["result"]
        if len(result.get("findings", [])) > 40:
            result = {"findings": result["findings"][:40], "findingsTruncated": True}
        return status, headers, json.dumps({"result": result}).encode()

    limited = Service(few_at_a_time)
    try:
        found = system(limited).detect([text])[0] or []
        assert [(span.start, span.end) for span in found] == places
        assert len(limited.requests) > 8
    finally:
        limited.close()
    service.replies = [(200, {}, b'{"result": {"findingsTruncated": true}}')]
    with pytest.raises(SystemFailure, match=r"text 1 of its batch leaves findings out.*'info_types'"):
        system(service).detect(["Rose Berg"])


def test_a_finding_behind_its_piece_is_behind_the_text_and_never_on_other_words(service: Service) -> None:
    text, _ = many(200)
    stray = finding(text, 0, 4)
    stray["location"]["codepointRange"] = place(100_000, 100_004)
    service.replies = [(200, {}, json.dumps({"result": {"findings": [stray]}}).encode())]
    dlp = system(service, info_types=["PERSON_NAME"], max_bytes=2000, concurrency=1)
    found = dlp.detect([text])[0] or []
    assert found[-1].start > len(text)
    short = finding("Rose", 0, 4)
    short["location"]["codepointRange"] = place(2, 9)
    service.replies = [(200, {}, json.dumps({"result": {"findings": [short]}}).encode())]
    assert system(service).detect(["Rose"]) == [[Span(2, 9, "PERSON_NAME", score=0.7)]]


# ---- cost ------------------------------------------------------------------------------------------------------------


def test_the_cost_is_known_before_the_first_call(service: Service) -> None:
    dlp = system(service, cost_per_unit=3.0)
    long = "é" * 1000  # 2000 bytes
    assert dlp.estimate([long, "short", ""]) == {"calls": 2, "units": 3e-6, "cost": pytest.approx(9e-6)}
    assert service.requests == []
    dlp.detect([long, "short", ""])
    assert dlp.timings["units"] == pytest.approx(3e-6) and dlp.timings["cost"] == pytest.approx(9e-6)
    free = system(service)
    assert free.estimate([long])["cost"] is None and "cost" not in free.timings


# ---- faults ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("concurrency", [1, 4])
def test_quotas_and_faults_that_pass_are_tried_again(service: Service, waits: list[float], concurrency: int) -> None:
    service.replies = [
        refusal(429, "RESOURCE_EXHAUSTED", **{"Retry-After": "7"}),
        refusal(500, "INTERNAL"),
        refusal(503, "UNAVAILABLE"),
        hang_up,
        cut_off,
    ]
    dlp = system(service, concurrency=concurrency)
    assert dlp.detect(TEXTS) == FOUND
    assert (dlp.timings["calls"], dlp.timings["retries"]) == (8, 5)
    assert 7 in waits and len(waits) == 5


def test_a_quota_that_stays_spent_ends_the_run_with_no_answer(service: Service) -> None:
    service.replies = [refusal(429, "RESOURCE_EXHAUSTED")] * 3
    with pytest.raises(SystemFailure, match=r"status 429, in the last of 3 tries.*lower 'rate'") as failed:
        system(service, retries=2, concurrency=1).detect(TEXTS)
    assert "Smith" not in str(failed.value)


def test_a_service_that_hangs(service: Service) -> None:
    service.replies = [stall(0.6)] * 2
    with pytest.raises(SystemFailure, match=r"no answer within 0\.2 s, in the last of 2 tries"):
        system(service, timeout=0.2, retries=1, concurrency=1).detect(TEXTS)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (refusal(400, "INVALID_ARGUMENT"), r"status 400 \(INVALID_ARGUMENT\)\. To fix: .*'info_types'"),
        (refusal(401, "UNAUTHENTICATED"), r"status 401 \(UNAUTHENTICATED\)\. To fix: get a new token"),
        (refusal(403, "PERMISSION_DENIED", reason="SERVICE_DISABLED"), r"403 \(PERMISSION_DENIED, SERVICE_DISABLED\)"),
        (refusal(404, "Smith"), r"status 404\. To fix: check 'project'"),
        ((404, {}, b"<html>Smith</html>"), r"status 404\. To fix"),
        ((400, {}, b"x" * 100_000), r"status 400\. To fix"),
        ((302, {"Location": "/Smith"}, b""), "redirect"),
    ],
)
def test_refusals_end_at_once_and_name_their_cause(
    service: Service, waits: list[float], reply: Reply, message: str
) -> None:
    service.replies = [reply]
    with pytest.raises(SystemFailure, match=message) as failed:
        system(service, concurrency=1).detect(TEXTS)
    assert "Smith" not in str(failed.value)
    assert (len(service.requests), waits) == (1, [])


def changed(**changes: Any) -> Reply:
    record = {**finding("Rose", 0, 4), **changes}
    return 200, {}, json.dumps({"result": {"findings": [record]}}).encode()


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ((200, {}, b"Smith"), "must be JSON"),
        ((200, {}, b'{"result": {"findings": [{"infoType"'), "must be JSON"),
        ((200, {}, b""), "must be JSON"),
        ((200, {}, b"{}"), "must hold an object 'result'; got none"),
        ((200, {}, b"[]"), "must hold an object 'result'; got a list"),
        ((200, {}, b'{"result": null}'), "must hold an object 'result'; got null"),
        ((200, {}, b'{"result": {"findings": {}}}'), "must hold a list 'findings'"),
        ((200, {}, b'{"result": {"findings": [], "findingsTruncated": "no"}}'), "true or false as 'findingsTruncated'"),
        ((200, {}, b'{"result": {"findings": ["Smith"]}}'), "finding 0: must name its 'infoType'"),
        (changed(infoType={"name": ""}), "finding 0: must name its 'infoType'"),
        (changed(likelihood=3), "finding 0: 'likelihood' must be a text"),
        (changed(location={}), "finding 0: must hold a 'codepointRange' or a 'byteRange'"),
        (changed(location=None), "finding 0: must hold a 'codepointRange'"),
        (changed(location={"codepointRange": {}}), "finding 0: must end after its start; got 0 to 0"),
        (changed(location={"codepointRange": place(4, 2)}), "finding 0: must end after its start; got 4 to 2"),
        (changed(location={"codepointRange": {"end": "-4"}}), "finding 0: 'end' must be a place"),
        (changed(location={"codepointRange": {"end": "9" * 400}}), "finding 0: 'end' must be a place"),
        (changed(location={"codepointRange": {"end": 4.0}}), "finding 0: 'end' must be a place"),
        (changed(location={"codepointRange": {"start": True, "end": 4}}), "finding 0: 'start' must be a place"),
        (changed(location={"byteRange": {"start": "1", "end": "3"}}), "finding 0: an offset must fall between"),
        ((200, {}, b" " * 500_000), "longer than 68608 bytes"),
    ],
)
def test_answers_out_of_form_end_the_run(service: Service, reply: Reply, message: str) -> None:
    service.replies = [reply]
    with pytest.raises(SystemFailure, match=message) as failed:
        system(service).detect(["Zé 😀"[1:]])
    assert "Smith" not in str(failed.value)
    assert len(service.requests) == 1


def test_one_bad_text_of_many_is_an_error_of_all(service: Service) -> None:
    service.replies = [(200, {}, b"{}")]
    with pytest.raises(SystemFailure, match="must hold an object 'result'"):
        system(service).detect(TEXTS * 5)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_without_a_network_there_is_an_error_and_no_answer(monkeypatch: pytest.MonkeyPatch, concurrency: int) -> None:
    def unreachable(*_: Any, **__: Any) -> None:
        raise OSError(101, "Network is unreachable")

    monkeypatch.setenv("GOOGLE_DLP_TOKEN", TOKEN)
    monkeypatch.setattr(socket.socket, "connect", unreachable)
    monkeypatch.setattr(socket, "getaddrinfo", unreachable)
    dlp = GoogleDlp(name="dlp", project="ward-7", retries=1, concurrency=concurrency)
    with pytest.raises(SystemFailure, match=r"connection failed \(ConnectError\), in the last of 2 tries"):
        dlp.detect(TEXTS)
    assert dlp.detect(["", ""]) == [[], []]


# ---- secrets and settings --------------------------------------------------------------------------------------------


def test_the_token_reaches_the_service_and_nothing_else(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    caplog.set_level(logging.DEBUG)
    dlp = system(service, token="env:WARD_TOKEN")
    with pytest.raises(InputError, match="variable WARD_TOKEN must hold"):
        dlp.detect(["x"])
    monkeypatch.setenv("WARD_TOKEN", "another-secret")
    dlp.detect(["x"])
    assert service.requests[0][1]["Authorization"] == "Bearer another-secret"
    told = [repr(vars(dlp)), dlp.version, str(dlp.notes), str(dlp.timings), caplog.text]
    assert not [text for text in told if "another-secret" in text]
    assert b"another-secret" not in pickle.dumps(dlp)
    with pytest.raises(InputError, match="'token' must name an environment variable") as refused:
        system(service, token="ya29.written-out")
    assert "ya29" not in str(refused.value)


def key_file(folder: Path, token_uri: str) -> Path:
    """The key of an account that never was, made for this test."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    account = {"type": "service_account", "private_key": pem, "client_email": "ward@x.example", "token_uri": token_uri}
    file = folder / "key.json"
    file.write_text(json.dumps(account))
    return file


def test_a_service_account_gets_tokens(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("google.oauth2.service_account", reason="google-auth is not installed")
    pytest.importorskip("cryptography", reason="cryptography is not installed")
    monkeypatch.delenv("GOOGLE_DLP_TOKEN")
    granted = {"access_token": "granted-token", "expires_in": 3600, "token_type": "Bearer"}
    tokens = Service(lambda content: (200, {"Content-Type": "application/json"}, json.dumps(granted).encode()))
    try:
        file = key_file(tmp_path, tokens.url)
        dlp = system(service, service_account="env:WARD_KEY")
        with pytest.raises(InputError, match="variable WARD_KEY must hold the path"):
            dlp.detect(TEXTS)
        monkeypatch.setenv("WARD_KEY", str(file))
        assert dlp.detect(TEXTS) == FOUND
        assert dlp.detect(TEXTS) == FOUND
        assert {headers["Authorization"] for _, headers, _ in service.requests} == {"Bearer granted-token"}
        assert len(tokens.requests) == 1  # one token serves many calls
        stored = pickle.dumps(dlp)
        assert b"granted-token" not in stored and b"PRIVATE KEY" not in stored
        assert pickle.loads(stored).detect(TEXTS) == FOUND
        tokens.replies = [(400, {}, b'{"error": "invalid_grant", "error_description": "Smith"}')]
        with pytest.raises(SystemFailure, match=r"the service account got no token \(RefreshError\)") as failed:
            system(service, service_account="env:WARD_KEY").detect(TEXTS)
        assert "Smith" not in str(failed.value)
    finally:
        tokens.close()
    with pytest.raises(SystemFailure, match=r"got no token \(TransportError\)"):
        system(service, service_account="env:WARD_KEY").detect(TEXTS)
    file.write_text('{"private_key": "Smith"}')
    with pytest.raises(InputError, match="must be the key of a service account") as refused:
        system(service, service_account="env:WARD_KEY").detect(TEXTS)
    assert "Smith" not in str(refused.value)


def test_without_google_auth_only_a_service_account_is_missed(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "google.oauth2.service_account", None)
    assert system(service).detect(TEXTS) == FOUND
    with pytest.raises(MissingExtra, match=r"google-auth.*\[google\]"):
        system(service, service_account="env:WARD_KEY")


def test_settings_are_checked(service: Service) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"project": "ward 7/../x"}, "'project' must be a name"),
        ({"location": ""}, "'location' must be a name"),
        ({"endpoint": "dlp.googleapis.com"}, "address of http or https"),
        ({"min_likelihood": "LIKLEY"}, "did you mean 'LIKELY'"),
        ({"inspect_template": "notes"}, "full name of a template"),
        ({"info_types": []}, "'info_types' must be a list"),
        ({"mapping": ""}, "'info_types' must be listed where there is no 'mapping'"),
        ({"max_bytes": 600_000}, "'max_bytes' must be at most 500000"),
        ({"max_bytes": 900}, "'max_bytes' must be at most 500000 and leave room"),
        ({"batch": 0}, "'batch'"),
        ({"cost_per_unit": -1}, "'cost_per_unit'"),
        ({"concurrency": 0}, "'concurrency'"),
        ({"service_account": "key.json"}, "'service_account' must name an environment variable"),
    ]
    for settings, message in cases:
        with pytest.raises(InputError, match=message):
            system(service, **settings)
    with pytest.raises(StudyError, match="did you mean 'google_dlp'"):
        system(service, mapping="google_dpl")
    with pytest.raises(InputError, match="text 2 of its batch: whole characters"):
        system(service).detect(["a", "\ud800"])
    assert service.requests == []


def test_the_version_follows_what_decides_the_findings(service: Service) -> None:
    plain = system(service).version
    assert plain == system(service, timeout=5, retries=0, token="env:X", cost_per_unit=1.0).version
    others = [{"location": "us"}, {"min_likelihood": "LIKELY"}, {"info_types": ["DATE"]}, {"max_bytes": 100_000}]
    assert len({plain, *(system(service, **one).version for one in others)}) == 5
    assert plain.startswith("google_dlp global sha256:")
    assert "no version" in system(service).notes[0]


def test_names_of_causes_and_nothing_else_of_an_error() -> None:
    assert cause_of(refusal(403, "PERMISSION_DENIED", reason="Smith was here")[2]) == "PERMISSION_DENIED"
    for body in (b"", b"[]", b'{"error": "x"}', b'{"error": {"details": [1]}}', b'{"error": {"status": "Smith"}}'):
        assert cause_of(body) == ""
