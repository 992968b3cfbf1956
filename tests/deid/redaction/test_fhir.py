"""FHIR in and out of redaction: narratives, attachments and what identifies; everything else keeps its bytes."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.shell import call
from workup.errors import InputError
from workup.redaction.fhir_files import FhirFile, is_fhir

PATIENT: dict[str, Any] = {
    "resourceType": "Patient",
    "id": "p1",
    "identifier": [{"system": "urn:oid:1.2.3", "value": "00918273"}],
    "name": [{"use": "official", "family": "Quenneville", "given": ["Zbigniewa", "J"]}],
    "telecom": [{"system": "phone", "value": "412-555-0134"}, {"system": "email", "value": "zq@example.org"}],
    "gender": "female",
    "birthDate": "1961-03-04",
    "address": [{"line": ["12 Alderbrook St"], "city": "Springfield", "state": "IL", "postalCode": "62704"}],
    "contact": [{"name": {"text": "Ottoline Vantongeren"}, "relationship": [{"text": "sister"}]}],
    "text": {
        "status": "generated",
        "div": '<div xmlns="http://www.w3.org/1999/xhtml"><p>Mrs. <b>Quenneville</b>, MRN: 00918273</p></div>',
    },
}


def reference(kind: str, text: str, **more: Any) -> dict[str, Any]:
    data = base64.b64encode(text.encode()).decode()
    return {
        "resourceType": "DocumentReference",
        "id": "d1",
        "status": "current",
        "subject": {"reference": "Patient/p1", "display": "Zbigniewa Quenneville"},
        "date": "2021-03-04T10:00:00Z",
        "content": [{"attachment": {"contentType": kind, "data": data, "size": len(text), **more}}],
    }


BUNDLE = {
    "resourceType": "Bundle",
    "type": "collection",
    "total": 3,
    "entry": [
        {"fullUrl": "urn:uuid:1", "resource": PATIENT},
        {"resource": reference("text/plain; charset=utf-8", "Mrs. Quenneville was seen by Dr. Ada Berg.", hash="x=")},
        {"resource": reference("text/html", "<p>Seen: Mr. <i>Trevino</i> &amp; wife</p>") | {"id": "d2"}},
    ],
}
SECRETS = ("Quenneville", "Zbigniewa", "00918273", "412-555-0134", "zq@", "1961", "Alderbrook", "Springfield", "62704",
           "Vantongeren", "Berg", "Trevino", "2021-03-04")  # fmt: skip


def redacted(tmp_path: Path, content: str, name: str = "in.json", *words: str) -> str:
    (tmp_path / name).write_text(content, encoding="utf-8")
    done = call("redact", tmp_path / name, "-o", tmp_path / f"out-{name}", *words)
    assert done.code == 0, done.err
    assert not any(secret in done.out + done.err for secret in SECRETS)
    return (tmp_path / f"out-{name}").read_bytes().decode("utf-8")


def attachments(bundle: dict[str, Any]) -> list[dict[str, Any]]:
    return [one["resource"]["content"][0]["attachment"] for one in bundle["entry"][1:]]


def test_a_bundle_loses_what_identifies_and_nothing_else(tmp_path: Path) -> None:
    new = json.loads(redacted(tmp_path, json.dumps(BUNDLE, indent=1)))
    texts = [base64.b64decode(one["data"]).decode() for one in attachments(new)]
    seen = json.dumps(new) + "".join(texts)
    assert not any(secret in seen for secret in SECRETS)
    assert texts[0].endswith(".") and "was seen by Dr. [NAME-" in texts[0]
    assert texts[1].startswith("<p>Seen: ") and "<i>[NAME-" in texts[1] and texts[1].endswith("&amp; wife</p>")
    assert [one["size"] for one in attachments(new)] == [len(text.encode()) for text in texts]
    assert attachments(new)[0]["hash"] != "x="
    div = new["entry"][0]["resource"]["text"]["div"]
    assert div.startswith('<div xmlns="http://www.w3.org/1999/xhtml"><p>') and div.endswith("</p></div>")
    for key in ("gender", "id", "resourceType"):
        assert new["entry"][0]["resource"][key] == PATIENT[key]
    assert new["entry"][1]["resource"]["subject"]["reference"] == "Patient/p1" and new["total"] == 3


def test_bytes_beside_replacements_stay(tmp_path: Path) -> None:
    head = '{ "resourceType":"Observation",\n\t"valueQuantity" : {"value": 1.500, "unit":"mg/dL"}, "note":['
    new = redacted(tmp_path, head + '{"text":"Mr. Trevino \\u00e9"}]}\n')
    assert new.startswith(head)
    assert new.endswith("}\n") and "Trevino" not in new
    same = '{"resourceType": "Observation",  "note": [{"text": "Nothing to see."}], "value":  0.10}'
    assert redacted(tmp_path, same, "same.json") == same


def test_resources_on_lines_are_one_patients(tmp_path: Path) -> None:
    lines = [PATIENT, reference("text/plain", "Mrs. Quenneville came.")]
    new = redacted(tmp_path, "".join(json.dumps(one) + "\n" for one in lines), "in.ndjson")
    patient, document = map(json.loads, new.splitlines())
    number = patient["name"][0]["family"]
    assert number in base64.b64decode(document["content"][0]["attachment"]["data"]).decode()


def test_known_values_reach_the_resource_of_their_patient(tmp_path: Path) -> None:
    (tmp_path / "known.csv").write_text("patient_id,name\np1,Xoqelt Vrenn\n", encoding="utf-8")
    content = json.dumps(reference("text/plain", "then vrenn xoqelt left"))
    new = redacted(tmp_path, content, "in.json", "--known", str(tmp_path / "known.csv"))
    text = base64.b64decode(json.loads(new)["content"][0]["attachment"]["data"]).decode()
    assert text == "then [NAME-2] left" or ("vrenn" not in text and "xoqelt" not in text)


@pytest.mark.parametrize(
    "content",
    [
        reference("application/pdf", "%PDF"),
        reference("text/plain", "x") | {"content": [{"attachment": {"contentType": "text/plain", "data": "***"}}]},
        reference("text/plain", "x") | {"content": [{"attachment": {"contentType": "text/plain", "data": "/////w=="}}]},
        {"resourceType": "Parameters", "parameter": [{"valueBase64Binary": "QUJD"}]},
    ],
)
def test_what_cannot_be_looked_into_is_refused(content: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="attachments of plain text"):
        FhirFile(json.dumps(content).encode(), name="in.json", where="in.json")


def test_other_json_is_no_fhir() -> None:
    assert not is_fhir(b"[]") and not is_fhir(b'{"text": "\\"resourceType\\""}') and not is_fhir(b'{"resourceType')
    with pytest.raises(InputError):
        FhirFile(b'{"a": 1}', name="x", where="x")


def test_strings_with_escapes_and_deep_objects_are_placed_right() -> None:
    content = {
        "resourceType": "Basic",
        "a": [[{"b": {"note": 'He said "x" \\ {[,:'}}, "one two"], {}],
        "c": "three four",
    }
    file = FhirFile(json.dumps(content).encode(), name="x", where="x")
    assert [one.text for one in file.documents] == ['He said "x" \\ {[,:', "one two", "three four"]
    assert [one.patient for one in file.documents] == [None] * 3


def test_marks_half_characters_and_numbers_of_unknown_elements(tmp_path: Path) -> None:
    content = '\ufeff{"resourceType": "Basic", "note": "Mr. Trevino \\ud800 came", "accession": "A0091827", "url": "http://a/123456"}'
    new = redacted(tmp_path, content)
    assert new.startswith("\ufeff{") and "Trevino" not in new and "\\ud800" in new
    assert "A0091827" not in new and "http://a/123456" in new
    (tmp_path / "id.json").write_text(
        json.dumps({"resourceType": "Basic", "extension": [{"valueIdentifier": {"value": "AB-12"}}]}), encoding="utf-8"
    )
    assert "AB-12" not in redacted(tmp_path, (tmp_path / "id.json").read_text(encoding="utf-8"), "id.json")
